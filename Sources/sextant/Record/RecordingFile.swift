/// The file of a recording on the disk: made, gone on with, brought to the disk, rotated.
///
/// Calls of the C library with pointers to values in this file, none of which leaves the call: the reason for `unsafe`.
import Glibc
import ReceiverRuntime
import Recording
import SerialPort
import Synchronization

struct RecordingFile: ~Copyable {
  /// What was in the file before: bytes of the stream, and the bytes of a torn tail that was cut.
  let found: (streamBytes: UInt64, torn: UInt64)?

  private let path: String
  private var file: OpenFile
  private let isStandardOutput: Bool
  private var names: RecordingNames?
  /// Bytes up to the end of the last whole record.
  private(set) var length: UInt64
  private let sync = DiskSync()

  /// - Parameters:
  ///   - path: `-` for standard output.
  ///   - isRaw: plain bytes: a file that is there is not touched.
  ///   - rotates: whether `rotate` will be called.
  ///   - keep: how many finished files stay.
  init(path: String, isRaw: Bool, rotates: Bool, keep: Int?) throws {
    // What can fail comes first: a value that owns something cannot be left half made.
    let isStandardOutput = path == "-"
    let file = try isStandardOutput ? OpenFile(STDOUT_FILENO) : OpenFile(opening: path)
    var length: UInt64 = 0
    var found: (streamBytes: UInt64, torn: UInt64)?
    var names: RecordingNames?
    if !isStandardOutput {
      try file.lock(path)
      let size = try file.isRegular ? file.size(path) : 0
      guard size == 0 || !isRaw else {
        throw CommandFailure(
          exitCode: CommandFailure.cannotCreate, description: "\(path): is there already; choose another name")
      }
      if size > 0 {
        let (whole, stream) = try file.scan(path)
        if whole < size { try file.cut(to: whole, path) }
        length = whole
        if whole > 0 { found = (stream, size - whole) }
      }
      let (folder, name) = Self.split(path)
      if rotates { names = RecordingNames(of: name, among: namesOfFiles(in: folder), keep: keep) }
      Self.syncFolder(of: path)
    }
    self.init(path, file, isStandardOutput, length, found, names)
  }

  private init(
    _ path: String, _ file: OpenFile, _ isStandardOutput: Bool, _ length: UInt64,
    _ found: (streamBytes: UInt64, torn: UInt64)?, _ names: RecordingNames?
  ) {
    self.path = path
    self.file = file
    self.isStandardOutput = isStandardOutput
    self.length = length
    self.found = found
    self.names = names
  }

  deinit {
    // A device that could not be opened leaves no empty file.
    if length == 0, !isStandardOutput, file.isRegular { unsafe unlink(path) }
  }

  /// Writes all bytes. When the disk is full, what the file had before them is kept and the file ends there.
  mutating func write(_ bytes: RawSpan) throws {
    var written = 0
    while written < bytes.byteCount {
      var rest = bytes.extracting(written..<bytes.byteCount)
      if isStandardOutput {
        try Output.waitForRoom()
        rest = rest.extracting(first: OutputRoom.least)
      }
      let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(file.descriptor, $0.baseAddress, $0.count) }
      if count >= 0 {
        written += count
        continue
      }
      let code = errno
      if code == EINTR { continue }
      if code == EPIPE, isStandardOutput { leave(with: 0) }
      if !isStandardOutput { try? file.cut(to: length, path) }
      throw failure(code)
    }
    length += UInt64(bytes.byteCount)
  }

  /// Has what was written brought to the disk, in the background; false while an earlier time is not over.
  mutating func startSync() throws -> Bool {
    if isStandardOutput || !file.isRegular { return true }
    if let code = sync.failure { throw failure(code) }
    return sync.start(file)
  }

  /// Finishes the file: it gets its number, and a new one is begun.
  mutating func rotate() throws {
    guard var names else { return }
    // Before its name changes, so that a finished file is whole.
    _ = fdatasync(file.descriptor)
    let number = names.finish()
    if unsafe rename(path, "\(path).\(number)") != 0 { throw failure(errno) }
    file = try OpenFile(opening: path)
    try file.lock(path)
    length = 0
    for old in names.surplus() { unsafe unlink("\(path).\(old)") }
    self.names = names
    Self.syncFolder(of: path)
  }

  /// Brings everything to the disk, at the end.
  mutating func finish() throws {
    if isStandardOutput || !file.isRegular { return }
    if fdatasync(file.descriptor) != 0 { throw failure(errno) }
  }

  /// A new name is on the disk when its folder is.
  private static func syncFolder(of path: String) {
    let descriptor = unsafe open(split(path).folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    // Some file systems cannot; the file itself is synced anyway.
    fsync(descriptor)
    close(descriptor)
  }

  private static func split(_ path: String) -> (folder: String, name: String) {
    guard let slash = path.lastIndex(of: "/") else { return (".", path) }
    return (slash == path.startIndex ? "/" : String(path[..<slash]), String(path[path.index(after: slash)...]))
  }

  private func failure(_ code: Int32) -> CommandFailure {
    if isStandardOutput {
      return CommandFailure(
        exitCode: CommandFailure.inputOutput,
        description: "standard output: \(message(code)); check what it is written to")
    }
    return switch code {
    case ENOSPC, EDQUOT:
      CommandFailure(
        exitCode: CommandFailure.inputOutput,
        description:
          "\(path): the disk is full; what was recorded is kept. Make room, or bound the recording with --rotate and --keep"
      )
    case EFBIG:
      CommandFailure(
        exitCode: CommandFailure.inputOutput,
        description: "\(path): the file is as large as it may be; what was recorded is kept. Use --rotate")
    default:
      CommandFailure(
        exitCode: CommandFailure.inputOutput, description: "\(path): \(message(code)); what was recorded is kept")
    }
  }
}

