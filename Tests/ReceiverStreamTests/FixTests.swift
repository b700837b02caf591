// SPDX-License-Identifier: Apache-2.0
import ReceiverStream
import TestSupport
import Testing
import UBX

@Suite("The contents of a fix")
struct FixTests {
  /// The last fix after these sentences.
  private func lastFix(_ sentences: String...) -> Fix? {
    var playback = Playback()
    for sentence in sentences { playback.receive(sentence) }
    playback.finish()
    return playback.lastFix
  }

  private func lastFix(_ frames: [UInt8]...) -> Fix? {
    var playback = Playback()
    for frame in frames { playback.receive(frame) }
    playback.finish()
    return playback.lastFix
  }

  // MARK: Kinds

  @Test("Status V and quality 0 give no position")
  func invalid() {
    #expect(lastFix(rmc("101112", status: "V"))?.hasPosition == false)
    #expect(lastFix(gga("101112", quality: 0))?.hasPosition == false)
    #expect(lastFix(gll("101112", status: "V"))?.hasPosition == false)
    #expect(lastFix(rmc("101112", status: "V"), gga("101112", quality: 0), gsa3D)?.hasPosition == false)
    #expect(lastFix(rmc("101112", status: "V"))?.time == UTCTime(2025, 12, 9, 10, 11, 12))
  }

  @Test("Status V gives no position even beside a position")
  func invalidWithPosition() {
    #expect(lastFix("GPRMC,101112,V,4717.1,N,00833.9,E,0,0,091225,,,N")?.hasPosition == false)
    #expect(lastFix("GPGGA,101112,4717.1,N,00833.9,E,0,08,1.0,5,M,4,M,,")?.hasPosition == false)
  }

  @Test("RMC or GLL alone is 2D; GGA's height makes it 3D; GSA decides")
  func dimensions() {
    #expect(lastFix(rmc("101112"))?.kind == .twoD)
    #expect(lastFix(gll("101112"))?.kind == .twoD)
    #expect(lastFix(gga("101112"))?.kind == .threeD)
    #expect(lastFix(rmc("101112"), gsa3D)?.kind == .threeD)
    #expect(lastFix(gga("101112"), "GPGSA,A,2,05,09,12,,,,,,,,,,1.8,1.0,1.5")?.kind == .twoD)
  }

  @Test("The position with the most digits is used, the later one if they are equal")
  func digits() {
    let coarse = "GPRMC,101112,A,4717.1,N,00833.9,E,0,0,091225,,,A"
    #expect(lastFix(gga("101112"), coarse)?.latitudeDegrees == 283_711_437.0 / 6_000_000)
    #expect(lastFix(gga("101112", latitude: "4717.2"), rmc("101112"))?.latitudeDegrees == 283_711_437.0 / 6_000_000)
  }

  @Test("Knots become metres per second; a course is true")
  func motion() throws {
    let fix = try #require(lastFix(rmc("101112", speed: "19.438445"), "GPVTG,90.0,T,,M,,N,,K,A"))
    #expect(abs((fix.speedMetresPerSecond ?? 0) - 10) < 1e-6)
    // VTG takes no value from RMC, which has a time.
    #expect(fix.courseDegrees == 77.5)
    #expect(lastFix(gga("101112"), "GPVTG,90.0,T,,M,,N,,K,A")?.courseDegrees == 90)
  }

  @Test("An implausible speed is rejected")
  func absurdSpeed() {
    #expect(lastFix(rmc("101112", speed: "99999"))?.speedMetresPerSecond == nil)
    #expect(lastFix(navPVT(12) { $0.gSpeed(-1) })?.speedMetresPerSecond == nil)
  }

  @Test("GNS with several systems' modes: the best mode counts, N alone is not a fix")
  func gns() {
    #expect(lastFix("GNGNS,101112,4717.1,N,00833.9,E,AND,12,0.8,499.6,48.0,,")?.quality == .differential)
    #expect(lastFix("GNGNS,101112,4717.1,N,00833.9,E,NNN,12,0.8,499.6,48.0,,")?.hasPosition == false)
  }

