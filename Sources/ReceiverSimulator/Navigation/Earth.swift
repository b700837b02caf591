// SPDX-License-Identifier: Apache-2.0
import func Glibc.atan2
import func Glibc.cos
import func Glibc.pow
import func Glibc.sin

/// Earth-centred coordinates (WGS 84).
enum Earth {
  struct Vector {
    var x: Double
    var y: Double
    var z: Double
  }

  private static let axis = 6_378_137.0
  private static let eccentricitySquared = 0.00669437999014

  /// Metres.
  static func ecef(_ solution: Solution) -> Vector {
    ecef(
      latitude: solution.latitudeDegrees, longitude: solution.longitudeDegrees,
      height: solution.altitudeMetres + Solution.geoidSeparation)
  }

  static func ecef(latitude: Double, longitude: Double, height: Double) -> Vector {
    let (phi, lambda) = (latitude * .pi / 180, longitude * .pi / 180)
    let normal = axis / (1 - eccentricitySquared * sin(phi) * sin(phi)).squareRoot()
    return Vector(
      x: (normal + height) * cos(phi) * cos(lambda), y: (normal + height) * cos(phi) * sin(lambda),
      z: (normal * (1 - eccentricitySquared) + height) * sin(phi))
  }

  /// Metres per second.
  static func ecefVelocity(_ solution: Solution) -> Vector {
    let (phi, lambda) = (solution.latitudeDegrees * .pi / 180, solution.longitudeDegrees * .pi / 180)
    let (north, east, up) = (solution.velocityNorth, solution.velocityEast, -solution.velocityDown)
    let outward = up * cos(phi) - north * sin(phi)
    return Vector(
      x: outward * cos(lambda) - east * sin(lambda), y: outward * sin(lambda) + east * cos(lambda),
      z: north * cos(phi) + up * sin(phi))
  }

  /// Latitude and longitude of a place, accurate to a few metres (B. Bowring's formula).
  static func geodetic(_ place: Vector) -> (latitude: Double, longitude: Double) {
    let minor = axis * (1 - eccentricitySquared).squareRoot()
    let second = (axis * axis - minor * minor) / (minor * minor)
    let distance = (place.x * place.x + place.y * place.y).squareRoot()
    let angle = atan2(place.z * axis, distance * minor)
    let latitude = atan2(
      place.z + second * minor * pow(sin(angle), 3), distance - eccentricitySquared * axis * pow(cos(angle), 3))
    return (latitude * 180 / .pi, atan2(place.y, place.x) * 180 / .pi)
  }
}
