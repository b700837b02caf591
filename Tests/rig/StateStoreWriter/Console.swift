// SPDX-License-Identifier: Apache-2.0

/// Standard output and the environment. `unsafe`: the pointers given to the C library are valid during the call.
import Glibc

enum Console {
  /// Writes a line with one call, so that a kill cannot cut it.
  static func print(_ text: String) {
    let line = Array("\(text)\n".utf8)
    _ = unsafe line.withUnsafeBytes { unsafe write(STDOUT_FILENO, $0.baseAddress, $0.count) }
  }

  static func variable(_ name: String) -> String? {
    guard let value = unsafe getenv(name) else { return nil }
    return unsafe String(cString: value)
  }
}

/// Wakes a thread from another one, through a pipe.
final class Wakeup: Sendable {
  private let ends: (read: Int32, write: Int32)

  init() {
    var both: [Int32] = [0, 0]
    precondition(unsafe pipe(&both) == 0)
    ends = (both[0], both[1])
  }

  func signal() {
    var byte: UInt8 = 1
    _ = unsafe write(ends.write, &byte, 1)
  }

  /// Waits for a signal; returns at once if there was one.
  func wait() {
    var byte: UInt8 = 0
    _ = unsafe read(ends.read, &byte, 1)
  }
}
