// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// A location inside this module: with the instant of its measurement, and its place as a vector, so that a distance is
/// a subtraction and not a trigonometric function.
struct Sample: Hashable, Sendable {
  var location: Location
  /// The instant of the measurement; for a fix of a receiver's memory it is before the arrival.
  var measured: Instant
  /// The place.
  let point: SurfacePoint

  init(_ location: Location, measured: Instant) {
    self.location = location
    self.measured = measured
    point = SurfacePoint(location.coordinate)
  }

  /// One standard deviation.
  var accuracyMetres: Double { location.horizontalAccuracyMetres }
}