  @Test(
    "GNS: a mode with satellites is better than estimated and manual, which are better than none",
    arguments: [
      ("RE", .rtkFixed), ("AEN", .autonomous), ("MF", .rtkFloat), ("EN", .estimated), ("ME", .estimated),
      ("M", .manual), ("FR", .rtkFixed), ("AP", .preciseService),
    ] as [(String, Fix.Quality)])
  func gnsEstimated(modes: String, quality: Fix.Quality) {
    #expect(lastFix("GNGNS,101112,4717.1,N,00833.9,E,\(modes),12,0.8,499.6,48.0,,")?.quality == quality)
  }

  @Test("Empty fields of the corrections do not replace another sentence's fields")
  func corrections() throws {
    let place = "101112,4717.11437,N,00833.91522,E"
    let gga = "GNGGA,\(place),5,10,1.2,403.6,M,48.0,M,1.0,0120"
    let gns = "GNGNS,\(place),FFNNN,10,1.2,403.6,48.0,,"
    for fix in [lastFix(gga, gns), lastFix(gns, gga)] {
      #expect(fix?.differentialAgeSeconds == 1)
      #expect(fix?.differentialStation == 120)
    }
    #expect(lastFix(gga, "GNGNS,\(place),FFNNN,10,1.2,403.6,48.0,2.0,")?.differentialAgeSeconds == 2)
    #expect(lastFix(gga, "GNGNS,\(place),FFNNN,10,1.2,403.6,48.0,,0000")?.differentialStation == 120)
  }

  @Test("Station 0 without an age is not a station", arguments: ["", "0", "0.0"])
  func noStation(age: String) {
    let fix = lastFix("GPGGA,101112,4717.11437,N,00833.91522,E,1,08,0.9,499.6,M,48.0,M,\(age),0000")
    #expect(fix?.hasPosition == true && fix?.differentialStation == nil && fix?.differentialAgeSeconds == nil)
    let corrected = lastFix("GPGGA,101112,4717.11437,N,00833.91522,E,2,08,0.9,499.6,M,48.0,M,1.5,0000")
    #expect(corrected?.differentialStation == 0 && corrected?.differentialAgeSeconds == 1.5)
  }

