// SPDX-License-Identifier: Apache-2.0

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
