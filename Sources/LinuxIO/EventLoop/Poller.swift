// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc
import MonotonicTime
import SystemPackage

/// Waits for descriptors, signals, other threads and a deadline; epoll(7), timerfd_create(2), signalfd(2), eventfd(2).
///
/// One thread owns a poller and waits on it. Its owner interprets the events.
public struct Poller: ~Copyable {
  /// The owner's name of a descriptor.
  public struct Token: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }
  }

  /// The events of a descriptor. A hang-up is always reported, even for `[]`.
  public struct Interest: OptionSet, Hashable, Sendable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }
    /// There are bytes to read, or the end of input was reached.
    public static let readable = Interest(rawValue: EPOLLIN.rawValue)
    /// There is space for bytes to write.
    public static let writable = Interest(rawValue: EPOLLOUT.rawValue)
  }

  /// The supported signals; signal(7).
  public enum Signal: Sendable, Hashable, CaseIterable {
    /// SIGINT: the interrupt key.
    case interrupt
    /// SIGTERM: a request for an orderly end.
    case terminate
    /// SIGHUP: the terminal or the login has ended. Not caught if the process ignores it, as under nohup(1).
    case hangUp
    /// SIGWINCH: the window of the terminal has a new size.
    case windowChange
    /// SIGQUIT: the quit key.
    case quit
    /// SIGTSTP: the suspend key. Its default action does not follow.
    case stop
    /// SIGCONT: the process was continued after a stop.
    case resume
  }

  /// The reason why ``wait(deadline:)`` returned.
  public enum Event: Sendable, Hashable {
    /// There are bytes to read, or the end of input was reached.
    case readable(Token)
    /// There is space for bytes to write.
    case writable(Token)
    /// The other side has closed. It follows `readable` if bytes remain. Remove the descriptor, otherwise it is
    /// reported again.
    case hangUp(Token)
    /// A signal arrived.
    case signal(Signal)
    /// A ``Waker`` was used.
    case woken
    /// The deadline has passed.
    case timeout

    /// The descriptor's token; nil for an event without a descriptor.
    package var connection: Token? {
      switch self {
      case .readable(let token), .writable(let token), .hangUp(let token): token
      case .signal, .woken, .timeout: nil
      }
    }
  }

  /// Wakes the thread that waits on a poller, from any thread. It may outlive the poller.
  public final class Waker: Sendable {
    let counter: OwnedDescriptor

    init() throws(Errno) { counter = try Syscalls.createEventCounter() }

    /// Makes the current or next wait report `woken`. Several calls before it are reported once.
    public func wake() { Syscalls.raise(counter: counter.number) }
  }

  /// Wakes this poller from any thread.
  public let waker: Waker

  private let epoll: OwnedDescriptor
  private let timer: OwnedDescriptor
  private let signals: CaughtSignals
  /// The deadline of the timer, which is set only if it changes.
  private var armed: UInt64?
  /// Regular files, which epoll rejects. They are always readable.
  private var alwaysReadable: [(descriptor: Int32, token: Token)]
  /// Reused by each wait for its storage.
  private var events: [Event]
  /// Reused likewise.
  private var ready: ReadyList

  /// Makes a poller.
  ///
  /// - Parameter signals: the signals to wait for. They are blocked in the calling thread and in threads that it starts
  ///   later, until the poller is destroyed. Create the poller before any other thread, otherwise a signal may arrive
  ///   there.
  /// - Throws: ``PollerError`` if the system is out of descriptors.
  public init(catching signals: [Signal] = []) throws(PollerError) {
    let epoll = try polling { () throws(Errno) in try Syscalls.createEpoll() }
    let timer = try polling { () throws(Errno) in try Syscalls.createTimer() }
    // A blocked signal is queued even if the process ignores it.
    let caughtNumbers = signals.filter { $0 != .hangUp || !Syscalls.isIgnored($0.number) }.map(\.number)
    let caught = try polling { () throws(Errno) in try CaughtSignals(caughtNumbers) }
    let waker = try polling { () throws(Errno) in try Waker() }
    try polling { () throws(Errno) in
      let own = [(timer.number, Mark.timer), (caught.number, Mark.signal), (waker.counter.number, Mark.waker)]
      for (descriptor, mark) in own {
        try Syscalls.control(epoll: epoll.number, EPOLL_CTL_ADD, descriptor, events: EPOLLIN.rawValue, mark: mark)
      }
    }
    self.epoll = epoll
    self.timer = timer
    self.signals = caught
    self.waker = waker
    alwaysReadable = []
    events = []
    ready = ReadyList()
  }

  /// Adds a descriptor. A regular file is always readable. epoll_ctl(2) with EPOLL_CTL_ADD.
  ///
  /// - Parameters:
  ///   - descriptor: the descriptor. Its owner must ``remove(_:)`` it before it is closed.
  ///   - token: the token in the events.
  ///   - interest: the events to wait for.
  /// - Throws: ``PollerError``: out of memory, or already added.
  public mutating func add(
    _ descriptor: Int32, token: Token, interest: Interest = .readable
  ) throws(PollerError) {
    do {
      try Syscalls.control(
        epoll: epoll.number, EPOLL_CTL_ADD, descriptor, events: interest.rawValue, mark: UInt64(token.rawValue))
    } catch {
      if error != .notPermitted { throw PollerError(errno: error) }
      alwaysReadable.append((descriptor, token))
    }
  }

  /// Changes the events of a descriptor. epoll_ctl(2) with EPOLL_CTL_MOD. It has no effect on a regular file.
  ///
  /// - Throws: ``PollerError`` if the descriptor was not added.
  public mutating func change(
    _ descriptor: Int32, token: Token, interest: Interest
  ) throws(PollerError) {
    if alwaysReadable.contains(where: { $0.descriptor == descriptor }) { return }
    try polling { () throws(Errno) in
      try Syscalls.control(
        epoll: epoll.number, EPOLL_CTL_MOD, descriptor, events: interest.rawValue, mark: UInt64(token.rawValue))
    }
  }

  /// Removes a descriptor. epoll_ctl(2) with EPOLL_CTL_DEL. Other descriptors are ignored.
  public mutating func remove(_ descriptor: Int32) {
    alwaysReadable.removeAll { $0.descriptor == descriptor }
    // The only error is that the descriptor was not added.
    try? Syscalls.control(epoll: epoll.number, EPOLL_CTL_DEL, descriptor, events: 0, mark: 0)
  }

  /// Waits for events. epoll_wait(2).
  ///
  /// - Parameter deadline: an instant of `SystemClock.monotonic` in nanoseconds; nil if there is none. With a past
  ///   instant the call does not block.
  /// - Returns: at least one event. `timeout` is the last one, and only after the deadline.
  /// - Throws: ``PollerError``.
  public mutating func wait(deadline: UInt64?) throws(PollerError) -> [Event] {
    events.removeAll(keepingCapacity: true)
    do {
      try arm(deadline)
      while events.isEmpty {
        let mayBlock = alwaysReadable.isEmpty && !hasPassed(deadline)
        try collect(blocking: mayBlock)
        // A stop of the process (SIGSTOP, SIGCONT) interrupts the wait: descriptors that became ready meanwhile come
        // before the timeout.
        if mayBlock, ready.count == 0, hasPassed(deadline) { try collect(blocking: false) }
        for file in alwaysReadable { events.append(.readable(file.token)) }
        if hasPassed(deadline) { events.append(.timeout) }
      }
    } catch {
      throw PollerError(errno: error)
    }
    return events
  }
}