  @Test("A height without a separation moves both heights, by the separation of the epoch")
  func heightWithoutSeparation() throws {
    let gga = "GNGGA,101112,4717.1143,N,00833.9152,E,4,15,0.7,103.3,M,19.6,M,,"
    let precise = "PSTI,030,101112,A,4717.1143110,N,00833.9152260,E,103.323,0,0,0,091225,R,1.2,4.2"
    for fix in [lastFix(gga, precise), lastFix(precise, gga)].compactMap({ $0 }) {
      let (seaLevel, ellipsoid) = (try #require(fix.heightAboveSeaLevelMetres), fix.heightAboveEllipsoidMetres)
      #expect(ellipsoid == seaLevel + 19.6)
    }
    #expect(lastFix(gga, precise)?.heightAboveSeaLevelMetres == 103.323)
  }

  @Test(
    "GGA's qualities",
    arguments: [
      (1, .autonomous), (2, .differential), (3, .preciseService), (4, .rtkFixed), (5, .rtkFloat), (6, .estimated),
      (7, .manual), (8, .simulated), (9, .differential),
    ] as [(Int, Fix.Quality)])
  func qualities(number: Int, quality: Fix.Quality) {
    #expect(lastFix(gga("101112", quality: number))?.quality == quality)
  }

  @Test(
    "NAV-PVT's kinds",
    arguments: [
      (0, .none), (1, .deadReckoning), (2, .twoD), (3, .threeD), (4, .combined), (6, .none), (255, .none),
    ] as [(UInt8, Fix.Kind)])
  func kinds(number: UInt8, kind: Fix.Kind) {
    let fix = lastFix(navPVT(12) { $0.fixType(number) })
    #expect(fix?.kind == kind)
    #expect(fix?.hasPosition == (kind != .none))
  }

  @Test("NAV-PVT's values in metres, seconds and degrees")
  func navPVTValues() throws {
    let fix = try #require(lastFix(navPVT(12) { $0.flags(0b1000_0011) }))
    #expect(fix.latitudeDegrees == 47.2852395)
    #expect(fix.longitudeDegrees == 8.5652537)
    #expect(fix.heightAboveEllipsoidMetres == 547.6)
    #expect(fix.heightAboveSeaLevelMetres == 499.6)
    #expect(fix.speedMetresPerSecond == 2.572)
    #expect(fix.courseDegrees == 77.5)
    #expect(fix.satellitesUsed == 12)
    #expect(fix.pdop == 1.8)
    #expect(fix.quality == .rtkFixed)
    #expect(fix.isWithinLimits)
    #expect(fix.timeIsResolved)
    #expect(fix.timeAccuracySeconds.map { abs($0 - 25e-9) < 1e-15 } == true)
  }

  @Test("Positions outside the valid range or flagged as invalid are rejected")
  func absurdPosition() {
    #expect(lastFix(navPVT(12) { $0.lat(900_000_001) })?.hasPosition == false)
    #expect(lastFix(navPVT(12) { $0.lon(-1_800_000_001) })?.hasPosition == false)
    #expect(lastFix(navPVT(12) { $0.flags3(1) })?.hasPosition == false)
  }

  @Test("A fix outside the receiver's own limits is marked")
  func limits() {
    #expect(lastFix(navPVT(12) { $0.flags(0) })?.isWithinLimits == false)
  }

  @Test("NAV-HPPOSLLH is preferred to NAV-PVT in any order")
  func highPrecision() {
    let precise = ubx {
      NavHPPOSLLH.encode(into: &$0) {
        $0.iTOW(timeOfWeek(10, 11, 12))
        $0.lat(472_852_395)
        $0.latHp(-42)
        $0.lon(85_652_537)
        $0.hAcc(142)
        $0.vAcc(200)
      }
    }
    for frames in [[precise, navPVT(12)], [navPVT(12), precise]] {
      var playback = Playback()
      for frame in frames { playback.receive(frame) }
      playback.finish()
      #expect(playback.lastFix?.latitudeDegrees.map { abs($0 - 47.2852394_58) < 1e-11 } == true)
      #expect(playback.lastFix?.horizontalAccuracyMetres.map { abs($0 - 0.0142) < 1e-9 } == true)
    }
  }

  // MARK: Accuracy

  @Test("An accuracy from DOP is marked as an estimate")
  func estimated() {
    let fix = lastFix(gga("101112", hdop: "2.0"), rmc("101112"))
    #expect(fix?.accuracySource == .estimated)
    #expect(fix?.horizontalAccuracyMetres == 10)
    #expect(fix?.verticalAccuracyMetres != nil)
  }

  @Test("A better method has a better estimate; a fix without a position has no estimate")
  func estimatedByQuality() throws {
    let autonomous = try #require(lastFix(gga("101112", quality: 1))?.horizontalAccuracyMetres)
    let differential = try #require(lastFix(gga("101112", quality: 2))?.horizontalAccuracyMetres)
    let fixed = try #require(lastFix(gga("101112", quality: 4))?.horizontalAccuracyMetres)
    #expect(fixed < differential && differential < autonomous)
    #expect(lastFix(gga("101112", quality: 0))?.accuracySource == Fix.AccuracySource.none)
  }

  @Test("A receiver's accuracy is marked as such: NAV-PVT, GST, PGRME")
  func received() {
    #expect(lastFix(navPVT(12))?.accuracySource == .receiver)
    #expect(lastFix(navPVT(12))?.horizontalAccuracyMetres == 1.5)
    let statistics = lastFix(gga("101112"), "GPGST,101112,,,,,3.0,4.0,7.0")
    #expect(statistics?.accuracySource == .receiver)
    #expect(statistics?.horizontalAccuracyMetres == 5)
    #expect(statistics?.verticalAccuracyMetres == 7)
    #expect(lastFix(gga("101112"), "PGRME,3.5,M,6.5,M,8.0,M")?.horizontalAccuracyMetres == 3.5)
  }

  @Test("NAV-PVT's largest accuracies mean unknown, and an estimate is used")
  func noAccuracy() {
    #expect(lastFix(navPVT(12) { $0.hAcc(.max) })?.accuracySource == .estimated)
  }

  // MARK: Values that are none

  @Test(
    "A height of -2^31 mm, and one beyond any orbit, are none; the position stays",
    arguments: [Int32.min, .max, -20_000_001])
  func unknownHeight(millimetres: Int32) {
    let fix = lastFix(
      navPVT(12) {
        $0.height(millimetres)
        $0.hMSL(millimetres)
      })
    #expect(fix?.hasPosition == true)
    #expect(fix?.heightAboveEllipsoidMetres == nil)
    #expect(fix?.heightAboveSeaLevelMetres == nil)
  }

  @Test("An accuracy of 0 counts as unknown: it is estimated")
  func zeroAccuracy() {
    let fix = lastFix(
      navPVT(12) {
        $0.hAcc(0)
        $0.vAcc(0)
      })
    #expect(fix?.accuracySource != .receiver)
    #expect(fix?.horizontalAccuracyMetres != 0)
    #expect(fix?.verticalAccuracyMetres != 0)
  }

  // MARK: Special receivers

  @Test("A timing receiver with a surveyed position has a position; without it only the time")
  func surveyed() {
    let place = lastFix(navPVT(12) { $0.fixType(5) })
    #expect(place?.kind == .surveyed)
    #expect(place?.hasPosition == true)
    let far: (inout NavPVT.Writer) -> Void = {
      $0.fixType(5)
      $0.hAcc(.max)
    }
    let unknown = lastFix(navPVT(12, far))
    #expect(unknown?.kind == .timeOnly)
    #expect(unknown?.hasPosition == false)
    #expect(unknown?.time != nil)
  }

  @Test(
    "An epoch with a status of no position has none, with any other messages in any order", arguments: 0..<6)
  func noPlace(order: Int) throws {
    let messages = [
      ubx {
        NavPOSLLH.encode(into: &$0) {
          $0.iTOW(timeOfWeek(10, 11, 12))
          $0.hAcc(.max)
          $0.vAcc(.max)
        }
      },
      ubx {
        NavSOL.encode(into: &$0) {
          $0.iTOW(timeOfWeek(10, 11, 12))
          $0.week(2396)
          $0.gpsFix(0)
          $0.flags(0b1100)
          $0.ecefX(637_813_700)
        }
      },
      ubx { NavVELNED.encode(into: &$0) { $0.iTOW(timeOfWeek(10, 11, 12)) } },
    ]
    let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]]
    var playback = Playback()
    for index in orders[order] { playback.receive(messages[index]) }
    playback.finish()
    let last = playback.lastFix
    let fix = try #require(last)
    var expected = Fix()
    (expected.time, expected.leapSeconds) = (fix.time, fix.leapSeconds)
    (expected.reportsKind, expected.isWithinLimits, expected.quality) = (true, false, .autonomous)
    (expected.satellitesUsed, expected.pdop) = (fix.satellitesUsed, fix.pdop)
    #expect(fix == expected && fix.time != nil)
  }

  @Test("A sentence with a void status leaves neither position nor speed")
  func voidSentence() throws {
    let fix = try #require(lastFix("GPRMC,101112.00,V,4717.11,N,00833.91,E,0.0,12.0,091225,,,N"))
    #expect(fix.latitudeDegrees == nil && fix.longitudeDegrees == nil && fix.speedMetresPerSecond == nil)
    #expect(fix.courseDegrees == nil && fix.source == .none && fix.time != nil)
  }

  private func solution(_ x: Int32, _ y: Int32, _ z: Int32, _ velocity: SIMD3<Int32> = SIMD3()) -> [UInt8] {
    ubx {
      NavSOL.encode(into: &$0) {
        $0.iTOW(timeOfWeek(10, 11, 12))
        $0.week(2396)
        $0.gpsFix(3)
        $0.flags(0b1101)
        $0.ecefX(x)
        $0.ecefY(y)
        $0.ecefZ(z)
        $0.pAcc(250)
        $0.ecefVX(velocity.x)
        $0.ecefVY(velocity.y)
        $0.ecefVZ(velocity.z)
      }
    }
  }

  @Test(
    "NAV-SOL alone: earth-centred coordinates become a position",
    arguments: [
      (637_813_700, 0, 0, 0, 0), (0, 637_813_700, 0, 0, 90), (-637_813_700, 0, 0, 0, 180), (0, -637_813_700, 0, 0, -90),
      (0, 0, 635_675_231, 90, 0), (0, 0, -635_675_231, -90, 0), (428_650_720, 64_563_560, 466_348_040, 47.2852, 8.5652),
    ] as [(Int32, Int32, Int32, Double, Double)])
  func earthCentred(x: Int32, y: Int32, z: Int32, latitude: Double, longitude: Double) throws {
    let fix = try #require(lastFix(solution(x, y, z)))
    #expect(abs((fix.latitudeDegrees ?? 0) - latitude) < 0.1)
    #expect(abs((fix.longitudeDegrees ?? 0) - longitude) < 0.1 || abs(latitude) == 90)
    #expect(abs(fix.heightAboveEllipsoidMetres ?? 1e9) < 1500)
    #expect(fix.horizontalAccuracyMetres == 2.5)
    #expect(fix.accuracySource == .receiver)
    #expect(fix.time == UTCTime(2025, 12, 9, 10, 11, 12))
  }

  @Test("NAV-SOL alone: the velocity in the local directions")
  func earthCentredVelocity() throws {
    let fix = try #require(lastFix(solution(637_813_700, 0, 0, SIMD3(50, 300, 400))))
    #expect(abs((fix.speedMetresPerSecond ?? 0) - 5) < 1e-6)
    #expect(abs((fix.courseDegrees ?? 0) - 36.8699) < 1e-3)
    #expect(abs((fix.climbMetresPerSecond ?? 0) - 0.5) < 1e-6)
  }

  @Test("The centre of the Earth is not a position")
  func centre() {
    #expect(lastFix(solution(0, 0, 0))?.hasPosition == false)
  }

  @Test("A geoid provides the height that the receiver omits")
  func heights() throws {
    let fix = try #require(lastFix("GPGGA,101112,4717.1,N,00833.9,E,1,08,1.0,499.6,M,,M,,"))
    let separation = try #require(fix.geoidSeparationMetres)
    #expect(separation > 40 && separation < 55)
    #expect(fix.heightAboveEllipsoidMetres == 499.6 + separation)
  }
}

