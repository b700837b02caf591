// SPDX-License-Identifier: Apache-2.0
import ReceiverStream
import TestSupport
import Testing
import UBX

@Suite("Times outside the plausible range")
struct TimeRangeTests {
  @Test("A GPS week beyond all clocks is rejected", arguments: [11_500, 14_728, 20_000, 32_767] as [Int16])
  func absurdWeek(week: Int16) {
    for frame in [timeGPS(week: week), solution(week: week)] {
      var playback = Playback()
      playback.receive(frame, navEOE(12))
      playback.receive(navPVT(13), navEOE(13))
      playback.finish()
      #expect(playback.fixes.map(\.time) == [nil, UTCTime(2025, 12, 9, 10, 11, 13)])
      #expect(playback.rejectedFields == 1)
    }
  }

  @Test("The last accepted week ends with the year 2199")
  func lastWeek() {
    // 2199-12-31 is a Tuesday, as 2025-12-09 is: 9,082 weeks later.
    for (week, time) in [(2396 + 9082, UTCTime(2199, 12, 31, 10, 11, 12)), (2396 + 9083, nil)] {
      var playback = Playback()
      playback.receive(timeGPS(week: Int16(week)), navEOE(12))
      playback.finish()
      #expect(playback.fixes.map(\.time) == [time])
    }
  }

  @Test("A leap second at the end of the last accepted year, and nanoseconds before the first, are rejected")
  func edges() {
    var playback = Playback()
    playback.receive(
      navPVT(12) {
        $0.year(2199)
        $0.day(31)
        $0.hour(23)
        $0.min(59)
        $0.sec(60)
      }, navEOE(12))
    playback.receive(
      navPVT(13) {
        $0.year(1980)
        $0.month(1)
        $0.day(1)
        $0.hour(0)
        $0.min(0)
        $0.sec(0)
        $0.nano(-1)
      }, navEOE(13))
    playback.finish()
    #expect(playback.fixes.map(\.time) == [nil, nil])
    #expect(playback.rejectedFields == 2)
  }

  @Test("PUBX,04's leap seconds are believed as the others are", arguments: ["999999999999999", "61"])
  func absurdLeapSeconds(text: String) {
    var playback = Playback()
    playback.receive("PUBX,04,101112.00,091225,209490.00,2396,\(text),0,0.0,21")
    playback.receive(rmc("101112"), gga("101112"))
    playback.receive(navEOE(13), navEOE(14))
    playback.finish()
    #expect(playback.rejectedFields == 1)
    #expect(playback.lastFix?.leapSeconds == nil)
  }

  @Test(
    "Messages with every field of time at its ends give believed times or none", arguments: 1...8 as ClosedRange<UInt64>
  )
  func extremes(seed: UInt64) {
    var random = SeededRandomNumberGenerator(seed: seed)
    var playback = Playback(reference: random.oneIn(2) ? UTCTime(2025, 12, 9) : nil)
    for _ in 0..<4000 {
      playback.receive(Self.anyMessage(&random))
      if random.oneIn(8) { playback.receive(rmc("235960", date: random.element(of: ["311279", "010180", "290200"]))) }
      if random.oneIn(8) { playback.idle() }
    }
    playback.finish()
    #expect(playback.fixes.allSatisfy { $0.time?.isBelieved ?? true })
    #expect(playback.fixes.contains { $0.time != nil })
    #expect(playback.rejectedFields > 100)
  }

  /// A message with a time, whose fields are at an end of their range, near one, or normal.
  private static func anyMessage(_ random: inout SeededRandomNumberGenerator) -> [UInt8] {
    let iTOW = random.element(of: [0, 17_999, 209_490_000, 604_799_999, 604_800_000, .max] as [UInt32])
    let year = random.element(of: [0, 1979, 1980, 2006, 2025, 2025, 2199, 2200, .max] as [UInt16])
    let (month, day) =
      (random.element(of: [0, 1, 12, 13, 255]), random.element(of: [0, 1, 29, 31, 32, 255])) as (UInt8, UInt8)
    let hour = random.element(of: [0, 23, 24, 255] as [UInt8])
    let sixtieth = random.element(of: [0, 59, 60, 61, 255] as [UInt8])
    let nano = random.element(of: [0, -1, 1_000_000_000, -1_000_000_000, 1_000_000_001, .min, .max] as [Int32])
    let week = random.element(of: [.min, -1, 0, 1, 1024, 1372, 2396, 11_478, 11_479, 14_728, .max] as [Int16])
    let leap = random.element(of: [-128, -1, 0, 18, 60, 61, 127] as [Int8])
    let valid = random.element(of: [7, 7, 255, 0] as [UInt8])
    switch random.int(0...6) {
    case 0:
      return ubx {
        NavPVT.encode(into: &$0) {
          $0.iTOW(iTOW)
          $0.year(year)
          $0.month(month)
          $0.day(day)
          $0.hour(hour)
          $0.min(sixtieth)
          $0.sec(sixtieth)
          $0.nano(nano)
          $0.valid(valid)
          $0.tAcc(.max)
        }
      }
    case 1:
      return ubx {
        NavPVAT.encode(into: &$0) {
          $0.iTOW(iTOW)
          $0.year(year)
          $0.month(month)
          $0.day(day)
          $0.hour(hour)
          $0.min(sixtieth)
          $0.sec(sixtieth)
          $0.nano(nano)
          $0.valid(valid)
        }
      }
    case 2:
      return ubx {
        HnrPVT.encode(into: &$0) {
          $0.iTOW(iTOW)
          $0.year(year)
          $0.month(month)
          $0.day(day)
          $0.hour(hour)
          $0.min(sixtieth)
          $0.sec(sixtieth)
          $0.nano(nano)
          $0.valid(valid)
        }
      }
    case 3:
      return ubx {
        NavTIMEUTC.encode(into: &$0) {
          $0.iTOW(iTOW)
          $0.tAcc(.max)
          $0.nano(nano)
          $0.year(year)
          $0.month(month)
          $0.day(day)
          $0.hour(hour)
          $0.min(sixtieth)
          $0.sec(sixtieth)
          $0.valid(valid)
        }
      }
    case 4:
      return ubx {
        NavTIMEGPS.encode(into: &$0) {
          $0.iTOW(iTOW)
          $0.fTOW(nano)
          $0.week(week)
          $0.leapS(leap)
          $0.valid(valid)
        }
      }
    case 5:
      return ubx {
        NavSOL.encode(into: &$0) {
          $0.iTOW(iTOW)
          $0.fTOW(nano)
          $0.week(week)
          $0.gpsFix(3)
          $0.flags(valid)
        }
      }
    default:
      return ubx {
        NavTIMELS.encode(into: &$0) {
          $0.iTOW(iTOW)
          $0.currLs(leap)
          $0.valid(valid)
        }
      }
    }
  }

  private func timeGPS(week: Int16) -> [UInt8] {
    ubx {
      NavTIMEGPS.encode(into: &$0) {
        $0.iTOW(timeOfWeek(10, 11, 12))
        $0.week(week)
        $0.leapS(18)
        $0.valid(7)
      }
    }
  }

  private func solution(week: Int16) -> [UInt8] {
    ubx {
      NavSOL.encode(into: &$0) {
        $0.iTOW(timeOfWeek(10, 11, 12))
        $0.week(week)
        $0.flags(0b1100)
      }
    }
  }
}
