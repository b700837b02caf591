// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import UBX

@testable import ReceiverStream

@Suite("Values of several sources in an epoch")
struct SourceTests {
  private func fixes(_ bursts: [[[UInt8]]]) -> [Fix] {
    var playback = Playback()
    for burst in bursts { for bytes in burst { playback.receive(bytes) } }
    playback.finish()
    var last: [Fix] = []
    for report in playback.reports {
      if report.isUpdate { last[last.count - 1] = report.fix } else { last.append(report.fix) }
    }
    return last
  }

  private func posLLH(_ second: Int) -> [UInt8] {
    ubx {
      NavPOSLLH.encode(into: &$0) {
        $0.iTOW(timeOfWeek(10, 11, second))
        $0.lon(85_652_537)
        $0.lat(472_852_395)
        $0.height(547_600)
        $0.hMSL(499_600)
        $0.hAcc(1500)
        $0.vAcc(2500)
      }
    }
  }

  private func sentences(_ second: Int) -> [[UInt8]] {
    [
      Wire.nmea(rmc("1011\(second)")),
      Wire.nmea("GPGGA,1011\(second),4717.11437,N,00833.91522,E,4,12,0.9,499.6,M,48.0,M,1.0,0120"),
      Wire.nmea("GPGST,1011\(second),1.0,1.0,1.0,0.0,0.7,0.8,2.0"), Wire.nmea(gsa3D), Wire.nmea(vtg),
    ]
  }

  @Test("Values that UBX lacks come from the sentences, before it or after it", arguments: [true, false])
  func completing(isUBXFirst: Bool) {
    let bursts = (10..<14).map { isUBXFirst ? [posLLH($0)] + sentences($0) : sentences($0) + [posLLH($0)] }
    let found = fixes(bursts)
    #expect(found.count == 4)
    for fix in found {
      #expect(fix.quality == .rtkFixed && fix.satellitesUsed == 12 && fix.hdop == 0.9 && fix.pdop == 1.8)
      #expect(fix.differentialAgeSeconds == 1 && fix.differentialStation == 120)
      #expect(fix.horizontalAccuracyMetres == 1.5 && fix.eastAccuracyMetres == 0.8)
      #expect(fix.courseDegrees == 77.5 && fix.source == .ubx)
    }
  }

  @Test("Sentences do not replace values of UBX, before it or after it", arguments: [true, false])
  func stated(isUBXFirst: Bool) {
    let bursts = (10..<14).map { isUBXFirst ? [navPVT($0)] + sentences($0) : sentences($0) + [navPVT($0)] }
    for fix in fixes(bursts) {
      #expect(fix.quality == .autonomous && fix.satellitesUsed == 12 && fix.horizontalAccuracyMetres == 1.5)
      #expect(abs((fix.speedMetresPerSecond ?? 0) - 2.572) < 1e-9 && fix.hdop == 0.9)
    }
  }

  /// The satellites of each report that has changed ones. Each second has an epoch with GSV, and those of `isUBX` with NAV-SAT too.
  private func skies(_ seconds: Range<Int>, epochs: Int = 1, isUBX: (Int) -> Bool) -> [[UInt8]] {
    var playback = Playback()
    for second in seconds {
      for part in 0..<epochs {
        let time = "1011\(second)." + (part < 10 ? "0\(part)" : "\(part)")
        playback.receive(navPVT(10, 11, second, nano: part * 10_000_000))
        if part == 0 {
          if isUBX(second) { playback.receive(navSAT([1, 2, 3], second: second)) }
          playback.receive(rmc(time), gsv[0], gsv[1])
        }
        playback.idle()
      }
    }
    playback.finish()
    return playback.reports.filter(\.skyChanged).map { $0.satellites.map(\.number) }
  }

  @Test("Satellites of sentences are used after ten epochs in which UBX sent none")
  func endOfUBXSatellites() {
    let found = skies(10..<59) { $0 < 15 }
    let expected = Array(repeating: [1, 2, 3] as [UInt8], count: 5)
    #expect(found == expected + Array(repeating: [5, 9, 14, 30, 2, 4], count: 59 - 15 - 10))
  }

  @Test("Satellites of UBX in every fifth epoch with sentences replace their satellites", arguments: [1, 25])
  func sparseUBXSatellites(epochs: Int) {
    let found = skies(10..<59, epochs: epochs) { $0 % 5 == 0 }
    #expect(found == Array(repeating: [1, 2, 3], count: 10))
  }

  @Test("Satellites of UBX are used again when UBX sends them again")
  func returnOfUBXSatellites() {
    let found = skies(10..<59) { $0 < 15 || $0 > 50 }
    #expect(found.suffix(8) == Array(repeating: [1, 2, 3], count: 8) && found.contains([5, 9, 14, 30, 2, 4]))
  }

  /// PGRMF with its fix type.
  private func pgrmf(_ second: Int, type: Int = 2) -> String {
    "PGRMF,348,209490,091225,1011\(second),18,4717.1143,N,00833.9152,E,A,\(type),36,90,2,1"
  }

  @Test("PGRMF alone is a position with date, kind, motion and dilutions")
  func pgrmf() {
    let found = fixes((10..<13).map { [Wire.nmea(pgrmf($0))] })
    #expect(found.map(\.time) == (10..<13).map { UTCTime(2025, 12, 9, 10, 11, $0) })
    for fix in found {
      #expect(fix.kind == .threeD && abs((fix.latitudeDegrees ?? 0) - 47.285238333) < 1e-8)
      #expect(fix.speedMetresPerSecond == 10 && fix.courseDegrees == 90 && fix.pdop == 2 && fix.tdop == 1)
    }
    #expect(fixes([[Wire.nmea(pgrmf(10, type: 1))]]).map(\.kind) == [.twoD])
    let lost = fixes([[Wire.nmea(pgrmf(10, type: 0))]])
    #expect(lost.map(\.kind) == [Fix.Kind.none] && lost.map(\.reportsKind) == [true])
  }

