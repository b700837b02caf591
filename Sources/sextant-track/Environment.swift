/// The process's surroundings, by calls of the C library. Their pointers are to strings that live as long as the call, which
/// is the reason for `unsafe`.
import Glibc
import SerialPort
import SystemPackage

/// Sets a variable for the location service of this process.
func setVariable(_ name: String, _ value: String, replacing: Bool = true) {
  unsafe setenv(name, value, replacing ? 1 : 0)
}

/// Leaves signals to the run loop's sources, and takes a reader that has gone for an error of writing.
func leaveSignalsToSources() {
  for number in signalsToEnd + [SIGPIPE] { signal(number, SIG_IGN) }
}

/// The signals that ask for an orderly end. The loss of the terminal is none where it was ignored from the start, as under
/// nohup(1).
let signalsToEnd: [Int32] = {
  var action = sigaction()
  // SIG_IGN is the number 1 in the place of a function, which Swift cannot compare as such.
  guard unsafe sigaction(SIGHUP, nil, &action) == 0 else { return [SIGINT, SIGTERM] }
  let ignoresHangUp = unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1
  return ignoresHangUp ? [SIGINT, SIGTERM] : [SIGINT, SIGTERM, SIGHUP]
}()

/// Both ends of a pipe that can be read once the program was asked to end, for a writer that waits. Without room for it, −1,
/// which is passed over.
private let endings: (reading: Int32, writing: Int32) = {
  var ends: [Int32] = [-1, -1]
  _ = unsafe pipe(&ends)
  for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
  return (ends[0], ends[1])
}()

/// The program is asked to end: a writer waits no longer for a reader that stands still. From any thread.
func endIsAskedFor() {
  var mark: UInt8 = 1
  // Nobody asks so often that it is full.
  _ = unsafe write(endings.writing, &mark, 1)
}

/// What comes of writing.
enum Writing {
  case done
  /// Nobody reads there any more, or nobody does and the program was asked to end.
  case unread
  /// With the system's reason.
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
