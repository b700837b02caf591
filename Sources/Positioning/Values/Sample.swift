import MonotonicTime

/// A location as the machines of this module take it: with the instant it was measured at, and its place as a vector,
/// so that each question of distance is a subtraction and not a trigonometric function.
struct Sample: Hashable, Sendable {
  var location: Location
  /// When it was measured; what a receiver kept in its memory is older than its arrival.
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
