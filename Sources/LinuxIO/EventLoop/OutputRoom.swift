// SPDX-License-Identifier: Apache-2.0

/// Waiting for space on an output. Its reader may pause, such as a pager at its first page or a stopped terminal. A
/// write would then block, and a request to end is only handled between writes.
///
/// `unsafe` because the functions of the C library take pointers, each to a local variable of the caller.
import CLinux
import Glibc

/// Space for bytes on an output descriptor; poll(2).
public enum OutputRoom {
  /// The number of bytes that a writable pipe takes without blocking; pipe(7), PIPE_BUF.
  public static let least = 4096
  /// The time limit for a reader after a request to end.
  private static var timeoutMilliseconds: Int32 { 1000 }

  /// Whether a write does not block: there is space, or an error that the write returns.
  ///
  /// - Parameter descriptor: the output.
  public static func isThere(_ descriptor: Int32) -> Bool { isThere(descriptor, within: 0) }

  /// Waits until a write does not block. Returns false if it would still block one second after the request to end.
  ///
  /// - Parameters:
  ///   - descriptor: the output.
  ///   - ending: a descriptor that is readable after the request to end; negative if there is none.
  public static func wait(_ descriptor: Int32, ending: Int32) -> Bool {
    var either = [
      pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0), pollfd(fd: ending, events: Int16(POLLIN), revents: 0),
    ]
    while unsafe poll(&either, 2, -1) < 0, errno == EINTR {}
    return either[0].revents != 0 || isThere(descriptor, within: timeoutMilliseconds)
  }

  private static func isThere(_ descriptor: Int32, within milliseconds: Int32) -> Bool {
    var output = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    while true {
      let ready = unsafe poll(&output, 1, milliseconds)
      if ready >= 0 || errno != EINTR { return ready > 0 }
    }
  }
}

/// A descriptor that is readable when a signal for the `Poller` of this thread is pending, for code that waits for
/// something else meanwhile; signalfd(2).
public struct WaitingSignals: ~Copyable {
  /// The descriptor for poll(2), or −1, which poll(2) ignores.
  public let descriptor: Int32

  /// - Parameter signals: the signals; only those that the calling thread has blocked are reported.
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

  /// Removes the pending signals, so that the poller does not report them.
  public func take() { while Syscalls.nextSignal(descriptor) != nil {} }

  deinit { if descriptor >= 0 { close(descriptor) } }
}
