// SPDX-License-Identifier: Apache-2.0
import ReceiverStream
import TestSupport
import Testing
import UBX

/// Messages with a time between the fixes, or after their epoch.
@Suite("Only a message with a position, a status or a date makes an epoch")
struct UnstatedEpochTests {
  /// Frames of UBX with the time of week `second`, without a position.
  private static let others: [(name: String, frame: @Sendable (Int) -> [UInt8])] = [
    ("NAV-EOE", { navEOE($0) }), ("NAV-SAT", { navSAT([5, 7], second: $0) }),
    (
      "NAV-DOP",
      { second in
        ubx {
          NavDOP.encode(into: &$0) {
            $0.iTOW(timeOfWeek(10, 11, second)); $0.hDOP(90)
          }
        }
      }
    ),
    (
      "NAV-ATT",
      { second in
        ubx {
          NavATT.encode(into: &$0) {
            $0.iTOW(timeOfWeek(10, 11, second)); $0.accHeading(1)
          }
        }
      }
    ),
    ("NAV-VELNED", { second in ubx { NavVELNED.encode(into: &$0) { $0.iTOW(timeOfWeek(10, 11, second)) } } }),
    ("NAV-TIMELS", { second in ubx { NavTIMELS.encode(into: &$0) { $0.iTOW(timeOfWeek(10, 11, second)) } } }),
  ]

  @Test("UBX without a position, five times as often as NAV-PVT", arguments: 0..<others.count)
  func ubxBetween(index: Int) {
    let (name, frame) = Self.others[index]
    var playback = Playback()
    for second in 10...25 {
      if second % 5 == 0 { playback.receive(navPVT(second)) }
      playback.receive(frame(second))
      playback.idle()
    }
    playback.finish()
    let fixes = playback.reports.filter(\.fixChanged)
    #expect(fixes.map(\.fix.time) == [10, 15, 20, 25].map { UTCTime(2025, 12, 9, 10, 11, $0) }, "\(name)")
    #expect(fixes.allSatisfy { $0.fix.hasPosition })
    #expect(playback.isOpen == false)
  }

  @Test("A message without a position that comes first in its burst, or alone after the end of it, is of the epoch")
  func first() {
    var playback = Playback()
    for second in 10...15 {
      playback.receive("GPGST,1011\(second).00,,,,,3.0,4.0,9.0")
      playback.receive(gga("1011\(second)"), rmc("1011\(second)"))
      playback.idle()
    }
    playback.finish()
    #expect(playback.epochs == 6 && playback.fixes.allSatisfy { $0.horizontalAccuracyMetres == 5 })
  }

  @Test("GST of times between the fixes, and of the epoch before, makes no epoch", arguments: [".20", "-1"])
  func gst(time: String) {
    var playback = Playback()
    for second in 10...15 {
      playback.receive(gga("1011\(second)"), rmc("1011\(second)"))
      playback.receive("GPGST,1011\(time == "-1" ? "\(second - 1).00" : "\(second)\(time)"),,,,,3.0,4.0,9.0")
      playback.idle()
    }
    playback.finish()
    #expect(playback.epochs == 6 && playback.fixes.allSatisfy { $0.hasPosition && $0.reportsKind })
    #expect(playback.fixes.map(\.time) == (10...15).map { UTCTime(2025, 12, 9, 10, 11, $0) })
  }

  // MARK: Sources that lag behind

  @Test(
    "Sentences of a plotter that lag behind the receiver's reopen no epoch",
    arguments: [["ECRMC"], ["IIGLL"], ["GNGLL"], ["GNRMC", "IIGLL", "ECRMC"]])
  func lagging(names: [String]) {
    for isSilentBetween in [false, true] {
      var playback = Playback()
      for second in 10...20 {
        playback.receive(gga("1011\(second)"), rmc("1011\(second)"))
        for name in names where second > 10 {
          let time = "1011\(second - 1).00"
          playback.receive(
            name.hasSuffix("RMC")
              ? "\(name),\(time),A,4717.1,N,00833.9,E,0.0,0.0,091225,,,A" : "\(name),4717.1,N,00833.9,E,\(time),A,A")
        }
        if isSilentBetween { playback.idle() }
      }
      playback.finish()
      let fixes = playback.reports.filter(\.fixChanged).map(\.fix)
      #expect(fixes.map(\.time) == (10...20).map { UTCTime(2025, 12, 9, 10, 11, $0) }, "\(names)")
      #expect(fixes.allSatisfy { $0.kind == .threeD })
    }
  }

  @Test("The time of the only source is set back: its sentences are used at once", arguments: [1, 2, 3])
  func setBack(seconds: Int) {
    var playback = Playback()
    for second in Array(10...20) + Array((20 - seconds)...25) {
      playback.receive(gga("1011\(second)"), rmc("1011\(second)"))
      playback.idle()
    }
    playback.finish()
    #expect(playback.fixes.count { $0.time == UTCTime(2025, 12, 9, 10, 11, 21 - seconds) && $0.hasPosition } == 2)
  }

  @Test("Of two sources on a line one with a fix is enough, whatever the other's sentences are")
  func twoSources() {
    var playback = Playback()
    for second in 10...15 {
      let isLost = second > 12
      playback.receive(rmc("1011\(second)", status: isLost ? "V" : "A"), gga("1011\(second)", quality: isLost ? 0 : 1))
      playback.receive("IIRMC,1011\(second).00,A,4717.1,N,00833.9,E,0.0,0.0,091225,,,A")
    }
    playback.finish()
    #expect(playback.epochs == 6 && playback.fixes.allSatisfy { $0.hasPosition })
  }

  // MARK: Dates

  @Test(
    "The date of ZDA replaces one that was found by an earlier date, or by the computer's clock",
    arguments: [false, true])
  func statedDate(isLive: Bool) {
    var playback = Playback(reference: UTCTime(2026, 11, 30, 10, 11, 9), isLive: isLive)
    if !isLive { playback.receive(zda("101109", 13, 8, 2006)) }
    for second in 10...20 {
      playback.receive(gga("1011\(second)"))
      playback.idle()
      // A time of its own, between two fixes.
      if second == 14 { playback.receive(zda("101114.56", 14, 3, 2026)) }
    }
    playback.finish()
    let days = playback.fixes.map { $0.time?.day }
    #expect(
      days.prefix(5).allSatisfy {
        $0 == (isLive ? Day(year: 2026, month: 11, day: 30) : Day(year: 2006, month: 8, day: 13))
      })
    #expect(days.count == 11 && days.suffix(6).allSatisfy { $0 == Day(year: 2026, month: 3, day: 14) })
  }
}
