// SPDX-License-Identifier: Apache-2.0

/// Lines from standard input without waiting. The functions of the C library take pointers to memory of the caller,
/// which is the reason for `unsafe`.
import Glibc

struct InputLines {
  static let descriptor = STDIN_FILENO

  private var pending: [UInt8] = []

  /// Whether standard input may be read. A terminal may be read only by the foreground process: the system stops
  /// others.
  static var isReadable: Bool { isatty(descriptor) == 0 || tcgetpgrp(descriptor) == getpgrp() }

  /// Returns the complete lines; nil if no further line will arrive.
  mutating func read() -> [Substring]? {
    guard Self.isReadable else { return nil }
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
