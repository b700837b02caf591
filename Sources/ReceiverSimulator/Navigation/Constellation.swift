// SPDX-License-Identifier: Apache-2.0
import func Glibc.atan2
import func Glibc.cos
import func Glibc.sin

/// A satellite as seen by an antenna under an open sky.
struct VisibleSatellite: Sendable, Equatable {
  /// The system's number in UBX: 0 GPS, 2 Galileo, 3 BeiDou, 6 GLONASS.
  var gnss: UInt8
  var number: UInt8
  var elevationDegrees: Double
  var azimuthDegrees: Double

  var system: SatelliteSystems {
    switch gnss {
    case 0: .gps
    case 2: .galileo
    case 3: .beiDou
    default: .glonass
    }
  }

  /// The index in tables of all satellites.
  var slot: Int { Int(gnss) * 32 + Int(number) - 1 }
  static let slots = 7 * 32
}

/// The positions of satellites: circular orbits in evenly filled planes. Rising and setting are similar to those of
/// the real systems.
enum Constellation {
  private struct Orbit {
    var gnss: UInt8
    var planes: Int
    var inPlane: Int
    var inclination: Double
    /// The radius of the orbit, metres.
    var radius: Double
    /// The period of the orbit, seconds.
    var period: Double
  }

  // Interface specifications of the four systems.
  private static let orbits = [
    Orbit(gnss: 0, planes: 6, inPlane: 5, inclination: 55, radius: 26_560_000, period: 43_082),
    Orbit(gnss: 2, planes: 3, inPlane: 8, inclination: 56, radius: 29_600_000, period: 50_685),
    Orbit(gnss: 3, planes: 3, inPlane: 8, inclination: 55, radius: 27_906_000, period: 46_404),
    Orbit(gnss: 6, planes: 3, inPlane: 8, inclination: 64.8, radius: 25_510_000, period: 40_544),
  ]

  private static let earthRadius = 6_371_000.0
  private static let siderealDay = 86_164.1

  /// The satellites above the horizon of a place, highest first.
  static func satellites(
    of systems: SatelliteSystems, latitude: Double, longitude: Double, secondsSince1970: Int64
  ) -> [VisibleSatellite] {
    let seconds = Double(secondsSince1970)
    let radians = Double.pi / 180
    let rotation = 2 * Double.pi * (seconds / siderealDay).truncatingRemainder(dividingBy: 1)
    let (sinLat, cosLat) = (sin(latitude * radians), cos(latitude * radians))
    let local = longitude * radians + rotation
    let (sinLon, cosLon) = (sin(local), cos(local))
    var visible: [VisibleSatellite] = []
    for orbit in orbits {
      let phase = 2 * Double.pi * (seconds / orbit.period).truncatingRemainder(dividingBy: 1)
      let (sinTilt, cosTilt) = (sin(orbit.inclination * radians), cos(orbit.inclination * radians))
      for index in 0..<orbit.planes * orbit.inPlane {
        let (plane, place) = (index / orbit.inPlane, index % orbit.inPlane)
        let node = 2 * Double.pi * Double(plane) / Double(orbit.planes) + Double(orbit.gnss)
        let angle =
          phase + 2 * Double.pi
          * (Double(place) / Double(orbit.inPlane) + Double(plane) / Double(orbit.planes * orbit.inPlane))
        let (along, across) = (cos(angle), sin(angle))
        let x = orbit.radius * (cos(node) * along - sin(node) * across * cosTilt)
        let y = orbit.radius * (sin(node) * along + cos(node) * across * cosTilt)
        let z = orbit.radius * across * sinTilt
        // Relative to the antenna, in its east, north and up directions.
        let up = x * cosLat * cosLon + y * cosLat * sinLon + z * sinLat - earthRadius
        guard up > 0 else { continue }
        let east = -x * sinLon + y * cosLon
        let north = -x * sinLat * cosLon - y * sinLat * sinLon + z * cosLat
        let flat = (east * east + north * north).squareRoot()
        var azimuth = atan2(east, north) / radians
        if azimuth < 0 { azimuth += 360 }
        let satellite = VisibleSatellite(
          gnss: orbit.gnss, number: UInt8(index + 1), elevationDegrees: atan2(up, flat) / radians,
          azimuthDegrees: azimuth)
        if systems.contains(satellite.system) { visible.append(satellite) }
      }
    }
    return visible.sorted { $0.elevationDegrees > $1.elevationDegrees }
  }
}
