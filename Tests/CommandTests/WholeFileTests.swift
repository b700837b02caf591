import Glibc
import ReceiverRuntime
import Testing

@Suite("Files that are replaced as a whole")
struct WholeFileTests {
  /// Of the kind that stat(2) tells, links followed or not.
  private func kind(_ path: String, ofLink: Bool = false) -> mode_t {
    var found = stat()
    let isThere = unsafe ofLink ? lstat(path, &found) == 0 : stat(path, &found) == 0
    return isThere ? found.st_mode & S_IFMT : 0
  }

  @Test("Behind a symbolic link it is the file that the link names")
  func link() throws {
    let folder = try TemporaryFolder()
    let (file, link) = (folder.path + "/file", folder.path + "/link")
    try WholeFile.replace(file, with: "old")
    try #require(unsafe symlink(file, link) == 0)
    try WholeFile.replace(link, with: "new")
    #expect(try WholeFile.read(file) == "new")
    #expect(kind(link, ofLink: true) == S_IFLNK)
    #expect(WholeFile.names(in: folder.path) == ["file", "link"])
  }

  @Test("A FIFO gets the text, and stays one")
  func fifo() throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/fifo"
    try #require(unsafe mkfifo(path, 0o600) == 0)
    let reader = unsafe open(path, O_RDONLY | O_NONBLOCK)
    defer { close(reader) }
    try WholeFile.replace(path, with: "text")
    var read = [UInt8](repeating: 0, count: 16)
    let count = unsafe read.withUnsafeMutableBytes { unsafe Glibc.read(reader, $0.baseAddress, $0.count) }
    #expect(read.prefix(max(0, count)).elementsEqual("text".utf8))
    #expect(kind(path) == S_IFIFO)
    #expect(WholeFile.names(in: folder.path) == ["fifo"])
  }

  @Test("A device that is full tells it, and stays a device")
  func device() {
    let problem = #expect(throws: FileProblem.self) { try WholeFile.replace("/dev/full", with: "text") }
    #expect(problem?.code == ENOSPC)
    #expect(kind("/dev/full") == S_IFCHR)
  }

  @Test("A folder is named as what it is")
  func folder() throws {
    let folder = try TemporaryFolder()
    let problem = #expect(throws: FileProblem.self) { try WholeFile.replace(folder.path, with: "text") }
    #expect(problem?.code == EISDIR)
    #expect(kind(folder.path) == S_IFDIR)
  }
}
