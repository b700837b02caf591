import MonotonicTime

/// What a client with reduced accuracy is given (AU-19): the middle of a cell, within five kilometres of every place in it, at
/// most every twenty minutes while it stays in it.
struct ReducedAccuracy: Sendable {
  static var radiusMetres: Double { 5000 }
  static var interval: Milliseconds { Milliseconds(1_200_000) }
  /// A cell from south to north, degrees: seven kilometres, so that its middle is less than five from its corners.
  static var cellDegrees: Double { 0.0625 }

  private var last: Sample?

  init() {}

  /// What clients are given of a sample, and whether it says more than the last one did.
  mutating func reduce(_ sample: Sample) -> (sample: Sample, isNews: Bool) {
    var location = Location(
      Self.middle(of: sample.location.coordinate),
      horizontalAccuracyMetres: max(Self.radiusMetres, sample.accuracyMetres),
      timestamp: sample.location.timestamp, source: sample.location.source)
    if sample.accuracyMetres < 0 { location.horizontalAccuracyMetres = sample.accuracyMetres }
    let reduced = Sample(location, measured: sample.measured)
    if let last, last.location.coordinate == location.coordinate,
      sample.measured.milliseconds(since: last.measured) < Self.interval.count
    {
      return (reduced, false)
    }
    last = reduced
    return (reduced, true)
  }

  /// The next sample is given in any case: a client has started.
  mutating func forget() { last = nil }

  static func middle(of coordinate: Coordinate) -> Coordinate {
    let row = (coordinate.latitudeDegrees / cellDegrees).rounded(.down)
    let latitude = min(90, max(-90, (row + 0.5) * cellDegrees))
    // The cells of a row are as many as keep them no wider than high where they are widest, which is towards the equator.
    let widest = min(abs(row), abs(row + 1)) * cellDegrees
    let columns = max(1, (360 * Trigonometry.cosine(degrees: widest) / cellDegrees).rounded(.up))
    let width = 360 / columns
    let column = (coordinate.longitudeDegrees / width).rounded(.down)
    return Coordinate(
      latitudeDegrees: latitude, longitudeDegrees: min(180, max(-180, (column + 0.5) * width)))
  }
}
