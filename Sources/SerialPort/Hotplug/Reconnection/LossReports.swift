// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// Limits the reports of losses: a loose cable is not reported each second.
struct LossReports: Sendable {
  enum Report {
    case loss, looseConnection, nothing

    /// The line for the user; nil if there is none.
    func text(_ path: String) -> String? {
      switch self {
      case .loss: "\(path): the receiver is gone; waiting for it to come back"
      case .looseConnection:
        "\(path): the receiver disconnects repeatedly; check its cable and its supply (reported once)"
      case .nothing: nil
      }
    }
  }

  /// The time in which losses are counted.
  static let window = Milliseconds(60_000)
  /// The number of losses in this time that are reported individually.
  static let tolerated = 3

  private var recent: [Instant] = []
  private var isQuiet = false

  mutating func report(ofLossAt now: Instant) -> Report {
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
