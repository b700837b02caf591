// SPDX-License-Identifier: Apache-2.0
import Glibc
import LinuxIO

/// The reason why the program ends, with the next step and an exit code of sysexits.h.
struct UplinkFailure: Error {
  var code: SystemExitCode
  var text: String

  init(_ code: SystemExitCode, _ text: String) {
    self.code = code
    self.text = text
  }
}

/// Writes a line for the user to standard error; control characters are escaped.
///
/// `unsafe`, because the call of the C library takes a pointer, to an array that outlives it.
func printNotice(_ text: String) {
  let line = Array("sextant-uplink: \(PrintedText.escaped(text))\n".utf8)
  _ = unsafe line.withUnsafeBytes { unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
}

/// A variable of the environment; nil if it is not set or empty.
func environment(_ name: String) -> String? {
  guard let value = unsafe getenv(name) else { return nil }
  let text = unsafe String(cString: value)
  return text.isEmpty ? nil : text
}
