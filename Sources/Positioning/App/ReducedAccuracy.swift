// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// The locations of a client with reduced accuracy (AU-19): the centre of a cell, within five kilometres of every place
/// in it, at most every twenty minutes while the client stays in it.
struct ReducedAccuracy: Sendable {
  static var radiusMetres: Double { 5000 }
  static var interval: Milliseconds { Milliseconds(1_200_000) }
  /// The height of a cell in degrees: seven kilometres, so that its centre is less than five from its corners.
  static var cellDegrees: Double { 0.0625 }

  /// The last sample that one service of one client received.
  private var last: Sample?

  init() {}

  /// Handles a reduced sample; returns whether it differs from the last one.
  mutating func take(_ sample: Sample) -> Bool {
    if let last, last.location.coordinate == sample.location.coordinate,
      sample.measured.milliseconds(since: last.measured) < Self.interval.count
    {
      return false
    }
    last = sample
    return true
  }

  /// The service has started: the next sample is delivered in any case.
  mutating func reset() { last = nil }

  // MARK: Reduction; a reduced value is left as it is

  static func reduced(_ sample: Sample) -> Sample {
    Sample(reduced(sample.location), measured: sample.measured)
  }

  static func reduced(_ location: Location) -> Location {
    let accuracy = location.horizontalAccuracyMetres
    return Location(
      middle(of: location.coordinate), horizontalAccuracyMetres: accuracy < 0 ? accuracy : max(radiusMetres, accuracy),
      timestamp: location.timestamp, source: location.source)
  }

  /// Reduces waiting locations: from each cell, keeps the first one of each interval.
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
    // The number of cells in a row is such that a cell, at its widest side (towards the equator), is at most as wide as
    // high.
    let widest = min(abs(row), abs(row + 1)) * cellDegrees
    let columns = max(1, (360 * Trigonometry.cosine(degrees: widest) / cellDegrees).rounded(.up))
    let width = 360 / columns
    let column = (coordinate.longitudeDegrees / width).rounded(.down)
    return Coordinate(
      latitudeDegrees: latitude, longitudeDegrees: min(180, max(-180, (column + 0.5) * width)))
  }
}
