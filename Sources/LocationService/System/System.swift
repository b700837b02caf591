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

  /// Whether there is a file that may be run; access(2).
  static func isExecutable(_ path: String) -> Bool { unsafe access(path, X_OK) == 0 }

  /// The file of this program; readlink(2).
  static var pathOfProgram: String? {
    var bytes = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = unsafe bytes.withUnsafeMutableBytes { buffer in
      unsafe readlink("/proc/self/exe", buffer.baseAddress!.assumingMemoryBound(to: CChar.self), buffer.count)
    }
    return count > 0 ? String(decoding: bytes[..<count], as: UTF8.self) : nil
  }

  static var isRoot: Bool { geteuid() == 0 }
  static var processID: Int32 { getpid() }

  /// A line on standard error.
  static func log(_ text: String) {
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
  static func read(_ path: String) -> String? { (try? contents(path)) ?? nil }

  /// A whole file; nil when there is none.
  ///
  /// - Throws: what the system says of one that cannot be read.
  static func contents(_ path: String) throws(StateFolderError) -> String? {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      if errno == ENOENT || errno == ENOTDIR { return nil }
      throw StateFolderError(path, errno)
    }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = unsafe piece.withUnsafeMutableBytes { unsafe Glibc.read(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      if count < 0 { throw StateFolderError(path, errno) }
      if count == 0 { return String(decoding: bytes, as: UTF8.self) }
      bytes += piece[..<count]
    }
  }

  /// Which file a path is now, and when it was written: another value, another content.
  struct FileMark: Hashable, Sendable {
    var inode: UInt64
    var seconds: Int
    var nanoseconds: Int
  }

  /// stat(2); nil when there is no such file.
  static func mark(_ path: String) -> FileMark? {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { return nil }
    return FileMark(
      inode: UInt64(status.st_ino), seconds: status.st_mtim.tv_sec, nanoseconds: status.st_mtim.tv_nsec)
  }

  /// Removes a folder in which there is nothing.
  static func removeIfEmpty(_ folder: String) { _ = unsafe rmdir(folder) }

  /// What a replaced file has to outlive.
  enum Durability {
    /// A loss of power.
    case durably
    /// A loss of power; and every user may read it.
    case forEverybody
    /// The process: it is not brought to a disk.
    case forThisRun
  }

  /// Replaces a file in one step: whoever reads it sees the old one or the new one, if it is so wished after a loss of power
  /// as well.
  ///
  /// - Throws: what the system says of it.
  static func replace(_ path: String, with text: String, _ durability: Durability) throws(StateFolderError) {
    let folder = path.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
    let withoutFolder = makeFolder(folder, durability == .forEverybody ? 0o755 : 0o700)
    // Other programs write the same file under names of their own.
    let temporary = "\(path).\(getpid())"
    let mode: mode_t = durability == .forEverybody ? 0o644 : 0o600
    let descriptor = unsafe open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, mode)
    // That there is no folder follows from what kept it from being made.
    guard descriptor >= 0 else { throw StateFolderError(path, errno == ENOENT ? withoutFolder ?? ENOENT : errno) }
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
    if durability != .forThisRun, fsync(descriptor) != 0 { return try fail(descriptor, temporary) }
    if geteuid() == 0 { giveToOwner(of: folder, descriptor) }
    guard unsafe rename(temporary, path) == 0 else { return try fail(descriptor, temporary) }
    close(descriptor)
    // The new name is in the folder, which is a file as well.
    if durability != .forThisRun { sync(folder) }
  }

  private static func sync(_ folder: String) {
    let descriptor = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    fsync(descriptor)
    close(descriptor)
  }

  /// What the system's administrator writes into a user's folder the user's programs have to read.
  private static func giveToOwner(of folder: String, _ descriptor: Int32) {
    var status = stat()
    if unsafe stat(folder, &status) == 0 { _ = fchown(descriptor, status.st_uid, status.st_gid) }
  }

  private static func fail(_ descriptor: Int32, _ path: String) throws(StateFolderError) {
    let error = StateFolderError(path, errno)
    close(descriptor)
    unsafe unlink(path)
    throw error
  }

  /// With the folders above it; what is there already is left as it is. The errno of what cannot be made, which shows when it is
  /// written to.
  @discardableResult
  private static func makeFolder(_ path: String, _ mode: mode_t) -> Int32? {
    if unsafe path.isEmpty || access(path, F_OK) == 0 { return nil }
    let parent = path.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
    if let above = makeFolder(parent, mode) { return above }
    guard unsafe mkdir(path, mode) == 0 else { return errno }
    let descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    if descriptor >= 0 {
      if geteuid() == 0 { giveToOwner(of: parent.isEmpty ? "/" : parent, descriptor) }
      close(descriptor)
    }
    sync(parent.isEmpty ? "/" : parent)
    return nil
  }

  /// Whether there is such a process.
  static func isAlive(_ process: Int32) -> Bool { kill(process, 0) == 0 || errno == EPERM }

  /// Removes a file; one that does not exist is removed already.
  ///
  /// - Throws: what the system says of it.
  static func remove(_ path: String) throws(StateFolderError) {
    guard unsafe unlink(path) != 0, errno != ENOENT, errno != ENOTDIR else { return }
    throw StateFolderError(path, errno)
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

/// A file of the state folder cannot be read or written.
public struct StateFolderError: Error, CustomStringConvertible {
  public var path: String
  /// What the system says of it.
  public var reason: String
  /// Whether it is a matter of permission.
  public var isForbidden: Bool

  init(_ path: String, _ code: Int32) {
    self.path = path
    reason = if let text = unsafe strerror(code) { unsafe String(cString: text) } else { "error \(code)" }
    isForbidden = code == EACCES || code == EPERM || code == EROFS
  }

  public var description: String {
    "\(path): \(reason); what was learnt is forgotten at the end (name a folder that can be written with SEXTANT_STATE_DIR)"
  }
}
