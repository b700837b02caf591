/// Waiting for room on an output. Whoever reads there may stand still, as a pager that shows its first page or a terminal that
/// was stopped; a write would wait for it, and what asks a program to end is heeded between writes.
///
/// The calls of the C library take pointers, which is the reason for `unsafe` here; each is to a value of the caller's frame.
import CLinux
import FileSystem
import Glibc

/// Room for bytes on a descriptor that is written to; poll(2).
public enum OutputRoom {
  /// What a pipe takes without waiting when it is said to take something, in bytes; pipe(7), PIPE_BUF.
  public static let least = 4096
  /// How long who is asked to end waits for a reader that is only slow.
  private static var patienceMilliseconds: Int32 { 1000 }

  /// Whether a write does not wait: there is room, or an error, which the write tells.
  ///
  /// - Parameter descriptor: What is written to.
  public static func isThere(_ descriptor: Int32) -> Bool { isThere(descriptor, within: 0) }

  /// Waits until a write does not wait; false when it still does a second after the program was asked to end.
  ///
  /// - Parameters:
  ///   - descriptor: What is written to.
  ///   - ending: A descriptor that can be read from the moment on at which the program is asked to end; a negative one is
  ///     passed over.
  public static func wait(_ descriptor: Int32, ending: Int32) -> Bool {
    var either = [
      pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0), pollfd(fd: ending, events: Int16(POLLIN), revents: 0),
    ]
    while unsafe poll(&either, 2, -1) < 0, errno == EINTR {}
    return either[0].revents != 0 || isThere(descriptor, within: patienceMilliseconds)
  }

  private static func isThere(_ descriptor: Int32, within milliseconds: Int32) -> Bool {
    var output = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    while true {
      let ready = unsafe poll(&output, 1, milliseconds)
      if ready >= 0 || errno != EINTR { return ready > 0 }
    }
  }
}

/// Whether a signal has come that waits for a `Poller` of this thread to take it: a descriptor that is readable then, for who
/// has to wait for something else meanwhile; signalfd(2).
public struct WaitingSignals: ~Copyable {
  /// To be polled; −1, which poll(2) passes over, when there is none.
  public let descriptor: Int32

  /// - Parameter signals: Those that are waited for, as far as the calling thread has blocked them.
  public init(_ signals: [Poller.Signal]) {
    var blocked = sigset_t()
    var wanted = sigset_t()
    unsafe pthread_sigmask(SIG_BLOCK, nil, &blocked)
    unsafe sigemptyset(&wanted)
    for signal in signals where unsafe sigismember(&blocked, signal.number) == 1 {
      unsafe sigaddset(&wanted, signal.number)
    }
    descriptor = unsafe signalfd(-1, &wanted, Int32(SFD_NONBLOCK) | Int32(SFD_CLOEXEC))
  }

  /// Takes those that have come: the poller will not see them.
  public func take() { while Syscalls.nextSignal(descriptor) != nil {} }

  deinit { if descriptor >= 0 { close(descriptor) } }
}
