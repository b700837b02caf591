// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Receiver
import ReceiverSimulator
import ReceiverStream

/// The device at the far end of a host's line.
public protocol HostLine: SimulatedDevice, ~Copyable {
  /// Switches the supply of the device; no effect without a switch.
  mutating func setSupply(isOn: Bool, at now: Instant)
}

extension HostLine where Self: ~Copyable {
  public mutating func setSupply(isOn: Bool, at now: Instant) {}
}

extension VirtualLine: HostLine {
  public mutating func setSupply(isOn: Bool, at now: Instant) { inject(.power(isOn: isOn), at: now) }
}

/// The host of a simulated line in virtual time: the work of the runtime without I/O. It opens the line, passes bytes
/// and time to a session, performs the session's actions, and applies the commands of the machine above it.
///
///     machine ─ commands ─▶ ReceiverSession ─ bytes ─▶ line: a simulated receiver
///
/// Properties of the machine can be read at the host. The line need not be copyable, so that no step copies it.
@dynamicMemberLookup
public final class VirtualHost<Machine: HostMachine, Line: HostLine & ~Copyable> {
  public var machine: Machine
  public var line: Line
  public private(set) var now: Instant
  /// The settings of the next session; the host adds the memory of the previous session.
  public var settings: SessionSettings
  /// UTC at the instant zero, seconds since 1970; nil if the computer's clock is not set.
  public var startUTCSeconds: Int64?

  /// The time at which the line was first opened.
  public private(set) var opened: Instant?
  /// The memory of the last session whose line was lost.
  public private(set) var memory: SessionMemory?
  /// The number of bytes and of writes that the session sent.
  public private(set) var sentBytes = 0
  public private(set) var sent = 0
  /// The number of bytes that the session received.
  public private(set) var receivedBytes = 0
  /// The number of wake-ups of the session at its deadlines.
  public private(set) var wakeUps = 0
  /// The number of writes after which the process is killed.
  public private(set) var killsAfter: Int?

  private var current: OpenSession?
  /// The session in a wrapper, because an optional of the session cannot be borrowed.
  private struct OpenSession: ~Copyable { var session: ReceiverSession }
  /// The time at which to open the line, unless it is open; nil to leave it closed.
  private var nextOpening: Instant?
  /// The number of rounds without a later event since time passed.
  private var rounds = 0

  /// The interval between two attempts to open a line.
  private static var retry: Milliseconds { Milliseconds(500) }

  /// - Parameters:
  ///   - machine: The machine under test.
  ///   - line: The line. It is advanced to `now`, and its bytes until then are lost.
  ///   - settings: The settings of the session.
  ///   - startUTCSeconds: UTC at the instant zero, seconds since 1970; nil if the computer's clock is not set.
  ///   - now: The instant at which the host starts.
  public init(
    _ machine: Machine, _ line: consuming Line,
    settings: SessionSettings = SessionSettings(intent: .serve, line: .serial),
    startUTCSeconds: Int64? = nil, at now: Instant = .zero
  ) {
    self.machine = machine
    self.line = line
    self.settings = settings
    self.startUTCSeconds = startUTCSeconds
    self.now = now
    nextOpening = now
    self.line.advance(to: now)
    _ = self.line.takeReceived()
  }

  public subscript<Value>(dynamicMember path: KeyPath<Machine, Value>) -> Value { machine[keyPath: path] }

  // MARK: The session

  /// Whether a session is running.
  public var isOpen: Bool { read { !$0.isEnded } ?? false }

  /// Whether the receiver has its configuration, and accepts commands.
  public var isSteady: Bool { read { $0.isSteady } ?? false }

  /// Returns a property of the session, or of the last session after its end; nil while the line is closed.
  public func read<Value>(_ body: (borrowing ReceiverSession) -> Value?) -> Value? {
    current == nil ? nil : body(current!.session)
  }

