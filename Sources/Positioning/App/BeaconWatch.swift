// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// The watch of a beacon region (BE-9): inside with the first sighting, outside after half a minute without one. The
/// first sighting, or its absence, sets the state without an event, as with circles (RG-13).
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

  /// Scanning has resumed: the time without it does not count as silence.
  mutating func restart(at now: Instant) { lastSighting = max(lastSighting, now) }

  /// Takes a sighting at a time when the state must not change: it ends a silence.
  mutating func note(_ sighting: BeaconSighting) {
    if identity.matches(sighting) { lastSighting = sighting.received.instant }
  }

  /// Takes a sighting; true when the state changed by a crossing.
  mutating func receive(_ sighting: BeaconSighting) -> Bool {
    guard identity.matches(sighting) else { return false }
    lastSighting = sighting.received.instant
    defer { state = .inside }
    return state == .outside
  }

  /// Lets the time pass; true when the state changed by a crossing.
  mutating func wake(at now: Instant) -> Bool {
    guard let due = deadline, now >= due else { return false }
    defer { state = .outside }
    return state == .inside
  }
}
