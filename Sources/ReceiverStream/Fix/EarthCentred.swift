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

/// Dilutions of precision from the geometry of the used satellites: the factors by which a range error of one standard
/// deviation grows in each coordinate of the solution. Without unit.
///
/// The rows of the design matrix are the directions to the satellites (east, north, up) and 1 for the receiver's clock.
/// The dilutions are the roots of the diagonal of (GᵀG)⁻¹ and of sums of it. Source: Misra and Enge, Global Positioning
/// System, section 6.1; the single column for the clock is gpsd's model too, also for several satellite systems.
public struct Dilutions: Equatable, Sendable {
  /// Position and time.
  public var gdop: Double
  /// Position.
  public var pdop: Double
  /// East and north.
  public var hdop: Double
  /// Height.
  public var vdop: Double
  /// Time.
  public var tdop: Double
  /// East; gpsd's xdop.
  public var edop: Double
  /// North; gpsd's ydop.
  public var ndop: Double

  /// The dilutions of the used satellites with known direction; nil if there are fewer than four, or if they do not
  /// determine a position: a dilution of 99.99 or more, the value that marks an unknown dilution.
  public init?(of satellites: Span<Satellite>) {
    var normal = InlineArray<4, SIMD4<Double>>(repeating: SIMD4())
    var count = 0
    for index in satellites.indices {
      guard satellites[index].isUsed, let direction = satellites[index].direction else { continue }
      count += 1
      let row = SIMD4(direction, 1)
      for place in 0..<4 { normal[place] += row[place] * row }
    }
    guard count >= 4, let variances = Self.inverseDiagonal(normal) else { return nil }
    let horizontal = variances.x + variances.y
    let position = horizontal + variances.z
    gdop = (position + variances.w).squareRoot()
    guard gdop < Self.unknown else { return nil }
    pdop = position.squareRoot()
    hdop = horizontal.squareRoot()
    vdop = variances.z.squareRoot()
    tdop = variances.w.squareRoot()
    edop = variances.x.squareRoot()
    ndop = variances.y.squareRoot()
  }

  private static var unknown: Double { 99.99 }

  /// The diagonal of the inverse of a symmetric, positive matrix, using elimination; nil if it is singular.
  private static func inverseDiagonal(_ matrix: InlineArray<4, SIMD4<Double>>) -> SIMD4<Double>? {
    var rows = matrix
    var inverse: InlineArray<4, SIMD4<Double>> = [
      SIMD4(1, 0, 0, 0), SIMD4(0, 1, 0, 0), SIMD4(0, 0, 1, 0), SIMD4(0, 0, 0, 1),
    ]
    for column in 0..<4 {
      let pivot = rows[column][column]
      // The inverse of a pivot is a lower bound of the square of a dilution.
      guard pivot > 1 / (unknown * unknown) else { return nil }
      rows[column] /= pivot
      inverse[column] /= pivot
      for row in 0..<4 where row != column {
        let factor = rows[row][column]
        rows[row] -= factor * rows[column]
        inverse[row] -= factor * inverse[column]
      }
    }
    return SIMD4(inverse[0].x, inverse[1].y, inverse[2].z, inverse[3].w)
  }
}

extension Satellite {
  /// The unit vector to the satellite: east, north, up; nil if an angle is unknown.
  var direction: SIMD3<Double>? {
    guard azimuthDegrees >= 0, elevationDegrees != Satellite.unknownAngle else { return nil }
    let elevation = Double(elevationDegrees)
    let azimuth = Double(azimuthDegrees)
    let level = Geodesy.cosine(degrees: elevation)
    return SIMD3(
      level * Geodesy.sine(degrees: azimuth), level * Geodesy.cosine(degrees: azimuth), Geodesy.sine(degrees: elevation)
    )
  }
}
