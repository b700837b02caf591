import MonotonicTime

/// Which losses of a receiver are told: each, but not one a second of a cable that is loose.
struct LossReports: Sendable {
  enum Telling {
    case loss, looseConnection, nothing

    /// The line for the user; nil for none.
    func text(_ path: String) -> String? {
      switch self {
      case .loss: "\(path): the receiver is gone; waiting for it to come back"
      case .looseConnection:
        "\(path): the receiver goes away again and again; check its cable and its supply (told once)"
      case .nothing: nil
      }
    }
  }

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
