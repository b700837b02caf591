// SPDX-License-Identifier: Apache-2.0
import Positioning

/// The events that wait for a manager's delegate, in order. Locations that wait for a busy loop are coalesced (SU-16), and if
/// there are too many events, the oldest recurring one is dropped.
struct EventQueue {
  enum QueuedEvent: Sendable {
    case event(DelegateEvent, Ticket)
    case temporaryAccuracy(token: Int, PositioningError?, AccuracyRefusal?)
    case calibration(Bool)
    /// The answer to a request for locations of the past.
    case unsupported(token: Int)
  }

  /// The largest number of events: an hour of locations, one a second, for a loop that does not run.
  static var limit: Int { 3600 }
  /// The waiting time of the first event after which the loop counts as busy.
  static var togetherAfterSeconds: Double { 0.75 }

  private var events: [QueuedEvent] = []
  /// The time since which the current first event has been the first.
  private var firstSince = 0.0

  var count: Int { events.count }
  /// Whether locations wait, other than an answer to a request.
  var hasLocations: Bool { events.contains(where: \.isLocations) }

  /// - Parameters:
  ///   - now: the time of a monotonic clock, seconds.
  ///   - hasDelegate: whether there is a delegate. One may be assigned in this turn of the loop; until then the newest
  ///     event of each recurring kind is enough.
  mutating func put(_ event: QueuedEvent, atSeconds now: Double, hasDelegate: Bool = true) {
    if !hasDelegate { events.removeAll { event.replaces($0) } }
    if events.isEmpty { firstSince = now }
    events.append(event)
    if now - firstSince >= Self.togetherAfterSeconds { joinLocations() }
    if events.count > Self.limit, let oldest = events.firstIndex(where: \.comesAgain) { events.remove(at: oldest) }
  }

  mutating func take(atSeconds now: Double) -> QueuedEvent? {
    guard !events.isEmpty else { return nil }
    firstSince = now
    return events.removeFirst()
  }

  /// Coalesces adjacent locations of the same run of a service.
  private mutating func joinLocations() {
    var joined: [QueuedEvent] = []
    for event in events {
      if case .event(.didUpdateLocations(let new), let ticket) = event,
        case .event(.didUpdateLocations(let old), let waiting)? = joined.last, ticket.goes(with: waiting)
      {
        joined[joined.count - 1] = .event(.didUpdateLocations((old + new).suffix(Self.limit)), ticket)
      } else {
        joined.append(event)
      }
    }
    events = joined
  }
}

extension EventQueue.QueuedEvent {
  fileprivate var isLocations: Bool {
    if case .event(.didUpdateLocations, let ticket) = self { !ticket.isAnswer } else { false }
  }

  /// Whether another event of its kind follows soon.
  fileprivate var comesAgain: Bool {
    switch self {
    case .event(.didUpdateHeading, _), .event(.didRange, _): true
    default: isRecurringLocations
    }
  }

  /// Whether the event contains locations, except locations that waited for the start of the program, which are
  /// delivered once.
  private var isRecurringLocations: Bool {
    if case .event(_, let ticket) = self { isLocations && ticket.waitingNumber == nil } else { false }
  }

  /// Whether it is a newer event of the same kind.
  fileprivate func replaces(_ other: EventQueue.QueuedEvent) -> Bool {
    switch (self, other) {
    case (.event(.didUpdateHeading, _), .event(.didUpdateHeading, _)): true
    case (.event(.didRange(_, let a), _), .event(.didRange(_, let b), _)): a == b
    default: isRecurringLocations && other.isRecurringLocations
    }
  }
}
