/// Lines from standard input, without waiting. Calls of the C library with pointers to memory that is lent for the call,
/// which is the reason for `unsafe`.
import Glibc

struct InputLines {
  static let descriptor = STDIN_FILENO

  private var pending: [UInt8] = []

  /// Whether standard input may be read: a terminal only while this process is in its foreground, or reading would stop
  /// the process.
  static var isOurs: Bool { isatty(descriptor) == 0 || tcgetpgrp(descriptor) == getpgrp() }

  /// The whole lines that are there; nil when there will be none any more.
  mutating func read() -> [Substring]? {
    guard Self.isOurs else { return nil }
    var bytes = [UInt8](repeating: 0, count: 1024)
    let count = unsafe bytes.withUnsafeMutableBytes { unsafe Glibc.read(Self.descriptor, $0.baseAddress, $0.count) }
    guard count > 0 else { return count < 0 && (errno == EAGAIN || errno == EINTR) ? [] : nil }
    pending += bytes[..<count]
    guard let end = pending.lastIndex(of: 10) else { return [] }
    let whole = String(decoding: pending[..<end], as: UTF8.self)
    pending.removeFirst(end + 1)
    return whole.split(whereSeparator: \.isNewline)
  }
}
