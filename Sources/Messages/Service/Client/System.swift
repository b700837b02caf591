// SPDX-License-Identifier: Apache-2.0

/// The calls of the C library that the service and its clients need: the environment, the terminal, the end of the process.
///
/// `unsafe` because the calls take pointers. Each pointer refers to memory that a value in this file owns, and does not
/// escape the call.
import Glibc
import LinuxIO
import MonotonicTime
import Positioning
import ReceiverStream

package enum System {
  /// Returns an environment variable.
  package static func variable(_ name: String) -> String? {
    guard let value = unsafe getenv(name) else { return nil }
    return unsafe String(cString: value)
  }

  /// Whether there is an executable file; access(2).
  package static func isExecutable(_ path: String) -> Bool { unsafe access(path, X_OK) == 0 }

  package static var isRoot: Bool { geteuid() == 0 }
  package static var processID: Int32 { getpid() }

  /// Writes a line to standard error. Control characters are escaped.
  package static func log(_ text: String) {
    let line = Array("sextant: \(PrintedText.escaped(text))\n".utf8)
    _ = unsafe line.withUnsafeBytes { unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
  }

  /// The log of a program that uses Core Location: standard error, and nothing for SEXTANT_QUIET=1.
  package static let programLog: @Sendable (String) -> Void = {
    let isQuiet = variable("SEXTANT_QUIET") == "1"
    return { line in if !isQuiet { log(line) } }
  }()

  // MARK: Time

  /// Returns the time of both clocks.
  package static func now() -> Moment {
    Moment(SystemClock.monotonic, utc: UTCTime(nanosecondsSince1970: SystemClock.utcNanoseconds))
  }

  /// Returns the computer's time if its clock is set. Boards without a battery begin in 1970 or on the day of their image.
  package static func referenceTime() -> UTCTime? {
    SystemClock.isSet ? now().utc : nil
  }

  // MARK: Processes

  /// Whether there is such a process.
  package static func isAlive(_ process: Int32) -> Bool { kill(process, 0) == 0 || errno == EPERM }

  // MARK: The terminal

  /// Whether the process is in the foreground of its controlling terminal.
  package static func isInForeground() -> Bool {
    let terminal = unsafe open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC)
    guard terminal >= 0 else { return false }
    defer { close(terminal) }
    return tcgetpgrp(terminal) == getpgrp()
  }

  /// Writes a question to the controlling terminal and reads a line; nil without a terminal, and in its background, where
  /// the shell gets the input. Discards earlier input.
  package static func ask(_ question: String) -> String? {
    let terminal = unsafe open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)
    guard terminal >= 0 else { return nil }
    defer { close(terminal) }
    guard tcgetpgrp(terminal) == getpgrp() else { return nil }
    tcflush(terminal, TCIFLUSH)
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

  // MARK: The end

  /// Registers a function that is called when the program ends with `exit`.
  package static func atEnd(_ body: @convention(c) () -> Void) { atexit(body) }
}
