// SPDX-License-Identifier: Apache-2.0

/// A place on the ellipsoid as a vector from the earth's centre, in metres. It is computed once per fix; a distance
/// then takes three subtractions and a square root.
struct SurfacePoint: Hashable, Sendable {
  let vector: SIMD3<Double>

  init(_ coordinate: Coordinate) {
    let sine = Trigonometry.sine(degrees: coordinate.latitudeDegrees)
    let cosine = Trigonometry.cosine(degrees: coordinate.latitudeDegrees)
    let normal = Ellipsoid.semiMajorAxisMetres / (1 - Ellipsoid.eccentricitySquared * sine * sine).squareRoot()
    vector = SIMD3(
      normal * cosine * Trigonometry.cosine(degrees: coordinate.longitudeDegrees),
      normal * cosine * Trigonometry.sine(degrees: coordinate.longitudeDegrees),
      normal * (1 - Ellipsoid.eccentricitySquared) * sine)
  }

  /// The distance along the surface in metres. The chord, corrected with the first two terms of the arc on a sphere:
  /// within 0.01 mm up to 1 km, 0.02 m up to 100 km, 1 in 10⁴ up to 2000 km; `Geodesic` is exact at any distance.
  func distanceMetres(to other: SurfacePoint) -> Double {
    let between = vector - other.vector
    let square = (between * between).sum()
    let ratio = square / (4 * Ellipsoid.meanRadiusMetres * Ellipsoid.meanRadiusMetres)
    return square.squareRoot() * (1 + ratio * (1 / 6 + ratio * 3 / 40))
  }
}

/// WGS 84 (NIMA TR 8350.2, table 3.1).
enum Ellipsoid {
  static var semiMajorAxisMetres: Double { 6_378_137 }
  static var flattening: Double { 1 / 298.257223563 }
  static var semiMinorAxisMetres: Double { semiMajorAxisMetres * (1 - flattening) }
  static var eccentricitySquared: Double { flattening * (2 - flattening) }
  static var meanRadiusMetres: Double { 6_371_008.8 }
}

/// The shortest path over the ellipsoid.
public enum Geodesic {
  /// The length of a degree on a sphere of the mean radius, metres, where the error of half a percent does not matter.
  package static var metresPerDegree: Double { 111_195 }

  /// The distance between two places in metres: T. Vincenty, "Direct and inverse solutions of geodesics on the
  /// ellipsoid with application of nested equations", Survey Review 23 (1975), the inverse solution. Where it does not
  /// converge, near the antipodes, the shortest of the paths around the earth. Not a number for an invalid coordinate.
  public static func distanceMetres(_ a: Coordinate, _ b: Coordinate) -> Double {
    // In one order: the rounding errors are the same in both directions.
    let isInOrder = (a.latitudeDegrees, a.longitudeDegrees) <= (b.latitudeDegrees, b.longitudeDegrees)
    let (first, second) = isInOrder ? (a, b) : (b, a)
    return nestedEquations(first, second) ?? shortestWayAround(first, second)
  }

  /// Nil where it does not converge.
  private static func nestedEquations(_ a: Coordinate, _ b: Coordinate) -> Double? {
    if a == b { return 0 }
    let reducedA = reduced(a.latitudeDegrees)
    let reducedB = reduced(b.latitudeDegrees)
    var turn = b.longitudeDegrees - a.longitudeDegrees
    if turn > 180 { turn -= 360 } else if turn < -180 { turn += 360 }
    let difference = turn * .pi / 180
    var lambda = difference
    let f = Ellipsoid.flattening
    for _ in 0..<60 {
      let across = reducedB.cosine * Trigonometry.sine(lambda)
      let cosineLambda = Trigonometry.cosine(lambda)
      let along = reducedA.cosine * reducedB.sine - reducedA.sine * reducedB.cosine * cosineLambda
      let sineSigma = (across * across + along * along).squareRoot()
      if sineSigma == 0 { return 0 }
      let cosineSigma = reducedA.sine * reducedB.sine + reducedA.cosine * reducedB.cosine * cosineLambda
      let sigma = Trigonometry.arcTangent(y: sineSigma, x: cosineSigma)
      let sineAlpha = reducedA.cosine * reducedB.cosine * Trigonometry.sine(lambda) / sineSigma
      let cosineSquaredAlpha = 1 - sineAlpha * sineAlpha
      // On the equator the line has no unique midpoint.
      let middle =
        cosineSquaredAlpha < 1e-12 ? 0 : cosineSigma - 2 * reducedA.sine * reducedB.sine / cosineSquaredAlpha
      let c = f / 16 * cosineSquaredAlpha * (4 + f * (4 - 3 * cosineSquaredAlpha))
      let next =
        difference + (1 - c) * f * sineAlpha
        * (sigma + c * sineSigma * (middle + c * cosineSigma * (2 * middle * middle - 1)))
      if abs(next - lambda) < 1e-12 {
        let minor = Ellipsoid.semiMinorAxisMetres
        let major = Ellipsoid.semiMajorAxisMetres
        let square = cosineSquaredAlpha * (major * major - minor * minor) / (minor * minor)
        let bigA = 1 + square / 16384 * (4096 + square * (square * (320 - 175 * square) - 768))
        let bigB = square / 1024 * (256 + square * (square * (74 - 47 * square) - 128))
        let correction =
          bigB * sineSigma
          * (middle + bigB / 4
            * (cosineSigma * (2 * middle * middle - 1)
              - bigB / 6 * middle * (4 * sineSigma * sineSigma - 3) * (4 * middle * middle - 3)))
        return minor * bigA * (sigma - correction)
      }
      if !(abs(next) <= .pi) { break }
      lambda = next
    }
    return nil
  }

