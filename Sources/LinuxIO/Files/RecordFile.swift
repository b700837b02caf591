// SPDX-License-Identifier: Apache-2.0
import SystemPackage

/// A file of a state folder with one record of a fixed size, rewritten in place by a single call: a killed process
/// leaves the old record or the new one. After a loss of power the disk has the record of the last `sync`.
package struct RecordFile: ~Copyable {
  /// Bytes of the record.
  package static let size = 512
  private let path: String
  private let descriptor: OwnedDescriptor

  /// Opens the file, and creates it and its folder if they do not exist.
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
  package func replace(with text: String) throws(FileError) { try replace(with: Array(text.utf8)) }

  /// Replaces the record.
  ///
  /// - Parameter text: shorter than `size`.
  package func replace(with text: [UInt8]) throws(FileError) {
    precondition(text.count < Self.size)
    let filling = repeatElement(UInt8(ascii: " "), count: Self.size - 1 - text.count)
    let record = text + filling + [UInt8(ascii: "\n")]
    try naming(path) { () throws(Errno) in
      try unsafe Syscalls.writeAll(descriptor.number, record.span.bytes, at: 0)
    }
  }

  package func sync() { try? Syscalls.syncData(descriptor.number) }
}
