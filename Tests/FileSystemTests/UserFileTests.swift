// SPDX-License-Identifier: Apache-2.0
import Glibc
import LinuxIO
import SystemPackage
import TestSupport
import Testing

@Suite("Files that the user names")
struct UserFileTests {
  /// The type that stat(2) reports, with and without following links.
  private func kind(_ path: String, ofLink: Bool = false) -> NodeStatus.FileType? {
    (try? Syscalls.status(ofPath: path, ofLink: ofLink))?.type
  }

  @Test("Behind a symbolic link it is the file that the link names")
  func link() throws {
    let folder = try TemporaryFolder()
    let file = folder.path + "/file"
    try UserFile.replace(file, with: "old")
    let link = try folder.link("link", to: file)
    try UserFile.replace(link, with: "new")
    #expect(try UserFile.read(file) == "new")
    #expect(kind(link, ofLink: true) == .link)
    #expect(folder.names == ["file", "link"])
  }

  @Test("A link whose target does not exist is not an absent file, at the end of a path and on the way")
  func brokenLink() throws {
    let folder = try TemporaryFolder()
    let link = try folder.link("policy", to: folder.path + "/unmounted/policy")
    let way = try folder.link("etc", to: folder.path + "/unmounted")
    let chain = try folder.link("chain", to: link)
    for path in [link, way + "/policy", way + "/sextant/policy", chain] {
      let error = #expect(throws: FileError.self) { try UserFile.read(path) }
      #expect(error?.isAbsent == false && error?.isMissing == false && error?.path == path, "\(path)")
      #expect(error?.description.contains("restore the target of the link") == true)
      #expect(FileLookup.leadsNowhere(path))
    }
    let state = #expect(throws: FileError.self) { try PrivateFile.read(way + "/settings/services") }
    #expect(state?.isAbsent == false && state?.path == way)
    for path in ["/absent", "/absent/policy"].map({ folder.path + $0 }) {
      let error = #expect(throws: FileError.self) { try UserFile.read(path) }
      #expect(error?.isAbsent == true && !FileLookup.leadsNowhere(path))
    }
    #expect(try PrivateFile.read(folder.path + "/absent/file") == nil)
    let there = try folder.link("there", to: folder.path)
    let absent = #expect(throws: FileError.self) { try UserFile.read(there + "/absent") }
    #expect(absent?.isAbsent == true && !FileLookup.leadsNowhere(there))
  }

  @Test("A FIFO gets the text, and stays one")
  func fifo() throws {
    let folder = try TemporaryFolder()
    let path = try folder.fifo("fifo")
    let reader = try Syscalls.open(path, O_RDONLY | O_NONBLOCK)
    try UserFile.replace(path, with: "text")
    var read = [UInt8](repeating: 0, count: 16)
    let count = unsafe read.withUnsafeMutableBytes { unsafe Glibc.read(reader.number, $0.baseAddress, $0.count) }
    #expect(read.prefix(max(0, count)).elementsEqual("text".utf8))
    #expect(kind(path) == .fifo)
    #expect(folder.names == ["fifo"])
  }

  @Test("A full device is reported, and stays a device")
  func device() {
    let error = #expect(throws: FileError.self) { try UserFile.replace("/dev/full", with: "text") }
    #expect(error?.errno == .noSpace)
    #expect(kind("/dev/full") == .character)
  }

  @Test("A folder is named as what it is")
  func folder() throws {
    let folder = try TemporaryFolder()
    let path = folder.path
    let error = #expect(throws: FileError.self) { try UserFile.replace(path, with: "text") }
    #expect(error?.errno == .isDirectory)
    #expect(kind(path) == .directory)
  }

