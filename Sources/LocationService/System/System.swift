/// What the service asks of the C library: files, clocks, the terminal, the end of the process.
///
/// The one place of the module that calls it; its calls take pointers, which is the reason for `unsafe`. Each pointer is to
/// memory that a value in this file owns, and none leaves the call.
import Glibc
import MonotonicTime
import Positioning
import ReceiverStream
import SerialPort

enum System {
  /// A variable of the environment.
  static func variable(_ name: String) -> String? {
    guard let value = unsafe getenv(name) else { return nil }
    return unsafe String(cString: value)
  }

  /// Whether there is such a file or folder; access(2).
  static func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

  static var isRoot: Bool { geteuid() == 0 }
  static var processID: Int32 { getpid() }

  /// A line on standard error.
  static func say(_ text: String) {
    let line = Array("sextant: \(text)\n".utf8)
    _ = unsafe line.withUnsafeBytes { unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
  }

  // MARK: Time

  /// Now, on both clocks.
  static func now() -> Moment {
    var time = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &time)
    return Moment(
      Instant(nanoseconds: MonotonicClock.now()),
      utc: UTCTime(nanosecondsSince1970: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)))
  }

  /// The computer's time if its clock is set: boards without a battery begin in 1970 or at the day of their image.
  static func referenceTime() -> UTCTime? {
    let now = now().utc
    // 2026-01-01: this program did not exist before.
    return now.nanosecondsSince1970 < 1_767_225_600_000_000_000 ? nil : now
  }

  // MARK: Files

  /// A whole file; nil when there is none that can be read.
  static func read(_ path: String) -> String? {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    return readToEnd(descriptor)
  }

  private static func readToEnd(_ descriptor: Int32) -> String? {
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = unsafe piece.withUnsafeMutableBytes { unsafe Glibc.read(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      if count < 0 { return nil }
      if count == 0 { return String(decoding: bytes, as: UTF8.self) }
      bytes += piece[..<count]
    }
  }

  /// Replaces a file in one step: whoever reads it, also after a loss of power, sees the old one or the new one.
  ///
  /// - Throws: what the system says of it.
  static func replace(_ path: String, with text: String) throws(StateFolderError) {
    let folder = path.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
    makeFolder(folder)
    // Other programs write the same file under names of their own.
    let temporary = "\(path).\(getpid())"
    let descriptor = unsafe open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw StateFolderError(path: temporary, reason: reason(errno)) }
    let bytes = Array(text.utf8)
    var written = 0
    while written < bytes.count {
      let count = unsafe bytes.withUnsafeBytes {
        unsafe Glibc.write(descriptor, $0.baseAddress! + written, $0.count - written)
      }
      if count < 0, errno == EINTR { continue }
      if count < 0 { return try fail(descriptor, temporary) }
      written += count
    }
    guard fsync(descriptor) == 0 else { return try fail(descriptor, temporary) }
    close(descriptor)
    guard unsafe rename(temporary, path) == 0 else { throw StateFolderError(path: path, reason: reason(errno)) }
    // The new name is in the folder, which is a file as well.
    let parent = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    if parent >= 0 {
      fsync(parent)
      close(parent)
    }
  }

  private static func fail(_ descriptor: Int32, _ path: String) throws(StateFolderError) {
    let error = StateFolderError(path: path, reason: reason(errno))
    close(descriptor)
    unsafe unlink(path)
    throw error
  }

  /// With the folders above it; what is there already is left as it is, what cannot be made shows when it is written to.
  private static func makeFolder(_ path: String) {
    if unsafe path.isEmpty || access(path, F_OK) == 0 { return }
    makeFolder(path.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/"))
    unsafe mkdir(path, 0o700)
  }

  private static func reason(_ code: Int32) -> String {
    guard let text = unsafe strerror(code) else { return "error \(code)" }
    return unsafe String(cString: text)
  }

  // MARK: The terminal

  /// Whether the process is in the foreground of its controlling terminal.
  static func isInForeground() -> Bool {
    let terminal = unsafe open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC)
    guard terminal >= 0 else { return false }
    defer { close(terminal) }
    return tcgetpgrp(terminal) == getpgrp()
  }

  /// Puts a question on the controlling terminal and waits for a line; nil when there is nobody to ask.
  static func ask(_ question: String) -> String? {
    let terminal = unsafe open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)
    guard terminal >= 0 else { return nil }
    defer { close(terminal) }
    let bytes = Array(question.utf8)
    guard unsafe bytes.withUnsafeBytes({ unsafe write(terminal, $0.baseAddress, $0.count) }) == bytes.count else {
      return nil
    }
    var line: [UInt8] = []
    while true {
      var byte: UInt8 = 0
      let count = unsafe Glibc.read(terminal, &byte, 1)
      if count < 0, errno == EINTR { continue }
      guard count == 1 else { return nil }
      if byte == 0x0A { return String(decoding: line, as: UTF8.self) }
      line.append(byte)
    }
  }

  // MARK: Threads and the end

  /// Signals are the program's own: none is to strike in the calling thread.
  static func leaveSignalsToOthers() {
    var all = sigset_t()
    unsafe sigfillset(&all)
    unsafe pthread_sigmask(SIG_BLOCK, &all, nil)
  }

  /// Has something done when the program ends by `exit`.
  static func atEnd(_ body: @convention(c) () -> Void) { atexit(body) }
}

/// What is to be kept cannot be.
struct StateFolderError: Error, CustomStringConvertible {
  var path: String
  var reason: String

  var description: String {
    "\(path): \(reason); what was learnt is forgotten at the end (name a folder that can be written with SEXTANT_STATE_DIR)"
  }
}
