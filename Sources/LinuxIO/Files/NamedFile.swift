// SPDX-License-Identifier: Apache-2.0

/// A file and its name, to which another program may since have given another file.
package struct NamedFile: Equatable, Sendable {
  package let path: String
  private let inode: UInt64
  private let fileSystem: UInt64

  /// The file at a path now; nil without one. A symbolic link is not followed.
  package init?(atPath path: String) {
    guard let status = try? Syscalls.status(ofPath: path, ofLink: true) else { return nil }
    self.init(path, status)
  }

  init(_ path: String, _ status: NodeStatus) {
    self.path = path
    inode = status.inode
    fileSystem = status.fileSystem
  }

  /// Deletes the name if it still leads to the file.
  package func remove() { if NamedFile(atPath: path) == self { try? Syscalls.unlink(path) } }
}
