// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// The age of the orbits (ephemeris) that a hot start needs.
///
/// They are received in 30 s of uninterrupted full tracking and hold for 4 h (GPS). The receiver's own report takes
/// precedence.
struct Orbits: Sendable {
  private(set) var usableUntil: Instant?
  /// The start of uninterrupted fixes at full power, or of strong signals before the first fix.
  private(set) var collectingSince: Instant?
  /// The start of fixes in cyclic tracking.
  private var cyclicSince: Instant?

  /// Takes a fix at full power.
  mutating func tracked(at now: Instant, policy: PowerPolicy, isReduced: Bool) {
    cyclicSince = nil
    let since = collectingSince ?? now
    collectingSince = since
    if now.seconds(since: since) >= policy.orbitsCollectSeconds {
      usableUntil = now + Milliseconds(seconds: isReduced ? policy.orbitsReducedSeconds : policy.orbitsValidSeconds)
    }
  }

  /// Takes an epoch without a fix in which enough satellites are received to read their orbits: orbits that a cold
  /// start received before its fix count.
  mutating func receiving(at now: Instant) {
    cyclicSince = nil
    collectingSince = collectingSince ?? now
  }

  /// Takes a fix in cyclic tracking. There the receiver renews its orbits about every half hour by itself; before that
  /// it has its older ones.
  mutating func trackedCyclic(at now: Instant, policy: PowerPolicy) {
    collectingSince = nil
    let since = cyclicSince ?? now
    cyclicSince = since
    guard let usableUntil, now.seconds(since: since) >= policy.orbitsCyclicSeconds else { return }
    let renewed = now + Milliseconds(seconds: policy.orbitsValidSeconds - policy.orbitsCyclicSeconds)
    self.usableUntil = max(usableUntil, renewed)
  }

  /// Tracking was interrupted.
  mutating func interrupted() { (collectingSince, cyclicSince) = (nil, nil) }

  /// Takes the receiver's own report.
  mutating func reported(usableSeconds: Double, at now: Instant) {
    usableUntil = usableSeconds > 0 ? now + Milliseconds(seconds: usableSeconds) : nil
  }

  /// Limits the remaining time: the satellites of fewer constellations set before their orbits are too old.
  mutating func limit(toSeconds seconds: Double, at now: Instant) {
    usableUntil = usableUntil.map { min($0, now + Milliseconds(seconds: seconds)) }
  }

  /// Accounts for time that `Instant` did not count.
  mutating func aged(seconds: Double) {
    guard let until = usableUntil, seconds > 0 else { return }
    let nanoseconds = UInt64(min(seconds, 1e9) * 1e9)
    usableUntil = until.nanoseconds > nanoseconds ? Instant(nanoseconds: until.nanoseconds - nanoseconds) : nil
  }

  /// The orbits are lost: the supply was off.
  mutating func lost() { self = Orbits() }

  /// The time until which a start is certainly hot, for a receiver whose satellites set before their orbits are too
  /// old.
  func sureUntil(_ sureSeconds: Double, _ policy: PowerPolicy) -> Instant? {
    guard let usableUntil else { return nil }
    let less = UInt64(max(policy.orbitsValidSeconds - sureSeconds, 0) * 1e9)
    return usableUntil.nanoseconds > less ? Instant(nanoseconds: usableUntil.nanoseconds - less) : nil
  }

  func isUsable(at instant: Instant) -> Bool { usableUntil.map { instant < $0 } ?? false }
}
