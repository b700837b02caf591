// SPDX-License-Identifier: Apache-2.0
import SystemPackage

/// A state folder that is kept open, so that its files are found in this folder and not through a path that another
/// process may change meanwhile.
///
/// A process may run as root, in a folder that other users can see. So symbolic links of other users are not followed on the
/// way to the folder, no symbolic link is followed in it, and a folder in which other users can write is refused.
package struct PrivateFolder: ~Copyable {
  package let path: String
  private let descriptor: OwnedDescriptor
  /// The user and group that a new file gets: the folder's, if the administrator works for a user whose programs have
  /// to read it.
  private let owner: (user: UInt32, group: UInt32)?

  /// Opens a folder.
  ///
  /// - Parameters:
  ///   - path: its path.
  ///   - permissions: if it does not exist, it and its parent folders are created with these permissions; if nil, that
  ///     is an error (ENOENT).
  package init(_ path: String, makingWith permissions: UInt32? = nil) throws(FileError) {
    // Operations that can fail come first: a value that owns a descriptor must not be left half initialised.
    let descriptor = try Self.walk(to: path, makingWith: permissions)
    let owner = try Self.owner(of: descriptor, path)
    self.init(path, descriptor, owner)
  }

  private init(_ path: String, _ descriptor: consuming OwnedDescriptor, _ owner: (user: UInt32, group: UInt32)?) {
    self.path = path
    self.descriptor = descriptor
    self.owner = owner
  }

  // MARK: The way to the folder

  private static func walk(to path: String, makingWith permissions: UInt32?) throws(FileError) -> OwnedDescriptor {
    let whole = FilePath(path)
    let start = whole.root?.string ?? "."
    var folder = try naming(path) { () throws(Errno) in try Syscalls.open(start, OpenFlags.path) }
    var walked = FilePath(root: whole.root)
    for component in whole.components {
      try refuseFolderOfOthers(folder, walked.isEmpty ? start : walked.string)
      walked.append(component)
      do throws(Errno) {
        folder = try enter(component.string, in: folder, makingWith: permissions)
      } catch {
        // The folder behind a link is not absent: its files may deny what absent files permit.
        if error == .noSuchFileOrDirectory, FileLookup.leadsNowhere(walked.string) {
          throw FileError(walked.string, .brokenLink)
        }
        // A file in place of a folder is reported with the whole path, a link or a missing permission with the part of
        // the path.
        throw FileError(error == .notDirectory ? path : walked.string, error)
      }
    }
    return folder
  }

  /// Rejects a folder on the path whose entries another user can replace. The sticky bit prevents that, as in /tmp.
  private static func refuseFolderOfOthers(_ folder: borrowing OwnedDescriptor, _ path: String) throws(FileError) {
    let mode: UInt32
    do { mode = try Syscalls.status(of: folder.number).mode } catch { throw FileError(path, error) }
    if mode & 0o002 != 0, mode & 0o1000 == 0 { throw FileError(path, .folderOfOthers) }
  }

  private static func enter(
    _ name: String, in folder: borrowing OwnedDescriptor, makingWith permissions: UInt32?
  ) throws(Errno) -> OwnedDescriptor {
    do throws(Errno) {
      return try Syscalls.open(name, OpenFlags.pathWithoutLink, in: folder.number)
    } catch {
      if error == .noSuchFileOrDirectory, let permissions {
        return try make(name, in: folder, permissions)
      }
      guard error == .notDirectory,
        let link = try? Syscalls.status(ofPath: name, in: folder.number, ofLink: true), link.type == .link
      else { throw error }
      // A link of the system's administrator, or of this user, is the intended location of the folder.
      guard isTrusted(link.owner) else { throw .tooManySymbolicLinkLevels }
      return try Syscalls.open(name, OpenFlags.path, in: folder.number)
    }
  }

  private static func make(
    _ name: String, in folder: borrowing OwnedDescriptor, _ permissions: UInt32
  ) throws(Errno) -> OwnedDescriptor {
    var isNew = true
    do throws(Errno) {
      try Syscalls.makeFolder(name, permissions: permissions, in: folder.number)
    } catch {
      // Another process was faster.
      if error != .fileExists { throw error }
      isNew = false
    }
    let made = try Syscalls.open(name, OpenFlags.pathWithoutLink, in: folder.number)
    if isNew {
      if Syscalls.effectiveUser == 0 {
        let above = try Syscalls.status(of: folder.number)
        try Syscalls.changeOwner(made.number, to: above.owner, above.group)
      }
      syncFolder(folder.number)
    }
    return made
  }

  private static func isTrusted(_ owner: UInt32) -> Bool { owner == 0 || owner == Syscalls.effectiveUser }

  /// Rejects a folder in which other users can write. Root may work in the folder of a user, as `sudo sextant
  /// authorize` does.
  private static func owner(
    of descriptor: borrowing OwnedDescriptor, _ path: String
  ) throws(FileError) -> (user: UInt32, group: UInt32)? {
    let status: NodeStatus
    do { status = try Syscalls.status(of: descriptor.number) } catch { throw FileError(path, error) }
    let user = Syscalls.effectiveUser
    let isWritableByGroup = status.mode & 0o020 != 0 && status.group != Syscalls.effectiveGroup
    guard status.mode & 0o002 == 0, !isWritableByGroup, user == 0 || isTrusted(status.owner) else {
      throw FileError(path, .folderOfOthers)
    }
    return user == 0 && status.owner != 0 ? (status.owner, status.group) : nil
  }

  // MARK: Files

  /// The names in the folder, sorted.
  package var names: [String] { ((try? Syscalls.names(in: descriptor.number)) ?? []).sorted() }

  /// Returns the bytes of a file.
  ///
  /// - Parameters:
  ///   - name: its name in the folder.
  ///   - limit: the maximum number of bytes; a longer file is an error (EFBIG).
  package func readBytes(_ name: String, limit: Int = 1 << 20) throws(FileError) -> [UInt8] {
    try readWhole(try openForReading(name), path(of: name), limit: limit)
  }

  /// Returns the bytes of a part of a file, fewer at its end.
  package func readBytes(_ name: String, from offset: Int, count: Int) throws(FileError) -> [UInt8] {
    let file = try openForReading(name)
    return try naming(path(of: name)) { () throws(Errno) in
      try Syscalls.read(file.number, count: count, at: UInt64(offset))
    }
  }

  private func openForReading(_ name: String) throws(FileError) -> OwnedDescriptor {
    let path = path(of: name)
    // A device must not be opened at all.
    try check(
      try naming(path) { () throws(Errno) in try Syscalls.status(ofPath: name, in: descriptor.number, ofLink: true) },
      path)
    let file = try naming(path) { () throws(Errno) in
      try Syscalls.open(name, OpenFlags.readWithoutLink, in: descriptor.number)
    }
    try check(try naming(path) { () throws(Errno) in try Syscalls.status(of: file.number) }, path)
    return file
  }

  /// Replaces a file atomically: a reader finds either the complete old text or the complete new one, even after a loss
  /// of power.
  package func replace(
    _ name: String, with text: String, permissions: UInt32 = 0o600
  ) throws(FileError) {
    try replace(name, with: Array(text.utf8), permissions: permissions)
  }

  /// The same for bytes.
  package func replace(
    _ name: String, with bytes: [UInt8], permissions: UInt32 = 0o600
  ) throws(FileError) {
    try naming(path(of: name)) { () throws(Errno) in
      try replaceFile(
        name, in: descriptor.number, with: bytes, permissions: permissions, owner: owner)
    }
  }

  /// Deletes a file; a missing file is not an error.
  package func remove(_ name: String) throws(FileError) {
    do throws(Errno) { try Syscalls.unlink(name, in: descriptor.number) } catch {
      if error != .noSuchFileOrDirectory { throw FileError(path(of: name), error) }
    }
  }

  /// Renames a file or a folder; a file or an empty folder with the new name is replaced.
  package func rename(_ name: String, to new: String) throws(FileError) {
    try naming(path(of: name)) { () throws(Errno) in try Syscalls.rename(name, to: new, in: descriptor.number) }
  }

  /// Deletes a folder that is empty.
  package func removeIfEmpty(_ name: String) {
    try? Syscalls.unlink(name, in: descriptor.number, isFolder: true)
  }

  /// Opens a file and keeps it open, for this user alone; creates it if it does not exist.
  func open(_ name: String, _ flags: Int32) throws(FileError) -> OwnedDescriptor {
    let path = path(of: name)
    if let status = try? Syscalls.status(ofPath: name, in: descriptor.number, ofLink: true) {
      try check(status, path)
    }
    let file = try naming(path) { () throws(Errno) in
      try Syscalls.open(name, flags, permissions: 0o600, in: descriptor.number)
    }
    let status: NodeStatus
    do { status = try Syscalls.status(of: file.number) } catch { throw FileError(path, error) }
    if let owner, status.owner == 0 {
      try naming(path) { () throws(Errno) in try Syscalls.changeOwner(file.number, to: owner.user, owner.group) }
    }
    try check(status, path)
    return file
  }

  /// Rejects everything except a regular file with one name that belongs to this user, to the folder's owner or to
  /// root.
  private func check(_ status: NodeStatus, _ path: String) throws(FileError) {
    try requireRegular(status, path)
    guard status.linkCount <= 1, Self.isTrusted(status.owner) || status.owner == owner?.user else {
      throw FileError(path, .foreign)
    }
  }

  private func path(of name: String) -> String { FilePath(path).appending(name).string }
}

