// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import MonotonicTime

/// When to connect to the server, and which fix to send next.
///
///     idle ──a fix waits──▶ connecting ──connected──▶ connected ──all acknowledged, not kept──▶ idle
///      ▲                        └──failed──▶ waiting (back-off, or for a route) ──due, a route──▶ connecting
///      └──the connection ends without a fix that waits──┘
///
/// Fixes are two streams, each in the order of its numbers: those that are new, and the backlog of an outage, at a limited rate.
/// A fix is sent again, with the same identifier, until it is acknowledged.
struct Delivery {
  struct Settings: Equatable, Sendable {
    /// Whether the connection stays open without fixes: for commands of the server, and for short intervals.
    var keepsConnection = true
    /// The most fixes on the way at a time. With 1 the next fix waits for one that the server refuses at first.
    var window = 16
    /// The most fixes of the backlog a second.
    var backlogPerSecond = 20.0
    var backlogIsNewestFirst = false
    /// Whether a connection without an acknowledgement in time is made again: after a change of the routes its address may be gone,
    /// which TCP notices late, and a broker may lose acknowledgements. A request of HTTP has a time limit of its own.
    var limitsAnswers = true
  }

  enum Action: Equatable {
    case connect
    case send(UInt64)
    case disconnect
  }

  /// Why a connection or a request failed.
  enum Failure: Equatable {
    /// The computer has no route: the next attempt follows a route of the kernel.
    case noRoute(String)
    /// The next attempt follows a back-off.
    case temporary(String)

    var text: String {
      switch self {
      case .noRoute(let text), .temporary(let text): text
      }
    }
  }

  enum State: Equatable {
    case idle
    case connecting
    case connected
    /// After a failure; nil: until there is a route.
    case waiting(until: Instant?)
  }

  private struct Flight {
    enum Wait: Equatable {
      /// It is on the way.
      case acknowledgement(since: Instant)
      /// The server has refused it, and it is sent again.
      case pause(until: Instant)
    }

    var isBacklog: Bool
    var wait: Wait
  }

  private let settings: Settings
  private(set) var state = State.idle
  private var flights: [UInt64: Flight] = [:]
  /// How often the server has refused a fix, over all connections: a fix that it never takes must not stop the others.
  private var refusals: [UInt64: Int] = [:]
  /// The first number that is not of the backlog.
  private var firstNew: UInt64
  private var nextNew: UInt64
  /// The number from which the backlog goes on, or below which with `backlogIsNewestFirst`.
  private var nextOfBacklog: UInt64
  private var backlogDue = Instant.zero
  private var failures = 0
  private var hasFailed = false
  /// The routes have changed since the last answer, or since the attempt to connect began.
  private var hasNewRoutes = false
  /// When an answer of the server is due after a change of the routes.
  private var answerDue: Instant?

  private(set) var sent = 0
  private(set) var acknowledged = 0
  /// The reason of the last failure; nil after a success.
  private(set) var lastFailure: String?

  /// The longest time between two attempts.
  static let longestBackOff = Milliseconds(60_000)
  /// A refused fix is set aside after this number of attempts.
  static let refusalLimit = 3
  private static let refusalPause = Milliseconds(1000)
  /// The longest time from a fix to an acknowledgement after a change of the routes.
  private static let answerTime = Milliseconds(30_000)
  /// The longest time from a fix to its own acknowledgement, longer than the delays of a network that loses packets. Brokers
  /// answer in the order of the fixes (MQTT 3.1.1, 4.6): one that is missing does not come later.
  private static let acknowledgementTime = Milliseconds(120_000)

  /// - Parameter firstNew: the number of the next fix: those before are a backlog.
  init(_ settings: Settings, firstNew: UInt64) {
    self.settings = settings
    self.firstNew = firstNew
    nextNew = firstNew
    nextOfBacklog = settings.backlogIsNewestFirst ? firstNew : 0
  }

  /// The number of fixes that are on the way.
  var inFlight: Int { flights.count }

