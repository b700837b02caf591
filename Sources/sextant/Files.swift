/// The command line's standard output and error, and its failures at files.
///
/// The calls of the C library take pointers, which is the reason for
/// `unsafe` here. Each pointer is to memory that a value in this file owns, and none leaves the call.
import EventLoop
import FileSystem
import Glibc
import Receiver
import ReceiverRuntime
import SerialPort
import Synchronization
import SystemPackage

extension CommandFailure {
  /// The failure of a command that cannot read a file that the user named.
  init(reading error: FileError) {
    switch error.errno {
    case .noSuchFileOrDirectory:
      self.init(.noInput, "\(error.path): no such file; check the name")
    case .isDirectory:
      self.init(.noInput, "\(error.path): is a directory; name a recording in it")
    case .permissionDenied, .notPermitted:
      self.init(.noPermission, "\(error.path): no permission to read it; ask its owner, or for a device join its group")
    default: self.init(.inputOutput, "\(error.path): \(error.reason)")
    }
  }
}

/// Whether there is anything under a path.
func exists(_ path: String) -> Bool { FileLookup.exists(path) }

/// A folder that this user alone can enter; mkdtemp(3).
struct PrivateTemporaryFolder {
  let path: String

  init() throws {
    let parent = environment("TMPDIR").flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "/tmp"
    var characters = Array("\(parent)/sextant-XXXXXX".utf8CString)
    guard unsafe characters.withUnsafeMutableBufferPointer({ unsafe mkdtemp($0.baseAddress!) }) != nil else {
      throw CommandFailure(.cannotCreate, "\(parent): \(Errno(rawValue: errno)); name another folder with TMPDIR")
    }
    path = String(decoding: characters.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// Removes the folder, if nothing is in it.
  func remove() { _ = unsafe rmdir(path) }
}

/// All bytes of a file; `-` is standard input.
func readAll(_ path: String) throws -> [UInt8] {
  do throws(FileError) { return try InputFile.readAll(path) } catch { throw CommandFailure(reading: error) }
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
  static func write(_ bytes: RawSpan) throws {
    try unsafe bytes.withUnsafeBytes { source in
      var written = 0
      while written < source.count {
        try waitForRoom()
        let count = unsafe Glibc.write(
          STDOUT_FILENO, source.baseAddress! + written, min(source.count - written, OutputRoom.least))
        if count >= 0 {
          written += count
          continue
        }
        switch Errno(rawValue: errno) {
        case .brokenPipe: throw ReaderGone()
        case .interrupted: continue
        case let error:
          throw CommandFailure(
            error == .ioError ? .inputOutput : .cannotCreate, "standard output: \(error)")
        }
      }
    }
  }

  static func write(_ text: String) throws {
    let characters = Array(text.utf8)
    try unsafe write(characters.span.bytes)
  }

  static func write(_ characters: [UInt8]) throws { try unsafe write(characters.span.bytes) }

  /// Where the standard output ends, if it is a file.
  static var place: PrintedPlace? {
    StandardOutput.file.map { PrintedPlace(device: $0.device, inode: $0.inode, size: $0.size) }
  }

  /// Writes a file anew.
  static func write(_ text: String, to path: String) throws { try UserFile.replace(path, with: text) }
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
