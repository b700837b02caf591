/// Standard output and the environment, by calls of the C library. Their pointers are to memory that lives as long as the
/// call, which is the reason for `unsafe`.
import Glibc

enum Console {
  /// A line, by one call: a kill does not cut it.
  static func print(_ text: String) {
    let line = Array("\(text)\n".utf8)
    _ = unsafe line.withUnsafeBytes { unsafe write(STDOUT_FILENO, $0.baseAddress, $0.count) }
  }

  static func variable(_ name: String) -> String? {
    guard let value = unsafe getenv(name) else { return nil }
    return unsafe String(cString: value)
  }
}

/// Wakes a thread from another one, by a pipe.
final class Bell: Sendable {
  private let ends: (hear: Int32, ring: Int32)

  init() {
    var both: [Int32] = [0, 0]
    precondition(unsafe pipe(&both) == 0)
    ends = (both[0], both[1])
  }

  func ring() {
    var byte: UInt8 = 1
    _ = unsafe write(ends.ring, &byte, 1)
  }

  /// Until it rings; at once where it has.
  func wait() {
    var byte: UInt8 = 0
    _ = unsafe read(ends.hear, &byte, 1)
  }
}
