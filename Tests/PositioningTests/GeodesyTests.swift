// SPDX-License-Identifier: Apache-2.0
import ReceiverStream
import TestSupport
import Testing

@testable import Positioning

@Suite("The earth")
struct GeodesyTests {
  private func place(_ latitude: Double, _ longitude: Double) -> Coordinate {
    Coordinate(latitudeDegrees: latitude, longitudeDegrees: longitude)
  }

  @Test(
    "DA-4 distance follows the earth's curvature",
    arguments: [
      (0.0, 0.0, 0.0, 1.0, 111_319.491), (0, 0, 1, 0, 110_574.389),
      (37.7749, -122.4194, 34.0522, -118.2437, 559_042.337),
      // Vincenty's example (a), on WGS 84, computed with GeographicLib.
      (0, 179.5, 0, -179.5, 111_319.491),
    ])
  func known(a: Double, b: Double, c: Double, d: Double, metres: Double) {
    let forth = Geodesic.distanceMetres(place(a, b), place(c, d))
    let back = Geodesic.distanceMetres(place(c, d), place(a, b))
    #expect(abs(forth - metres) < 0.002, "\(forth)")
    #expect(abs(forth - back) < 1e-6)
  }

  @Test("DA-4 equal points are 0 apart, antipodes half a meridian")
  func extremes() {
    #expect(Geodesic.distanceMetres(place(12, 13), place(12, 13)) == 0)
    #expect(Geodesic.distanceMetres(place(90, 0), place(90, 120)) < 1e-6)
    let half = Geodesic.distanceMetres(place(0, 0), place(0, 180))
    #expect(abs(half - 20_003_931.459) < 0.001, "\(half)")
  }

  /// By GeographicLib.
  @Test(
    "DA-4 between places that are nearly antipodes the shortest way around counts",
    arguments: [
      (0.0, 0.0, 0.0, 179.7, 19_995_624.890), (0, 0, 0.5, 179.5, 19_936_288.579), (0, 0, 0.5, 179.7, 19_944_127.421),
      (90, 0, -90, 0, 20_003_931.459), (30, 0, -30, 180, 20_003_931.459), (41.32, 0, -41, 179.5, 19_956_911.949),
      (-33.9, 151.2, 33.9, -29, 20_000_239.438), (52, -1, -52.2, 179.3, 19_977_343.276),
      (10, 20, -10.4, -160.2, 19_957_499.494), (75, 5, -75.1, -174.6, 19_988_893.394),
    ])
  func nearlyAntipodes(a: Double, b: Double, c: Double, d: Double, metres: Double) {
    let forth = Geodesic.distanceMetres(place(a, b), place(c, d))
    let back = Geodesic.distanceMetres(place(c, d), place(a, b))
    #expect(abs(forth - metres) < 0.001 && abs(back - metres) < 0.001, "\(forth) \(back)")
  }

  @Test("DA-4 the distance is the same in both directions, to the last bit")
  func symmetry() {
    var random = SeededRandomNumberGenerator(seed: 4)
    func anywhere() -> Coordinate {
      place(Double.random(in: -90...90, using: &random), Double.random(in: -180...180, using: &random))
    }
    for _ in 0..<5000 {
      let (a, b) = (anywhere(), anywhere())
      #expect(Geodesic.distanceMetres(a, b) == Geodesic.distanceMetres(b, a), "\(a) \(b)")
    }
    for (a, b) in [
      (place(0.5, 179.7), place(0, 0)), (place(-33.9, 151.2), place(33.9, -29)), (place(-0.0, 10), place(0, 20)),
      (place(0, 10), place(-0.0, 20)), (place(5, -180), place(-7, 180)),
    ] {
      #expect(Geodesic.distanceMetres(a, b) == Geodesic.distanceMetres(b, a), "\(a) \(b)")
    }
  }

  @Test("DA-4 the distance from an invalid place is not a number, without a trap")
  func nowhere() {
    #expect(Geodesic.distanceMetres(place(.nan, 0), place(1, 2)).isNaN)
    #expect(Geodesic.distanceMetres(place(1, 2), place(3, .infinity)).isNaN)
  }

  @Test("AU-19 every place of a coarse cell is within the stated accuracy of its centre, at the poles too")
  func cells() {
    var random = SeededRandomNumberGenerator(seed: 19)
    for index in 0..<20_000 {
      let anywhere = Double.random(in: -90...90, using: &random)
      let atPole = 90 - Double.random(in: 0...0.5, using: &random)
      let latitude = index % 4 == 0 ? atPole : index % 4 == 1 ? -atPole : anywhere
      let place = place(latitude, Double.random(in: -180...180, using: &random))
      let cells = index % 3 == 0 ? CellGrid() : CellGrid(using: &random)
      let centre = cells.middle(of: place)
      let metres = Geodesic.distanceMetres(place, centre)
      #expect(metres <= CellGrid.radiusMetres, "\(place): \(metres)")
      #expect(cells.middle(of: centre) == centre, "\(place)")
    }
  }

