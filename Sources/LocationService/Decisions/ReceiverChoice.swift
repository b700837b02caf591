// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// The choice between several receivers: the best current fix wins (SU-19), with hysteresis.
///
///     none ──fix──▶ chosen ──no fix for 2.5 s, or lost; another has a fix──▶ the other is chosen
///                      └──another is clearly better for 5 s──▶ the other is chosen
///
/// Clients get the fixes of one receiver at a time: two antennas are some distance apart, and a position that jumps
/// between them is worse than either position.
struct ReceiverChoice: Sendable {
  /// The age at which a receiver's last fix expires: two epochs at 1 Hz and a margin.
  static var timeout: Milliseconds { Milliseconds(2500) }
  /// The time for which another receiver must be better before it is chosen.
  static var proof: Milliseconds { Milliseconds(5000) }
  /// The fraction of the chosen receiver's accuracy estimate below which another receiver is clearly better.
  static var advantage: Double { 0.7 }

  private struct Last: Sendable {
    var instant: Instant
    /// One standard deviation; nil if the receiver does not estimate it.
    var accuracyMetres: Double?
  }

  /// The receiver whose fixes clients get; nil before the first fix.
  private(set) var chosen: Int?
  private var last: [Int: Last] = [:]
  /// The receiver that is better than the chosen one, and since when.
  private var better: (receiver: Int, since: Instant)?

  /// Handles a fix with a position. Returns whether clients get it.
  ///
  /// - Parameters:
  ///   - accuracyMetres: its horizontal uncertainty; nil if unknown, which is worse than any known value.
  ///   - receiver: the number of its receiver.
  mutating func takes(accuracyMetres: Double?, of receiver: Int, at now: Instant) -> Bool {
    last[receiver] = Last(instant: now, accuracyMetres: accuracyMetres)
    guard let chosen, receiver != chosen, isFresh(chosen, at: now) else {
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
    // The candidate is the best of the other receivers, not the first.
    if better.map({ isFresh($0.receiver, at: now) && isBetter($0.receiver, than: receiver) }) != true {
      better = (receiver, now)
    }
    return false
  }

  /// Handles the loss of a receiver. If it was the chosen one, the receiver with the next fix is chosen.
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
    last[receiver].map { now < $0.instant + Self.timeout } ?? false
  }

  private func isBetter(_ receiver: Int, than other: Int) -> Bool {
    guard let accuracy = last[receiver]?.accuracyMetres else { return false }
    guard let others = last[other]?.accuracyMetres else { return true }
    return accuracy < others * Self.advantage
  }
}
