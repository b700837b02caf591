// SPDX-License-Identifier: Apache-2.0

/// The terminal and environment of the process. The functions of the C library take pointers to local values, which is
/// the reason for `unsafe`.
import Glibc
import LinuxIO
import MonotonicTime
import ReceiverRuntime
import ReceiverStream
import SystemPackage

/// Whether standard output is a terminal.
func isTerminal() -> Bool { isatty(STDOUT_FILENO) == 1 }

/// Whether standard error is a terminal.
func standardErrorIsTerminal() -> Bool { isatty(STDERR_FILENO) == 1 }

/// Whether standard input is a terminal.
func isInputATerminal() -> Bool { isatty(STDIN_FILENO) == 1 }

/// Whether the user can see and answer a question.
func isInputTerminal() -> Bool { isInputATerminal() && standardErrorIsTerminal() }

/// Whether standard output is a terminal with cursor control.
func isScreen() -> Bool { isTerminal() && placesCursor(environment("TERM")) }

/// Whether standard error is a terminal with cursor control, so that a line can be overwritten.
func showsProgress() -> Bool { standardErrorIsTerminal() && placesCursor(environment("TERM")) }

/// Whether a kind of terminal (TERM) has cursor control: `dumb` and one without a name do not.
func placesCursor(_ kind: String?) -> Bool { kind.map { !["", "dumb", "unknown"].contains($0) } ?? false }

/// Columns and rows of the terminal; 80 by 24 if it does not report them.
func terminalSize() -> (columns: Int, rows: Int) {
  var size = winsize()
  guard unsafe ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
    return (80, 24)
  }
  return (Int(size.ws_col), Int(size.ws_row))
}

/// The process id.
func processID() -> Int32 { getpid() }

/// A variable of the environment.
func environment(_ name: String) -> String? {
  guard let value = unsafe getenv(name) else { return nil }
  return unsafe String(cString: value)
}

/// Seconds since 1970, by the computer's clock.
func secondsSince1970() -> Int64 { SystemClock.utcNanoseconds / 1_000_000_000 }

/// The time of the computer if its clock is set: the clock of boards without a battery starts in 1970 or at the day of
/// their image.
func systemTime() -> UTCTime? {
  SystemClock.isSet ? UTCTime(nanosecondsSince1970: secondsSince1970() * 1_000_000_000) : nil
}

/// The accuracy of the computer's clock, in seconds; nil if it is not synchronised (no NTP) or not set.
func clockAccuracySeconds() -> Double? { SystemClock.isSet ? SystemClock.utcErrorSeconds : nil }

/// The state folder; nil if there is no place for it.
func stateFolder() -> String? { StateFolder.path(isRoot: geteuid() == 0, environment) }

/// The folder of this program's file.
func folderOfProgram() throws -> String {
  let program = "/proc/self/exe"
  do throws(Errno) {
    let path = try Syscalls.target(ofLink: program)
    return String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
  } catch {
    throw CommandFailure(.unavailable, "\(program): \(error); mount /proc")
  }
}

/// Replaces the program of this process; execv(3). Returns why it cannot be run, or nil if there is no such file.
func becomeProgram(_ path: String, _ arguments: [String]) -> String? {
  var pointers = unsafe ([path] + arguments).map { unsafe strdup($0) }
  unsafe pointers.append(nil)
  unsafe execv(path, pointers)
  let error = Errno(rawValue: errno)
  unsafe pointers.forEach { unsafe free($0) }
  return error == .noSuchFileOrDirectory || error == .notDirectory ? nil : "\(path): \(error)"
}