  private static func reduced(_ latitudeDegrees: Double) -> (sine: Double, cosine: Double) {
    let sine = Trigonometry.sine(degrees: latitudeDegrees) * (1 - Ellipsoid.flattening)
    let cosine = Trigonometry.cosine(degrees: latitudeDegrees)
    let length = (sine * sine + cosine * cosine).squareRoot()
    return (sine / length, cosine / length)
  }

  /// Between antipodes, paths lead in every direction, and each crosses the circle a quarter of the earth away from
  /// both points: the shortest path is the one with the shortest halves. In their length as a function of the direction
  /// at `a`, only the first two harmonics matter, so a few directions locate the minimum.
  private static func shortestWayAround(_ a: Coordinate, _ b: Coordinate) -> Double {
    let quarter = QuarterCircle(around: a)
    func length(_ direction: Double) -> Double {
      let middle = quarter.place(at: direction)
      guard let first = nestedEquations(a, middle), let second = nestedEquations(middle, b) else { return .nan }
      return first + second
    }
    let count = 24
    let step = 2 * Double.pi / Double(count)
    let coarse = (0..<count).map { length(Double($0) * step) }
    guard coarse.allSatisfy(\.isFinite), let least = coarse.indices.min(by: { coarse[$0] < coarse[$1] })
    else { return .nan }
    // Golden-section search between the two neighbours; the length depends on the square of the remaining angular
    // error.
    var (low, high) = (Double(least - 1) * step, Double(least + 1) * step)
    let ratio = (5.0.squareRoot() - 1) / 2
    while high - low > 1e-6 {
      let (left, right) = (high - ratio * (high - low), low + ratio * (high - low))
      if length(left) < length(right) { high = right } else { low = left }
    }
    return length((low + high) / 2)
  }
}

/// The points a quarter of a sphere away from a place, by direction.
private struct QuarterCircle {
  private let north: SIMD3<Double>
  private let east: SIMD3<Double>

  init(around place: Coordinate) {
    let (sineLatitude, cosineLatitude) = (
      Trigonometry.sine(degrees: place.latitudeDegrees), Trigonometry.cosine(degrees: place.latitudeDegrees)
    )
    let (sineLongitude, cosineLongitude) = (
      Trigonometry.sine(degrees: place.longitudeDegrees), Trigonometry.cosine(degrees: place.longitudeDegrees)
    )
    north = SIMD3(-sineLatitude * cosineLongitude, -sineLatitude * sineLongitude, cosineLatitude)
    east = SIMD3(-sineLongitude, cosineLongitude, 0)
  }

  /// - Parameter direction: radians, clockwise from north.
  func place(at direction: Double) -> Coordinate {
    let towards = Trigonometry.cosine(direction) * north + Trigonometry.sine(direction) * east
    let level = (towards.x * towards.x + towards.y * towards.y).squareRoot()
    return Coordinate(
      latitudeDegrees: Trigonometry.arcTangent(y: towards.z, x: level) * 180 / .pi,
      longitudeDegrees: Trigonometry.arcTangent(y: towards.y, x: towards.x) * 180 / .pi)
  }
}
