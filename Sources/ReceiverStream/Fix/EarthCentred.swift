// SPDX-License-Identifier: Apache-2.0

extension Geodesy {
  /// Earth-centred coordinates of a place, metres.
  static func earthCentred(latitudeDegrees: Double, longitudeDegrees: Double, heightMetres: Double) -> SIMD3<Double> {
    let sine = sine(degrees: latitudeDegrees)
    let cosine = cosine(degrees: latitudeDegrees)
    let eccentricity = flattening * (2 - flattening)
    let normal = semiMajorAxis / (1 - eccentricity * sine * sine).squareRoot()
    let axial = (normal + heightMetres) * cosine
    return SIMD3(
      axial * Geodesy.cosine(degrees: longitudeDegrees), axial * Geodesy.sine(degrees: longitudeDegrees),
      (normal * (1 - eccentricity) + heightMetres) * sine)
  }

  /// A velocity north, east and down at a place, in earth-centred directions.
  static func earthCentred(
    northEastDown velocity: SIMD3<Double>, latitudeDegrees: Double, longitudeDegrees: Double
  ) -> SIMD3<Double> {
    let (sinePhi, cosinePhi) = (sine(degrees: latitudeDegrees), cosine(degrees: latitudeDegrees))
    let (sineLambda, cosineLambda) = (sine(degrees: longitudeDegrees), cosine(degrees: longitudeDegrees))
    let outward = -velocity.x * sinePhi - velocity.z * cosinePhi
    return SIMD3(
      outward * cosineLambda - velocity.y * sineLambda, outward * sineLambda + velocity.y * cosineLambda,
      velocity.x * cosinePhi - velocity.z * sinePhi)
  }

  /// The sine of an angle within −360…360°.
  static func sine(degrees: Double) -> Double {
    var degrees = degrees
    if degrees > 180 { degrees -= 360 } else if degrees < -180 { degrees += 360 }
    if degrees > 90 { degrees = 180 - degrees } else if degrees < -90 { degrees = -180 - degrees }
    return sine(degrees * (Double.pi / 180))
  }

  /// The cosine of an angle within −270…360°.
  static func cosine(degrees: Double) -> Double { sine(degrees: 90 - degrees) }
}

// Computed on request: most users of a fix need no earth-centred coordinates.
extension Fix {
  /// The earth-centred position, metres: the receiver's, otherwise from latitude, longitude and height above the
  /// ellipsoid; nil if these are unknown.
  public var earthCentredMetres: SIMD3<Double>? {
    if let ecefMetres { return ecefMetres }
    guard let latitudeDegrees, let longitudeDegrees, let heightAboveEllipsoidMetres else { return nil }
    return Geodesy.earthCentred(
      latitudeDegrees: latitudeDegrees, longitudeDegrees: longitudeDegrees, heightMetres: heightAboveEllipsoidMetres)
  }

  /// The accuracy of the earth-centred position, metres: the receiver's, otherwise the accuracy of the position in
  /// space.
  public var earthCentredAccuracyMetres: Double? { ecefAccuracyMetres ?? sphericalAccuracyMetres }

  /// The accuracy of the position in space, metres, from the horizontal and the vertical accuracy.
  public var sphericalAccuracyMetres: Double? {
    guard let horizontalAccuracyMetres, let verticalAccuracyMetres else { return nil }
    return
      (horizontalAccuracyMetres * horizontalAccuracyMetres + verticalAccuracyMetres * verticalAccuracyMetres)
      .squareRoot()
  }

  /// The earth-centred velocity, m/s: the receiver's, otherwise from its velocity in local directions, or from speed,
  /// course and climb; nil if these are unknown.
  public var earthCentredMetresPerSecond: SIMD3<Double>? {
    if let ecefMetresPerSecond { return ecefMetresPerSecond }
    guard let latitudeDegrees, let longitudeDegrees, let velocity = northEastDownMetresPerSecond else { return nil }
    return Geodesy.earthCentred(
      northEastDown: velocity, latitudeDegrees: latitudeDegrees, longitudeDegrees: longitudeDegrees)
  }

  private var northEastDownMetresPerSecond: SIMD3<Double>? {
    if let velocityMetresPerSecond { return velocityMetresPerSecond }
    guard let speedMetresPerSecond, let courseDegrees, let climbMetresPerSecond else { return nil }
    return SIMD3(
      speedMetresPerSecond * Geodesy.cosine(degrees: courseDegrees),
      speedMetresPerSecond * Geodesy.sine(degrees: courseDegrees), -climbMetresPerSecond)
  }

  /// The accuracies in longitude and latitude, metres: the receiver's, otherwise the horizontal accuracy, split in the
  /// ratio of the dilutions east and north; nil if neither is known.
  ///
  /// - Parameter geometry: the dilutions computed from the satellites, if the receiver sends none.
  public func eastNorthAccuracyMetres(_ geometry: Dilutions?) -> (east: Double, north: Double)? {
    if let eastAccuracyMetres, let northAccuracyMetres { return (eastAccuracyMetres, northAccuracyMetres) }
    guard accuracySource != .assumed, let horizontalAccuracyMetres, let edop = edop ?? geometry?.edop,
      let ndop = ndop ?? geometry?.ndop
    else { return nil }
    let scale = horizontalAccuracyMetres / (edop * edop + ndop * ndop).squareRoot()
    return (edop * scale, ndop * scale)
  }
}