/// An open file that is closed when nobody needs it any more: the thread that syncs it, too.
final class OpenFile: Sendable {
  let descriptor: Int32
  let isRegular: Bool

  init(_ descriptor: Int32) {
    self.descriptor = descriptor
    var found = stat()
    isRegular = unsafe fstat(descriptor, &found) == 0 && found.st_mode & S_IFMT == S_IFREG
  }

  convenience init(opening path: String) throws {
    let descriptor = unsafe Glibc.open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0o644)
    guard descriptor >= 0 else { throw Self.failure(path, errno) }
    self.init(descriptor)
  }

  deinit { if descriptor > STDERR_FILENO { close(descriptor) } }

  /// One recorder a file: two would mix their records.
  func lock(_ path: String) throws {
    guard flock(descriptor, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK else { return }
    throw CommandFailure(
      exitCode: CommandFailure.held,
      description: "\(path): another program records into it; choose another name (`fuser -v \(path)` names it)")
  }

  func size(_ path: String) throws -> UInt64 {
    var found = stat()
    guard unsafe fstat(descriptor, &found) == 0 else { throw Self.failure(path, errno) }
    return UInt64(found.st_size)
  }

  /// The end of the last whole record of a recording, and the bytes of the stream in it.
  func scan(_ path: String) throws -> (whole: UInt64, stream: UInt64) {
    var reader = RecordingReader()
    var buffer = [UInt8](repeating: 0, count: 65_536)
    do {
      while true {
        let count = unsafe buffer.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
        if count < 0, errno == EINTR { continue }
        if count <= 0 { break }
        try unsafe reader.receive(buffer.span.bytes.extracting(0..<count)) { _ in }
      }
      _ = try reader.finish { _ in }
    } catch {
      throw CommandFailure(
        exitCode: CommandFailure.cannotCreate, description: "\(path): is there already and \(error)")
    }
    return (reader.wholeBytes, reader.streamBytes)
  }

  /// Ends the file at a place.
  func cut(to length: UInt64, _ path: String) throws {
    guard isRegular else { return }
    if ftruncate(descriptor, off_t(length)) != 0 { throw Self.failure(path, errno) }
  }

  private static func failure(_ path: String, _ code: Int32) -> CommandFailure {
    switch code {
    case EACCES, EPERM:
      CommandFailure(
        exitCode: CommandFailure.noPermission,
        description: "\(path): no permission to write it; choose a folder of yours")
    case ENOENT:
      CommandFailure(
        exitCode: CommandFailure.cannotCreate, description: "\(path): its folder is not there; make it first")
    case ENOSPC, EDQUOT:
      CommandFailure(exitCode: CommandFailure.inputOutput, description: "\(path): the disk is full; make room")
    default:
      CommandFailure(
        exitCode: CommandFailure.cannotCreate, description: "\(path): \(message(code)); \(FileProblem.cure(code))")
    }
  }
}

/// Brings a file to the disk in a thread of its own: a memory card may take a second, and a line has bytes meanwhile.
private final class DiskSync: Sendable {
  private struct State {
    var isRunning = false
    var failure: Int32?
  }
  private let state = Mutex(State())

  /// The errno of a sync that failed.
  var failure: Int32? { state.withLock { $0.failure } }

  /// False when the last one still runs.
  func start(_ file: OpenFile) -> Bool {
    let mayStart = state.withLock { state in
      if state.isRunning { return false }
      state.isRunning = true
      return true
    }
    guard mayStart else { return false }
    let isStarted = BackgroundWork.start { [self] in
      let code = fdatasync(file.descriptor) == 0 ? nil : errno
      state.withLock { state in
        state.isRunning = false
        if let code { state.failure = code }
      }
    }
    if isStarted { return true }
    // Without a thread it is done here.
    _ = fdatasync(file.descriptor)
    state.withLock { $0.isRunning = false }
    return true
  }
}

/// The names in a folder; none if it cannot be listed.
func namesOfFiles(in folder: String) -> [String] {
  guard let stream = unsafe opendir(folder) else { return [] }
  defer { unsafe closedir(stream) }
  var names: [String] = []
  while let entry = unsafe readdir(stream) {
    // d_name is an array of 256 bytes that ends in a zero.
    names.append(
      unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      })
  }
  return names
}
