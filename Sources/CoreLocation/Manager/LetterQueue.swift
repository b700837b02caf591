import Positioning

/// What waits for a manager's delegate, in order. Locations that wait for a loop which has its hands full are put together
/// (SU-16), and the oldest go when there are too many.
struct LetterQueue {
  enum Letter: Sendable {
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

  private var letters: [Letter] = []
  /// Since when the first of them is the first.
  private var firstSince = 0.0

  var count: Int { letters.count }
  /// Whether locations wait, but for an answer to a request.
  var holdsLocations: Bool { letters.contains(where: \.isLocations) }

  /// - Parameter now: seconds of a clock that only goes on.
  mutating func put(_ letter: Letter, atSeconds now: Double) {
    if letters.isEmpty { firstSince = now }
    letters.append(letter)
    if now - firstSince >= Self.togetherAfterSeconds { joinLocations() }
    if letters.count > Self.limit, let oldest = letters.firstIndex(where: \.isLocations) { letters.remove(at: oldest) }
  }

  mutating func take(atSeconds now: Double) -> Letter? {
    guard !letters.isEmpty else { return nil }
    firstSince = now
    return letters.removeFirst()
  }

  /// Puts locations that wait one behind the other together, of one run of a service each.
  private mutating func joinLocations() {
    var joined: [Letter] = []
    for letter in letters {
      if case .event(.didUpdateLocations(let new), let ticket) = letter,
        case .event(.didUpdateLocations(let old), let waiting)? = joined.last, ticket.goes(with: waiting)
      {
        joined[joined.count - 1] = .event(.didUpdateLocations((old + new).suffix(Self.limit)), ticket)
      } else {
        joined.append(letter)
      }
    }
    letters = joined
  }
}

extension LetterQueue.Letter {
  fileprivate var isLocations: Bool {
    if case .event(.didUpdateLocations, let ticket) = self { !ticket.isAnswer } else { false }
  }
}
