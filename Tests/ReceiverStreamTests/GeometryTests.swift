// SPDX-License-Identifier: Apache-2.0
import ReceiverStream
import TestSupport
import Testing
import UBX

@Suite("Dilutions by the geometry of the satellites")
struct DilutionTests {
  /// A used satellite for each pair of elevation and azimuth, degrees.
  private func satellites(_ angles: [(Int8, Int16)]) -> [Satellite] {
    angles.enumerated().map { index, angles in
      Satellite(
        system: .gps, number: UInt8(index + 1), elevationDegrees: angles.0, azimuthDegrees: angles.1, isUsed: true)
    }
  }

  private func isClose(_ a: Dilutions?, _ east: Double, _ north: Double, _ vertical: Double, _ time: Double) -> Bool {
    guard let a else { return false }
    let horizontal = (east * east + north * north).squareRoot()
    let position = (horizontal * horizontal + vertical * vertical).squareRoot()
    let geometric = (position * position + time * time).squareRoot()
    return zip(
      [a.edop, a.ndop, a.hdop, a.vdop, a.pdop, a.tdop, a.gdop],
      [east, north, horizontal, vertical, position, time, geometric]
    ).allSatisfy { abs($0 - $1) < 1e-12 }
  }

  @Test("One at the zenith and three on the horizon: the dilutions are known in closed form")
  func closedForm() {
    let sky = satellites([(90, 0), (0, 0), (0, 120), (0, 240)])
    let third = 1.0 / 3
    let horizontal = (2 * third).squareRoot()
    #expect(isClose(Dilutions(of: sky.span), horizontal, horizontal, (4 * third).squareRoot(), third.squareRoot()))
  }

  /// Computed with another program, in double precision, from the inverse of GᵀG with pivoting.
  private static let eight: [(Int8, Int16)] = [
    (0, 83), (40, 83), (17, 210), (55, 301), (9, 12), (71, 140), (33, 266), (-3, 45),
  ]

  @Test("Eight satellites, one of them below the horizon")
  func eight() {
    #expect(
      isClose(
        Dilutions(of: satellites(Self.eight).span), 0.645_227_670_380_875_5, 0.758_525_867_200_987_4,
        1.149_945_359_158_599_5, 0.648_450_947_997_156_1))
  }

  @Test("Satellites that are not used, or whose direction is unknown, do not count")
  func others() {
    let eight = satellites(Self.eight)
    let unused = Satellite(system: .galileo, number: 1, elevationDegrees: 20, azimuthDegrees: 20)
    let unknown = Satellite(system: .galileo, number: 2, isUsed: true)
    let low = Satellite(system: .galileo, number: 3, elevationDegrees: 20, isUsed: true)
    #expect(Dilutions(of: ([unused, unknown] + eight + [low]).span) == Dilutions(of: eight.span))
  }

  @Test("Turning the sky by 90° exchanges east and north")
  func turned() throws {
    let dilutions = Dilutions(of: satellites(Self.eight).span)
    let plain = try #require(dilutions)
    let turned = satellites(Self.eight.map { ($0.0, ($0.1 + 90) % 360) })
    #expect(isClose(Dilutions(of: turned.span), plain.ndop, plain.edop, plain.vdop, plain.tdop))
  }

  @Test("Three satellites, satellites on a cone and in a plane determine no position")
  func singular() {
    #expect(Dilutions(of: satellites([]).span) == nil)
    #expect(Dilutions(of: satellites([(90, 0), (0, 0), (0, 120)]).span) == nil)
    #expect(Dilutions(of: satellites([(30, 0), (30, 70), (30, 150), (30, 220), (30, 300)]).span) == nil)
    #expect(Dilutions(of: satellites([(10, 90), (40, 90), (80, 270), (20, 270)]).span) == nil)
    #expect(Dilutions(of: satellites([(40, 100), (40, 100), (40, 100), (40, 100)]).span) == nil)
  }
}

@Suite("Earth-centred coordinates and the division of accuracies")
struct EarthCentredTests {
  private func fix(_ latitude: Double, _ longitude: Double, _ height: Double?) -> Fix {
    var fix = Fix()
    fix.kind = .threeD
    (fix.latitudeDegrees, fix.longitudeDegrees, fix.heightAboveEllipsoidMetres) = (latitude, longitude, height)
    return fix
  }

  private func distance(_ a: SIMD3<Double>?, _ b: SIMD3<Double>) -> Double {
    guard let a else { return .infinity }
    return ((a - b) * (a - b)).sum().squareRoot()
  }

  // EPSG Guidance Note 7-2, section 4.1.1, has the second place as its example.
  @Test(
    "Known places",
    arguments: [
      (0, 0, 0, 6_378_137, 0, 0), (0, 90, 0, 0, 6_378_137, 0), (0, -180, 10, -6_378_147, 0, 0),
      (53.809_394_444_444_44, 2.129_55, 73, 3_771_793.968, 140_253.342, 5_124_304.349),
      (90, 0, 0, 0, 0, 6_356_752.3142), (-90, 77, 100, 0, 0, -6_356_852.3142),
    ] as [(Double, Double, Double, Double, Double, Double)])
  func places(latitude: Double, longitude: Double, height: Double, x: Double, y: Double, z: Double) {
    #expect(distance(fix(latitude, longitude, height).earthCentredMetres, SIMD3(x, y, z)) < 0.001)
  }

