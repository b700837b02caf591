// SPDX-License-Identifier: Apache-2.0
import ReceiverStream
import TestSupport
import Testing
import UBX

@Suite("The receiver outputs that a fix uses")
struct OutputTests {
  private func secondOutput(_ frame: [UInt8]) -> [UInt8] { Wire.ubx(0x29, frame[3], Array(frame[6..<frame.count - 2])) }

  private func fixes(_ frames: [[UInt8]]) -> [Fix] {
    var playback = Playback()
    for frame in frames { playback.receive(frame) }
    playback.finish()
    return playback.reports.map(\.fix)
  }

  @Test("NAV2 alone gives the fixes that NAV with the same payloads gives")
  func secondOutputAlone() {
    let first = (0..<20).map { navPVT($0) }
    #expect(fixes(first.map(secondOutput)) == fixes(first))
    #expect(fixes(first).count == 20)
  }

  @Test("If NAV contains a position, NAV2 changes nothing, in any order within an epoch")
  func bothOutputs() {
    let first = (0..<20).map { navPVT($0) }
    let second = (0..<20).map { second in secondOutput(navPVT(second) { $0.lat(100_000_000) }) }
    let mixed = zip(first, second).flatMap { $0 == first[0] ? [$0, $1] : [$1, $0] }
    #expect(fixes(mixed) == fixes(first))
  }

  @Test("If NAV stops, NAV2 replaces it after ten epochs of other messages")
  func firstOutputEnds() {
    let both = (0..<3).map { navPVT($0) } + (3..<20).flatMap { [navEOE($0), secondOutput(navPVT($0))] }
    let places = fixes(both).map(\.hasPosition)
    #expect(places.prefix(3) == [true, true, true])
    #expect(places.dropFirst(3).prefix(8).allSatisfy { !$0 })
    #expect(places.last == true)
  }

  @Test("NAV-PVAT alone gives time, place, motion and the vehicle's heading")
  func attitude() throws {
    let frame = ubx {
      NavPVAT.encode(into: &$0) {
        $0.iTOW(timeOfWeek(10, 11, 12))
        $0.valid(0b111)
        $0.year(2025)
        $0.month(12)
        $0.day(9)
        $0.hour(10)
        $0.min(11)
        $0.sec(12)
        $0.fixType(4)
        $0.flags(0b10_0001)
        $0.numSV(12)
        $0.lat(472_852_395)
        $0.lon(85_652_537)
        $0.height(547_600)
        $0.hMSL(499_600)
        $0.hAcc(1500)
        $0.vAcc(2200)
        $0.velN(557)
        $0.velE(2511)
        $0.velD(-100)
        $0.gSpeed(2572)
        $0.motHeading(7_750_000)
        $0.vehHeading(9_000_000)
        $0.accHeading(250)
      }
    }
    let fix = try #require(fixes([frame]).last)
    #expect(fix.kind == .combined && fix.latitudeDegrees == 47.2852395 && fix.longitudeDegrees == 8.5652537)
    #expect(fix.heightAboveEllipsoidMetres == 547.6 && fix.heightAboveSeaLevelMetres == 499.6)
    #expect(fix.horizontalAccuracyMetres == 1.5 && fix.verticalAccuracyMetres == 2.2)
    #expect(fix.speedMetresPerSecond == 2.572 && fix.courseDegrees == 77.5 && fix.climbMetresPerSecond == 0.1)
    #expect(fix.headingDegrees == 90 && fix.headingAccuracyDegrees == 2.5)
    #expect(fix.time == fixes([navPVT(12)]).last?.time)
  }

  @Test("NAV-HPPOSECEF has a resolution of a tenth of a millimetre, and a later NAV-POSECEF does not reduce it")
  func earthCentred() throws {
    let status = ubx {
      NavSTATUS.encode(into: &$0) {
        $0.iTOW(timeOfWeek(10, 11, 12))
        $0.gpsFix(3)
        $0.flags(1)
      }
    }
    let precise = ubx {
      NavHPPOSECEF.encode(into: &$0) {
        $0.iTOW(timeOfWeek(10, 11, 12))
        $0.ecefX(428_694_700)
        $0.ecefY(64_563_600)
        $0.ecefZ(466_342_300)
        $0.ecefXHp(-7)
        $0.ecefYHp(25)
        $0.pAcc(140)
      }
    }
    let coarse = ubx {
      NavPOSECEF.encode(into: &$0) {
        $0.iTOW(timeOfWeek(10, 11, 12))
        $0.ecefX(428_694_700)
        $0.ecefY(64_563_600)
        $0.ecefZ(466_342_300)
        $0.pAcc(2)
      }
    }
    let fix = try #require(fixes([status, precise, coarse]).last)
    #expect(fix.ecefMetres == SIMD3(4_286_946.9993, 645_636.0025, 4_663_423))
    #expect(fix.hasPosition && fix.horizontalAccuracyMetres == 0.014)
    #expect(fixes([status, coarse]).last?.horizontalAccuracyMetres == 0.02)
  }

