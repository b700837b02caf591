// SPDX-License-Identifier: Apache-2.0
import ReceiverStream
import TestSupport
import Testing
import UBX

@Suite("The heading")
struct HeadingTests {
  private func lastFix(_ frames: [UInt8]...) -> Fix? {
    var playback = Playback()
    for frame in frames { playback.receive(frame) }
    playback.finish()
    return playback.lastFix
  }

  private func lastFix(_ sentences: String...) -> Fix? {
    var playback = Playback()
    for sentence in sentences { playback.receive(sentence) }
    playback.finish()
    return playback.lastFix
  }

  private func relative(_ flags: UInt32, heading: Int32 = 4_500_000) -> [UInt8] {
    ubx {
      NavRELPOSNED.encode(into: &$0) {
        $0.version(1)
        $0.iTOW(timeOfWeek(10, 11, 12))
        $0.relPosHeading(heading)
        $0.accHeading(30_000)
        $0.flags(flags)
      }
    }
  }

  /// gnssFixOK, diffSoln, relPosValid, carrSoln 2, isMoving, relPosHeadingValid.
  private let movingBase: UInt32 = 0b1_0011_0111

  @Test("A course is not a heading: a heading needs its own message")
  func course() {
    #expect(lastFix(navPVT(12))?.headingSource == Fix.HeadingSource.none)
    #expect(lastFix(navPVT(12))?.headingDegrees == nil)
    #expect(lastFix(rmc("101112"), vtg)?.headingDegrees == nil)
  }

  /// The headings of each second's reports.
  private func headings(_ seconds: ClosedRange<Int>, _ burst: (Int, inout Playback) -> Void) -> [Int: [Double?]] {
    var playback = Playback()
    for second in seconds {
      burst(second, &playback)
      playback.idle()
    }
    playback.finish()
    let changed = playback.reports.filter(\.fixChanged).map(\.fix)
    return Dictionary(grouping: changed) { Int($0.time!.nanosecondsOfDay / 1_000_000_000 % 60) }
      .mapValues { $0.map(\.headingDegrees) }
  }

  @Test("A heading between two sentences of one time is of their epoch, also after a pause before the order is known")
  func lateHeading() {
    let found = headings(12...17) { second, playback in
      playback.receive(vtg, gga("1011\(second)"))
      if second == 13 { playback.idle() }
      playback.receive("HEHDT,\(second).0,T", rmc("1011\(second)"))
    }
    for second in 12...17 { #expect(found[second]?.last == Double(second), "\(second): \(found)") }
    #expect(found.allSatisfy { second, headings in headings.allSatisfy { $0 == nil || $0 == Double(second) } })
  }

  @Test("On a line that pauses, a heading directly after the usual end of a burst is not the next epoch's")
  func headingAfterEnd() {
    let found = headings(12...24) { second, playback in
      playback.receive("GPGSV,1,1,01,05,40,083,46", rmc("1011\(second)"), gga("1011\(second)"))
      if second > 16 { playback.receive("HEHDT,\(second).0,T") }
    }
    #expect(found.allSatisfy { second, headings in headings.allSatisfy { $0 == nil || $0 == Double(second) } })
    #expect(found[24]?.last == 24)
  }

  @Test("NAV-PVT's heading of the vehicle is used if it is marked as valid, with its accuracy")
  func vehicle() {
    let fix = lastFix(
      navPVT(12) {
        $0.flags(0b10_0001)
        $0.headVeh(-9_000_000)
        $0.headAcc(250_000)
      })
    #expect(fix?.headingDegrees == 270 && fix?.headingAccuracyDegrees == 2.5 && fix?.headingSource == .ubx)
    #expect(lastFix(navPVT(12) { $0.headVeh(9_000_000) })?.headingDegrees == nil)
  }

  @Test("Two antennas on one vehicle give a heading; the direction to a base station does not")
  func relativePosition() {
    let fix = lastFix(navPVT(12), relative(movingBase))
    #expect(fix?.headingDegrees == 45 && fix?.headingAccuracyDegrees == 0.3)
    // Each flag is required: fix, relative position, heading, moving base, carrier solution.
    for bits: UInt32 in [1, 1 << 2, 1 << 8, 1 << 5, 3 << 3] {
      #expect(lastFix(navPVT(12), relative(movingBase & ~bits))?.headingDegrees == nil)
    }
    #expect(lastFix(navPVT(12), relative(movingBase, heading: 90_000_000))?.headingDegrees == nil)
  }

  @Test("NAV-ATT's heading is used if it has an accuracy")
  func attitude() {
    func attitude(_ accuracy: UInt32) -> [UInt8] {
      ubx {
        NavATT.encode(into: &$0) {
          $0.iTOW(timeOfWeek(10, 11, 12))
          $0.heading(12_345_000)
          $0.accHeading(accuracy)
        }
      }
    }
    #expect(lastFix(navPVT(12), attitude(100_000))?.headingDegrees == 123.45)
    #expect(lastFix(navPVT(12), attitude(0))?.headingDegrees == nil)
  }

  @Test("HDT and THS are true headings; THS with V is ignored")
  func trueHeading() {
    #expect(lastFix(rmc("101112"), "HEHDT,360.0,T")?.headingDegrees == 0)
    #expect(lastFix(rmc("101112"), "GNTHS,77.5,A")?.headingDegrees == 77.5)
    #expect(lastFix(rmc("101112"), "GNTHS,77.5,V")?.headingDegrees == nil)
    #expect(lastFix(rmc("101112"), "HEHDT,361.0,T")?.headingDegrees == nil)
  }

  @Test("HDM is magnetic; HDG is corrected by its deviation, and true with its variation")
  func compass() {
    let simple = lastFix(rmc("101112"), "HCHDM,10.5,M")
    #expect(
      simple?.magneticHeadingDegrees == 10.5 && simple?.headingDegrees == nil && simple?.headingSource == .compass)
    let full = lastFix(rmc("101112"), "HCHDG,1.0,2.0,W,3.5,E")
    #expect(full?.magneticHeadingDegrees == 359 && full?.headingDegrees == 2.5)
    let plain = lastFix(rmc("101112"), "HCHDG,101.5,,,,")
    #expect(plain?.magneticHeadingDegrees == 101.5 && plain?.headingDegrees == nil)
  }

  @Test("The better source is used in any order")
  func precedence() {
    let sentences = lastFix(rmc("101112"), "HEHDT,20.0,T", "HCHDG,15.0,,,4.0,E")
    #expect(sentences?.headingDegrees == 20 && sentences?.magneticHeadingDegrees == 15)
    let both = lastFix(navPVT(12), relative(movingBase), Wire.nmea("HEHDT,20.0,T"), Wire.nmea("HCHDM,15.0,M"))
    #expect(both?.headingDegrees == 45 && both?.magneticHeadingDegrees == nil)
  }
}
