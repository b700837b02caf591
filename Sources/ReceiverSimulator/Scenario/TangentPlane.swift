// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A plane that touches the Earth at a scenario's start. Places are metres north and east of it, by the radii of
/// curvature of the ellipsoid (WGS 84). The plane defines a scenario's truth, so that it has no error.
struct TangentPlane: Sendable, Equatable {
  /// Metres north and east of the origin.
  struct Point: Sendable, Equatable {
    var north: Double
    var east: Double

    func distance(to other: Point) -> Double {
      let (north, east) = (other.north - north, other.east - east)
      return (north * north + east * east).squareRoot()
    }
  }

  let origin: Place
  private let metresPerDegreeNorth: Double
  private let metresPerDegreeEast: Double

  init(at origin: Place) {
    self.origin = origin
    let (axis, flattening) = (6_378_137.0, 1 / 298.257223563)
    let squared = flattening * (2 - flattening)
    let latitude = origin.latitudeDegrees * .pi / 180
    let inner = 1 - squared * sin(latitude) * sin(latitude)
    metresPerDegreeNorth = axis * (1 - squared) / (inner * inner.squareRoot()) * .pi / 180
    metresPerDegreeEast = axis / inner.squareRoot() * cos(latitude) * .pi / 180
  }

  func point(latitude: Double, longitude: Double) -> Point {
    // The shorter direction around the Earth.
    Point(
      north: (latitude - origin.latitudeDegrees) * metresPerDegreeNorth,
      east: Self.wrapped(longitude - origin.longitudeDegrees) * metresPerDegreeEast)
  }

  func coordinates(of point: Point) -> (latitude: Double, longitude: Double) {
    (
      origin.latitudeDegrees + point.north / metresPerDegreeNorth,
      Self.wrapped(origin.longitudeDegrees + point.east / metresPerDegreeEast)
    )
  }

  /// The longitude of a place beyond the date line, in the range of receivers.
  static func wrapped(_ longitude: Double) -> Double {
    abs(longitude) <= 180 ? longitude : longitude - ((longitude + 180) / 360).rounded(.down) * 360
  }
}
