// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// The rhythm of a client that polls: when its next poll is expected, and whether the polls are so close together that the receiver
/// stays on.
struct PollRhythm: Equatable, Sendable {
  /// Polls within this time count as one: programs repeat a poll whose reply is not complete.
  private static var burst: Milliseconds { Milliseconds(1500) }
  /// The longest interval of polls during which the receiver stays on.
  private static var dense: Milliseconds { Milliseconds(10_000) }

  private var last: Instant?
  /// The time between the last two polls; nil before the second one.
  private var interval: Milliseconds?

  /// Whether the client has polled.
  var hasBegun: Bool { last != nil }

  mutating func polled(at now: Instant) {
    if let last {
      let passed = Milliseconds(now.milliseconds(since: last))
      if passed < Self.burst { return }
      interval = passed
    }
    last = now
  }

  /// The next poll, and the time between it and the last one; nil before the second poll.
  var expected: (at: Instant, interval: Milliseconds)? {
    guard let last, let interval else { return nil }
    return (last + interval, interval)
  }

  /// The time until which the receiver stays on for the next poll; nil if it does not.
  var staysOnUntil: Instant? {
    guard let last, let interval, interval <= Self.dense else { return nil }
    return last + Self.dense
  }
}

/// The machine administrator's limits for the demands of gpsd's clients.
package struct DemandLimit: Equatable, Sendable {
  /// The shortest time between two locations, seconds; nil for no limit.
  package var everySeconds: Double?
  /// The best accuracy, metres; nil for no limit.
  package var accuracyMetres: Double?

  package init(everySeconds: Double? = nil, accuracyMetres: Double? = nil) {
    self.everySeconds = everySeconds
    self.accuracyMetres = accuracyMetres
  }
}

// Determines a client's demand, from its requests, its reading and the administrator's limit.
//
//     watches, reads reports ──▶ continuous; with an interval: every
//     watches, no form of reports ──▶ polled; polls within 10 s of each other: continuous
//     leaves its reports unread for 10 s ──▶ none, until it reads
extension GPSDClient {
  /// A client's demand on the receiver.
  package enum Demand: Equatable, Sendable {
    case none
    /// Each epoch, with an accuracy in metres; nil for the best accuracy.
    case continuous(accuracyMetres: Double?)
    /// One location in each interval, seconds.
    case every(seconds: Double, accuracyMetres: Double?)
    /// One location for each poll, known shortly before the poll if the client polls regularly.
    case polled(accuracyMetres: Double?)

    /// Whether the receiver may sleep between two locations.
    package var isInterrupted: Bool {
      switch self {
      case .none, .every, .polled: true
      case .continuous: false
      }
    }
  }

  /// The search for the next location of a client whose demand is interrupted.
  enum Search: Equatable, Sendable {
    case idle
    case due(Instant)
    case running(since: Instant)
  }

  /// The maximum age of a location that answers a poll.
  private static let pollAge = Milliseconds(10_000)
  /// The expected duration of a search before one was measured, the longest duration that is used, and the margin.
  static let usualSearch = Milliseconds(3000)
  private static let longestSearch = Milliseconds(15_000)
  private static let spare = Milliseconds(2000)

  package var demand: Demand {
    guard watch.isEnabled, unread != .ignored else { return .none }
    let accuracy = Self.larger(watch.accuracyMetres, limit.accuracyMetres)
    let polls = watch.onlyPolls
    if let seconds = Self.larger(watch.intervalSeconds, limit.everySeconds) {
      return polls ? .polled(accuracyMetres: accuracy) : .every(seconds: seconds, accuracyMetres: accuracy)
    }
    return polls && !staysOnForPolls ? .polled(accuracyMetres: accuracy) : .continuous(accuracyMetres: accuracy)
  }

  private static func larger(_ a: Double?, _ b: Double?) -> Double? {
    guard let a, let b else { return a ?? b }
    return max(a, b)
  }

  // MARK: Reading

  /// Records that the client's end of the connection accepts no more bytes.
  package mutating func didBlock(at now: Instant) { if unread == .none { unread = .since(now) } }

  var unreadDeadline: Instant? {
    guard case .since(let start) = unread else { return nil }
    return start + OutputQueue.longestUnreadWithDemand
  }

  // MARK: Polls and searches

  /// Records a poll.
  package mutating func didPoll(at now: Instant) {
    rhythm.polled(at: now)
    staysOnForPolls = rhythm.staysOnUntil.map { now < $0 } ?? false
    guard case .polled = demand, !isAwaiting else { return }
    let isKnown = located.map { Milliseconds(now.milliseconds(since: $0)) <= Self.pollAge } ?? false
    search = isKnown ? nextForPolls(at: now) : .due(earliest(now))
  }

  /// Advances the time. The demand may change.
  package mutating func wake(at now: Instant) {
    if let deadline = unreadDeadline, now >= deadline { unread = .ignored }
    if staysOnForPolls, let end = rhythm.staysOnUntil, now >= end { staysOnForPolls = false }
  }

  /// Handles a new demand. A demand with interruptions starts with a search, unless the client has already polled.
  package mutating func began(_ demand: Demand, at now: Instant) {
    switch demand {
    case .polled where rhythm.hasBegun: search = nextForPolls(at: now)
    case .every, .polled: search = .due(now)
    case .none, .continuous: search = .idle
    }
  }

  /// Whether to request a location now.
  package func isSearchDue(at now: Instant) -> Bool {
    if case .due(let due) = search { now >= due } else { false }
  }

  /// Whether a client waits for a requested location.
  package var isAwaiting: Bool { if case .running = search { true } else { false } }

  /// Handles the search of another client. A location that is due within half of the interval is requested with it.
  package mutating func joinSearch(at now: Instant) {
    guard case .every(let seconds, _) = demand, case .due(let due) = search,
      due <= now + Milliseconds(seconds: seconds / 2)
    else { return }
    search = .due(now)
  }

  /// Records that a location was requested.
  package mutating func requested(at now: Instant) { search = .running(since: now) }

  /// Records the answer.
  package mutating func answered(at now: Instant) {
    guard case .running(let start) = search else { return }
    located = now
    searchTime = min(Milliseconds(now.milliseconds(since: start)), Self.longestSearch)
    switch demand {
    case .every(let seconds, _): search = .due(now + Milliseconds(seconds: seconds))
    case .polled: search = nextForPolls(at: now)
    case .none, .continuous: search = .idle
    }
  }

  /// The time of the search before the next poll; nil unless a poll is expected.
  private func nextForPolls(at now: Instant) -> Search {
    guard let next = rhythm.expected, next.at > now else { return .idle }
    let lead = min(searchTime + Self.spare, Milliseconds(next.interval.count / 2))
    let start = next.at.moved(by: -lead.seconds)
    // A location within the maximum age already answers the poll.
    return start > now ? .due(earliest(start)) : .idle
  }

  /// The earliest time of a search that the administrator allows. Polls at least as rare as the limit observe it
  /// anyway, and their searches may move to the time before a poll.
  private func earliest(_ time: Instant) -> Instant {
    guard let located, let seconds = limit.everySeconds else { return time }
    let isRare = rhythm.expected.map { $0.interval.seconds >= 0.9 * seconds } ?? false
    return max(time, located + Milliseconds(seconds: isRare ? seconds / 2 : seconds))
  }

  var searchDeadline: Instant? { if case .due(let due) = search { due } else { nil } }
}
