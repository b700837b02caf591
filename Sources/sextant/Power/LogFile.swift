/// Files that a line is added to, or a record rewritten in place: a log of states, a journal.
///
/// The calls of the C library take pointers, which is the reason for `unsafe` here. Each pointer is to memory that a value
/// in this file owns, and none leaves the call.
import Glibc

/// A file that grows by whole lines.
struct LogFile: ~Copyable {
  private let path: String
  private let descriptor: Int32

  init(appendingTo path: String) throws {
    self.path = path
    descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o644)
    if descriptor < 0 {
      throw CommandFailure(exitCode: CommandFailure.cannotCreate, description: "\(path): \(message(errno))")
    }
  }

  deinit { close(descriptor) }

  func write(_ line: String) throws { try writeAll(Array(line.utf8), descriptor, at: nil, path) }
}

/// A file of one record of a fixed size, rewritten in place by a single call: a process that is killed leaves the old
/// record or the new one. What the disk has after a loss of power is as old as the last `sync`.
struct RecordFile: ~Copyable {
  static let size = 160
  private let path: String
  private let descriptor: Int32

  init(_ path: String) throws {
    self.path = path
    // A place is nobody else's business.
    descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    if descriptor < 0 {
      throw CommandFailure(exitCode: CommandFailure.cannotCreate, description: "\(path): \(message(errno))")
    }
  }

  deinit { close(descriptor) }

  /// Replaces the record; a text that is too long is none.
  func replace(with text: String) throws {
    var bytes = Array(text.utf8)
    precondition(bytes.count < Self.size)
    bytes += [UInt8](repeating: UInt8(ascii: " "), count: Self.size - 1 - bytes.count) + [UInt8(ascii: "\n")]
    try writeAll(bytes, descriptor, at: 0, path)
  }

  func sync() { _ = fdatasync(descriptor) }
}

private func writeAll(_ bytes: [UInt8], _ descriptor: Int32, at offset: Int?, _ path: String) throws {
  var written = 0
  while written < bytes.count {
    let count = unsafe bytes.withUnsafeBytes { source in
      let (start, left) = unsafe (source.baseAddress! + written, source.count - written)
      return if let offset {
        unsafe pwrite(descriptor, start, left, offset + written)
      } else {
        unsafe Glibc.write(descriptor, start, left)
      }
    }
    if count >= 0 {
      written += count
    } else if errno != EINTR {
      throw CommandFailure(exitCode: CommandFailure.inputOutput, description: "\(path): \(message(errno))")
    }
  }
}
