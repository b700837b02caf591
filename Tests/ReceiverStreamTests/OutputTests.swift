import ReceiverStream
import TestSupport
import Testing
import UBX

@Suite("Which of a receiver's outputs the fix is made of")
struct OutputTests {
  private func secondOutput(_ frame: [UInt8]) -> [UInt8] { Wire.ubx(0x29, frame[3], Array(frame[6..<frame.count - 2])) }

  private func fixes(_ frames: [[UInt8]]) -> [Fix] {
    var playback = Playback()
    for frame in frames { playback.hear(frame) }
    playback.finish()
    return playback.reports.map(\.fix)
  }

  @Test("NAV2 alone gives the fixes that NAV with the same payloads gives")
  func secondOutputAlone() {
    let first = (0..<20).map { navPVT($0) }
    #expect(fixes(first.map(secondOutput)) == fixes(first))
    #expect(fixes(first).count == 20)
  }

  @Test("Where NAV tells a place NAV2 changes nothing, whichever comes first in an epoch")
  func bothOutputs() {
    let first = (0..<20).map { navPVT($0) }
    let second = (0..<20).map { second in secondOutput(navPVT(second) { $0.lat(100_000_000) }) }
    let mixed = zip(first, second).flatMap { $0 == first[0] ? [$0, $1] : [$1, $0] }
    #expect(fixes(mixed) == fixes(first))
  }

  @Test("When NAV falls silent NAV2 stands in after ten epochs of other messages")
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

  @Test("NAV-HPPOSECEF is taken to the tenth of a millimetre, and NAV-POSECEF behind it does not undo that")
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
}
