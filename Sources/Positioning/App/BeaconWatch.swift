// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// The watch of a beacon region (BE-9): inside at the first sighting, outside after half a minute without a sighting.
/// The first sighting, or its absence, sets the state without an event, as with circles (RG-13).
struct BeaconWatch: Hashable, Sendable {
  static var silence: Milliseconds { Milliseconds(30_000) }

  let identity: BeaconIdentity
  private(set) var state: RegionState
  /// The time of the last sighting, or the start of the watch.
  private var lastSighting: Instant

  init(_ identity: BeaconIdentity, state: RegionState = .unknown, at now: Instant) {
    self.identity = identity
    self.state = state
    lastSighting = now
  }

  var deadline: Instant? { state == .outside ? nil : lastSighting + Self.silence }

  /// Scanning has resumed: the time without scanning does not count as silence.
  mutating func restart(at now: Instant) { lastSighting = max(lastSighting, now) }

  /// Handles a sighting while the state must not change: it only ends a silence.
  mutating func note(_ sighting: BeaconSighting) {
    if identity.matches(sighting) { lastSighting = sighting.received.instant }
  }

  /// Handles a sighting; returns whether it is a crossing.
  mutating func receive(_ sighting: BeaconSighting) -> Bool {
    guard identity.matches(sighting) else { return false }
    lastSighting = sighting.received.instant
    defer { state = .inside }
    return state == .outside
  }

  /// Advances the time; returns whether the region was left.
  mutating func wake(at now: Instant) -> Bool {
    guard let due = deadline, now >= due else { return false }
    defer { state = .outside }
    return state == .inside
  }
}