@Suite("Satellites")
struct SkyTests {
  private func received(_ sentences: [String]) -> Playback.Received? {
    var playback = Playback()
    for sentence in sentences { playback.receive(sentence) }
    playback.finish()
    return playback.last
  }

  @Test("A GSV group contains the satellites in view; GSA marks the used ones")
  func group() {
    let received = received([rmc("101112"), gsa3D] + gsv)
    #expect(received?.skyChanged == true)
    #expect(received?.satellites.map(\.number) == [5, 9, 14, 30, 2, 4])
    #expect(received?.satellites.filter(\.isUsed).map(\.number) == [5, 9])
    #expect(received?.satellites.first?.elevationDegrees == 40)
    #expect(received?.satellites.first?.azimuthDegrees == 83)
    #expect(received?.satellites.first?.signalDecibelHertz == 46)
    #expect(received?.satellites.last?.signalDecibelHertz == 0)
    #expect(received?.fix.satellitesInView == 6)
  }

  @Test("A BeiDou talker's ids from 201 on belong to BeiDou, other talkers' ids to QZSS")
  func beiDouFrom201() {
    let received = received([
      rmc("101112"), "BDGSV,1,1,03,201,40,083,46,202,17,308,41,212,07,344,39", "GPGSV,1,1,01,202,22,228,45",
      "BDGSA,A,3,202,,,,,,,,,,,,1.8,1.0,1.5",
    ])
    #expect(received?.satellites.map(\.system) == [.beiDou, .beiDou, .beiDou, .qzss])
    #expect(received?.satellites.map(\.number) == [1, 2, 12, 10])
    #expect(received?.satellites.map(\.isUsed) == [false, true, false, false])
  }

