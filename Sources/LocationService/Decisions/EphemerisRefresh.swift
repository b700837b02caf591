// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// Decides when the source of corrections is connected for its ephemerides alone.
///
///     resting ── too few for the next hour ──▶ fetching ── enough and complete, or too long ──▶ resting for a while
///
/// The value does not use a clock or sockets.
struct EphemerisRefresh: Sendable {
  private enum State {
    case resting(until: Instant)
    /// `newest`: the arrival of the last new ephemeris.
    case fetching(since: Instant, newest: Instant)
  }

  /// Ephemerides are fetched if they will not last for this time.
  static let reserveSeconds = 3600.0
  /// After this time without a new ephemeris the source has sent all of them: casters repeat them every 5 to 30 s.
  static let completeAfter = Milliseconds(30_000)
  /// The longest connection.
  static let longest = Milliseconds(180_000)
  /// The shortest time between two connections.
  static let pause = Milliseconds(900_000)
  /// The time for which the policy may rely on further fetches after a successful one.
  static let trustedSeconds = 86_400.0

  private var state = State.resting(until: .zero)
  /// Whether the last connection had a sufficient result.
  private var hasSucceeded = false

  /// The time after `now` at which the answer of `update` may change without a new ephemeris.
  func deadline(after now: Instant) -> Instant {
    switch state {
    case .resting(let until): return until
    case .fetching(let since, let newest):
      let complete = newest + Self.completeAfter
      return now < complete ? min(complete, since + Self.longest) : since + Self.longest
    }
  }

  /// Records a new ephemeris.
  mutating func received(at now: Instant) {
    if case .fetching(let since, _) = state { state = .fetching(since: since, newest: now) }
  }

  /// Brings the state up to date. Returns whether the source is to be connected.
  ///
  /// - Parameter usableSeconds: how long the stored ephemerides suffice.
  mutating func update(usableSeconds: Double, at now: Instant) -> Bool {
    switch state {
    case .resting(let until):
      guard now >= until, usableSeconds < Self.reserveSeconds else {
        if now >= until { state = .resting(until: now + Milliseconds(60_000)) }
        return false
      }
      state = .fetching(since: now, newest: now)
      return true
    case .fetching(let since, let newest):
      let isEnough = usableSeconds >= Self.reserveSeconds
      if isEnough, now >= newest + Self.completeAfter {
        hasSucceeded = true
      } else if now >= since + Self.longest {
        hasSucceeded = isEnough
      } else {
        return true
      }
      state = .resting(until: now + Self.pause)
      return false
    }
  }

  /// Returns the time in seconds for which starts have ephemerides, with those that are going to be fetched.
  func assuredSeconds(usableSeconds: Double) -> Double {
    hasSucceeded && usableSeconds > 0 ? max(usableSeconds, Self.trustedSeconds) : usableSeconds
  }
}
