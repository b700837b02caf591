/// The file of a recording on the disk: made, gone on with, brought to the disk, rotated.
import FileSystem
import ReceiverRuntime
import Recording
import SerialPort
import Synchronization
import SystemPackage

struct RecordingFile: ~Copyable {
  /// What was in the file before: bytes of the stream, and the bytes of a torn tail that was cut.
  let found: (streamBytes: UInt64, torn: UInt64)?

  private let path: String
  private var file: OutputFile
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
    let file = try isStandardOutput ? OutputFile.standardOutput() : Self.open(path)
    var length: UInt64 = 0
    var found: (streamBytes: UInt64, torn: UInt64)?
    var names: RecordingNames?
    if !isStandardOutput {
      let size = try file.isRegular ? file.size() : 0
      guard size == 0 || !isRaw else {
        throw CommandFailure(
          exitCode: CommandFailure.cannotCreate, description: "\(path): is there already; choose another name")
      }
      if size > 0 {
        let (whole, stream) = try Self.scan(file)
        if whole < size { try file.cut(to: whole) }
        length = whole
        if whole > 0 { found = (stream, size - whole) }
      }
      let (folder, name) = Self.split(path)
      if rotates { names = RecordingNames(of: name, among: FileLookup.names(in: folder), keep: keep) }
      OutputFile.syncName(of: path)
    }
    self.init(path, file, isStandardOutput, length, found, names)
  }

  private init(
    _ path: String, _ file: OutputFile, _ isStandardOutput: Bool, _ length: UInt64,
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
    if length == 0, !isStandardOutput, file.isRegular { UserFile.remove(path) }
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
      do throws(FileError) { written += try file.write(rest) } catch {
        if error.errno == .brokenPipe, isStandardOutput { leave(with: 0) }
        if !isStandardOutput { try? file.cut(to: length) }
        throw failure(error.errno)
      }
    }
    length += UInt64(bytes.byteCount)
  }

  /// Has what was written brought to the disk, in the background; false while an earlier time is not over.
  mutating func startSync() throws -> Bool {
    if isStandardOutput || !file.isRegular { return true }
    if let error = sync.failure { throw failure(error) }
    return sync.start(file)
  }

  /// Finishes the file: it gets its number, and a new one is begun.
  mutating func rotate() throws {
    guard var names else { return }
    // Before its name changes, so that a finished file is whole.
    try? file.sync()
    let number = names.finish()
    do throws(FileError) { try OutputFile.rename(path, to: "\(path).\(number)") } catch { throw failure(error.errno) }
    file = try Self.open(path)
    length = 0
    for old in names.surplus() { UserFile.remove("\(path).\(old)") }
    self.names = names
    OutputFile.syncName(of: path)
  }

  /// Brings everything to the disk, at the end.
  mutating func finish() throws {
    if isStandardOutput || !file.isRegular { return }
    do throws(FileError) { try file.sync() } catch { throw failure(error.errno) }
  }

  /// Opens a file for this recorder alone: two would mix their records.
  private static func open(_ path: String) throws -> OutputFile {
    let file: OutputFile
    do throws(FileError) { file = try OutputFile(path) } catch { throw failure(opening: error) }
    if file.lock() { return file }
    throw CommandFailure(
      exitCode: CommandFailure.held,
      description: "\(path): another program records into it; choose another name (`fuser -v \(path)` names it)")
  }

  /// The end of the last whole record of a recording, and the bytes of the stream in it.
  private static func scan(_ file: OutputFile) throws -> (whole: UInt64, stream: UInt64) {
    var reader = RecordingReader()
    var buffer = [UInt8](repeating: 0, count: 65_536)
    do {
      while case let count = try file.read(into: &buffer), count > 0 {
        try unsafe reader.receive(buffer.span.bytes.extracting(0..<count)) { _ in }
      }
      _ = try reader.finish { _ in }
    } catch {
      throw CommandFailure(
        exitCode: CommandFailure.cannotCreate, description: "\(file.path): is there already and \(error)")
    }
    return (reader.wholeBytes, reader.streamBytes)
  }

  private static func split(_ path: String) -> (folder: String, name: String) {
    guard let slash = path.lastIndex(of: "/") else { return (".", path) }
    return (slash == path.startIndex ? "/" : String(path[..<slash]), String(path[path.index(after: slash)...]))
  }

  private func failure(_ error: Errno) -> CommandFailure {
    if isStandardOutput {
      return CommandFailure(
        exitCode: CommandFailure.inputOutput,
        description: "standard output: \(error); check what it is written to")
    }
    return switch error {
    case .noSpace, .diskQuotaExceeded:
      CommandFailure(
        exitCode: CommandFailure.inputOutput,
        description:
          "\(path): the disk is full; what was recorded is kept. Make room, or bound the recording with --rotate and --keep"
      )
    case .fileTooLarge:
      CommandFailure(
        exitCode: CommandFailure.inputOutput,
        description: "\(path): the file is as large as it may be; what was recorded is kept. Use --rotate")
    default:
      CommandFailure(
        exitCode: CommandFailure.inputOutput, description: "\(path): \(error); what was recorded is kept")
    }
  }

  private static func failure(opening error: FileError) -> CommandFailure {
    let path = error.path
    return switch error.errno {
    case .permissionDenied, .notPermitted:
      CommandFailure(
        exitCode: CommandFailure.noPermission,
        description: "\(path): no permission to write it; choose a folder of yours")
    case .noSuchFileOrDirectory:
      CommandFailure(
        exitCode: CommandFailure.cannotCreate, description: "\(path): its folder is not there; make it first")
    case .noSpace, .diskQuotaExceeded:
      CommandFailure(exitCode: CommandFailure.inputOutput, description: "\(path): the disk is full; make room")
    default:
      CommandFailure(
        exitCode: CommandFailure.cannotCreate, description: error.description)
    }
  }
}

/// Brings a file to the disk in a thread of its own: a memory card may take a second, and a line has bytes meanwhile.
private final class DiskSync: Sendable {
  private struct State {
    var isRunning = false
    var failure: Errno?
  }
  private let state = Mutex(State())

  /// The error of a sync that failed.
  var failure: Errno? { state.withLock { $0.failure } }

  /// False when the last one still runs.
  func start(_ file: OutputFile) -> Bool {
    let mayStart = state.withLock { state in
      if state.isRunning { return false }
      state.isRunning = true
      return true
    }
    guard mayStart else { return false }
    let isStarted = BackgroundWork.start { [self] in
      var failure: Errno?
      do throws(FileError) { try file.sync() } catch { failure = error.errno }
      state.withLock { state in
        state.isRunning = false
        if let failure { state.failure = failure }
      }
    }
    if isStarted { return true }
    // Without a thread it is done here.
    try? file.sync()
    state.withLock { $0.isRunning = false }
    return true
  }
}
