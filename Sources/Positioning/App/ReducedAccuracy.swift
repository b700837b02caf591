import MonotonicTime

/// What a client with reduced accuracy is given (AU-19): the middle of a cell, within five kilometres of every place in it, at
/// most every twenty minutes while it stays in it.
struct ReducedAccuracy: Sendable {
  static var radiusMetres: Double { 5000 }
  static var interval: Milliseconds { Milliseconds(1_200_000) }
  /// A cell from south to north, degrees: seven kilometres, so that its middle is less than five from its corners.
  static var cellDegrees: Double { 0.0625 }

  /// What one service of one client was told last.
  private var last: Sample?

  init() {}

  /// Whether a reduced sample says more than the last one did, which it then stands for.
  mutating func isNew(_ sample: Sample) -> Bool {
    if let last, last.location.coordinate == sample.location.coordinate,
      sample.measured.milliseconds(since: last.measured) < Self.interval.count
    {
      return false
    }
    last = sample
    return true
  }

  /// The next sample is news in any case: the service has started.
  mutating func reset() { last = nil }

  // MARK: What is told in place of what is known; what is reduced already stays as it is

  static func reduced(_ sample: Sample) -> Sample {
    Sample(reduced(sample.location), measured: sample.measured)
  }

  static func reduced(_ location: Location) -> Location {
    let accuracy = location.horizontalAccuracyMetres
    return Location(
      middle(of: location.coordinate), horizontalAccuracyMetres: accuracy < 0 ? accuracy : max(radiusMetres, accuracy),
      timestamp: location.timestamp, source: location.source)
  }

  /// Locations that wait: of those in one cell the first of each interval.
  static func reduced(_ locations: [Location]) -> [Location] {
    var reported: [Location] = []
    for location in locations {
      let location = reduced(location)
      if let last = reported.last, last.coordinate == location.coordinate {
        let later = location.timestamp.nanosecondsSince1970 - last.timestamp.nanosecondsSince1970
        if later < interval.count * 1_000_000 { continue }
      }
      reported.append(location)
    }
    return reported
  }

  static func reduced(_ visit: Visit) -> Visit {
    var visit = visit
    visit.coordinate = middle(of: visit.coordinate)
    visit.horizontalAccuracyMetres = max(radiusMetres, visit.horizontalAccuracyMetres)
    return visit
  }

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