  // MARK: Satellites

  @Test("A satellite without a valid number is ignored: an unknown GLONASS slot, an empty channel")
  func nameless() {
    var playback = Playback()
    playback.receive(
      ubx {
        NavSAT.encode(into: &$0, length: 8 + 12 * 4) {
          $0.iTOW(timeOfWeek(10, 11, 12))
          $0.numSvs(4)
          for (index, (system, number)) in [(6, 255), (6, 7), (9, 3), (0, 0)].enumerated() {
            $0.satellite_gnssId(index, UInt8(system))
            $0.satellite_svId(index, UInt8(number))
            $0.satellite_cno(index, 33)
          }
        }
      })
    playback.finish()
    #expect(playback.last?.satellites.map(\.system) == [.glonass] && playback.last?.satellites.map(\.number) == [7])
    playback = Playback()
    playback.receive(
      ubx {
        NavSVINFO.encode(into: &$0, length: 8 + 12 * 3) {
          $0.iTOW(timeOfWeek(10, 11, 12))
          $0.numCh(3)
          for (index, number) in [255, 0, 5].enumerated() { $0.channel_svid(index, UInt8(number)) }
        }
      })
    playback.finish()
    #expect(playback.last?.satellites.map(\.system) == [.gps] && playback.last?.satellites.map(\.number) == [5])
  }

  @Test("A direction is below the horizon or above it, and north is 0°")
  func directions() {
    var playback = Playback()
    playback.receive("GPGSV,1,1,04,05,91,083,46,06,90,360,41,07,-91,359,40,08,,,39", rmc("101112"))
    playback.finish()
    #expect(playback.last?.satellites.map(\.elevationDegrees) == [-128, 90, -128, -128])
    #expect(playback.last?.satellites.map(\.azimuthDegrees) == [83, 0, 359, -128])
  }

  @Test(
    "The talker and the range of the id determine the system",
    arguments: [
      ("GA", "02", Satellite.System.galileo, 2), ("GA", "36", .galileo, 36), ("GA", "102", .galileo, 2),
      ("GA", "136", .galileo, 36), ("GA", "305", .galileo, 5), ("GB", "201", .beiDou, 1), ("GB", "19", .beiDou, 19),
      ("GB", "405", .beiDou, 5), ("GQ", "03", .qzss, 3), ("GQ", "193", .qzss, 1), ("GP", "193", .qzss, 1),
      ("GP", "40", .sbas, 127), ("GP", "70", .glonass, 6), ("GN", "305", .galileo, 5),
    ] as [(String, String, Satellite.System, UInt8)])
  func numbers(talker: String, id: String, system: Satellite.System, number: UInt8) {
    var playback = Playback()
    playback.receive("\(talker)GSV,1,1,01,\(id),45,083,46", rmc("101112"))
    playback.finish()
    #expect(playback.last?.satellites.map(\.system) == [system] && playback.last?.satellites.map(\.number) == [number])
  }

  @Test(
    "An id outside the talker's system is ignored", arguments: [("GA", "201"), ("GB", "64"), ("GQ", "33")])
  func others(talker: String, id: String) {
    var playback = Playback()
    playback.receive("\(talker)GSV,1,1,01,\(id),45,083,46", rmc("101112"))
    playback.finish()
    #expect(playback.last?.satellites == [])
  }

  @Test("Quectel's proprietary sentences contain BeiDou satellites")
  func quectel() {
    var playback = Playback()
    playback.receive(
      gga("101112"), "PQGSA,A,3,12,,,,,,,,,,,,1.2,0.9,0.9,4", "PQGSA,A,3,,,,,,,,,,,,,1.2,0.9,0.9,5",
      "PQGSV,2,1,05,02,20,116,,12,46,282,30,05,34,137,,07,06,045,,0,4", "PQGSV,2,2,05,29,,,33,0,4")
    playback.finish()
    let satellites = playback.last?.satellites ?? []
    #expect(satellites.map(\.number) == [2, 12, 5, 7, 29] && satellites.allSatisfy { $0.system == .beiDou })
    #expect(satellites.map(\.isUsed) == [false, true, false, false, false])
    #expect(satellites.map(\.signalDecibelHertz) == [0, 30, 0, 0, 33])
  }