  @Test("GSA marks the used satellites at any place in the epoch")
  func marks() {
    let orders = [[gsa3D] + gsv, gsv + [gsa3D], [gsv[0], gsa3D, gsv[1]]]
    for order in orders {
      var playback = Playback()
      // The used satellites of the previous epoch are cleared.
      playback.receive(rmc("101111"), "GPGSA,A,3,14,30,02,,,,,,,,,,1.8,1.0,1.5", gsv[0], gsv[1])
      playback.receive(rmc("101112"))
      for sentence in order { playback.receive(sentence) }
      playback.finish()
      #expect(playback.reports.first?.satellites.filter(\.isUsed).map(\.number) == [14, 30, 2])
      #expect(playback.last?.satellites.filter(\.isUsed).map(\.number) == [5, 9])
      #expect(playback.last?.satellites.count == 6)
    }
  }

  @Test("Each system has its own numbers")
  func systems() {
    let received = received([
      rmc("101112"), "GPGSV,1,1,02,05,40,083,46,40,10,200,30", "GLGSV,1,1,01,70,40,083,46", "GAGSV,1,1,01,05,40,083,46",
      "GBGSV,1,1,01,05,40,083,46", "GNGSA,A,3,05,,,,,,,,,,,,1.8,1.0,1.5,3",
    ])
    #expect(received?.satellites.map(\.system) == [.gps, .sbas, .glonass, .galileo, .beiDou])
    #expect(received?.satellites.map(\.number) == [5, 127, 6, 5, 5])
    #expect(received?.satellites.map(\.isUsed) == [false, false, false, true, false])
  }

