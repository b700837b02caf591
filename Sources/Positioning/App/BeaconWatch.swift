import MonotonicTime

/// Whether beacons of a family are near (BE-9): inside with the first that is heard, outside when none was for half a
/// minute. What is heard first, or not heard at all, decides without an event, as with circles (RG-13).
struct BeaconWatch: Hashable, Sendable {
  static var silence: Milliseconds { Milliseconds(30_000) }

  let identity: BeaconIdentity
  private(set) var state: RegionState
  /// When one was last heard, or the watch began.
  private var lastSighting: Instant

  init(_ identity: BeaconIdentity, state: RegionState = .unknown, at now: Instant) {
    self.identity = identity
    self.state = state
    lastSighting = now
  }

  var deadline: Instant? { state == .outside ? nil : lastSighting + Self.silence }

  /// Beacons are listened for again: the silence before says nothing.
  mutating func restart(at now: Instant) { lastSighting = max(lastSighting, now) }

  /// A sighting at a time when the state must not change: it was no silence.
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

  /// The silence may have lasted; true when the state changed by a crossing.
  mutating func wake(at now: Instant) -> Bool {
    guard let due = deadline, now >= due else { return false }
    defer { state = .outside }
    return state == .inside
  }
}