  @Test("PGRMF beside GGA, RMC and GSA keeps their height, motion and dilution", arguments: [true, false])
  func pgrmfBesideOthers(isFirst: Bool) {
    let others = [rmc("101110"), gga("101110"), gsa3D]
    let found = fixes([(isFirst ? [pgrmf(10)] + others : others + [pgrmf(10)]).map { Wire.nmea($0) }])
    let expected = fixes([others.map { Wire.nmea($0) }])
    #expect(found.count == 1 && found[0].heightAboveSeaLevelMetres == expected[0].heightAboveSeaLevelMetres)
    #expect(found[0].speedMetresPerSecond == expected[0].speedMetresPerSecond && found[0].pdop == expected[0].pdop)
    #expect(
      found[0].latitudeDegrees == expected[0].latitudeDegrees && found[0].courseDegrees == expected[0].courseDegrees)
  }

  /// PSTI,030 of an RTK solution.
  private func psti(_ second: Int, status: String = "A") -> String {
    "PSTI,030,1011\(second).000,\(status),4717.1143700,N,00833.9152200,E,499.643,0.30,0.40,-0.02,091225,R,1.2,30.0"
  }

  @Test("PSTI,030 alone is a position with date, quality, motion and the age of corrections")
  func psti030() {
    let found = fixes((10..<13).map { [Wire.nmea(psti($0))] })
    #expect(found.map(\.time) == (10..<13).map { UTCTime(2025, 12, 9, 10, 11, $0) })
    for fix in found {
      #expect(fix.kind == .threeD && fix.quality == .rtkFixed && fix.differentialAgeSeconds == 1.2)
      #expect(abs((fix.speedMetresPerSecond ?? 0) - 0.5) < 1e-9)
    }
    #expect(fixes([[Wire.nmea(psti(10, status: "V"))]]).map(\.kind) == [Fix.Kind.none])
  }

  @Test("PSTI,030 without a mode keeps the quality of GGA")
  func pstiWithoutMode() {
    let found = fixes([sentences(10) + [Wire.nmea(psti(10).replacingMode())]])
    #expect(found.map(\.quality) == [.rtkFixed])
  }

  @Test("A file that begins with a part of a sentence did not begin with a burst")
  func cutFile() {
    var playback = Playback()
    playback.receive(Array("09,,,*00\r\n".utf8))
    for second in 10..<20 {
      let time = "1011\(second)"
      playback.receive("GPVTG,\(second - 1).0,T,,M,5.0,N,9.3,K,A")
      playback.receive(gga(time), gsa3D)
    }
    playback.finish()
    let courses = playback.reports.filter { !$0.isUpdate }.map(\.fix.courseDegrees)
    #expect(Array(courses.dropFirst(2)) == (12..<19).map { Double($0) } + [nil])
  }

  @Test("PSTI messages of one burst are told apart, so that each epoch has its heading")
  func pstiHeading() {
    let found = fixes(
      (10..<20).map { second in
        [
          gga("1011\(second)"), rmc("1011\(second)"), psti(second), "GNHDT,\(second).0,T",
          "PSTI,036,1011\(second).000,091225,\(second).00,-1.20,0.50,R",
        ].map { Wire.nmea($0) }
      })
    #expect(found.map(\.headingDegrees) == (10..<20).map { Double($0) })
  }

  @Test(
    "UNIHEADINGA with a time of week belongs to the epoch of the sentences after it, and before it",
    arguments: [0, 1, 2])
  func uniheading(place: Int) {
    // GPS week 2317, 302 418 s is 2024-06-05 12:00:00 UTC.
    let headings = [
      "#UNIHEADINGA,92,GPS,FINE,2317,302418000,0,0,18,12;SOL_COMPUTED,NARROW_INT,1.0032,100.0000,-1.2000,0.0000,0.2000,0.3000,\"0\",35,32,32,30,3,00,0,f3*44834cb6\r\n",
      "#UNIHEADINGA,92,GPS,FINE,2317,302419000,0,0,18,12;SOL_COMPUTED,NARROW_INT,1.0032,101.0000,-1.2000,0.0000,0.2000,0.3000,\"0\",35,32,32,30,3,00,0,f3*fc3270f7\r\n",
    ]
    let found = fixes(
      headings.enumerated().map { index, heading in
        var burst = [Wire.nmea(gga("12000\(index)")), Wire.nmea(rmc("12000\(index)", date: "050624"))]
        burst.insert(ascii(heading), at: place)
        return burst
      })
    #expect(found.map(\.headingDegrees) == [100, 101])
  }

  @Test("PQTMEPE is the receiver's own accuracy")
  func epe() {
    let found = fixes([[rmc("101112"), gga("101112"), "PQTMEPE,2,1.200,0.900,2.600,1.500,3.002"].map { Wire.nmea($0) }])
    #expect(found.map(\.horizontalAccuracyMetres) == [1.5] && found.map(\.verticalAccuracyMetres) == [2.6])
    #expect(found.map(\.accuracySource) == [.receiver])
  }
}

extension String {
  /// The sentence with an empty mode.
  fileprivate func replacingMode() -> String { split(separator: "R", maxSplits: 1).joined() }
}
