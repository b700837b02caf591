/// WGS 84 (NIMA TR 8350.2, table 3.1).
enum Ellipsoid {
  static var semiMajorAxisMetres: Double { 6_378_137 }
  static var flattening: Double { 1 / 298.257223563 }
  static var semiMinorAxisMetres: Double { semiMajorAxisMetres * (1 - flattening) }
  static var eccentricitySquared: Double { flattening * (2 - flattening) }
  static var meanRadiusMetres: Double { 6_371_008.8 }
}

/// The shortest way over the ellipsoid.
public enum Geodesic {
  /// Metres between two places: T. Vincenty, "Direct and inverse solutions of geodesics on the ellipsoid with application
  /// of nested equations", Survey Review 23 (1975), the inverse solution.
  ///
  /// Where it does not converge, which is within half a degree of the antipodes, the distance of a sphere stands, 0.5 %
  /// off at most. Not a number where a coordinate is none.
  public static func distanceMetres(_ a: Coordinate, _ b: Coordinate) -> Double {
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
      // On the equator the line has no mid-point of its own.
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
    return greatCircleMetres(a, b)
  }

  private static func reduced(_ latitudeDegrees: Double) -> (sine: Double, cosine: Double) {
    let sine = Trigonometry.sine(degrees: latitudeDegrees) * (1 - Ellipsoid.flattening)
    let cosine = Trigonometry.cosine(degrees: latitudeDegrees)
    let length = (sine * sine + cosine * cosine).squareRoot()
    return (sine / length, cosine / length)
  }

  /// On a sphere, by the haversine.
  private static func greatCircleMetres(_ a: Coordinate, _ b: Coordinate) -> Double {
    let north = Trigonometry.sine(degrees: (b.latitudeDegrees - a.latitudeDegrees) / 2)
    let east = Trigonometry.sine(degrees: (b.longitudeDegrees - a.longitudeDegrees) / 2)
    let square =
      north * north + Trigonometry.cosine(degrees: a.latitudeDegrees) * Trigonometry.cosine(degrees: b.latitudeDegrees)
      * east * east
    return 2 * Ellipsoid.meanRadiusMetres
      * Trigonometry.arcTangent(y: square.squareRoot(), x: max(0, 1 - square).squareRoot())
  }
}
