// SPDX-License-Identifier: Apache-2.0

/// The start of the desktop's browser. The call of the C library takes pointers to strings of this function, which is the reason
/// for `unsafe`; they live until the call returns.
import Glibc
import SystemPackage

/// Opens an address or a file in the browser of the desktop: xdg-open(1). Without one, a line is printed. Other users
/// see the address.
func openBrowser(_ address: String) {
  let text = ["xdg-open", address]
  var words: [UnsafeMutablePointer<CChar>?] = unsafe text.map { (word: String) in unsafe strdup(word) }
  unsafe words.append(nil)
  let variables = (try? readAll("/proc/self/environ"))?.split(separator: 0) ?? []
  var environment: [UnsafeMutablePointer<CChar>?] = unsafe variables.map { (word: ArraySlice<UInt8>) in
    unsafe strdup(String(decoding: word, as: UTF8.self))
  }
  unsafe environment.append(nil)
  var process: pid_t = 0
  // Signals that the poller blocks would stay blocked in the browser.
  var attributes = posix_spawnattr_t()
  var none = sigset_t()
  unsafe sigemptyset(&none)
  unsafe posix_spawnattr_init(&attributes)
  unsafe posix_spawnattr_setsigmask(&attributes, &none)
  unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
  let code = unsafe posix_spawnp(&process, "xdg-open", nil, &attributes, words, environment)
  unsafe posix_spawnattr_destroy(&attributes)
  unsafe (words + environment).forEach { unsafe free($0) }
  if code != 0 {
    printNotice("xdg-open: \(Errno(rawValue: code)); open the address in a browser yourself")
  }
}
