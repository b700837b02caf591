// SPDX-License-Identifier: Apache-2.0
import Glibc
import LinuxIO
import SystemPackage
import TestSupport
import Testing

@Suite("Folders and files of state")
struct PrivateFolderTests {
  private static func mode(_ path: String) throws -> UInt32 { try Syscalls.status(ofPath: path).mode & 0o777 }

  @Test("A file is made with its folders for this user alone, is replaced, read and removed")
  func life() throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/a/b/file"
    #expect(try PrivateFile.read(path) == nil)
    try PrivateFile.replace(path, with: "old")
    try PrivateFile.replace(path, with: "new")
    #expect(try PrivateFile.read(path) == "new")
    #expect(try Self.mode(folder.path + "/a") == 0o700)
    #expect(try Self.mode(folder.path + "/a/b") == 0o700)
    #expect(try Self.mode(path) == 0o600)
    #expect(PrivateFile.names(in: folder.path + "/a/b") == ["file"])
    try PrivateFile.remove(path)
    try PrivateFile.remove(path)
    try PrivateFile.remove(folder.path + "/c/file")
    PrivateFile.removeFolderIfEmpty(folder.path + "/a/b")
    #expect(FileLookup.names(in: folder.path + "/a").isEmpty)
  }

  @Test("Permissions of others are given where they are asked for")
  func permissions() throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/etc/policy"
    try PrivateFile.replace(path, with: "text", permissions: 0o644, folderPermissions: 0o755)
    #expect(try Self.mode(path) == 0o644)
    #expect(try Self.mode(folder.path + "/etc") == 0o755)
  }

  @Test("A mark changes when the file is replaced")
  func marks() throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/file"
    #expect(FileLookup.mark(path) == nil)
    try PrivateFile.replace(path, with: "a")
    let first = FileLookup.mark(path)
    #expect(first != nil && first == FileLookup.mark(path))
    try PrivateFile.replace(path, with: "a")
    #expect(FileLookup.mark(path) != first)
  }

  @Test("A symbolic link in a state folder is not followed: its target is neither read, added to nor rewritten")
  func links() throws {
    let folder = try TemporaryFolder()
    let target = try folder.file("target", Array("mine".utf8))
    let link = try folder.link("link", to: target)
    let read = #expect(throws: FileError.self) { _ = try PrivateFile.read(link) }
    let appended = #expect(throws: FileError.self) { _ = try AppendOnlyFile(private: link) }
    let recorded = #expect(throws: FileError.self) { _ = try RecordFile(link) }
    for error in [read, appended, recorded] {
      #expect(
        error?.description
          == "\(link): it is a symbolic link in a state folder; remove it, or name another state folder with "
          + "SEXTANT_STATE_DIR")
    }
    // A replaced file replaces the link.
    try PrivateFile.replace(link, with: "text")
    #expect(try Syscalls.status(ofPath: link, ofLink: true).type == .regular)
    #expect(try UserFile.read(target) == "mine")
  }

  @Test("A second name of another user's file is not written to")
  func hardLinks() throws {
    let folder = try TemporaryFolder()
    let target = try folder.file("target")
    let name = folder.path + "/log"
    try #require(unsafe link(target, name) == 0)
    let error = #expect(throws: FileError.self) { _ = try AppendOnlyFile(private: name) }
    #expect(error?.errno == .notPermitted)
  }

  @Test("A FIFO, a folder and a file that is too long are refused without waiting")
  func refusals() throws {
    let folder = try TemporaryFolder()
    let fifo = try folder.fifo("fifo")
    let long = try folder.file("long", [UInt8](repeating: 65, count: 101))
    _ = try PrivateFolder(folder.path + "/folder", makingWith: 0o700)
    let cases: [(String, Errno)] = [
      (fifo, .invalidArgument), (folder.path + "/folder", .isDirectory), (long, .fileTooLarge),
    ]
    for (path, errno) in cases {
      let error = #expect(throws: FileError.self) { _ = try PrivateFile.readBytes(path, limit: 100) }
      #expect(error?.errno == errno)
    }
    for path in [fifo, folder.path + "/folder"] {
      #expect(throws: FileError.self) { _ = try AppendOnlyFile(private: path) }
      #expect(throws: FileError.self) { _ = try RecordFile(path) }
    }
  }

  @Test("A folder in which other users can write is refused, for reading as well")
  func foldersOfOthers() throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/state"
    try PrivateFile.replace(path + "/file", with: "text")
    try #require(unsafe chmod(path, 0o777) == 0)
    let error = #expect(throws: FileError.self) { try PrivateFile.replace(path + "/file", with: "text") }
    #expect(
      error?.description
        == "\(path): other users can write in this folder; take the permission away (`chmod go-w`), or name a folder of "
        + "yours with SEXTANT_STATE_DIR")
    #expect(throws: FileError.self) { _ = try PrivateFile.read(path + "/file") }
    #expect(PrivateFile.names(in: path).isEmpty)
    // The same on the path to a folder in it, unless the sticky bit protects each user's entries.
    let below = #expect(throws: FileError.self) { try PrivateFile.replace(path + "/apps/file", with: "text") }
    #expect(below?.path == path && below?.errno == .notPermitted)
    try #require(unsafe chmod(path, 0o1777) == 0)
    try PrivateFile.replace(path + "/apps/file", with: "text")
  }

  @Test("Links of the administrator or of this user lead to the folder; links of another user do not")
  func linksToFolders() throws {
    let folder = try TemporaryFolder()
    try PrivateFile.replace(folder.path + "/disk/state/file", with: "text")
    let link = try folder.link("state", to: folder.path + "/disk/state")
    #expect(try PrivateFile.read(link + "/file") == "text")
    // Only root can give a link to another user.
    guard geteuid() == 0 else { return }
    try #require(unsafe lchown(link, 65_534, 65_534) == 0)
    let error = #expect(throws: FileError.self) { _ = try PrivateFile.read(link + "/file") }
    #expect(error?.errno == .tooManySymbolicLinkLevels && error?.path == link)
  }

  @Test("Files that root writes into a user's folder belong to the user")
  func administrator() throws {
    guard geteuid() == 0 else { return }
    let folder = try TemporaryFolder()
    let path = folder.path
    try #require(unsafe chown(path, 65_534, 65_534) == 0)
    try PrivateFile.replace(path + "/a/file", with: "text")
    let log = try AppendOnlyFile(private: path + "/a/log")
    try log.append("text")
    for name in ["/a", "/a/file", "/a/log"] { #expect(try Syscalls.status(ofPath: path + name).owner == 65_534) }
  }

  @Test("A folder that cannot be made is named")
  func unmakeable() throws {
    let folder = try TemporaryFolder()
    let file = try folder.file("file")
    let error = #expect(throws: FileError.self) { try PrivateFile.replace(file + "/more/file", with: "text") }
    #expect(error?.path == file + "/more" && error?.errno == .notDirectory)
    let missing = #expect(throws: FileError.self) { _ = try PrivateFolder("/proc/sextant", makingWith: 0o700) }
    #expect(missing?.path == "/proc/sextant")
  }

  @Test("A file that grows goes on at its end, and is emptied")
  func growing() throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/state/log"
    do {
      let log = try AppendOnlyFile(private: path)
      try log.append("a")
    }
    let log = try AppendOnlyFile(private: path)
    try log.append("b")
    #expect(try PrivateFile.read(path) == "ab")
    #expect(try Self.mode(path) == 0o600)
    try log.empty()
    #expect(try PrivateFile.read(path) == "")
  }

  @Test("A record is rewritten in place and keeps its size")
  func record() throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/record"
    let file = try RecordFile(path)
    for text in ["first, and longer", "second"] {
      try file.replace(with: text)
      let read = try PrivateFile.read(path)
      #expect(read?.utf8.count == RecordFile.size)
      #expect(read?.hasPrefix(text + " ") == true)
    }
    file.sync()
  }
}