  /// The session of an open line.
  public var session: ReceiverSession {
    _read { yield current!.session }
    _modify { yield &current!.session }
  }

  /// Calls the session, and performs the resulting actions; nil while the line is closed.
  @discardableResult
  public func withSession<Value>(_ body: (inout ReceiverSession) -> Value) -> Value? {
    guard current != nil else { return nil }
    let value = body(&current!.session)
    work()
    return value
  }

  /// Calls the machine, and performs the resulting actions.
  public func withMachine(_ body: (inout Machine, Instant) -> Void) {
    body(&machine, now)
    work()
  }

  /// Applies a command.
  public func apply(_ command: ReceiverCommand) {
    perform(command)
    work()
  }

  private func perform(_ command: ReceiverCommand) {
    switch command {
    case .set(let desired): current?.session.set(desired, at: now)
    case .sleep(let duration): current?.session.sleep(for: duration, at: now)
    case .wakeUp: current?.session.wakeUp(at: now)
    case .retrieveBatch(let journal): current?.session.retrieveBatch(journal, at: now)
    case .cutRetrieval: current?.session.cutRetrieval(at: now)
    case .listen(true): nextOpening = now
    case .listen(false):
      nextOpening = nil
      close { _, _ in }
    case .supply(let isOn): line.setSupply(isOn: isOn, at: now)
    }
  }

  /// Requests the end of the session; the line remains closed.
  public func requestEnd(readingOrbitsFor limit: Milliseconds? = nil) {
    nextOpening = nil
    withSession { session in
      if let limit { session.finish(at: now, readingOrbitsFor: limit) } else { session.finish(at: now) }
    }
  }

  /// Ends the session normally. Returns the duration in milliseconds.
  @discardableResult
  public func finish(readingOrbitsFor limit: Milliseconds? = nil, within seconds: Double = 20) -> UInt64 {
    let from = now
    requestEnd(readingOrbitsFor: limit)
    run(seconds) { !$0.isOpen }
    return now.milliseconds(since: from)
  }

  // MARK: Faults of the host

  /// Unplugs the host's side of the line; the receiver continues.
  public func unplug() {
    guard current != nil else { return }
    close { report, sky in machine.receive(report, sky, at: now) }
    nextOpening = now + Self.retry
    machine.lineLost(at: now)
    work()
  }

  /// Kills the process; another process opens the line after an interval.
  public func kill(for gap: Milliseconds) {
    killsAfter = nil
    sent = 0
    die()
    nextOpening = now + gap
  }

  /// Kills the process after this number of further writes of the session.
  public func kill(afterSending count: Int) {
    sent = 0
    killsAfter = count
  }

  private func die() {
    current = nil
    memory = nil
    nextOpening = nil
  }

  private func close(_ body: (borrowing EpochAssembler.Report, borrowing Sky) -> Void) {
    guard current != nil else { return }
    current!.session.lost(body)
    performActions()
    if current != nil { memory = current!.session.memory }
    current = nil
  }

  // MARK: Time

  /// Advances the time without work of the host. The bytes of the line are lost; a closed line is opened at the end.
  public func skip(to later: Instant) {
    now = later
    nextOpening = later
    line.advance(to: later)
    _ = line.takeReceived()
  }

  /// Advances the time until `condition` is true, at most by `seconds`. Returns whether it is true.
  @discardableResult
  public func run(_ seconds: Double, until condition: (VirtualHost) -> Bool = { _ in false }) -> Bool {
    run(to: now + Milliseconds(seconds: seconds), until: condition)
  }

  /// Advances the time until `condition` is true, at most to `end`. Returns whether it is true.
  @discardableResult
  public func run(to end: Instant, until condition: (VirtualHost) -> Bool = { _ in false }) -> Bool {
    while now < end {
      step(before: end)
      if condition(self) { return true }
    }
    return condition(self)
  }