  @Test("The receiver's own coordinates are preferred, and without a height there are none")
  func preference() {
    var fix = fix(1, 2, nil)
    #expect(fix.earthCentredMetres == nil)
    fix.ecefMetres = SIMD3(1, 2, 3)
    fix.ecefMetresPerSecond = SIMD3(4, 5, 6)
    #expect(fix.earthCentredMetres == SIMD3(1, 2, 3) && fix.earthCentredMetresPerSecond == SIMD3(4, 5, 6))
    (fix.horizontalAccuracyMetres, fix.verticalAccuracyMetres) = (3, 4)
    #expect(fix.earthCentredAccuracyMetres == 5)
    fix.ecefAccuracyMetres = 7
    #expect(fix.earthCentredAccuracyMetres == 7)
  }

  @Test("A velocity, computed with another program")
  func velocity() {
    var fix = fix(53.809_394_444_444_44, 2.129_55, 73)
    let expected = SIMD3(-2.565_895_628_326_741_6, -4.098_176_734_250_813, 1.367_891_472_076_296_5)
    fix.velocityMetresPerSecond = SIMD3(3, -4, 0.5)
    #expect(distance(fix.earthCentredMetresPerSecond, expected) < 1e-12)
    // The same motion as speed, course and climb. Without the climb it is unknown.
    fix.velocityMetresPerSecond = nil
    (fix.speedMetresPerSecond, fix.courseDegrees) = (5, 306.869_897_645_844)
    #expect(fix.earthCentredMetresPerSecond == nil)
    fix.climbMetresPerSecond = -0.5
    #expect(distance(fix.earthCentredMetresPerSecond, expected) < 1e-12)
  }

  @Test("Latitude, longitude and the local velocity give the earth-centred values of NAV-SOL again")
  func roundTrip() throws {
    var random = SeededRandomNumberGenerator(seed: 7)
    for _ in 0..<200 {
      let fix = fix(
        Double.random(in: -90...90, using: &random), Double.random(in: -180...180, using: &random),
        Double.random(in: -100...9000, using: &random))
      let place = try #require(fix.earthCentredMetres)
      let velocity = SIMD3<Int32>(
        Int32(random.int(-5000...5000)), Int32(random.int(-5000...5000)), Int32(random.int(-5000...5000)))
      let bytes = ubx {
        NavSOL.encode(into: &$0) {
          $0.iTOW(1000)
          $0.week(2396)
          $0.gpsFix(3)
          $0.flags(0b1101)
          $0.ecefX(Int32((place.x * 100).rounded()))
          $0.ecefY(Int32((place.y * 100).rounded()))
          $0.ecefZ(Int32((place.z * 100).rounded()))
          $0.ecefVX(velocity.x)
          $0.ecefVY(velocity.y)
          $0.ecefVZ(velocity.z)
        }
      }
      var playback = Playback()
      playback.receive(bytes)
      playback.finish()
      let last = playback.lastFix
      var again = try #require(last)
      #expect(distance(again.ecefMetres, place) < 0.01)
      (again.ecefMetres, again.ecefMetresPerSecond) = (nil, nil)
      #expect(distance(again.earthCentredMetres, place) < 0.01)
      let expected = SIMD3(Double(velocity.x), Double(velocity.y), Double(velocity.z)) / 100
      #expect(distance(again.earthCentredMetresPerSecond, expected) < 1e-6)
    }
  }

  @Test("The horizontal accuracy is divided as the dilutions are")
  func division() throws {
    var fix = fix(1, 2, 3)
    #expect(fix.eastNorthAccuracyMetres(nil) == nil)
    fix.horizontalAccuracyMetres = 5
    fix.accuracySource = .receiver
    #expect(fix.eastNorthAccuracyMetres(nil) == nil)
    (fix.edop, fix.ndop) = (0.6, 0.8)
    let divided = try #require(fix.eastNorthAccuracyMetres(nil))
    #expect(abs(divided.east - 3) < 1e-12 && abs(divided.north - 4) < 1e-12)
    fix.accuracySource = .assumed
    #expect(fix.eastNorthAccuracyMetres(nil) == nil)
    (fix.eastAccuracyMetres, fix.northAccuracyMetres) = (1, 2)
    let own = try #require(fix.eastNorthAccuracyMetres(nil))
    #expect(own == (1, 2))
  }

  @Test("NAV-DOP, NAV-COV and NAV-VELECEF give the receiver's own values")
  func messages() throws {
    var playback = Playback()
    playback.receive(
      ubx {
        NavDOP.encode(into: &$0) {
          $0.iTOW(1000)
          $0.gDOP(210)
          $0.pDOP(180)
          $0.tDOP(100)
          $0.vDOP(150)
          $0.hDOP(99)
          $0.nDOP(70)
          $0.eDOP(60)
        }
      },
      ubx {
        NavCOV.encode(into: &$0) {
          $0.iTOW(1000)
          $0.posCovValid(1)
          $0.velCovValid(1)
          $0.posCovNN(9)
          $0.posCovEE(16)
          $0.posCovDD(25)
          $0.velCovDD(0.25)
        }
      },
      ubx {
        NavPVT.encode(into: &$0) {
          $0.iTOW(1000)
          $0.fixType(3)
          $0.flags(1)
          $0.pDOP(180)
          $0.hAcc(2000)
        }
      },
      ubx {
        NavVELECEF.encode(into: &$0) {
          $0.iTOW(1000)
          $0.ecefVX(100)
          $0.ecefVY(-200)
          $0.ecefVZ(50)
        }
      })
    playback.finish()
    let last = playback.lastFix
    let fix = try #require(last)
    #expect(fix.edop == 0.6 && fix.ndop == 0.7 && fix.hasAllDilutions)
    #expect(fix.eastAccuracyMetres == 4 && fix.northAccuracyMetres == 3)
    #expect(fix.climbAccuracyMetresPerSecond == 0.5 && fix.horizontalAccuracyMetres == 2)
    #expect(fix.earthCentredMetresPerSecond == SIMD3(1, -2, 0.5))
  }
}
