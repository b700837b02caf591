// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import ReceiverStream

/// Finds the second of UTC of a pulse: bounds of UTC minus the raw clock, from the arrival of epochs.
///
/// The first byte of an epoch arrives after the epoch's time, by an unknown delay of at most `longestDelay`. Each epoch
/// therefore bounds the difference of the clocks, and the intersection of the bounds contains the true one. Its lower
/// end comes from the epoch with the shortest delay. The interval is shorter than a second, so that at most one whole
/// second of UTC is possible at any instant: a second is never guessed.
///
///     absent ──epoch──▶ learning ──three steady epochs──────▶ trusted
///        ▲                 ▲                                     │
///        │                 └──────an epoch that contradicts──────┤
///        └────────────────no epoch for ten seconds───────────────┘
struct WholeSecondFinder: Sendable {
  /// The longest delay from the time of an epoch to its first byte, nanoseconds.
  static let longestDelay: Int64 = 850_000_000
  /// The largest phase error of an accepted pulse, nanoseconds.
  static let largestPhaseError: Int64 = 20_000_000
  /// The largest error of the raw clock's rate, parts per million: a crystal has 20 to 100.
  static let drift: Int64 = 200
  static let epochsToTrust = 3
  /// A shortest delay that shrinks by more than this, nanoseconds, means a line that still sends a backlog.
  static let steadiness: Int64 = 100_000_000
  /// The longest time for which the bounds are valid without an epoch, nanoseconds.
  static let longestAge = 10 * second

  private var earliest: Int64
  private var latest: Int64
  private(set) var epochs = 1
  /// The longest delay that the receiver's timing permits, nanoseconds: it sends an epoch before it computes the next
  /// one. It does not narrow the bounds, because a saturated line delays more.
  private(set) var longestDelay = Self.longestDelay
  private var updated: Instant
  private(set) var utc: UTCTime

  init(_ utc: UTCTime, firstByte: Instant) {
    earliest = utc.nanosecondsSince1970 &- Int64(bitPattern: firstByte.nanoseconds)
    latest = earliest &+ Self.longestDelay
    updated = firstByte
    self.utc = utc
  }

  /// Handles the next epoch. An epoch that contradicts the earlier ones replaces them: the receiver's time or the raw
  /// clock has stepped, or a stalled process has read late.
  mutating func receive(_ utc: UTCTime, firstByte: Instant) {
    let next = WholeSecondFinder(utc, firstByte: firstByte)
    let growth = growth(until: firstByte)
    let (low, high) = (max(earliest - growth, next.earliest), min(latest + growth, next.latest))
    guard low <= high, utc > self.utc, holds(at: firstByte) else { return self = next }
    epochs = next.earliest - earliest > Self.steadiness ? 1 : epochs + 1
    longestDelay = min(Self.longestDelay, utc.nanosecondsSince1970 &- self.utc.nanosecondsSince1970)
    (earliest, latest, updated, self.utc) = (low, high, firstByte, utc)
  }

  private func growth(until raw: Instant) -> Int64 {
    abs(nanoseconds(from: updated, to: raw)) / 1_000_000 * Self.drift
  }

  private func holds(at raw: Instant) -> Bool { abs(nanoseconds(from: updated, to: raw)) <= Self.longestAge }

  /// Whether the bounds may be used at an instant.
  func isTrusted(at raw: Instant) -> Bool { epochs >= Self.epochsToTrust && holds(at: raw) }

  /// UTC minus the raw clock, assuming no delay for the epoch with the shortest delay, nanoseconds.
  var earliestDifference: Int64 { earliest }

  /// Returns the whole second of UTC at an instant, up to `largestPhaseError`; nil if no whole second is near.
  func wholeSecond(at raw: Instant) -> UTCTime? {
    let slack = Self.largestPhaseError + growth(until: raw)
    let base = Int64(bitPattern: raw.nanoseconds)
    let (low, high) = (base &+ earliest - slack, base &+ latest + slack)
    // The next multiple of a second at or after `low`.
    let found = (low + second - 1) / second * second
    return found <= high ? UTCTime(nanosecondsSince1970: found) : nil
  }
}
