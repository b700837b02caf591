// Files that are kept open: one that grows, and one with a record that is rewritten in place. A process that is killed has
// done each of these writes or not.
import SystemPackage

/// A file that is only added to.
package struct AppendOnlyFile: ~Copyable {
  private let path: String
  private let descriptor: OwnedDescriptor

  /// Opens a file that the user named at its end, and makes it where there is none. Symbolic links are followed; a device or
  /// a FIFO is written to.
  package init(_ path: String, permissions: UInt32 = 0o644) throws(FileError) {
    let descriptor = try naming(path) { () throws(Errno) in
      try Syscalls.open(path, OpenFlags.appendForUser, permissions: permissions)
    }
    self.init(path, descriptor)
  }

  /// Opens a file of a state folder at its end, and makes it and the folder where there are none.
  package init(private path: String) throws(FileError) {
    let (folder, name) = FileLookup.split(path)
    let descriptor = try PrivateFolder(folder, makingWith: 0o700).open(name, OpenFlags.append)
    self.init(path, descriptor)
  }

  private init(_ path: String, _ descriptor: consuming OwnedDescriptor) {
    self.path = path
    self.descriptor = descriptor
  }

  package func append(_ bytes: RawSpan) throws(FileError) {
    do { try Syscalls.writeAll(descriptor.number, bytes) } catch { throw FileError(path, error) }
  }

  package func append(_ text: String) throws(FileError) {
    try naming(path) { () throws(Errno) in try Syscalls.writeAll(descriptor.number, text) }
  }

  /// Deletes the content.
  package func empty() throws(FileError) {
    try naming(path) { () throws(Errno) in try Syscalls.truncate(descriptor.number, to: 0) }
  }
}

/// A file of a state folder with one record of a fixed size, rewritten in place by a single call: a process that is killed
/// leaves the old record or the new one. What the disk has after a loss of power is as old as the last `sync`.
package struct RecordFile: ~Copyable {
  /// Bytes of the record.
  package static let size = 512
  private let path: String
  private let descriptor: OwnedDescriptor

  /// Opens the file, and makes it and its folder where there are none.
  package init(_ path: String) throws(FileError) {
    let (folder, name) = FileLookup.split(path)
    let descriptor = try PrivateFolder(folder, makingWith: 0o700).open(name, OpenFlags.record)
    self.init(path, descriptor)
  }

  private init(_ path: String, _ descriptor: consuming OwnedDescriptor) {
    self.path = path
    self.descriptor = descriptor
  }

  /// Replaces the record.
  ///
  /// - Parameter text: shorter than `size`.
  package func replace(with text: String) throws(FileError) {
    precondition(text.utf8.count < Self.size)
    let record = text + String(repeating: " ", count: Self.size - 1 - text.utf8.count) + "\n"
    try naming(path) { () throws(Errno) in try Syscalls.writeAll(descriptor.number, record, at: 0) }
  }

  package func sync() { try? Syscalls.syncData(descriptor.number) }
}
