import Positioning

/// What waits for a manager's delegate, in order. Locations that wait for a loop which has its hands full are put together
/// (SU-16), and the oldest of what comes again goes when there are too many.
struct EventQueue {
  enum QueuedEvent: Sendable {
    case event(DelegateEvent, Ticket)
    case temporaryAccuracy(token: Int, PositioningError?)
    case calibration(Bool)
    /// A question about locations of the past is answered.
    case history(token: Int)
  }

  /// Locations that wait for a loop which does not run: an hour of them, one a second, then the oldest go.
  static var limit: Int { 3600 }
  /// A loop that leaves a letter waiting for so long has its hands full.
  static var togetherAfterSeconds: Double { 0.75 }

  private var events: [QueuedEvent] = []
  /// Since when the first of them is the first.
  private var firstSince = 0.0

  var count: Int { events.count }
  /// Whether locations wait, but for an answer to a request.
  var holdsLocations: Bool { events.contains(where: \.isLocations) }

  /// - Parameters:
  ///   - now: seconds of a clock that only goes on.
  ///   - isHeard: whether there is a delegate. One may come with this turn of the loop; until then the newest of what comes
  ///     again and again is enough.
  mutating func put(_ event: QueuedEvent, atSeconds now: Double, isHeard: Bool = true) {
    if !isHeard { events.removeAll { event.replaces($0) } }
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

  /// Puts locations that wait one behind the other together, of one run of a service each.
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

  /// Whether another one of its kind follows soon.
  fileprivate var comesAgain: Bool {
    switch self {
    case .event(.didUpdateHeading, _), .event(.didRange, _): true
    default: isLocations
    }
  }

  /// Whether it says in a newer way what the other one does.
  fileprivate func replaces(_ other: EventQueue.QueuedEvent) -> Bool {
    switch (self, other) {
    case (.event(.didUpdateHeading, _), .event(.didUpdateHeading, _)): true
    case (.event(.didRange(_, let a), _), .event(.didRange(_, let b), _)): a == b
    default: isLocations && other.isLocations
    }
  }
}