  /// When ``actions(_:wantsConnection:at:)`` has something to do without another event.
  func deadline<Storage>(_ queue: FixQueue<Storage>) -> Instant? {
    switch state {
    case .waiting(let until): return until
    case .connected:
      let repeated = flights.values.compactMap { if case .pause(let until) = $0.wait { until } else { nil } }.min()
      let hasRoom = flights.count < settings.window && !isRepeating(ofBacklog: true)
      let backlog = hasRoom && !nextBacklog(queue).isEmpty ? backlogDue : nil
      return [repeated, backlog, answerDue, acknowledgementDue].reduce(nil) { Instant.earlier($0, $1) }
    case .idle, .connecting: return nil
    }
  }

  /// When the fix that has waited longest for its acknowledgement has none in time; nil without one.
  private var acknowledgementDue: Instant? {
    guard settings.limitsAnswers else { return nil }
    return flights.values.compactMap { flight in
      if case .acknowledgement(let since) = flight.wait { since + Self.acknowledgementTime } else { nil }
    }.min()
  }

  /// The reason why the connection is of no use any more; nil if it is.
  private func silence(at now: Instant) -> String? {
    if let due = answerDue, due <= now {
      return "no answer since the routes of the network changed; the connection is made again"
    }
    guard let due = acknowledgementDue, due <= now else { return nil }
    return
      "the server has not acknowledged a fix for \(Self.acknowledgementTime.count / 1000) s; the connection is made again"
  }

  /// Returns what to do now.
  ///
  /// - Parameter queue: written: a fix is not sent before it is safe.
  mutating func actions<Storage>(_ queue: FixQueue<Storage>, at now: Instant) -> [Action] {
    switch state {
    case .idle:
      guard settings.keepsConnection || hasWaiting(queue) else { return [] }
      return connect()
    case .waiting(let until):
      guard let until, until <= now else { return [] }
      return connect()
    case .connecting: return []
    case .connected:
      if let reason = silence(at: now) {
        lastFailure = reason
        hasFailed = true
        return connect()
      }
      var actions: [Action] = []
      for (sequence, flight) in flights.sorted(by: { $0.key < $1.key }) {
        guard case .pause(let until) = flight.wait, until <= now else { continue }
        flights[sequence]?.wait = .acknowledgement(since: now)
        actions.append(.send(sequence))
      }
      while flights.count < settings.window, let (sequence, isBacklog) = next(queue, at: now) {
        flights[sequence] = Flight(isBacklog: isBacklog, wait: .acknowledgement(since: now))
        actions.append(.send(sequence))
      }
      sent += actions.count
      if hasNewRoutes, answerDue == nil, !flights.isEmpty { answerDue = now + Self.answerTime }
      if actions.isEmpty, flights.isEmpty, !settings.keepsConnection, !hasWaiting(queue) {
        state = .idle
        actions.append(.disconnect)
      }
      return actions
    }
  }

  private mutating func connect() -> [Action] {
    state = .connecting
    hasNewRoutes = false
    answerDue = nil
    return [.connect]
  }

  private func hasWaiting<Storage>(_ queue: FixQueue<Storage>) -> Bool { !queue.waiting(from: 0, count: 1).isEmpty }

  private func nextBacklog<Storage>(_ queue: FixQueue<Storage>) -> [UInt64] {
    settings.backlogIsNewestFirst
      ? queue.waitingNewest(below: nextOfBacklog, count: 1)
      : queue.waiting(from: nextOfBacklog, below: firstNew, count: 1)
  }

  /// Whether a refused fix of a stream is repeated: before the next one of its stream, so that the order holds.
  private func isRepeating(ofBacklog isBacklog: Bool) -> Bool {
    flights.contains { $0.value.isBacklog == isBacklog && refusals[$0.key] != nil }
  }

