/// The process's surroundings: its terminal, its clock, its environment. Calls of the C library with pointers to values
/// on the stack, which is the reason for `unsafe`.
import CClock
import Glibc
import ReceiverRuntime
import ReceiverStream

/// Whether standard output is a terminal that people look at.
func isTerminal() -> Bool { isatty(STDOUT_FILENO) == 1 }

/// Whether standard error is one.
func standardErrorIsTerminal() -> Bool { isatty(STDERR_FILENO) == 1 }

/// Whether someone can answer a question, and sees it.
func isInputTerminal() -> Bool { isatty(STDIN_FILENO) == 1 && standardErrorIsTerminal() }

/// Whether standard output is a terminal that can be drawn on, and not only written to.
func isScreen() -> Bool { isTerminal() && placesCursor(environment("TERM")) }

/// Whether a line on standard error can be written over.
func showsProgress() -> Bool { standardErrorIsTerminal() && placesCursor(environment("TERM")) }

/// Whether a terminal of this kind (TERM) understands where to put the cursor: `dumb` and one without a name do not.
func placesCursor(_ kind: String?) -> Bool { kind.map { !["", "dumb", "unknown"].contains($0) } ?? false }

/// Columns and rows of the terminal; 80 by 24 where it does not say.
func terminalSize() -> (columns: Int, rows: Int) {
  var size = winsize()
  guard unsafe ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
    return (80, 24)
  }
  return (Int(size.ws_col), Int(size.ws_row))
}

/// What the system knows this process by.
func processID() -> Int32 { getpid() }

/// A variable of the environment.
func environment(_ name: String) -> String? {
  guard let value = unsafe getenv(name) else { return nil }
  return unsafe String(cString: value)
}

/// Seconds since 1970, by the computer's clock.
func secondsSince1970() -> Int64 { nanosecondsSince1970() / 1_000_000_000 }

/// Nanoseconds since 1970, by the computer's clock.
func nanosecondsSince1970() -> Int64 {
  var now = timespec()
  unsafe clock_gettime(CLOCK_REALTIME, &now)
  return Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec)
}

/// The computer's time if its clock is set: boards without a battery begin in 1970 or at the day of their image.
func systemTime() -> UTCTime? {
  let seconds = secondsSince1970()
  // 2026-01-01: this program did not exist before.
  return seconds < 1_767_225_600 ? nil : UTCTime(nanosecondsSince1970: seconds * 1_000_000_000)
}

/// How right the computer's clock is, in seconds; nil when nothing keeps it right (no NTP), or it is not set.
func clockAccuracySeconds() -> Double? {
  guard systemTime() != nil else { return nil }
  let microseconds = sextant_clock_error_microseconds()
  return microseconds < 0 ? nil : Double(microseconds) / 1e6
}

/// The folder where state is kept from one run to the next; nil when there is no place for it.
func stateFolder() -> String? { StateFolder.path(isRoot: geteuid() == 0, environment) }

/// The folder that this program's file is in.
func folderOfProgram() throws -> String {
  var buffer = [UInt8](repeating: 0, count: 4096)
  let count = unsafe buffer.withUnsafeMutableBytes { bytes in
    unsafe readlink("/proc/self/exe", bytes.baseAddress!.assumingMemoryBound(to: CChar.self), bytes.count)
  }
  let path = String(decoding: buffer.prefix(max(count, 0)), as: UTF8.self)
  guard let slash = path.lastIndex(of: "/") else {
    throw CommandFailure(
      exitCode: CommandFailure.unavailable, description: "/proc/self/exe: \(message(errno)); mount /proc")
  }
  return String(path[..<slash])
}

/// Replaces the program of this process; execv(3). Returns why it cannot be run, or nil if there is no such file.
func becomeProgram(_ path: String, _ arguments: [String]) -> String? {
  var pointers = unsafe ([path] + arguments).map { unsafe strdup($0) }
  unsafe pointers.append(nil)
  unsafe execv(path, pointers)
  let code = errno
  unsafe pointers.forEach { unsafe free($0) }
  return code == ENOENT || code == ENOTDIR ? nil : "\(path): \(message(code))"
}