  @Test("A file in a folder that does not exist names the folder and the next step")
  func missingFolder() throws {
    let folder = try TemporaryFolder()
    let path = folder.path
    let error = #expect(throws: FileError.self) { try UserFile.replace(path + "/a/b/file", with: "text") }
    #expect(
      error?.description
        == "\(path)/a/b: No such file or directory; make this folder first, or name another one")
    #expect(folder.names.isEmpty)
  }

  @Test("A replaced file is the old one or the new one, also where the new one cannot be written")
  func atomic() throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/file"
    try UserFile.replace(path, with: "old", permissions: 0o600)
    #expect(try Syscalls.status(ofPath: path).mode & 0o777 == 0o600)
    // A reader that has the old file open continues with the old text.
    let reader = try Syscalls.open(path, O_RDONLY)
    try UserFile.replace(path, with: "new, and longer")
    var buffer = [UInt8](repeating: 0, count: 16)
    let count = unsafe buffer.withUnsafeMutableBytes { unsafe Glibc.read(reader.number, $0.baseAddress, $0.count) }
    #expect(buffer.prefix(count).elementsEqual("old".utf8))
    // A folder is in place of the temporary file: nothing is written, and the file is unchanged.
    try #require(unsafe mkdir("\(path).\(Syscalls.processID)", 0o700) == 0)
    #expect(throws: FileError.self) { try UserFile.replace(path, with: "newest") }
    #expect(try UserFile.read(path) == "new, and longer")
    #expect(folder.names == ["file", "file.\(Syscalls.processID)"])
  }

  @Test("A temporary file that a killed process left does not block a write, and a link in its place is not followed")
  func leftTemporary() throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/file"
    let other = try folder.file("other", Array("mine".utf8))
    _ = try folder.link("file.\(Syscalls.processID)", to: other)
    try UserFile.replace(path, with: "text")
    #expect(try UserFile.read(path) == "text")
    #expect(try UserFile.read(other) == "mine")
    #expect(folder.names == ["file", "other"])
  }

  @Test("A FIFO, a device, a folder and a file that is too long are refused without waiting")
  func refusals() throws {
    let folder = try TemporaryFolder()
    let fifo = try folder.fifo("fifo")
    let long = try folder.file("long", [UInt8](repeating: 65, count: 101))
    let cases: [(String, Errno, String)] = [
      (fifo, .invalidArgument, "it is not a regular file; name a regular file"),
      ("/dev/zero", .invalidArgument, "it is not a regular file; name a regular file"),
      (folder.path, .isDirectory, "Is a directory; it is a folder; name a file"),
      (long, .fileTooLarge, "it is longer than 100 bytes; check the name; this is not a file of this program"),
    ]
    for (path, errno, text) in cases {
      let error = #expect(throws: FileError.self) { try UserFile.readBytes(path, limit: 100) }
      #expect(error?.errno == errno)
      #expect(error?.description == "\(path): \(text)")
    }
    #expect(try UserFile.readBytes(long, limit: 101).count == 101)
  }

  @Test("A sparse file of 10 GB costs no more than the limit")
  func sparse() throws {
    let folder = try TemporaryFolder()
    let path = try folder.file("sparse")
    try #require(unsafe truncate(path, 10_000_000_000) == 0)
    let error = #expect(throws: FileError.self) { try UserFile.read(path) }
    #expect(error?.errno == .fileTooLarge)
  }

  @Test("A file of /proc is read though its size is stated as 0")
  func proc() throws {
    #expect(try UserFile.read("/proc/self/status").hasPrefix("Name:"))
    #expect(AttributeFile.read("/proc/self/comm")?.hasSuffix("\n") == true)
  }

  @Test("A stream is read piece by piece: a file, and a FIFO until its writer goes")
  func stream() throws {
    let folder = try TemporaryFolder()
    let bytes = [UInt8](repeating: 7, count: 100_000)
    let path = try folder.file("file", bytes)
    var file = try InputFile(opening: path)
    var count = 0
    while let piece = try file.next() { count += piece.byteCount }
    #expect(count == bytes.count)
    #expect(try InputFile.readAll(path) == bytes)
    let error = #expect(throws: FileError.self) { _ = try InputFile.readAll(path, limit: 10) }
    #expect(error?.errno == .fileTooLarge)
  }

  @Test("A new output file is private and can be deleted; one that was there, a link and another's file are not")
  func newOutput() throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/new"
    let file = try OutputFile(path)
    #expect(try Syscalls.status(ofPath: path).mode & 0o777 == 0o600)
    file.removeIfNew()
    #expect(!FileLookup.exists(path))
    let old = try folder.file("old", [])
    try OutputFile(old).removeIfNew()
    #expect(FileLookup.exists(old))
    try Syscalls.link("target", at: folder.path + "/link")
    try OutputFile(folder.path + "/link").removeIfNew()
    #expect(FileLookup.exists(folder.path + "/target"))
    // Another file has replaced it.
    let moved = try OutputFile(path)
    try OutputFile.rename(path, to: path + ".1")
    try UserFile.replace(path, with: "other")
    moved.removeIfNew()
    #expect(FileLookup.exists(path))
  }

  @Test("An output file goes on at its end, and belongs to one program at a time")
  func output() throws {
    let folder = try TemporaryFolder()
    let path = try folder.file("file", [1, 2])
    let file = try OutputFile(path)
    #expect(file.isRegular && file.lock())
    let isLockedTwice = try OutputFile(path).lock()
    #expect(!isLockedTwice)
    #expect(try unsafe file.write([UInt8(3)].span.bytes) == 1)
    #expect(try file.size() == 3)
    try file.cut(to: 1)
    #expect(try UserFile.readBytes(path) == [1])
    try file.sync()
  }
}
