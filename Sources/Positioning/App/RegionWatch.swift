// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// The watch of a region, circle or beacon.
enum RegionWatch: Hashable, Sendable {
  case circle(CircleWatch)
  case beacon(BeaconWatch)

  init(
    _ shape: Region.Shape, marginMetres: Double? = nil, state: RegionState = .unknown, at now: Instant
  ) {
    switch shape {
    case .circle(let circle): self = .circle(CircleWatch(circle, marginMetres: marginMetres, state: state))
    case .beacon(let identity): self = .beacon(BeaconWatch(identity, state: state, at: now))
    }
  }

  var state: RegionState {
    switch self {
    case .circle(let watch): watch.state
    case .beacon(let watch): watch.state
    }
  }

  var deadline: Instant? {
    switch self {
    case .circle: nil
    case .beacon(let watch): watch.deadline
    }
  }

  mutating func restart(at now: Instant) {
    switch self {
    case .circle(var watch):
      watch.restart()
      self = .circle(watch)
    case .beacon(var watch):
      watch.restart(at: now)
      self = .beacon(watch)
    }
  }

  /// Handles a sighting while the state must not change.
  mutating func note(_ sighting: BeaconSighting) {
    guard case .beacon(var watch) = self else { return }
    watch.note(sighting)
    self = .beacon(watch)
  }

  /// Each function returns whether a crossing changed the state.
  mutating func receive(_ sample: Sample) -> Bool {
    guard case .circle(var watch) = self else { return false }
    defer { self = .circle(watch) }
    return watch.receive(sample)
  }

  mutating func receive(_ sighting: BeaconSighting) -> Bool {
    guard case .beacon(var watch) = self else { return false }
    defer { self = .beacon(watch) }
    return watch.receive(sighting)
  }

  mutating func wake(at now: Instant) -> Bool {
    guard case .beacon(var watch) = self else { return false }
    defer { self = .beacon(watch) }
    return watch.wake(at: now)
  }
}
