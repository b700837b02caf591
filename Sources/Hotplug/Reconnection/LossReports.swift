import MonotonicTime

/// Which losses of a receiver are told: each, but not one a second of a cable that is loose.
struct LossReports {
  enum Telling { case loss, looseConnection, nothing }

  /// Losses within this time are counted together.
  static let window = Milliseconds(60_000)
  /// So many of them are told singly.
  static let tolerated = 3

  private var recent: [Instant] = []
  private var isQuiet = false

  mutating func telling(ofLossAt now: Instant) -> Telling {
    recent.removeAll { $0 + Self.window <= now }
    recent.append(now)
    if recent.count <= Self.tolerated {
      isQuiet = false
      return .loss
    }
    recent.removeFirst()
    defer { isQuiet = true }
    return isQuiet ? .nothing : .looseConnection
  }
}
