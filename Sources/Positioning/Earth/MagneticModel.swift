// SPDX-License-Identifier: Apache-2.0
import ReceiverStream

/// The earth's magnetic field according to the World Magnetic Model 2025 ("The US/UK World Magnetic Model for
/// 2025-2030: Technical Report", section 1.2), for the correction of a compass.
public enum MagneticModel {
  /// The main field at a place and time, nanotesla.
  public struct Field: Hashable, Sendable {
    /// To the geographic north.
    public var north: Double
    /// To the geographic east.
    public var east: Double
    /// Into the ground.
    public var down: Double

    /// Magnetic north from true north, −180…180, east positive.
    public var declinationDegrees: Double { Trigonometry.arcTangent(y: east, x: north) * 180 / .pi }
    /// The angle of the field into the ground; negative in the south.
    public var inclinationDegrees: Double { Trigonometry.arcTangent(y: down, x: horizontal) * 180 / .pi }
    /// Below 2000 a compass is unreliable (the report's blackout zone).
    public var horizontal: Double { (north * north + east * east).squareRoot() }
  }

  /// The reference radius of the model.
  private static var referenceRadiusMetres: Double { 6_371_200 }

  /// The field at a place.
  ///
  /// - Parameters:
  ///   - coordinate: the place.
  ///   - heightMetres: above the ellipsoid.
  ///   - year: with its fraction; limited to 2025…2030, the validity of the model.
  public static func field(at coordinate: Coordinate, heightMetres: Double = 0, year: Double) -> Field {
    let elapsed = min(max(year, WMM2025.epoch), WMM2025.end) - WMM2025.epoch
    let place = Spherical(coordinate, heightMetres: heightMetres)
    var legendre = Legendre(cosine: place.sineLatitude, sine: place.cosineLatitude)
    let ratio = referenceRadiusMetres / place.radius
    var power = ratio * ratio
    var north = 0.0
    var east = 0.0
    var down = 0.0
    for row in WMM2025.rows {
      if row.m == 0 {
        power *= ratio
        legendre.advance(to: row.n)
      }
      let g = row.g + elapsed * row.gDot
      let h = row.h + elapsed * row.hDot
      let order = Double(row.m)
      let angle = order * coordinate.longitudeDegrees
      let cosine = Trigonometry.cosine(degrees: angle)
      let sine = Trigonometry.sine(degrees: angle)
      north += power * (g * cosine + h * sine) * legendre.slopes[row.m]
      east += power * order * (g * sine - h * cosine) * legendre.values[row.m]
      down -= power * Double(row.n + 1) * (g * cosine + h * sine) * legendre.values[row.m]
    }
    east /= place.cosineLatitude
    // From the sphere's vertical to the ellipsoid's.
    return Field(
      north: north * place.cosineTilt - down * place.sineTilt, east: east,
      down: north * place.sineTilt + down * place.cosineTilt)
  }

  /// A year with its fraction.
  public static func year(of time: UTCTime) -> Double {
    let year = time.day.components.year
    guard let first = Day(year: year, month: 1, day: 1), let next = Day(year: year + 1, month: 1, day: 1) else {
      return Double(year)
    }
    let days = Double(time.day.since1970 - first.since1970) + Double(time.nanosecondsOfDay) / 86_400e9
    return Double(year) + days / Double(next.since1970 - first.since1970)
  }
}

/// A place in geocentric coordinates, and the angle between its vertical and the ellipsoid's.
private struct Spherical {
  let radius: Double
  let sineLatitude: Double
  let cosineLatitude: Double
  let sineTilt: Double
  let cosineTilt: Double

  init(_ coordinate: Coordinate, heightMetres: Double) {
    let sine = Trigonometry.sine(degrees: coordinate.latitudeDegrees)
    let cosine = Trigonometry.cosine(degrees: coordinate.latitudeDegrees)
    let normal = Ellipsoid.semiMajorAxisMetres / (1 - Ellipsoid.eccentricitySquared * sine * sine).squareRoot()
    let outward = (normal + heightMetres) * cosine
    let upward = (normal * (1 - Ellipsoid.eccentricitySquared) + heightMetres) * sine
    radius = (outward * outward + upward * upward).squareRoot()
    sineLatitude = upward / radius
    // At the poles east is undefined; a small offset defines it.
    cosineLatitude = max(outward / radius, 1e-10)
    sineTilt = sineLatitude * cosine - cosineLatitude * sine
    cosineTilt = cosineLatitude * cosine + sineLatitude * sine
  }
}

/// The Schmidt semi-normalised associated Legendre functions, one degree after the other, with their derivatives with
/// respect to the colatitude.
private struct Legendre {
  /// By order.
  private(set) var values: [Double]
  private(set) var slopes: [Double]
  private var previousValues: [Double]
  private var previousSlopes: [Double]
  private let cosine: Double
  private let sine: Double

  init(cosine: Double, sine: Double) {
    self.cosine = cosine
    self.sine = sine
    values = [Double](repeating: 0, count: WMM2025.degree + 1)
    slopes = values
    previousValues = values
    previousSlopes = values
    values[0] = 1
  }

  /// Advances by one degree.
  mutating func advance(to degree: Int) {
    let n = Double(degree)
    for order in 0..<degree {
      let m = Double(order)
      let root = (n * n - m * m).squareRoot()
      let before = ((n - 1) * (n - 1) - m * m).squareRoot()
      let value = ((2 * n - 1) * cosine * values[order] - before * previousValues[order]) / root
      let slope =
        ((2 * n - 1) * (cosine * slopes[order] - sine * values[order]) - before * previousSlopes[order]) / root
      previousValues[order] = values[order]
      previousSlopes[order] = slopes[order]
      values[order] = value
      slopes[order] = slope
    }
    // The diagonal element, from the preceding one, which is now among the previous values.
    let factor = degree == 1 ? 1 : ((2 * n - 1) / (2 * n)).squareRoot()
    values[degree] = factor * sine * previousValues[degree - 1]
    slopes[degree] = factor * (sine * previousSlopes[degree - 1] + cosine * previousValues[degree - 1])
  }
}
