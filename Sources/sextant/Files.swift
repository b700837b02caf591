/// The command line's files: reading a recording piece by piece, and writing to standard output and error.
///
/// The one place of the command line that calls the C library; its calls take pointers, which is the reason for
/// `unsafe` here. Each pointer is to memory that a value in this file owns, and none leaves the call.
import Glibc
import Receiver
import ReceiverRuntime
import SerialPort
import Synchronization

/// A recording that is read in pieces into memory that is allocated once.
struct InputFile: ~Copyable {
  private let path: String
  private let descriptor: Int32
  private var buffer: [UInt8]

  /// Opens a file; `-` is standard input.
  init(opening path: String) throws {
    self.path = path == "-" ? "standard input" : path
    buffer = Array(repeating: 0, count: 65_536)
    descriptor = path == "-" ? STDIN_FILENO : unsafe open(path, O_RDONLY | O_CLOEXEC)
    if descriptor < 0 { throw Self.failure(path, errno) }
  }

  deinit { if descriptor != STDIN_FILENO { close(descriptor) } }

  /// The next piece; nil at the end.
  @_lifetime(&self)
  mutating func next() throws -> RawSpan? {
    let count = try fill()
    return count == 0 ? nil : unsafe buffer.span.bytes.extracting(0..<count)
  }

  private mutating func fill() throws -> Int {
    while true {
      let count = unsafe buffer.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
      if count >= 0 { return count }
      // A receiver's pseudo-terminal ends with EIO when the other side closes it.
      if errno == EIO, isatty(descriptor) == 1 { return 0 }
      if errno != EINTR { throw Self.failure(path, errno) }
    }
  }

  private static func failure(_ path: String, _ code: Int32) -> CommandFailure {
    switch code {
    case ENOENT:
      CommandFailure(exitCode: CommandFailure.noInput, description: "\(path): no such file; check the name")
    case EISDIR:
      CommandFailure(
        exitCode: CommandFailure.noInput, description: "\(path): is a directory; name a recording in it")
    case EACCES, EPERM:
      CommandFailure(
        exitCode: CommandFailure.noPermission,
        description: "\(path): no permission to read it; ask its owner, or for a device join its group")
    default:
      CommandFailure(exitCode: CommandFailure.inputOutput, description: "\(path): \(message(code))")
    }
  }
}

/// Whether there is a regular file.
func isFile(_ path: String) -> Bool {
  var status = stat()
  return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
}

/// Whether there is anything under a path.
func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

/// A folder that this user alone can enter; mkdtemp(3).
struct PrivateFolder {
  let path: String

