// SPDX-License-Identifier: Apache-2.0

/// The checks of a program at its start: a lack of descriptors or threads is then reported in one message, instead of
/// failing in the middle of a dialogue with a receiver.
///
/// `unsafe` because the calls of the C library take pointers to local values that are valid during the call. A thread
/// that is started here gets a descriptor in place of its pointer, and ends before the function returns.
import Glibc
import SystemPackage

package enum ProcessStart {
  /// A resource that the system does not provide.
  package enum Shortage: Error, Equatable, Sendable, CustomStringConvertible {
    /// /proc is not mounted: Swift reads the arguments of the process from it.
    case arguments
    /// Standard input, output or error are closed, and /dev/null cannot be opened in their place.
    case standardStreams(Errno)
    case descriptors(Errno, needed: Int)
    case threads(Errno, needed: Int)

    package var description: String {
      switch self {
      case .arguments: "the arguments cannot be read; mount /proc"
      case .standardStreams(let error):
        "/dev/null: \(error); open standard input, output and error before the start"
      case .descriptors(let error, let needed):
        "\(needed) more descriptors cannot be opened: \(error); raise the limit of open files (ulimit -n, LimitNOFILE= of a unit)"
      case .threads(let error, let needed):
        "\(needed) threads cannot be started: \(error); raise the limit of processes (ulimit -u, TasksMax= of a unit)"
      }
    }
  }

  /// Prepares the process. From then on a write to a closed pipe, and one beyond the limit of a file's size (RLIMIT_FSIZE in
  /// setrlimit(2)), are errors: by default their signals kill the process without a message.
  ///
  /// - Parameters:
  ///   - descriptors: the minimum number of descriptors that the program needs, in addition to the open ones.
  ///   - threads: the minimum number of threads that it needs, in addition to the calling one.
  /// - Returns: the first resource that is missing; nil if the program can start.
  package static func prepare(descriptors: Int, threads: Int = 0) -> Shortage? {
    for number in [SIGPIPE, SIGXFSZ] { signal(number, SIG_IGN) }
    if CommandLine.arguments.isEmpty { return .arguments }
    return openStandardStreams() ?? shortage(descriptors: descriptors)
      ?? (threads > 0 ? shortage(threads: threads) : nil)
  }

  /// Opens /dev/null in the place of closed standard streams (`sextant … >&-`): the next opened file would be used as the
  /// output. Writes to them fail, like writes to closed streams.
  private static func openStandardStreams() -> Shortage? {
    for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
      if unsafe open("/dev/null", O_RDONLY) < 0 { return .standardStreams(Errno(rawValue: errno)) }
    }
    return nil
  }

  private static func shortage(descriptors: Int) -> Shortage? {
    var copies: [Int32] = []
    defer { for copy in copies { close(copy) } }
    for _ in 0..<descriptors {
      do throws(Errno) { copies.append(try Syscalls.duplicate(STDIN_FILENO).release()) } catch {
        return .descriptors(error, needed: descriptors)
      }
    }
    return nil
  }

  /// Starts this number of threads, which wait until the pipe is closed.
  private static func shortage(threads: Int) -> Shortage? {
    var pipe: [Int32] = [-1, -1]
    guard makePipe(&pipe) == 0 else { return .descriptors(Errno(rawValue: errno), needed: 2) }
    var started: [pthread_t] = []
    var problem: Shortage?
    for _ in 0..<threads where problem == nil {
      var thread = pthread_t()
      let code = unsafe pthread_create(
        &thread, nil,
        { argument in
          var byte: UInt8 = 0
          let descriptor = Int32(truncatingIfNeeded: Int(bitPattern: argument))
          while unsafe read(descriptor, &byte, 1) < 0, errno == EINTR {}
          return nil
        }, UnsafeMutableRawPointer(bitPattern: Int(pipe[0])))
      if code == 0 { started.append(thread) } else { problem = .threads(Errno(rawValue: code), needed: threads) }
    }
    close(pipe[1])
    for thread in started { pthread_join(thread, nil) }
    close(pipe[0])
    return problem
  }

  /// The corresponding C function is pipe(2); both ends are closed on exec.
  private static func makePipe(_ ends: inout [Int32]) -> Int32 {
    let result = unsafe Glibc.pipe(&ends)
    if result == 0 { for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) } }
    return result
  }
}
