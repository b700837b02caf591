// SPDX-License-Identifier: Apache-2.0

// `unsafe`: the pointers given to the C library are valid during the call.
import Glibc

enum Console {
  /// Writes a line to standard output, unbuffered.
  static func write(_ text: String) {
    let bytes = Array("\(text)\n".utf8)
    _ = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
  }

  /// The number of open descriptors of this process, without the one that counts them.
  static func openDescriptors() -> Int {
    guard let folder = unsafe opendir("/proc/self/fd") else { return -1 }
    defer { unsafe closedir(folder) }
    var count = -1
    while let entry = unsafe readdir(folder) {
      let isDot = unsafe entry.pointee.d_name.0 == CChar(bitPattern: UInt8(ascii: "."))
      if !isDot { count += 1 }
    }
    return count
  }
}