  // MARK: Reports

  @Test("Late satellites change the satellites and not the fix")
  func lateSatellites() {
    var playback = Playback()
    playback.receive(navPVT(12))
    playback.idle()
    playback.receive(navSAT([3, 4]))
    #expect(playback.reports.map(\.isUpdate) == [false, true])
    #expect(
      playback.reports.map(\.fixChanged) == [true, false] && playback.reports.map(\.skyChanged) == [false, true])
  }

  /// NAV-DOP of the epoch of `navPVT(12)`.
  private func navDOP(hundredths: UInt16, east: UInt16 = 0) -> [UInt8] {
    ubx {
      NavDOP.encode(into: &$0) {
        $0.iTOW(timeOfWeek(10, 11, 12))
        $0.hDOP(hundredths)
        $0.eDOP(east)
        $0.nDOP(66)
      }
    }
  }

  @Test("Dilutions after the report of an epoch are reported with its satellites, and its fix if the accuracies change")
  func lateDilutions() {
    var playback = Playback()
    playback.receive(navPVT(12), navSAT([3, 4]))
    playback.idle()
    playback.receive(navDOP(hundredths: 75, east: 33))
    playback.receive(navDOP(hundredths: 80, east: 33))
    playback.receive(navDOP(hundredths: 80, east: 33))
    #expect(playback.reports.map(\.isUpdate) == [false, true, true])
    #expect(playback.reports.map(\.skyChanged) == [true, true, true])
    #expect(playback.reports.map(\.fixChanged) == [true, true, false])
    #expect(playback.reports.allSatisfy { $0.satellites.count == 2 && !$0.hasDilutionsAlone })
    #expect(playback.fixes.map(\.hdop) == [nil, 0.75, 0.8] && playback.lastFix?.edop == 0.33)
  }

  @Test("Dilutions after the report of an epoch without satellites of its own do not repeat the earlier satellites")
  func lateDilutionsAfterEarlierSatellites() {
    var playback = Playback()
    playback.receive(navPVT(11), navSAT([3, 4], second: 11))
    playback.idle()
    playback.receive(navPVT(12))
    playback.idle()
    playback.receive(navDOP(hundredths: 75))
    #expect(playback.reports.map(\.skyChanged) == [true, false, false])
  }

  @Test("Dilutions without satellites are reported once in an epoch")
  func dilutionsAlone() {
    var playback = Playback()
    for second in 12...14 { playback.receive(gga("1011\(second)"), gsa3D) }
    playback.finish()
    #expect(playback.reports.filter(\.hasDilutionsAlone).count == 3 && playback.reports.allSatisfy { !$0.skyChanged })
    playback = Playback()
    for second in 12...14 { playback.receive(gga("1011\(second)"), gsa3D, gsv[0]) }
    playback.finish()
    #expect(playback.reports.allSatisfy { !$0.hasDilutionsAlone })
  }

  @Test("An accuracy without a source is assumed, one from dilutions is estimated")
  func assumed() {
    #expect(
      fixes(["GPGLL,4717.11437,N,00833.91522,E,101112,A,A"].map { Wire.nmea($0) }).last?.accuracySource == .assumed)
    #expect(fixes([Wire.nmea(gga("101112"))]).last?.accuracySource == .estimated)
    let dimmed = fixes([navPVT(12) { $0.hAcc(.max) }]).last
    #expect(abs((dimmed?.horizontalAccuracyMetres ?? 0) - 5 * 1.8 / 3.25.squareRoot()) < 1e-9)
    let unknown = fixes([
      navPVT(12) {
        $0.hAcc(.max)
        $0.pDOP(9999)
      }
    ]).last
    #expect(unknown?.accuracySource == .assumed)
  }

  @Test("A speed in kilometres an hour is sufficient")
  func kilometresPerHour() {
    let fix = fixes([gga("101112"), "GPVTG,84.4,T,,M,,N,36.0,K,A"].map { Wire.nmea($0) }).last
    #expect(fix?.speedMetresPerSecond == 10)
  }
}
