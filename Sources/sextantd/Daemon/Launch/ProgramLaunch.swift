// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Positioning
import ReceiverStream

/// The reason why the service has started a program.
enum LaunchReason: String, Equatable, Sendable {
  case region, visit, significantChange, condition

  init(_ event: WaitingEvent) {
    switch event {
    case .monitor: self = .condition
    case .delegate(.didVisit): self = .visit
    case .delegate(.didUpdateLocations): self = .significantChange
    case .delegate: self = .region
    }
  }
}

/// The start of one program for the events that it registered for.
///
///     running ──its last connection ends──▶ absent ──an event──▶ starting ──it connects──▶ running
///     starting ──the start fails, or it does not connect──▶ delayed ──time──▶ starting; after five starts: exhausted
///     running ──ends without having taken the events──▶ delayed
///     an event waits ──handed to a connection──▶ on its way ──the program has taken it──▶ gone; the connection ends: waits again
///     any ──its unit is stopped on purpose──▶ stopped ──a user starts it: it connects──▶ running
struct ProgramLaunch: Equatable, Sendable {
  enum State: Equatable, Sendable {
    /// The program has a connection. `start` is the number of previous starts after which it did not handle an event.
    case running(start: Int)
    case absent
    /// The nth start of its unit was requested, and the program must connect by that time.
    case starting(Int, until: Instant)
    /// The nth start is due at that time.
    case delayed(Int, until: Instant)
    /// The starts have failed. An event after that time starts over.
    case exhausted(until: Instant)
    case stopped
  }

  enum Action: Equatable, Sendable {
    case start
    case log(String)
  }

  /// The time limit for a program to connect and make its manager, after the start of its unit was requested.
  static let connectTime = Milliseconds(60_000)
  /// The delays before the second and later starts.
  static let delays = [Milliseconds(5000), Milliseconds(30_000), Milliseconds(120_000), Milliseconds(600_000)]
  /// The time without a start after the last failed one.
  static let rest = Milliseconds(3_600_000)
  /// The largest number of events that wait; the oldest are dropped.
  static let eventLimit = 200

  private(set) var state: State
  /// The events that the program has not handled, the oldest first.
  private(set) var waiting: [NumberedEvent]
  /// The connection to which an event was sent, keyed by the event's number.
  private var connections: [Int: UInt32] = [:]
  private var actions: [Action] = []

  /// The launch state of a program that connects.
  init() {
    state = .running(start: 0)
    waiting = []
  }

  /// The launch state of a stored program, which may reconnect on its own within seconds.
  init(waiting: [NumberedEvent], isStopped: Bool, at now: Instant) {
    self.waiting = waiting
    state = isStopped ? .stopped : waiting.isEmpty ? .absent : .delayed(1, until: now + Self.delays[0])
  }

  var events: [WaitingEvent] { waiting.map(\.event) }

  mutating func nextAction() -> Action? { actions.isEmpty ? nil : actions.removeFirst() }

  /// Whether its regions and services are watched for itwhile it has no connection.
  var isWatched: Bool {
    switch state {
    case .running, .stopped: false
    case .absent, .starting, .delayed, .exhausted: true
    }
  }

  var isStopped: Bool { state == .stopped }

  var deadline: Instant? {
    switch state {
    case .starting(_, let time), .delayed(_, let time): time
    case .running, .absent, .exhausted, .stopped: nil
    }
  }

  // MARK: The program

  /// Handles the connection of the program. Returns the reason if it was started for an event.
  mutating func connected() -> LaunchReason? {
    switch state {
    case .starting(let start, _):
      state = .running(start: start)
      return waiting.first.map { LaunchReason($0.event) }
    case .delayed(let start, _):
      // Its service manager, or a user, started it earlier.
      state = .running(start: start - 1)
    case .running: break
    case .absent, .exhausted, .stopped: state = .running(start: 0)
    }
    return nil
  }

