// SPDX-License-Identifier: Apache-2.0

/// A place on the WGS 84 ellipsoid.
public struct GeodeticPosition: Equatable, Sendable {
  /// Degrees, north positive, -90…90.
  public var latitudeDegrees: Double
  /// Degrees, east positive, -180…180.
  public var longitudeDegrees: Double
  /// The height above the ellipsoid, metres.
  public var heightMetres: Double

  public init(latitudeDegrees: Double, longitudeDegrees: Double, heightMetres: Double) {
    self.latitudeDegrees = latitudeDegrees
    self.longitudeDegrees = longitudeDegrees
    self.heightMetres = heightMetres
  }

  /// The place of earth-centred coordinates, metres; nil if they are more than a few hundred kilometres inside the earth, or far
  /// beyond the orbits of satellites.
  public init?(earthCentredMetres place: SIMD3<Double>) {
    guard let found = Geodesy.geodetic(place) else { return nil }
    self.init(latitudeDegrees: found.latitude, longitudeDegrees: found.longitude, heightMetres: found.height)
  }

  /// The earth-centred coordinates, metres.
  public var earthCentredMetres: SIMD3<Double> {
    Geodesy.earthCentred(
      latitudeDegrees: latitudeDegrees, longitudeDegrees: longitudeDegrees, heightMetres: heightMetres)
  }

  /// The straight distance to another place, metres.
  public func distance(to other: GeodeticPosition) -> Double {
    let between = earthCentredMetres - other.earthCentredMetres
    return (between * between).sum().squareRoot()
  }
}

/// Geodetic coordinates from earth-centred ones, on the WGS 84 ellipsoid.
///
/// The standard library has only square roots, and this module does not link any other library; therefore the arc
/// tangent is implemented here.
enum Geodesy {
  static var semiMajorAxis: Double { 6_378_137 }
  static var flattening: Double { 1 / 298.257223563 }

  /// Latitude and longitude in degrees and height in metres; nil near the earth's centre: a position of zero means no
  /// position.
  static func geodetic(_ ecef: SIMD3<Double>) -> (latitude: Double, longitude: Double, height: Double)? {
    let radius = (ecef * ecef).sum().squareRoot()
    guard radius > 6_000_000, radius < 100_000_000 else { return nil }
    let eccentricity = flattening * (2 - flattening)
    let horizontal = (ecef.x * ecef.x + ecef.y * ecef.y).squareRoot()
    // Bowring's iteration on the tangent of the latitude: the error of three rounds is below a micrometre up to
    // satellite heights.
    var tangent = ecef.z / (horizontal * (1 - eccentricity))
    for _ in 0..<6 {
      let normal = semiMajorAxis / (1 + (1 - eccentricity) * tangent * tangent).squareRoot()
      let next = ecef.z / (horizontal - eccentricity * normal)
      if !next.isFinite { break }
      tangent = next
    }
    let latitude = arcTangent(tangent)
    let secant = (1 + tangent * tangent).squareRoot()
    let sine = tangent.isInfinite ? 1 : tangent / secant
    let normal = semiMajorAxis / (1 - eccentricity * sine * sine).squareRoot()
    // Near the poles the horizontal distance does not determine the height.
    let height =
      horizontal > abs(ecef.z)
      ? horizontal * secant - normal : abs(ecef.z) / abs(sine) - normal * (1 - eccentricity)
    let longitude = arcTangent(y: ecef.y, x: ecef.x)
    let degrees = 180 / Double.pi
    return (latitude * degrees, longitude * degrees, height)
  }

  /// A velocity in the directions of a place on earth.
  static func northEastDown(_ velocity: SIMD3<Double>, at ecef: SIMD3<Double>) -> SIMD3<Double> {
    let horizontal = (ecef.x * ecef.x + ecef.y * ecef.y).squareRoot()
    guard horizontal > 1, let place = geodetic(ecef) else { return SIMD3() }
    let east = SIMD2(-ecef.y, ecef.x) / horizontal
    let outward = (velocity.x * ecef.x + velocity.y * ecef.y) / horizontal
    let sine = Geodesy.sine(place.latitude * Double.pi / 180)
    let cosine = (1 - sine * sine).squareRoot()
    return SIMD3(
      velocity.z * cosine - outward * sine, velocity.x * east.x + velocity.y * east.y,
      -(outward * cosine + velocity.z * sine))
  }

  /// The sine of an angle within −π/2…π/2.
  static func sine(_ angle: Double) -> Double {
    let square = angle * angle
    var sum = 1.0
    var index = 20
    while index >= 2 {
      sum = 1 - square * (1 / Double(index * (index + 1))) * sum
      index -= 2
    }
    return angle * sum
  }

  /// The angle of a direction, −π…π.
  static func arcTangent(y: Double, x: Double) -> Double {
    if x > 0 { return arcTangent(y / x) }
    if x < 0 { return arcTangent(y / x) + (y < 0 ? -Double.pi : Double.pi) }
    return y > 0 ? Double.pi / 2 : y < 0 ? -Double.pi / 2 : 0
  }

  /// The arc tangent, −π/2…π/2: the angle is halved until the series is short.
  static func arcTangent(_ value: Double) -> Double {
    if value < 0 { return -arcTangent(-value) }
    if value > 1 { return Double.pi / 2 - arcTangent(1 / value) }
    var argument = value
    for _ in 0..<3 { argument = argument / (1 + (1 + argument * argument).squareRoot()) }
    let square = argument * argument
    var sum = 0.0
    var index = 19
    while index >= 1 {
      sum = 1 / Double(index) - square * sum
      index -= 2
    }
    return 8 * argument * sum
  }
}

extension Fix {
  /// Old receivers with only NAV-SOL, and receivers configured by gpsd, send position or velocity only in earth-centred
  /// coordinates.
  mutating func settleEarthCentred() {
    guard kind != .none, kind != .timeOnly, let ecefMetres else { return }
    if latitudeDegrees == nil, let place = Geodesy.geodetic(ecefMetres) {
      latitudeDegrees = place.latitude
      longitudeDegrees = place.longitude
      heightAboveEllipsoidMetres = place.height
      source = .ubx
      if let ecefAccuracyMetres {
        horizontalAccuracyMetres = ecefAccuracyMetres
        verticalAccuracyMetres = ecefAccuracyMetres
        accuracySource = .receiver
      }
    }
    if velocityMetresPerSecond == nil, speedMetresPerSecond == nil, let ecefMetresPerSecond {
      let velocity = Geodesy.northEastDown(ecefMetresPerSecond, at: ecefMetres)
      velocityMetresPerSecond = velocity
      climbMetresPerSecond = -velocity.z
      speedMetresPerSecond = (velocity.x * velocity.x + velocity.y * velocity.y).squareRoot()
      let degrees = Geodesy.arcTangent(y: velocity.y, x: velocity.x) * 180 / Double.pi
      courseDegrees = degrees < 0 ? degrees + 360 : degrees
    }
  }
}