  init() throws {
    let parent = environment("TMPDIR").flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "/tmp"
    var characters = Array("\(parent)/sextant-XXXXXX".utf8CString)
    guard unsafe characters.withUnsafeMutableBufferPointer({ unsafe mkdtemp($0.baseAddress!) }) != nil else {
      throw CommandFailure(
        exitCode: CommandFailure.cannotCreate,
        description: "\(parent): \(message(errno)); name another folder with TMPDIR")
    }
    path = String(decoding: characters.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// Removes the folder, if nothing is in it.
  func remove() { _ = unsafe rmdir(path) }
}

/// All bytes of a file; `-` is standard input.
func readAll(_ path: String) throws -> [UInt8] {
  var bytes: [UInt8] = []
  var file = try InputFile(opening: path)
  while let piece = try file.next() {
    bytes.reserveCapacity(bytes.count + piece.byteCount)
    for index in piece.byteOffsets { bytes.append(unsafe piece.unsafeLoad(fromByteOffset: index, as: UInt8.self)) }
  }
  return bytes
}

/// What the C library says of an error number.
func message(_ code: Int32) -> String {
  guard let text = unsafe strerror(code) else { return "error \(code)" }
  return unsafe String(cString: text)
}

/// Whoever read the standard output has seen enough, as `head` does: the command ends, in order and without an error.
struct ReaderGone: Error {}

/// Standard output, and files that a command writes.
enum Output {
  /// Whether nobody has read for so long that nothing more is written.
  private static let isGivenUp = Atomic(false)

  /// Waits until standard output takes something. Throws when nobody reads there and the command is asked to end.
  static func waitForRoom() throws {
    if OutputRoom.isThere(STDOUT_FILENO) { return }
    if isGivenUp.load(ordering: .relaxed) { throw ReaderGone() }
    let signals = WaitingSignals([.interrupt, .terminate, .hangUp])
    if OutputRoom.wait(STDOUT_FILENO, ending: signals.descriptor) { return }
    isGivenUp.store(true, ordering: .relaxed)
    // They are heeded by that; one that comes now asks a second time.
    signals.take()
    throw ReaderGone()
  }

  /// Writes all bytes to standard output.
  static func write(_ bytes: RawSpan) throws { try write(bytes, to: STDOUT_FILENO, named: "standard output") }

  static func write(_ text: String) throws {
    let characters = Array(text.utf8)
    try unsafe write(characters.span.bytes)
  }

  static func write(_ characters: [UInt8]) throws { try unsafe write(characters.span.bytes) }

  /// Where the standard output ends, if it is a file.
  static var place: PrintedPlace? {
    var found = stat()
    guard unsafe fstat(STDOUT_FILENO, &found) == 0, found.st_mode & S_IFMT == S_IFREG else { return nil }
    return PrintedPlace(device: UInt64(found.st_dev), inode: UInt64(found.st_ino), size: UInt64(found.st_size))
  }

  /// The last bytes of the standard output's file; fewer if they cannot be read.
  static func last(_ count: Int) -> [UInt8] {
    // The shell opens it for writing alone.
    let descriptor = unsafe open("/proc/self/fd/\(STDOUT_FILENO)", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0, let size = place?.size, size >= UInt64(count) else { return [] }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: count)
    let start = Int(size) - count
    let read = unsafe bytes.withUnsafeMutableBytes { unsafe pread(descriptor, $0.baseAddress, count, start) }
    return read == count ? bytes : []
  }

  /// Writes a file anew.
  static func write(_ text: String, to path: String) throws {
    let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else {
      let code = errno
      throw CommandFailure(
        exitCode: CommandFailure.cannotCreate, description: "\(path): \(message(code)); \(FileProblem.cure(code))")
    }
    defer { close(descriptor) }
    let characters = Array(text.utf8)
    try unsafe write(characters.span.bytes, to: descriptor, named: path)
  }

  private static func write(_ bytes: RawSpan, to descriptor: Int32, named name: String) throws {
    try unsafe bytes.withUnsafeBytes { source in
      var written = 0
      while written < source.count {
        var most = source.count - written
        if descriptor == STDOUT_FILENO {
          try waitForRoom()
          most = min(most, OutputRoom.least)
        }
        let count = unsafe Glibc.write(descriptor, source.baseAddress! + written, most)
        if count >= 0 {
          written += count
        } else if errno == EPIPE {
          throw ReaderGone()
        } else if errno != EINTR {
          throw CommandFailure(
            exitCode: errno == EIO ? CommandFailure.inputOutput : CommandFailure.cannotCreate,
            description: "\(name): \(message(errno))")
        }
      }
    }
  }
}

/// A line for people, on standard error.
func printNotice(_ text: String) { printRaw("sextant: \(text)\n") }

/// Characters on standard error as they are.
func printRaw(_ text: String) {
  let line = Array(text.utf8)
  _ = unsafe line.withUnsafeBytes { unsafe Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
}

/// Shows how far long work is, in place of what was shown before.
func putProgress(_ text: String) { printRaw("\r\u{1B}[K\(text)") }

/// Takes away what `putProgress` showed.
func clearProgress() { printRaw("\r\u{1B}[K") }

/// Ends the process.
func leave(with code: Int32) -> Never { exit(code) }

/// Standard input, output and error that were closed before the start (`sextant … >&-`) are taken, or the next descriptor that
/// is opened would be written to as if it were the output. What is written to them is refused, as it is where they are closed.
func holdClosedStreams() {
  for descriptor in 0...2 where fcntl(Int32(descriptor), F_GETFD) < 0 { _ = unsafe open("/dev/null", O_RDONLY) }
}

/// A reader that has gone (`sextant … | head`) shall be an error of `write` and not kill the process.
func ignoreBrokenPipes() { _ = signal(SIGPIPE, SIG_IGN) }