  /// Passes the waiting events that the program can receive to its engine.
  mutating func deliver(to connection: UInt32, _ engine: inout PositioningEngine, at now: Instant) {
    let new = waiting.filter { connections[$0.number] == nil }
    if new.isEmpty { return }
    for number in engine.deliver(waiting: new, at: now) { connections[number] = connection }
  }

  /// Records that the program has handled the events with these numbers.
  mutating func taken(_ numbers: some Sequence<Int>) {
    let numbers = Set(numbers)
    waiting.removeAll { numbers.contains($0.number) }
    for number in numbers { connections[number] = nil }
    if waiting.isEmpty, case .running = state { state = .running(start: 0) }
  }

  /// Records that the program has handled the events of its monitors that were sent and no longer wait in its engine.
  mutating func takenFromMonitors(of connection: UInt32, _ engine: borrowing PositioningEngine, at now: UTCTime) {
    var gone: [Int] = []
    for event in waiting where connections[event.number] == connection {
      guard case .monitor(let name, let waiting) = event.event else { continue }
      if !engine.waitingEvents(of: name, at: now).contains(waiting) { gone.append(event.number) }
    }
    taken(gone)
  }

  /// Handles the end of a connection, or the loss of a delegate: events sent there wait again.
  mutating func returned(from connection: UInt32) { connections = connections.filter { $0.value != connection } }

  /// Handles the end of the program's last connection.
  mutating func disconnected(at now: Instant) {
    guard case .running(let start) = state else { return }
    if waiting.isEmpty { state = .absent } else { failed(max(start, 1), "it ended before it took its events", at: now) }
  }

  // MARK: The unit

  /// Handles the result of starting the unit; nil if it runs.
  mutating func startEnded(_ failure: String?, at now: Instant) {
    if case .starting(let start, _) = state, let failure { failed(start, failure, at: now) }
  }

  /// Records that the unit was stopped on purpose.
  mutating func unitStopped() { state = .stopped }

  /// Records that a start that had failed is now possible.
  mutating func startIsPossible(at now: Instant) {
    switch state {
    case .delayed(let start, _): begin(start, at: now)
    case .exhausted where !waiting.isEmpty: begin(1, at: now)
    case .running, .absent, .starting, .exhausted, .stopped: break
    }
  }

  // MARK: Events

  /// Handles an event while the program does not run.
  mutating func receive(_ event: WaitingEvent, at now: Instant) {
    guard isWatched else { return }
    // The number is unique within this boot, even if no event waits.
    let number = max(Int(clamping: now.nanoseconds), (waiting.last?.number ?? 0) + 1)
    waiting.append(NumberedEvent(number: number, event))
    if waiting.count > Self.eventLimit { waiting.removeFirst() }
    switch state {
    case .absent: begin(1, at: now)
    case .exhausted(let until) where now >= until: begin(1, at: now)
    case .running, .starting, .delayed, .exhausted, .stopped: break
    }
  }

  mutating func wake(at now: Instant) {
    switch state {
    case .starting(let start, let until) where now >= until:
      failed(start, "it did not connect within \(Self.connectTime.count / 1000) s", at: now)
    case .delayed(let start, let until) where now >= until: begin(start, at: now)
    case .running, .absent, .starting, .delayed, .exhausted, .stopped: break
    }
  }

  private mutating func begin(_ start: Int, at now: Instant) {
    state = .starting(start, until: now + Self.connectTime)
    actions.append(.start)
  }

  private mutating func failed(_ start: Int, _ reason: String, at now: Instant) {
    guard start <= Self.delays.count else {
      state = .exhausted(until: now + Self.rest)
      return actions.append(.log("was started \(start) times for its events in vain (\(reason)); they wait for it"))
    }
    let delay = Self.delays[start - 1]
    state = .delayed(start + 1, until: now + delay)
    actions.append(.log("could not be started for its events: \(reason); the next try is in \(delay.count / 1000) s"))
  }
}
