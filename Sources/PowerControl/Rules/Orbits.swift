import MonotonicTime

/// The age of the orbits (ephemeris) that a hot start needs.
///
/// They are received in 30 s of uninterrupted full tracking and hold for 4 h (GPS; the receiver's own answer goes before).
struct Orbits: Sendable {
  private(set) var usableUntil: Instant?
  /// Since when fixes have come at full power, or strong signals before the first of them, without a gap.
  private(set) var collectingSince: Instant?
  /// Since when they have come in cyclic tracking.
  private var cyclicSince: Instant?

  /// A fix at full power.
  mutating func tracked(at now: Instant, policy: PowerPolicy, isReduced: Bool) {
    cyclicSince = nil
    let since = collectingSince ?? now
    collectingSince = since
    if now.seconds(since: since) >= policy.orbitsCollectSeconds {
      usableUntil = now + Milliseconds(seconds: isReduced ? policy.orbitsReducedSeconds : policy.orbitsValidSeconds)
    }
  }

  /// No fix yet, but enough satellites are received to read their orbits: what a cold start has had of them by its fix counts.
  mutating func receiving(at now: Instant) {
    cyclicSince = nil
    collectingSince = collectingSince ?? now
  }

  /// A fix in cyclic tracking: there the receiver renews its orbits about every half hour by itself. Who has been in it for
  /// less has the orbits that it had.
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

  /// What the receiver itself says.
  mutating func reported(usableSeconds: Double, at now: Instant) {
    usableUntil = usableSeconds > 0 ? now + Milliseconds(seconds: usableSeconds) : nil
  }

  /// They hold for no longer than that: the satellites of fewer constellations set sooner than their orbits grow old.
  mutating func limit(toSeconds seconds: Double, at now: Instant) {
    usableUntil = usableUntil.map { min($0, now + Milliseconds(seconds: seconds)) }
  }

  /// Time passed that `Instant` did not count.
  mutating func aged(seconds: Double) {
    guard let until = usableUntil, seconds > 0 else { return }
    let nanoseconds = UInt64(min(seconds, 1e9) * 1e9)
    usableUntil = until.nanoseconds > nanoseconds ? Instant(nanoseconds: until.nanoseconds - nanoseconds) : nil
  }

  /// All is lost: a supply was off.
  mutating func lost() { self = Orbits() }

  /// Until when a start is hot for certain, with a receiver whose satellites set before their orbits are too old.
  func sureUntil(_ sureSeconds: Double, _ policy: PowerPolicy) -> Instant? {
    guard let usableUntil else { return nil }
    let less = UInt64(max(policy.orbitsValidSeconds - sureSeconds, 0) * 1e9)
    return usableUntil.nanoseconds > less ? Instant(nanoseconds: usableUntil.nanoseconds - less) : nil
  }

  func isUsable(at instant: Instant) -> Bool { usableUntil.map { instant < $0 } ?? false }
}
