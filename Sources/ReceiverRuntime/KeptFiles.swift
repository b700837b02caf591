/// Files that are added to, or a record rewritten in place: a log of states, what was received, a journal. A process that is
/// killed has done each of these writes or not.
///
/// The calls of the C library take pointers, which is the reason for `unsafe` here. Each pointer is to memory that a value
/// in this file owns, or that it was lent for the call, and none leaves the call.
import Glibc

/// A file that grows.
public struct GrowingFile: ~Copyable {
  private let path: String
  private let descriptor: Int32

  /// Opens the file at its end, and makes it where there is none.
  ///
  /// - Parameters:
  ///   - path: its path.
  ///   - mode: its permissions if it is made.
  public init(_ path: String, mode: UInt32 = 0o644) throws(FileProblem) {
    self.path = path
    descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, mode)
    if descriptor < 0 { throw FileProblem(path, errno) }
  }

  deinit { close(descriptor) }

  public func append(_ bytes: RawSpan) throws(FileProblem) { try writeAll(bytes, descriptor, at: nil, path) }

  public func append(_ text: String) throws(FileProblem) {
    let bytes = Array(text.utf8)
    try unsafe append(bytes.span.bytes)
  }

  /// Forgets all that is in it.
  public func empty() throws(FileProblem) { if ftruncate(descriptor, 0) != 0 { throw FileProblem(path, errno) } }
}

/// A file of one record of a fixed size, rewritten in place by a single call: a process that is killed leaves the old
/// record or the new one. What the disk has after a loss of power is as old as the last `sync`.
public struct RecordFile: ~Copyable {
  /// Bytes of the record.
  public static let size = 512
  private let path: String
  private let descriptor: Int32

  public init(_ path: String) throws(FileProblem) {
    self.path = path
    // A place is nobody else's business.
    descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    if descriptor < 0 { throw FileProblem(path, errno) }
  }

  deinit { close(descriptor) }

  /// Replaces the record.
  ///
  /// - Parameter text: shorter than `size`.
  public func replace(with text: String) throws(FileProblem) {
    var bytes = Array(text.utf8)
    precondition(bytes.count < Self.size)
    bytes += [UInt8](repeating: UInt8(ascii: " "), count: Self.size - 1 - bytes.count) + [UInt8(ascii: "\n")]
    try unsafe writeAll(bytes.span.bytes, descriptor, at: 0, path)
  }

  public func sync() { _ = fdatasync(descriptor) }
}

private func writeAll(
  _ bytes: RawSpan, _ descriptor: Int32, at offset: Int?, _ path: String
) throws(FileProblem) {
  var written = 0
  while written < bytes.byteCount {
    let count = unsafe bytes.withUnsafeBytes { source in
      let (start, recovery) = unsafe (source.baseAddress! + written, source.count - written)
      return if let offset {
        unsafe pwrite(descriptor, start, recovery, offset + written)
      } else {
        unsafe Glibc.write(descriptor, start, recovery)
      }
    }
    if count >= 0 {
      written += count
    } else if errno != EINTR {
      throw FileProblem(path, errno)
    }
  }
}
