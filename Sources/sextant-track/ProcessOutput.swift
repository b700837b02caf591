// SPDX-License-Identifier: Apache-2.0

/// The environment, signals and output of the process, through calls of the C library. `unsafe` because they take
/// pointers, to strings that are valid during the call.
import Glibc
import LinuxIO
import SerialPort
import SystemPackage

/// Sets a variable for the location service of this process.
func setVariable(_ name: String, _ value: String, replacing: Bool = true) {
  unsafe setenv(name, value, replacing ? 1 : 0)
}

/// Writes a human-readable line to standard error. Control characters are escaped. Write errors are ignored.
func printNotice(_ text: String) {
  let line = Array("sextant: \(PrintedText.escaped(text))\n".utf8)
  _ = unsafe line.withUnsafeBytes { unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
}

/// The signals that request an orderly end. SIGHUP is excluded if it was ignored from the start, as under nohup(1).
let signalsToEnd: [Int32] = {
  var action = sigaction()
  // SIG_IGN is the number 1 as a function pointer, which Swift cannot compare.
  guard unsafe sigaction(SIGHUP, nil, &action) == 0 else { return [SIGINT, SIGTERM] }
  let ignoresHangUp = unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1
  return ignoresHangUp ? [SIGINT, SIGTERM] : [SIGINT, SIGTERM, SIGHUP]
}()

/// Both ends of a pipe that becomes readable when termination is requested, for a waiting writer; −1, which is ignored,
/// if the system has no descriptor free.
private let endings: (reading: Int32, writing: Int32) = {
  var ends: [Int32] = [-1, -1]
  _ = unsafe pipe(&ends)
  for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
  return (ends[0], ends[1])
}()

/// Requests the end of the program: a writer no longer waits for a reader that has stopped. Callable from any thread.
func requestEnd() {
  var mark: UInt8 = 1
  // The few requests never fill the pipe.
  _ = unsafe write(endings.writing, &mark, 1)
}

/// The result of a write.
enum Writing {
  case done
  /// The reader has closed the pipe, or does not read and termination was requested.
  case unread
  /// The system's reason.
  case failed(String)
}

/// Writes to standard output.
func writeOut(_ bytes: RawSpan) -> Writing {
  var written = 0
  while written < bytes.byteCount {
    guard OutputRoom.isThere(STDOUT_FILENO) || OutputRoom.wait(STDOUT_FILENO, ending: endings.reading) else {
      return .unread
    }
    let count = unsafe bytes.withUnsafeBytes { source in
      unsafe write(STDOUT_FILENO, source.baseAddress! + written, min(source.count - written, OutputRoom.least))
    }
    if count < 0, errno != EINTR { return errno == EPIPE ? .unread : .failed(Errno(rawValue: errno).description) }
    written += max(count, 0)
  }
  return .done
}
