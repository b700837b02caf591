// SPDX-License-Identifier: Apache-2.0

/// The command line's standard output and error, and its failures at files.
///
/// The calls of the C library take pointers, which is the reason for
/// `unsafe` here. Each pointer is to memory that a value in this file owns, and none leaves the call.
import Glibc
import LinuxIO
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

/// A folder that this user alone can enter, removed with the value; mkdtemp(3).
final class PrivateTemporaryFolder {
  let path: String

  convenience init() throws {
    try self.init(in: environment("TMPDIR").flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "/tmp")
  }

  /// Makes the folder in a folder of this user: another owner could replace it.
  convenience init(inOwn parent: String) throws {
    guard parent.hasPrefix("/"), let status = try? Syscalls.status(ofPath: parent), status.owner == geteuid() else {
      throw CommandFailure(.cannotCreate, "\(parent): is not a folder of this user; correct XDG_RUNTIME_DIR")
    }
    try self.init(in: parent)
  }

  private init(in parent: String) throws {
    var characters = Array("\(parent)/sextant-XXXXXX".utf8CString)
    guard unsafe characters.withUnsafeMutableBufferPointer({ unsafe mkdtemp($0.baseAddress!) }) != nil else {
      throw CommandFailure(.cannotCreate, "\(parent): \(Errno(rawValue: errno)); name another folder with TMPDIR")
    }
    path = String(decoding: characters.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  // Only an empty folder is removed.
  deinit { _ = unsafe rmdir(path) }
}

/// All bytes of a file; `-` is standard input.
func readAll(_ path: String) throws -> [UInt8] {
  do throws(FileError) { return try InputFile.readAll(path) } catch { throw CommandFailure(reading: error) }
}

/// The reader of the standard output has ended, as `head` does: the command ends in order and without an error.
struct ReaderGone: Error {}

/// Standard output, and files that a command writes.
enum Output {
  /// Whether output stopped because its reader did not read for too long.
  private static let isGivenUp = Atomic(false)

  /// Waits until standard output accepts bytes. Throws if its reader does not read and a signal requests the end.
  static func waitForRoom() throws {
    if OutputRoom.isThere(STDOUT_FILENO) { return }
    if isGivenUp.load(ordering: .relaxed) { throw ReaderGone() }
    let signals = WaitingSignals([.interrupt, .terminate, .hangUp])
    if OutputRoom.wait(STDOUT_FILENO, ending: signals.descriptor) { return }
    isGivenUp.store(true, ordering: .relaxed)
    // The signals are handled by that; a later one is a second request.
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

  /// Writes lines of text. Other control characters are escaped.
  static func write(_ text: String) throws {
    let characters = Array(PrintedText.escaped(text, keepsLines: true).utf8)
    try unsafe write(characters.span.bytes)
  }

  static func write(_ characters: [UInt8]) throws { try unsafe write(characters.span.bytes) }

  /// The end of the standard output, if it is a file.
  static var position: OutputPosition? {
    StandardOutput.file.map { OutputPosition(device: $0.device, inode: $0.inode, size: $0.size) }
  }
}

/// Writes a line for the user to standard error. Control characters are escaped.
func printNotice(_ text: String) { printRaw("sextant: \(PrintedText.escaped(text))\n") }

/// Characters on standard error as they are.
func printRaw(_ text: String) {
  let line = Array(text.utf8)
  _ = unsafe line.withUnsafeBytes { unsafe Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
}

/// Shows the progress of long work, in place of the previous text.
func putProgress(_ text: String) { printRaw("\r\u{1B}[K\(PrintedText.escaped(text))") }

/// Removes the line of `putProgress`.
func clearProgress() { printRaw("\r\u{1B}[K") }

/// Ends the process.
func leave(with code: Int32) -> Never { exit(code) }
