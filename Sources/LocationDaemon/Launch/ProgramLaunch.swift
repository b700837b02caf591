// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Positioning

/// Why the service has started a program.
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

/// The start of one program by the events that it registered for.
///
///     running ──its last connection ends──▶ absent ──an event──▶ starting ──it connects──▶ running
///     starting ──the start fails, or it does not connect──▶ delayed ──time──▶ starting; after five starts: exhausted
///     running ──ends without having taken the events──▶ delayed
///     any ──its unit is stopped on purpose──▶ stopped ──a user starts it: it connects──▶ running
struct ProgramLaunch: Equatable, Sendable {
  enum State: Equatable, Sendable {
    /// It has a connection. `start` is the number of starts before, without an event that it has taken.
    case running(start: Int)
    case absent
    /// Its unit was asked to start, for the nth time, and it has until then to connect.
    case starting(Int, until: Instant)
    /// The nth start comes at that time.
    case delayed(Int, until: Instant)
    /// The starts have failed. An event after that time begins anew.
    case exhausted(until: Instant)
    case stopped
  }

  enum Action: Equatable, Sendable {
    case start
    case log(String)
  }

  /// The time in which a program connects and makes its manager, after its unit was asked to start.
  static let connectTime = Milliseconds(60_000)
  /// The delays before the second start and those after it.
  static let delays = [Milliseconds(5000), Milliseconds(30_000), Milliseconds(120_000), Milliseconds(600_000)]
  /// The time without a start after the last failed one.
  static let rest = Milliseconds(3_600_000)
  /// The largest number of events that wait; the oldest are dropped.
  static let eventLimit = 200

  private(set) var state: State
  /// The events that wait, the oldest first.
  private(set) var events: [WaitingEvent]
  private var actions: [Action] = []

  /// The launch of a program that connects.
  init() {
    state = .running(start: 0)
    events = []
  }

  /// The launch of a stored program, which may connect again by itself in the next seconds.
  init(events: [WaitingEvent], isStopped: Bool, at now: Instant) {
    self.events = events
    state = isStopped ? .stopped : events.isEmpty ? .absent : .delayed(1, until: now + Self.delays[0])
  }

  mutating func nextAction() -> Action? { actions.isEmpty ? nil : actions.removeFirst() }

  /// Whether its regions and services are watched for it, without a connection of its own.
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

  /// The program has connected. Returns the reason if it was started for an event.
  mutating func connected() -> LaunchReason? {
    switch state {
    case .starting(let start, _):
      state = .running(start: start)
      return events.first.map { LaunchReason($0) }
    case .delayed(let start, _):
      // Its own service manager, or a user, was earlier.
      state = .running(start: start - 1)
    case .running: break
    case .absent, .exhausted, .stopped: state = .running(start: 0)
    }
    return nil
  }

  /// The program has taken events; these still wait.
  mutating func delivered(rest: [WaitingEvent]) {
    events = rest
    if rest.isEmpty, case .running = state { state = .running(start: 0) }
  }

  /// The last connection of the program has ended.
  mutating func disconnected(at now: Instant) {
    guard case .running(let start) = state else { return }
    if events.isEmpty { state = .absent } else { failed(max(start, 1), "it ended before it took its events", at: now) }
  }

  // MARK: The unit

  /// The start of the unit has ended; nil if it runs.
  mutating func startEnded(_ failure: String?, at now: Instant) {
    if case .starting(let start, _) = state, let failure { failed(start, failure, at: now) }
  }

  /// The unit was stopped on purpose.
  mutating func unitStopped() { state = .stopped }

  /// A start that had failed is possible now.
  mutating func startIsPossible(at now: Instant) {
    switch state {
    case .delayed(let start, _): begin(start, at: now)
    case .exhausted where !events.isEmpty: begin(1, at: now)
    case .running, .absent, .starting, .exhausted, .stopped: break
    }
  }

  // MARK: Events

  /// Takes an event while the program does not run.
  mutating func receive(_ event: WaitingEvent, at now: Instant) {
    guard isWatched else { return }
    events.append(event)
    if events.count > Self.eventLimit { events.removeFirst() }
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
