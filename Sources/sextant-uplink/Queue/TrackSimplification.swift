// SPDX-License-Identifier: Apache-2.0
import Positioning

/// Simplifies a track: leaves out the fixes closer than a tolerance to the track through the ones that stay
/// (U. Ramer, 1972; D. Douglas and T. Peucker, 1973).
enum TrackSimplification {
  /// Returns the indices of the fixes that stay, in order. The first, the last, and those that were asked for or belong to a
  /// region always stay.
  ///
  /// - Parameters:
  ///   - fixes: in the order of their time.
  ///   - toleranceMetres: the largest distance of a fix that is left out from the line between its neighbours that stay.
  static func kept(_ fixes: [QueuedFix], toleranceMetres: Double) -> [Int] {
    guard fixes.count > 2 else { return Array(fixes.indices) }
    var isKept = fixes.map { $0.trigger != .schedule }
    isKept[0] = true
    isKept[fixes.count - 1] = true
    let fixed = isKept.indices.filter { isKept[$0] }
    // A stack of its own: a queue of an hour at a place may recurse as deep as it has fixes.
    var spans = zip(fixed, fixed.dropFirst()).map { ($0, $1) }
    while let (first, last) = spans.popLast() {
      guard last - first > 1 else { continue }
      let line = Segment(from: fixes[first], to: fixes[last])
      var farthest = (index: first, metres: -1.0)
      for index in first + 1..<last {
        let metres = line.distanceMetres(to: fixes[index])
        if metres > farthest.metres { farthest = (index, metres) }
      }
      guard farthest.metres > toleranceMetres else { continue }
      isKept[farthest.index] = true
      spans.append((first, farthest.index))
      spans.append((farthest.index, last))
    }
    return isKept.indices.filter { isKept[$0] }
  }

  /// The line between two fixes on a plane through the first one.
  private struct Segment {
    private let origin: QueuedFix
    private let metresPerDegreeEast: Double
    private let metresPerDegreeNorth: Double
    private var end: (east: Double, north: Double) = (0, 0)

    init(from first: QueuedFix, to last: QueuedFix) {
      origin = first
      let latitude = first.latitudeDegrees
      // A step towards the equator, which exists at the poles too.
      let step = latitude > 0 ? -0.01 : 0.01
      metresPerDegreeEast = 100 * Self.distanceMetres((latitude, 0), (latitude, 0.01))
      metresPerDegreeNorth = 100 * Self.distanceMetres((latitude, 0), (latitude + step, 0))
      end = place(of: last)
    }

    private static func distanceMetres(_ a: (Double, Double), _ b: (Double, Double)) -> Double {
      Geodesic.distanceMetres(
        Coordinate(latitudeDegrees: a.0, longitudeDegrees: a.1), Coordinate(latitudeDegrees: b.0, longitudeDegrees: b.1)
      )
    }

    private func place(of fix: QueuedFix) -> (east: Double, north: Double) {
      var longitude = fix.longitudeDegrees - origin.longitudeDegrees
      // The shorter way round the earth.
      if longitude > 180 { longitude -= 360 }
      if longitude < -180 { longitude += 360 }
      return (
        longitude * metresPerDegreeEast,
        (fix.latitudeDegrees - origin.latitudeDegrees) * metresPerDegreeNorth
      )
    }

    func distanceMetres(to fix: QueuedFix) -> Double {
      let point = place(of: fix)
      let square = end.east * end.east + end.north * end.north
      let part = square == 0 ? 0 : min(1, max(0, (point.east * end.east + point.north * end.north) / square))
      let (east, north) = (point.east - part * end.east, point.north - part * end.north)
      return (east * east + north * north).squareRoot()
    }
  }
}
