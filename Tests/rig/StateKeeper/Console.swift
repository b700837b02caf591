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

  static func waitForever() -> Never {
    while true { pause() }
  }
}
