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
  /// The time at which the satellites of these orbits were in view.
  private var inViewAt: Instant?
  /// The time until which the host can give orbits of all satellites to a start.
  private var assistedUntil: Instant?

  /// Takes a fix at full power.
  mutating func tracked(at now: Instant, policy: PowerPolicy, isReduced: Bool) {
    cyclicSince = nil
    let since = collectingSince ?? now
    collectingSince = since
    if now.seconds(since: since) >= policy.orbitsCollectSeconds {
      inViewAt = now
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
    guard renewed > usableUntil else { return }
    self.usableUntil = renewed
    inViewAt = now.moved(by: -policy.orbitsCyclicSeconds)
  }

  /// Tracking was interrupted.
  mutating func interrupted() { (collectingSince, cyclicSince) = (nil, nil) }

  /// Takes the receiver's own report.
  mutating func reported(usableSeconds: Double, at now: Instant, policy: PowerPolicy) {
    let left = policy.orbitsCollectSeconds - (collectingSince.map { now.seconds(since: $0) } ?? 0)
    guard left > policy.orbitsNearlySeconds else { return }
    inViewAt = now
    usableUntil = usableSeconds > 0 ? now + Milliseconds(seconds: usableSeconds) : nil
  }

  /// The host has orbits for this time.
  mutating func assisted(usableSeconds: Double, at now: Instant) {
    assistedUntil = usableSeconds > 0 ? now + Milliseconds(seconds: usableSeconds) : nil
  }

  /// Limits the remaining time: the satellites of fewer constellations set before their orbits are too old.
  mutating func limit(toSeconds seconds: Double, at now: Instant) {
    usableUntil = usableUntil.map { min($0, now + Milliseconds(seconds: seconds)) }
  }

  /// Accounts for time that `Instant` did not count.
  mutating func aged(seconds: Double) {
    guard seconds > 0 else { return }
    assistedUntil = assistedUntil?.moved(by: -min(seconds, 1e9))
    guard let until = usableUntil else { return }
    let nanoseconds = UInt64(min(seconds, 1e9) * 1e9)
    usableUntil = until.nanoseconds > nanoseconds ? Instant(nanoseconds: until.nanoseconds - nanoseconds) : nil
    inViewAt = inViewAt?.moved(by: -min(seconds, 1e9))
  }

  /// The receiver's orbits are lost: the supply was off.
  mutating func lost() {
    let assistedUntil = assistedUntil
    self = Orbits()
    self.assistedUntil = assistedUntil
  }

  /// A start was not a hot one although it should have been: neither orbits nor assistance count until they are renewed.
  mutating func disappointed() { self = Orbits() }

  /// The time until which a start is certainly hot, for a receiver whose satellites set before their orbits are too
  /// old.
  func sureUntil(_ sureSeconds: Double) -> Instant? {
    guard let usableUntil, let inViewAt else { return assistedUntil }
    let own = min(usableUntil, inViewAt + Milliseconds(seconds: sureSeconds))
    return assistedUntil.map { max($0, own) } ?? own
  }

  /// Whether a start is hot: the receiver has orbits, or gets them.
  func isUsable(at instant: Instant) -> Bool { isBefore(usableUntil, instant) || isBefore(assistedUntil, instant) }

  private func isBefore(_ end: Instant?, _ instant: Instant) -> Bool { end.map { instant < $0 } ?? false }
}

extension PowerPolicy {
  /// Returns the time in seconds for which a start is hot with these orbits; 0 with too few.
  ///
  /// The number of satellites that leaves enough of them: both an orbit's validity and a satellite's setting end its use.
  ///
  /// - Parameter usableSeconds: how long the orbits of the satellites in use remain usable, the longest first.
  public func hotStartSeconds(usableSeconds: [Double]) -> Double {
    var longest = 0.0
    for (index, seconds) in usableSeconds.enumerated() where index >= orbitsLeastSatellites {
      let left = 1 - Double(orbitsLeastSatellites) / Double(index + 1)
      longest = max(longest, min(seconds, orbitsSetSeconds * left))
    }
    return longest
  }
}
