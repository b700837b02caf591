import MonotonicTime

/// Which of several receivers clients are told by: the best fix that is there wins (SU-19), without going to and fro.
///
///     nobody ──a fix──▶ that one ──it is silent for 2.5 s, or lost, and another has a fix──▶ the other
///                          └──another is clearly better, 5 s long──▶ the other
///
/// A client is told by one receiver at a time: two antennas stand apart, and a place that jumps between them is worse than
/// either.
struct ReceiverChoice: Sendable {
  /// A receiver is as good as gone when it has had no fix for this long: two epochs of a usual one, and some.
  static var patience: Milliseconds { Milliseconds(2500) }
  /// How long another one has to be better before it takes over.
  static var proof: Milliseconds { Milliseconds(5000) }
  /// What is clearly better: an estimate that is smaller by three tenths.
  static var advantage: Double { 0.7 }

  private struct Last: Sendable {
    var instant: Instant
    /// One standard deviation; nil: not told.
    var accuracyMetres: Double?
  }

  /// The receiver that clients are told by; nil before the first fix.
  private(set) var chosen: Int?
  private var last: [Int: Last] = [:]
  /// Who is better than the chosen one, and since when.
  private var better: (receiver: Int, since: Instant)?

  init() {}

  /// A fix with a position has come; whether clients are told of it.
  ///
  /// - Parameters:
  ///   - accuracyMetres: its horizontal uncertainty; nil: not told, which is worse than any.
  ///   - receiver: which one it is of; lower numbers are preferred.
  mutating func takes(accuracyMetres: Double?, of receiver: Int, at now: Instant) -> Bool {
    last[receiver] = Last(instant: now, accuracyMetres: accuracyMetres)
    guard let chosen, receiver != chosen else {
      choose(receiver)
      return true
    }
    if !isFresh(chosen, at: now) {
      choose(receiver)
      return true
    }
    guard isBetter(receiver, than: chosen) else {
      if better?.receiver == receiver { better = nil }
      return false
    }
    if let better, better.receiver == receiver {
      guard now >= better.since + Self.proof else { return false }
      choose(receiver)
      return true
    }
    // The best of the others is on trial, not the one that was first.
    if better.map({ isFresh($0.receiver, at: now) && isBetter($0.receiver, than: receiver) }) != true {
      better = (receiver, now)
    }
    return false
  }

  /// A receiver is gone: whoever has the next fix takes over.
  mutating func lost(_ receiver: Int) {
    last[receiver] = nil
    if chosen == receiver { chosen = nil }
    if better?.receiver == receiver { better = nil }
  }

  private mutating func choose(_ receiver: Int) {
    if chosen != receiver { better = nil }
    chosen = receiver
  }

  private func isFresh(_ receiver: Int, at now: Instant) -> Bool {
    last[receiver].map { now < $0.instant + Self.patience } ?? false
  }

  private func isBetter(_ receiver: Int, than other: Int) -> Bool {
    guard let accuracy = last[receiver]?.accuracyMetres else { return false }
    guard let others = last[other]?.accuracyMetres else { return true }
    return accuracy < others * Self.advantage
  }
}