  private mutating func next<Storage>(_ queue: FixQueue<Storage>, at now: Instant) -> (UInt64, isBacklog: Bool)? {
    if !isRepeating(ofBacklog: false), let sequence = queue.waiting(from: nextNew, count: 1).first {
      nextNew = sequence + 1
      return (sequence, false)
    }
    guard !isRepeating(ofBacklog: true), backlogDue <= now, let sequence = nextBacklog(queue).first else {
      return nil
    }
    nextOfBacklog = settings.backlogIsNewestFirst ? sequence : sequence + 1
    // A pause of the sender is not made good.
    backlogDue = max(backlogDue, now).moved(by: 1 / settings.backlogPerSecond)
    return (sequence, true)
  }

  // MARK: Events

  /// The server has accepted the connection.
  ///
  /// - Parameter upcoming: the number of the next fix: after a failure those before are a backlog.
  mutating func connected(upcoming: UInt64, at now: Instant) {
    guard state == .connecting else { return }
    state = .connected
    flights = [:]
    if hasFailed {
      firstNew = upcoming
      nextNew = upcoming
      nextOfBacklog = settings.backlogIsNewestFirst ? upcoming : 0
    }
    hasFailed = false
    backlogDue = now
  }

  /// The server has a fix.
  mutating func acknowledged<Storage>(_ sequence: UInt64, _ queue: inout FixQueue<Storage>) {
    // One that was sent over an earlier connection counts too.
    flights[sequence] = nil
    refusals[sequence] = nil
    if queue.acknowledge(sequence) { acknowledged += 1 }
    hasNewRoutes = false
    answerDue = nil
    failures = 0
    lastFailure = nil
  }

  /// The server refuses a fix itself, as with HTTP 400 and 413.
  ///
  /// - Parameter reason: the server's, for the status.
  /// - Returns: whether the fix was set aside.
  mutating func refused<Storage>(
    _ sequence: UInt64, _ reason: String, _ queue: inout FixQueue<Storage>, at now: Instant
  ) -> Bool {
    guard flights[sequence] != nil else { return false }
    // The server has answered.
    hasNewRoutes = false
    answerDue = nil
    lastFailure = "the server refuses a fix: \(reason)"
    let count = (refusals[sequence] ?? 0) + 1
    guard count >= Self.refusalLimit else {
      refusals[sequence] = count
      flights[sequence]?.wait = .pause(until: now + Self.refusalPause)
      return false
    }
    flights[sequence] = nil
    refusals[sequence] = nil
    queue.setAside(sequence)
    return true
  }

  /// A fix that was to be sent is not in the queue any more: it was thinned or dropped.
  mutating func remove(_ sequence: UInt64) {
    flights[sequence] = nil
    refusals[sequence] = nil
  }

  /// The connection ended, could not be made, or the server has no answer.
  ///
  /// - Parameter random: 0…1, so that a thousand boards do not return at once.
  mutating func failed(_ failure: Failure, random: Double, at now: Instant) {
    lastFailure = failure.text
    hasFailed = true
    flights = [:]
    answerDue = nil
    failures = min(failures + 1, 10)
    switch failure {
    // A route that came during the attempt is not reported again.
    case .noRoute where !hasNewRoutes: state = .waiting(until: nil)
    case .noRoute, .temporary:
      let longest = min(Self.longestBackOff.seconds, Double(1 << (failures - 1)))
      state = .waiting(until: now + Milliseconds(seconds: longest * (0.5 + 0.5 * min(1, max(0, random)))))
    }
  }

  /// The kernel has a new route: the next attempt need not wait longer.
  mutating func routeChanged(random: Double, at now: Instant) {
    guard case .waiting(let until) = state else {
      hasNewRoutes = state == .connecting || state == .connected && settings.limitsAnswers
      return
    }
    failures = 0
    // The name server and the server may need a moment longer than the route.
    let soon = now + Milliseconds(seconds: 0.2 + 0.8 * min(1, max(0, random)))
    state = .waiting(until: until.map { min($0, soon) } ?? soon)
  }
}