  @Test("DA-4 altitude does not count")
  func altitude() {
    var low = Location(place(48, 11), horizontalAccuracyMetres: 5, timestamp: UTCTime(nanosecondsSince1970: 0))
    low.altitudeMetres = 500
    var high = low
    high.altitudeMetres = 8000
    #expect(low.distanceMetres(from: high) == 0)
  }

  @Test("The chord with two terms agrees with the geodesic", arguments: [0.001, 0.1, 1.0, 15.0])
  func chord(degrees: Double) {
    for latitude in stride(from: -80.0, through: 60, by: 20) {
      let a = place(latitude, 179.9)
      let b = place(latitude + degrees * 0.7, -180 + degrees * 0.7)
      let exact = Geodesic.distanceMetres(a, b)
      let fast = SurfacePoint(a).distanceMetres(to: SurfacePoint(b))
      let allowed = exact < 1000 ? 1e-5 : exact < 150_000 ? 0.05 : exact * 1e-4
      #expect(abs(exact - fast) < allowed, "\(latitude): \(exact) \(fast)")
    }
  }

  /// NOAA, WMM2025_TestValues.txt: year, height in km, latitude, longitude, declination in degrees; every fifth row.
  private static let published: [(Double, Double, Double, Double, Double)] = [
    (2025, 28, 89, -121, -99.77), (2025, 39, -59, -8, -15.75), (2025.5, 6, -36, -137, 20.28),
    (2025.5, 8, -66, 17, -33.14), (2026, 74, -57, 3, -22.51), (2026, 62, -14, 99, -1.43),
    (2026.5, 14, 0, 80, -3.10), (2026.5, 12, 33, -145, 11.96), (2027, 37, -66, -5, -17.22),
    (2027, 44, -43, -111, 24.31), (2027.5, 8, 62, 53, 19.39), (2027.5, 73, -72, 95, -102.64),
    (2028, 49, 20, 167, 5.10), (2028, 75, 79, 125, -18.59), (2028.5, 28, 54, -120, 15.43),
    (2028.5, 72, -62, 65, -67.87), (2029, 95, -60, -59, 8.58), (2029, 38, -76, 49, -64.28),
    (2029.5, 31, 13, -132, 9.04), (2029.5, 66, -21, 32, -14.63),
  ]

  @Test("The World Magnetic Model gives the declinations that NOAA publishes", arguments: published)
  func declination(year: Double, kilometres: Double, latitude: Double, longitude: Double, degrees: Double) {
    let field = MagneticModel.field(at: place(latitude, longitude), heightMetres: kilometres * 1000, year: year)
    #expect(abs(field.declinationDegrees - degrees) <= 0.0051, "\(field.declinationDegrees)")
  }

  /// The same file: north, east, down in nanotesla.
  private static let components: [(Double, Double, Double, Double, SIMD3<Double>)] = [
    (2025, 28, 89, -121, SIMD3(-255.388723, -1482.460628, 56194.288771)),
    (2025, 65, 43, 93, SIMD3(24299.852822, 210.517066, 50037.923998)),
    (2025, 51, -33, 109, SIMD3(21737.778822, -2090.274098, -52710.00392)),
    (2025.5, 6, -36, -137, SIMD3(23781.930678, 8786.698927, -32577.518648)),
    (2026, 62, -14, 99, SIMD3(33437.82863, -835.919473, -33100.922253)),
    (2026.5, 14, 0, 80, SIMD3(39431.415992, -2133.456168, -12188.838466)),
  ]

  @Test("The World Magnetic Model gives the fields that NOAA publishes", arguments: components)
  func field(year: Double, kilometres: Double, latitude: Double, longitude: Double, expected: SIMD3<Double>) {
    let field = MagneticModel.field(at: place(latitude, longitude), heightMetres: kilometres * 1000, year: year)
    let difference = SIMD3(field.north, field.east, field.down) - expected
    #expect((difference * difference).sum().squareRoot() < 0.001, "\(difference)")
  }

  @Test("A year has its fraction, and the poles have a declination")
  func edges() throws {
    let noon = UTCTime(
      day: try #require(Day(year: 2026, month: 7, day: 2)), nanosecondsOfDay: 43_200_000_000_000)
    #expect(MagneticModel.year(of: noon) == 2026.5)
    for latitude in [-90.0, 90] {
      let field = MagneticModel.field(at: place(latitude, 0), year: 2026)
      #expect(field.declinationDegrees.isFinite && field.horizontal < 20_000)
    }
  }
}