extension Poller {
  /// The marks of the poller's own descriptors in epoll: beyond every token.
  private enum Mark {
    static let timer = UInt64(1) << 32
    static let signal = UInt64(2) << 32
    static let waker = UInt64(3) << 32
  }

  private mutating func arm(_ deadline: UInt64?) throws(Errno) {
    if deadline == armed { return }
    try Syscalls.arm(timer: timer.number, at: deadline)
    armed = deadline
  }

  private mutating func collect(blocking: Bool) throws(Errno) {
    try Syscalls.wait(epoll: epoll.number, blocking: blocking, into: &ready)
    for index in 0..<ready.count {
      let (flags, mark) = ready[index]
      switch mark {
      case Mark.timer:
        Syscalls.clearCounter(timer.number)
        // The next wait sets it again, even for the same deadline.
        armed = nil
      case Mark.waker:
        Syscalls.clearCounter(waker.counter.number)
        events.append(.woken)
      case Mark.signal:
        while let number = signals.next() {
          if let signal = Signal(number) { events.append(.signal(signal)) }
        }
      default:
        report(flags, Token(rawValue: UInt32(mark)))
      }
    }
    ready.growIfFull()
  }

  private mutating func report(_ flags: UInt32, _ token: Token) {
    if flags & EPOLLIN.rawValue != 0 { events.append(.readable(token)) }
    if flags & (EPOLLHUP.rawValue | EPOLLERR.rawValue) != 0 {
      events.append(.hangUp(token))
    } else if flags & EPOLLOUT.rawValue != 0 {
      events.append(.writable(token))
    }
  }

  private func hasPassed(_ deadline: UInt64?) -> Bool {
    deadline.map { $0 <= SystemClock.monotonic.nanoseconds } ?? false
  }
}

extension Poller.Signal {
  var number: Int32 {
    switch self {
    case .interrupt: SIGINT
    case .terminate: SIGTERM
    case .hangUp: SIGHUP
    case .windowChange: SIGWINCH
    case .quit: SIGQUIT
    case .stop: SIGTSTP
    case .resume: SIGCONT
    }
  }

  fileprivate init?(_ number: Int32) {
    guard let signal = Self.allCases.first(where: { $0.number == number }) else { return nil }
    self = signal
  }
}

/// Runs a system call, and converts its errno.
private func polling<Result: ~Copyable>(_ body: () throws(Errno) -> Result) throws(PollerError) -> Result {
  do { return try body() } catch { throw PollerError(errno: error) }
}

/// The failure of a poller: the system is out of descriptors or memory, or a descriptor was added twice.
public struct PollerError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The error of the system call.
  public let errno: Errno

  public var description: String {
    switch errno {
    case .tooManyOpenFiles, .tooManyOpenFilesInSystem:
      "events cannot be waited for: \(errno); raise the limit of open files (ulimit -n)"
    default: "events cannot be waited for: \(errno); check the limits of the process (ulimit -a)"
    }
  }
}
