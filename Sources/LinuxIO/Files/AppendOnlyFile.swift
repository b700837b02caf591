// SPDX-License-Identifier: Apache-2.0
import SystemPackage

/// A file that is only added to. If a process is killed, each of its writes is either complete or absent.
package struct AppendOnlyFile: ~Copyable {
  private let path: String
  private let descriptor: OwnedDescriptor

  /// Opens the named file at its end, and creates it if it is missing. Symbolic links are followed; a device or
  /// a FIFO is written to.
  package init(_ path: String, permissions: UInt32 = 0o644) throws(FileError) {
    let descriptor = try naming(path) { () throws(Errno) in
      try Syscalls.open(path, OpenFlags.appendForUser, permissions: permissions)
    }
    self.init(path, descriptor)
  }

  /// Opens a file of a state folder at its end, and creates it and the folder if they do not exist.
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
  package func empty() throws(FileError) { try truncate(to: 0) }

  /// Deletes everything after the first `count` bytes.
  package func truncate(to count: Int) throws(FileError) {
    try naming(path) { () throws(Errno) in try Syscalls.truncate(descriptor.number, to: UInt64(count)) }
  }

  /// Flushes the content to the disk.
  package func sync() { try? Syscalls.syncData(descriptor.number) }
}
