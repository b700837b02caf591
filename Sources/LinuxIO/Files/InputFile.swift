// SPDX-License-Identifier: Apache-2.0
import SystemPackage

/// A file, FIFO or terminal that the user named, read in pieces into memory that is allocated once.
package struct InputFile: ~Copyable {
  private let path: String
  private let descriptor: OwnedDescriptor
  private var buffer = [UInt8](repeating: 0, count: 65_536)

  /// Opens a file; `-` is standard input. Opening a FIFO waits for its writer.
  package init(opening path: String) throws(FileError) {
    let name = path == "-" ? "standard input" : path
    let descriptor = try naming(name) { () throws(Errno) in
      try path == "-" ? Syscalls.duplicate(Syscalls.standardInput) : Syscalls.open(path, OpenFlags.stream)
    }
    self.init(name, descriptor)
  }

  private init(_ path: String, _ descriptor: consuming OwnedDescriptor) {
    self.path = path
    self.descriptor = descriptor
  }

  /// The size of a regular file, bytes; nil for a FIFO or terminal.
  package var size: UInt64? {
    guard let status = try? Syscalls.status(of: descriptor.number), status.type == .regular else { return nil }
    return status.size
  }

  /// The next piece; nil at the end.
  @_lifetime(&self)
  package mutating func next() throws(FileError) -> RawSpan? {
    let count = try fill()
    return count == 0 ? nil : unsafe buffer.span.bytes.extracting(0..<count)
  }

  private mutating func fill() throws(FileError) -> Int {
    do throws(Errno) { return try Syscalls.read(descriptor.number, into: &buffer) } catch {
      // A receiver's pseudo-terminal ends with EIO when the other side closes it.
      if error == .ioError, Syscalls.isTerminal(descriptor.number) { return 0 }
      throw FileError(path, error)
    }
  }

  /// Returns all bytes of a file, FIFO or terminal; `-` is standard input.
  ///
  /// - Parameter limit: the maximum number of bytes; more are an error (EFBIG).
  package static func readAll(_ path: String, limit: Int = .max) throws(FileError) -> [UInt8] {
    var file = try InputFile(opening: path)
    return try file.rest(limit: limit)
  }

  private mutating func rest(limit: Int) throws(FileError) -> [UInt8] {
    var bytes: [UInt8] = []
    while case let count = try fill(), count > 0 {
      bytes += buffer[..<count]
      if bytes.count > limit { throw FileError(path, .longerThan(bytes: limit)) }
    }
    return bytes
  }
}

/// A regular file that is read at offsets. It may be overwritten while it is open.
package final class RegularFile: Sendable {
  private let descriptor: OwnedDescriptor
  /// The mark of the file at its opening.
  package let mark: FileLookup.Mark

  package init(opening path: String) throws(FileError) {
    descriptor = try naming(path) { () throws(Errno) in try Syscalls.open(path, OpenFlags.read) }
    let number = descriptor.number
    let status = try naming(path) { () throws(Errno) in try Syscalls.status(of: number) }
    try requireRegular(status, path)
    mark = FileLookup.Mark(status)
  }

  /// Returns up to `count` bytes from an offset on; none at the end, and after an error. The corresponding C function is pread(2).
  package func read(count: Int, at offset: Int) -> [UInt8] {
    (try? Syscalls.read(descriptor.number, count: count, at: UInt64(offset))) ?? []
  }
}
