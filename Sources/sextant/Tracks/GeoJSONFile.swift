// SPDX-License-Identifier: Apache-2.0
import GPSD
import ReceiverStream

/// GeoJSON (RFC 7946): a FeatureCollection with a LineString for each part of a segment, or a Point for a part with one
/// fix.
///
/// Heights are above the ellipsoid (section 4). Properties are lists with a value for each position. A line that crosses the
/// antimeridian is split there (section 3.1.9); the values at a cut are null, because no fix was there.
struct GeoJSONFile: TrackFile {
  private var part = TrackPart()
  private var hasFeatures = false

  func begin(_ text: inout JSONLine) { text.put("{\"type\":\"FeatureCollection\",\"features\":[") }

  mutating func add(_ point: TrackPoint, _ text: inout JSONLine) {
    if let points = part.add(point) { write(points, &text) }
  }

  mutating func finish(_ text: inout JSONLine) {
    if let points = part.open { write(points, &text) }
    text.put(hasFeatures ? "\n]}\n" : "]}\n")
  }

  /// A position: a fix, or the place where a line was cut.
  private struct Position {
    var longitude: Double
    var latitude: Double
    var height: Double?
    var point: TrackPoint?

    init(_ point: TrackPoint) {
      longitude = point.fix.longitudeDegrees ?? 0
      latitude = point.fix.latitudeDegrees ?? 0
      height = point.fix.heightAboveEllipsoidMetres
      self.point = point
    }

    /// The place where the shorter path from `a` to `b` crosses the antimeridian, on the side of `a`.
    init(between a: Position, and b: Position) {
      let side = a.longitude < 0 ? -180.0 : 180.0
      let way = b.longitude + 2 * side - a.longitude
      let share = way == 0 ? 0 : (side - a.longitude) / way
      longitude = side
      latitude = a.latitude + share * (b.latitude - a.latitude)
      if let low = a.height, let high = b.height { height = low + share * (high - low) }
    }
  }

  private mutating func write(_ points: [TrackPoint], _ text: inout JSONLine) {
    var line: [Position] = []
    for point in points {
      let position = Position(point)
      if let last = line.last, abs(position.longitude - last.longitude) > 180 {
        line.append(Position(between: last, and: position))
        feature(line, &text)
        line = [Position(between: position, and: last)]
      }
      line.append(position)
    }
    feature(line, &text)
  }

  private mutating func feature(_ line: [Position], _ text: inout JSONLine) {
    text.put(hasFeatures ? ",\n" : "\n")
    hasFeatures = true
    let isPoint = line.count == 1
    text.put("{\"type\":\"Feature\",\"geometry\":{\"type\":\"")
    text.put(isPoint ? "Point\",\"coordinates\":" : "LineString\",\"coordinates\":[")
    for (index, position) in line.enumerated() {
      text.put(index > 0 ? ",[" : "[")
      text.number(position.longitude, digits: 8)
      text.put(",")
      text.number(position.latitude, digits: 8)
      if let height = position.height, text.isWritable(height) {
        text.put(",")
        text.number(height, digits: 3)
      }
      text.put("]")
    }
    text.put(isPoint ? "},\"properties\":{" : "]},\"properties\":{")
    list("\"time\":[", line, &text) { point, text in
      guard let time = point.fix.time else { return false }
      text.put("\"")
      text.timestamp(time)
      text.put("\"")
      return true
    }
    values(",\"horizontalAccuracyMetres\":[", line, digits: 3, &text, \.horizontalAccuracyMetres)
    values(",\"verticalAccuracyMetres\":[", line, digits: 3, &text, \.verticalAccuracyMetres)
    values(",\"speedMetresPerSecond\":[", line, digits: 3, &text, \.fix.speedMetresPerSecond)
    values(",\"courseDegrees\":[", line, digits: 2, &text, \.fix.courseDegrees)
    values(",\"satellitesUsed\":[", line, digits: 0, &text, \.knownSatellites)
    text.put("}}")
  }

  private func values(
    _ name: StaticString, _ line: [Position], digits: Int, _ text: inout JSONLine, _ value: (TrackPoint) -> Double?
  ) {
    list(name, line, &text) { point, text in
      guard let value = value(point), text.isWritable(value) else { return false }
      text.number(value, digits: digits)
      return true
    }
  }

  /// Writes a list with a value for each position. `value` returns false for an unknown value, which is written as
  /// null.
  private func list(
    _ name: StaticString, _ line: [Position], _ text: inout JSONLine, _ value: (TrackPoint, inout JSONLine) -> Bool
  ) {
    text.put(name)
    for (index, position) in line.enumerated() {
      if index > 0 { text.put(",") }
      guard let point = position.point, value(point, &text) else {
        text.put("null")
        continue
      }
    }
    text.put("]")
  }
}
