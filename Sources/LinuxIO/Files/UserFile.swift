// SPDX-License-Identifier: Apache-2.0
import SystemPackage

/// Files that the user names: configurations, backups. Symbolic links are followed.
package enum UserFile {
  /// Returns the text of a regular file; bytes that are not UTF-8 are replaced. A link to a file that does not exist is not an
  /// absent file: it may deny what an absent file permits.
  ///
  /// - Parameters:
  ///   - path: its path.
  ///   - limit: the maximum number of bytes; a longer file is an error (EFBIG).
  package static func read(_ path: String, limit: Int = 1 << 20) throws(FileError) -> String {
    text(try readBytes(path, limit: limit))
  }

  /// Returns the bytes of a regular file; see `read`.
  package static func readBytes(_ path: String, limit: Int = 1 << 20) throws(FileError) -> [UInt8] {
    let status: NodeStatus
    do { status = try Syscalls.status(ofPath: path) } catch {
      let isBroken = error == .noSuchFileOrDirectory && FileLookup.leadsNowhere(path)
      throw isBroken ? FileError(path, .brokenLink) : FileError(path, error)
    }
    try requireRegular(status, path)
    let file = try naming(path) { () throws(Errno) in try Syscalls.open(path, OpenFlags.read) }
    // Another file may have taken its place in between.
    try requireRegular(try naming(path) { () throws(Errno) in try Syscalls.status(of: file.number) }, path)
    return try readWhole(file, path, limit: limit)
  }

  /// Replaces a file atomically: a reader, or the next program after a crash or a loss of power, finds either the
  /// complete old text or the complete new one. For a symbolic link, the link's target is replaced. A device or a FIFO
  /// is written to.
  ///
  /// - Parameters:
  ///   - path: its path.
  ///   - text: the new content.
  ///   - permissions: the permissions of the file, less the umask.
  package static func replace(_ path: String, with text: String, permissions: UInt32 = 0o644) throws(FileError) {
    // A path that does not exist yet is the name of a new file.
    let target = Syscalls.resolved(path) ?? path
    if let type = try type(of: target, named: path) {
      if type == .directory { throw FileError(path, .isDirectory) }
      if type != .regular { return try write(text, to: target, named: path) }
    }
    let (folder, name) = FileLookup.split(target)
    let descriptor = try open(folder, forWriting: path)
    try naming(path) { () throws(Errno) in
      try replaceFile(
        name, in: descriptor.number, with: Array(text.utf8), permissions: permissions, owner: nil)
    }
  }

  /// Returns the type of a file; nil if it does not exist. Any other error is thrown: a device must not be replaced.
  private static func type(of target: String, named path: String) throws(FileError) -> NodeStatus.FileType? {
    do { return try Syscalls.status(ofPath: target).type } catch {
      if error == .noSuchFileOrDirectory { return nil }
      throw FileError(path, error)
    }
  }

  private static func open(_ folder: String, forWriting path: String) throws(FileError) -> OwnedDescriptor {
    do { return try Syscalls.open(folder, OpenFlags.path) } catch {
      throw error == .noSuchFileOrDirectory ? FileError(folder, .missingFolder) : FileError(path, error)
    }
  }

  private static func write(_ text: String, to device: String, named path: String) throws(FileError) {
    try naming(path) { () throws(Errno) in
      let descriptor = try Syscalls.open(device, OpenFlags.write)
      try Syscalls.writeAll(descriptor.number, text)
    }
  }

  /// Deletes a file; a missing file is not an error.
  package static func remove(_ path: String) { try? Syscalls.unlink(path) }
}
