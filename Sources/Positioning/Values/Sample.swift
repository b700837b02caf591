// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// A location inside this module, with the instant of its measurement, and with its place as a vector, so that a
/// distance needs subtractions and not trigonometry.
struct Sample: Hashable, Sendable {
  var location: Location
  /// The instant of the measurement; for a fix from a receiver's memory it is earlier than the arrival.
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