  @Test("A group that is cut in the middle keeps its first satellites")
  func cut() {
    var playback = Playback()
    playback.receive(rmc("101112"), gsv[0], rmc("101113"), gsv[0], gsv[1], rmc("101114"))
    #expect(playback.reports.map(\.satellites.count) == [4, 6])
  }

  @Test("An epoch without sentences of satellites keeps them")
  func kept() {
    var playback = Playback()
    playback.receive(rmc("101112"), gsv[0], gsv[1], rmc("101113"), rmc("101114"))
    #expect(playback.reports.map(\.skyChanged) == [true, false])
    #expect(playback.reports.map(\.satellites.count) == [6, 6])
  }

  @Test("NAV-SAT's satellites replace GSV's")
  func navSATWins() {
    var playback = Playback()
    playback.receive(navPVT(12), navSAT([1, 2, 3]))
    for sentence in [rmc("101112.00")] + gsv { playback.receive(sentence) }
    playback.finish()
    #expect(playback.last?.satellites.map(\.number) == [1, 2, 3])
    #expect(playback.last?.satellites.map(\.isUsed) == [false, true, false])
  }

  @Test("Angles outside their range are unknown", arguments: [-128, -91, 91, 127] as [Int8])
  func angles(elevation: Int8) {
    var playback = Playback()
    playback.receive(navSAT([1], elevation: elevation))
    playback.finish()
    #expect(playback.last?.satellites.first?.elevationDegrees == Satellite.unknownAngle)
  }

  @Test("Angles of NAV-SVINFO outside their range are unknown")
  func legacyAngles() {
    var playback = Playback()
    let channels = ubx {
      NavSVINFO.encode(into: &$0, length: 8 + 12) {
        $0.numCh(1)
        $0.channel_svid(0, 70)
        $0.channel_elev(0, -128)
        $0.channel_azim(0, .min)
      }
    }
    playback.receive(channels)
    playback.finish()
    #expect(playback.last?.satellites.first == Satellite(system: .glonass, number: 6))
  }

  @Test("Satellites beyond the capacity are counted, not stored")
  func crowded() {
    var playback = Playback()
    let numbers = [(0, 1...32), (1, 120...158), (2, 1...36), (3, 1...63)].flatMap { system, numbers in
      numbers.map { (UInt8(system), UInt8($0)) }
    }
    playback.receive(
      ubx {
        NavSAT.encode(into: &$0, length: 8 + 12 * numbers.count) {
          $0.iTOW(timeOfWeek(10, 11, 12))
          $0.numSvs(UInt8(numbers.count))
          for (index, (system, number)) in numbers.enumerated() {
            $0.satellite_gnssId(index, system)
            $0.satellite_svId(index, number)
          }
        }
      })
    playback.finish()
    #expect(playback.last?.satellites.count == Sky.capacity)
  }
}