/// The exclusive lock of a file in a state folder, until it is released; see flock(2).
package final class PrivateFileLock {
  private let file: OwnedDescriptor

  /// Locks an existing file; nil if another program or another lock of this one has it, or if it cannot be opened.
  package init?(_ path: String) {
    let (folder, name) = FileLookup.split(path)
    do { file = try PrivateFolder(folder).open(name, OpenFlags.readWithoutLink) } catch { return nil }
    // A file system without locks is not an obstacle.
    do throws(Errno) { try Syscalls.lockExclusively(file.number) } catch { if error == .wouldBlock { return nil } }
  }
}

/// Files of a state folder by their paths; see `PrivateFolder`.
package enum PrivateFile {
  /// Returns the text of a file; nil if it does not exist. Bytes that are not UTF-8 are replaced.
  package static func read(_ path: String, limit: Int = 1 << 20) throws(FileError) -> String? {
    try readBytes(path, limit: limit).map(text)
  }

  /// Returns the bytes of a file; nil if it does not exist.
  package static func readBytes(_ path: String, limit: Int = 1 << 20) throws(FileError) -> [UInt8]? {
    let (folder, name) = FileLookup.split(path)
    do throws(FileError) { return try PrivateFolder(folder).readBytes(name, limit: limit) } catch {
      if error.isAbsent { return nil }
      throw error
    }
  }

  /// Replaces a file atomically, and creates its folder if necessary; see `PrivateFolder.replace`.
  package static func replace(
    _ path: String, with text: String, permissions: UInt32 = 0o600, folderPermissions: UInt32 = 0o700
  ) throws(FileError) {
    let (folder, name) = FileLookup.split(path)
    try PrivateFolder(folder, makingWith: folderPermissions).replace(
      name, with: text, permissions: permissions)
  }

  /// Deletes a file; a missing file is not an error.
  package static func remove(_ path: String) throws(FileError) {
    let (folder, name) = FileLookup.split(path)
    do throws(FileError) { try PrivateFolder(folder).remove(name) } catch { if !error.isMissing { throw error } }
  }

  /// Deletes a folder that is empty.
  package static func removeFolderIfEmpty(_ path: String) {
    let (folder, name) = FileLookup.split(path)
    if let folder = try? PrivateFolder(folder) { folder.removeIfEmpty(name) }
  }

  /// The names in a folder, sorted; empty if it is not a state folder.
  package static func names(in folder: String) -> [String] { (try? PrivateFolder(folder))?.names ?? [] }
}