  /// Advances the time to the next event, and performs it.
  private func step(before end: Instant) {
    let (before, due) = (now, deadline)
    now = max(now, Instant.earlier(.earlier(line.deadline, due), end) ?? end)
    rounds = now > before ? 0 : rounds + 1
    precondition(rounds < 10_000, "the work of an instant does not end: \(now), due \(String(describing: due))")
    line.advance(to: now)
    followLine()
    let bytes = line.takeReceived()
    let isDue = due.map { now >= $0 } ?? false
    let hasBytes = isOpen && !bytes.isEmpty
    if hasBytes { receive(bytes) }
    if isDue { wake() }
    if isDue || hasBytes {
      machine.hostWoke(at: now)
      if current != nil { machine.endRound(of: current!.session, at: now) }
      work()
    }
    // Work that remains due at an instant must not stop the time.
    if now == before, let again = deadline, again <= now { now += Milliseconds(1) }
  }

  private var deadline: Instant? {
    .earlier(machine.deadline, isOpen ? current!.session.deadline : nextOpening)
  }

  /// Passes bytes to the session.
  public func receive(_ bytes: [UInt8]) {
    receivedBytes += bytes.count
    machine.receive(bytes, at: now)
    unsafe current?.session.receive(bytes.span.bytes, at: now) { report, sky in machine.receive(report, sky, at: now) }
  }

  private func wake() {
    if isOpen, let due = current!.session.deadline, now >= due {
      wakeUps += 1
      current!.session.wake(at: now) { report, sky in machine.receive(report, sky, at: now) }
    }
    if let due = machine.deadline, now >= due { machine.wake(at: now) }
  }

  /// Opens and closes the line with the device.
  public func followLine() {
    if isOpen, !line.isPresent { return unplug() }
    guard !isOpen, let opening = nextOpening, now >= opening else { return }
    nextOpening = now + Self.retry
    guard line.isPresent else { return }
    _ = line.takeReceived()
    var settings = settings
    settings.memory = memory ?? settings.memory
    let utc = startUTCSeconds.map {
      UTCTime(nanosecondsSince1970: $0 * 1_000_000_000 + Int64(now.milliseconds(since: .zero)) * 1_000_000)
    }
    opened = opened ?? now
    current = OpenSession(session: ReceiverSession(settings, lineRate: line.hostRate, reference: utc, now: now))
    work()
  }

  // MARK: Actions

  /// Runs until neither the session nor the machine has an output.
  public func work() {
    for _ in 0..<64 {
      performActions()
      guard let commands = machine.commands(at: now) else { return }
      for command in commands {
        switch command {
        case .receiver(let command): perform(command)
        case .submit(let command): accept { $0.submit(command, at: $1) }
        case .perform(let tasks, let values): accept { $0.perform(tasks, restoring: values, at: $1) }
        case .finish:
          nextOpening = nil
          current?.session.finish(at: now)
        }
      }
    }
    preconditionFailure("the session and the machine do not settle at \(now)")
  }

  private func accept(_ submit: (inout ReceiverSession, Instant) -> SessionTicket) {
    guard current != nil else { return }
    machine.accept(submit(&current!.session, now))
  }

  private func performActions() {
    while current != nil, let action = current!.session.nextAction() {
      machine.receive(action, from: current!.session, at: now)
      switch action {
      case .send(let bytes):
        sentBytes += bytes.count
        sent += 1
        line.send(bytes, at: now)
        if sent == killsAfter { die() }
      case .setRate(let rate):
        line.advance(to: now)
        line.hostRate = rate
        _ = line.takeReceived()
      case .report, .finished, .batch: break
      }
    }
  }
}

extension VirtualHost where Line == VirtualLine {
  /// Starts a fault of the line or of its receiver.
  public func inject(_ fault: Fault) {
    line.inject(fault, at: now)
    followLine()
    work()
  }

  /// Whether the receiver is in its backup mode.
  public var isAsleep: Bool { line.receiver.powerState == .standby }
}
