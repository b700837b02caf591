// SPDX-License-Identifier: Apache-2.0

/// The file of a recording: opened, continued, synced and rotated.
import LinuxIO
import Receiver
import ReceiverRuntime
import SerialPort
import Synchronization
import SystemPackage

struct RecordingFile: ~Copyable {
  /// The content before this run: bytes of the stream, and bytes of an incomplete record that was removed.
  let found: (streamBytes: UInt64, torn: UInt64)?

  private let path: String
  private var file: OutputFile
  private let isStandardOutput: Bool
  private var names: RecordingNames?
  /// The offset of the end of the last complete record.
  private(set) var length: UInt64
  private let sync = DiskSync()

  /// - Parameters:
  ///   - path: `-` for standard output.
  ///   - isRaw: whether plain bytes are written. An existing file is not changed then.
  ///   - rotates: whether `rotate` will be called.
  ///   - keep: the number of finished files to keep.
  init(path: String, isRaw: Bool, rotates: Bool, keep: Int?) throws {
    // Operations that can fail come first: a value that owns a descriptor must not be left half initialised.
    let isStandardOutput = path == "-"
    let file = try isStandardOutput ? OutputFile.standardOutput() : Self.open(path)
    var length: UInt64 = 0
    var found: (streamBytes: UInt64, torn: UInt64)?
    var names: RecordingNames?
    if !isStandardOutput {
      let size = try file.isRegular ? file.size() : 0
      guard size == 0 || !isRaw else {
        throw CommandFailure(.cannotCreate, "\(path): the file exists; choose another name")
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
    // If the device could not be opened, no empty file is left. A file that existed before stays.
    if length == 0 { file.removeIfNew() }
    if !isStandardOutput { file.unlock() }
  }

  /// Writes all bytes. After an error, such as a full disk, the file is cut at its previous end.
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

  /// Starts to sync the file in the background. Returns false while an earlier sync runs.
  mutating func startSync() throws -> Bool {
    if isStandardOutput || !file.isRegular { return true }
    if let error = sync.failure { throw failure(error) }
    return sync.start(file)
  }

  /// Finishes the file: renames it to its number, and begins a new one.
  mutating func rotate() throws {
    guard var names else { return }
    // The sync precedes the renaming, so that a finished file is complete.
    try? file.sync()
    let number = names.finish()
    do throws(FileError) { try OutputFile.rename(path, to: "\(path).\(number)") } catch { throw failure(error.errno) }
    file = try Self.open(path)
    length = 0
    for old in names.surplus() { UserFile.remove("\(path).\(old)") }
    self.names = names
    OutputFile.syncName(of: path)
  }

  /// Syncs the file at the end.
  mutating func finish() throws {
    if isStandardOutput || !file.isRegular { return }
    do throws(FileError) { try file.sync() } catch { throw failure(error.errno) }
  }

  /// Opens a file and locks it exclusively: two recorders would mix their records.
  private static func open(_ path: String) throws -> OutputFile {
    let file: OutputFile
    do throws(FileError) { file = try OutputFile(path) } catch { throw failure(opening: error) }
    if file.lock() { return file }
    throw CommandFailure(
      .held,
      "\(path): another program records into this file; choose another name (`fuser -v \(path)` names the program)")
  }

  /// Returns the end of the last complete record of a recording, and the number of bytes of the stream.
  private static func scan(_ file: OutputFile) throws -> (whole: UInt64, stream: UInt64) {
    var reader = RecordingReader()
    var buffer = [UInt8](repeating: 0, count: 65_536)
    do {
      while case let count = try file.read(into: &buffer), count > 0 {
        try unsafe reader.receive(buffer.span.bytes.extracting(0..<count)) { _ in }
      }
      _ = try reader.finish { _ in }
    } catch {
      throw CommandFailure(.cannotCreate, "\(file.path): the file exists and \(error)")
    }
    return (reader.wholeBytes, reader.streamBytes)
  }

  private static func split(_ path: String) -> (folder: String, name: String) {
    guard let slash = path.lastIndex(of: "/") else { return (".", path) }
    return (slash == path.startIndex ? "/" : String(path[..<slash]), String(path[path.index(after: slash)...]))
  }

  private func failure(_ error: Errno) -> CommandFailure {
    if isStandardOutput {
      return CommandFailure(.inputOutput, "standard output: \(error); check its destination")
    }
    let text =
      switch error {
      case .noSpace, .diskQuotaExceeded:
        "the disk is full; the recording until now is kept. Free space, or limit the recording with --rotate and --keep"
      case .fileTooLarge: "the file has its maximum size; the recording until now is kept. Use --rotate"
      default: "\(error); the recording until now is kept"
      }
    return CommandFailure(.inputOutput, "\(path): \(text)")
  }

  private static func failure(opening error: FileError) -> CommandFailure {
    let path = error.path
    return switch error.errno {
    case .permissionDenied, .notPermitted:
      CommandFailure(.noPermission, "\(path): no permission to write it; choose a folder of yours")
    case .noSuchFileOrDirectory:
      CommandFailure(.cannotCreate, "\(path): its folder does not exist; create it first")
    case .noSpace, .diskQuotaExceeded:
      CommandFailure(.inputOutput, "\(path): the disk is full; free space")
    default:
      CommandFailure(.cannotCreate, error.description)
    }
  }
}

/// Syncs a file in a thread: a memory card may take a second, and bytes arrive meanwhile.
private final class DiskSync: Sendable {
  private struct State {
    var isRunning = false
    var failure: Errno?
  }
  private let state = Mutex(State())

  /// The error of a failed sync.
  var failure: Errno? { state.withLock { $0.failure } }

  /// Starts a sync. Returns false while the last one runs.
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
    // If no thread can be started, the sync runs here.
    try? file.sync()
    state.withLock { $0.isRunning = false }
    return true
  }
}
