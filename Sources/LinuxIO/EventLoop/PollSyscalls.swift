// SPDX-License-Identifier: Apache-2.0

// The system calls of the poller. Each `unsafe` passes a pointer to memory that the call's frame owns, and no pointer
// escapes a call.
import CLinux
import Glibc
import SystemPackage

/// The descriptors that epoll_wait(2) found ready.
///
/// The list grows until it holds all of them: a caller that handles only some of several hundred ready clients per
/// round would otherwise see the others, and its receivers, only every few dozen rounds.
///
/// Safe: of the C union in an event only the 64-bit number is ever used, never the pointer.
@safe
struct ReadyList {
  fileprivate(set) var count = 0
  fileprivate var events = unsafe [epoll_event](repeating: epoll_event(), count: 8)

  /// The epoll flags and the mark of one of them.
  subscript(index: Int) -> (flags: UInt32, mark: UInt64) {
    unsafe (events[index].events, events[index].data.u64)
  }

  /// Doubles the list if it is full. It never has more than twice as many entries as there are descriptors.
  mutating func growIfFull() {
    if unsafe count == events.count { unsafe events += [epoll_event](repeating: epoll_event(), count: count) }
  }
}

extension Syscalls {
  /// epoll_create1(2).
  static func createEpoll() throws(Errno) -> OwnedDescriptor {
    OwnedDescriptor(try retryOnInterrupt { epoll_create1(Int32(EPOLL_CLOEXEC)) })
  }

  /// epoll_ctl(2); `operation` is EPOLL_CTL_ADD, EPOLL_CTL_MOD or EPOLL_CTL_DEL.
  static func control(
    epoll: Int32, _ operation: Int32, _ descriptor: Int32, events: UInt32, mark: UInt64
  ) throws(Errno) {
    var event = unsafe epoll_event(events: events, data: epoll_data_t(u64: mark))
    _ = try retryOnInterrupt { unsafe epoll_ctl(epoll, operation, descriptor, &event) }
  }

  /// epoll_wait(2): waits without limit, or not at all. An interruption returns no event, so that the caller checks its
  /// deadline again.
  static func wait(epoll: Int32, blocking: Bool, into ready: inout ReadyList) throws(Errno) {
    let limit = unsafe Int32(ready.events.count)
    let count = unsafe ready.events.withUnsafeMutableBytes { bytes in
      unsafe epoll_wait(epoll, bytes.baseAddress!.assumingMemoryBound(to: epoll_event.self), limit, blocking ? -1 : 0)
    }
    ready.count = max(0, Int(count))
    if count < 0 {
      let code = errno
      if code != EINTR { throw Errno(rawValue: code) }
    }
  }

  /// Waits without a descriptor; poll(2).
  package static func pause(milliseconds: Int32) { _ = poll(nil, 0, milliseconds) }

  /// timerfd_create(2) on CLOCK_MONOTONIC.
  static func createTimer() throws(Errno) -> OwnedDescriptor {
    OwnedDescriptor(
      try retryOnInterrupt {
        timerfd_create(CLOCK_MONOTONIC, Int32(TFD_NONBLOCK) | Int32(TFD_CLOEXEC))
      })
  }

  /// timerfd_settime(2): fires once at `deadline` on the monotonic clock, in nanoseconds; nil disarms it.
  static func arm(timer: Int32, at deadline: UInt64?) throws(Errno) {
    var setting = itimerspec()
    if let deadline {
      // Zero would disarm the timer; the first nanosecond after boot is also in the past.
      let time = max(deadline, 1)
      setting.it_value = timespec(tv_sec: Int(time / 1_000_000_000), tv_nsec: Int(time % 1_000_000_000))
    }
    _ = try retryOnInterrupt {
      unsafe timerfd_settime(timer, Int32(TFD_TIMER_ABSTIME), &setting, nil)
    }
  }

  /// eventfd(2).
  static func createEventCounter() throws(Errno) -> OwnedDescriptor {
    OwnedDescriptor(
      try retryOnInterrupt { eventfd(0, Int32(EFD_NONBLOCK) | Int32(EFD_CLOEXEC)) })
  }

  /// Consumes the eight bytes of an expired timer or a raised event counter, so that it is no longer readable.
  static func clearCounter(_ descriptor: Int32) {
    var count: UInt64 = 0
    // Nothing to read is not an error here: another call may have consumed it.
    _ = unsafe Glibc.read(descriptor, &count, 8)
  }

  /// Whether the process ignores a signal; sigaction(2).
  static func isIgnored(_ signal: Int32) -> Bool {
    var action = sigaction()
    guard unsafe sigaction(signal, nil, &action) == 0 else { return false }
    // SIG_IGN is the number 1 as a function pointer, which Swift cannot compare.
    return unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1
  }

  /// Adds one to an event counter.
  static func raise(counter descriptor: Int32) {
    var one: UInt64 = 1
    // The only failure is a counter that is full, and then its reader is woken anyway.
    _ = unsafe Glibc.write(descriptor, &one, 8)
  }
}

/// Signals that are read from a descriptor instead of a handler; signalfd(2).
///
/// They are blocked in the thread that creates the value, and unblocked when the value is destroyed.
struct CaughtSignals: ~Copyable {
  private let descriptor: OwnedDescriptor
  private var blocked: sigset_t

  init(_ signals: [Int32]) throws(Errno) {
    var set = sigset_t()
    unsafe sigemptyset(&set)
    for signal in signals { unsafe sigaddset(&set, signal) }
    descriptor = OwnedDescriptor(
      try retryOnInterrupt {
        unsafe signalfd(-1, &set, Int32(SFD_NONBLOCK) | Int32(SFD_CLOEXEC))
      })
    var before = sigset_t()
    unsafe pthread_sigmask(SIG_BLOCK, &set, &before)
    // Signals that were blocked before stay blocked.
    for signal in signals where unsafe sigismember(&before, signal) == 1 { unsafe sigdelset(&set, signal) }
    blocked = set
  }

  deinit {
    // A second interrupt that arrived meanwhile would otherwise kill the program in the middle of its orderly end.
    while next() != nil {}
    var set = blocked
    unsafe pthread_sigmask(SIG_UNBLOCK, &set, nil)
  }

  var number: Int32 { descriptor.number }

  /// Returns the next pending signal; nil if there is none.
  func next() -> Int32? { Syscalls.nextSignal(descriptor.number) }
}

extension Syscalls {
  /// Returns the next pending signal; nil if there is none.
  static func nextSignal(_ descriptor: Int32) -> Int32? {
    var found = signalfd_siginfo()
    let size = MemoryLayout<signalfd_siginfo>.size
    return unsafe Glibc.read(descriptor, &found, size) == size ? Int32(found.ssi_signo) : nil
  }
}
