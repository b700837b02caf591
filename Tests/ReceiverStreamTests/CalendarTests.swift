// SPDX-License-Identifier: Apache-2.0
import ReceiverStream
import TestSupport
import Testing
import UBX

@Suite("The date of a fix")
struct CalendarTests {
  /// The times of the epochs from RMC's date and GGA's time of day: only the first epoch has an RMC.
  private func times(date: String, first: String, then: [String]) -> [UTCTime?] {
    var playback = Playback()
    playback.receive(rmc(first, date: date))
    for time in then { playback.receive(gga(time)) }
    playback.finish()
    return playback.fixes.map(\.time)
  }

  @Test(
    "Midnight, the end of a month, of a year, of a leap year's February",
    arguments: [
      ("091225", UTCTime(2025, 12, 9), UTCTime(2025, 12, 10)), ("300425", UTCTime(2025, 4, 30), UTCTime(2025, 5, 1)),
      ("311225", UTCTime(2025, 12, 31), UTCTime(2026, 1, 1)), ("280224", UTCTime(2024, 2, 28), UTCTime(2024, 2, 29)),
      ("290224", UTCTime(2024, 2, 29), UTCTime(2024, 3, 1)), ("280225", UTCTime(2025, 2, 28), UTCTime(2025, 3, 1)),
    ])
  func midnight(date: String, day: UTCTime, next: UTCTime) {
    let times = times(date: date, first: "235959", then: ["000000", "000001"])
    #expect(times == [day + 86_399, next, next + 1])
  }

  @Test("A late epoch from before midnight belongs to the day before")
  func lateEpoch() {
    let midnight = UTCTime(2025, 12, 10)
    #expect(times(date: "101225", first: "000000", then: ["235959"]) == [midnight, midnight + -1])
  }

  @Test("The times of day advance the date, for days")
  func longRun() {
    let hours = (0..<60).map { (11 + $0) % 24 }
    let times = times(date: "091225", first: "100000", then: hours.map { "\($0 < 10 ? "0" : "")\($0)0000" })
    #expect(times == (0...60).map { UTCTime(2025, 12, 9, 10) + $0 * 3600 })
  }

  @Test("Without a date there is a position and no time; the time of day is not sufficient")
  func noDate() {
    var playback = Playback()
    playback.receive(gga("101112"))
    playback.finish()
    #expect(playback.lastFix?.time == nil)
    #expect(playback.lastFix?.hasPosition == true)
  }

  @Test("ZDA's date is equivalent to RMC's; an invalid day is rejected")
  func zdaDate() {
    var playback = Playback()
    playback.receive(gga("101112"), zda("101112", 31, 12, 2025))
    playback.receive(gga("101113"), zda("101113", 31, 2, 2025))
    playback.finish()
    #expect(playback.fixes.map(\.time) == [UTCTime(2025, 12, 31, 10, 11, 12), UTCTime(2025, 12, 31, 10, 11, 13)])
    #expect(playback.rejectedFields == 1)
  }

  @Test("A leap second is the first second of the next day, twice, and an epoch of its own")
  func leapSecond() {
    var playback = Playback()
    for (time, date) in [("235959", "311216"), ("235960", "311216"), ("000000", "010117"), ("000001", "010117")] {
      playback.receive(rmc(time, date: date), gga(time))
    }
    playback.finish()
    let newYear = UTCTime(2017, 1, 1)
    #expect(playback.fixes.map(\.time) == [newYear + -1, newYear, newYear, newYear + 1])
  }

  @Test("23:59:60 and 00:00:00 are two epochs in any order of the burst, and a rounded midnight is one")
  func leapSecondEpochs() {
    let newYear = UTCTime(2017, 1, 1)
    let seconds = [("235959", "311216"), ("235960", "311216"), ("000000", "010117"), ("000001", "010117")]
    var both = Playback()
    for (time, date) in seconds { both.receive(gga(time), rmc(time, date: date)) }
    both.finish()
    #expect(both.fixes.map(\.time) == [newYear + -1, newYear, newYear, newYear + 1])
    #expect(both.fixes.allSatisfy { $0.kind == .threeD })

    var alone = Playback()
    alone.receive(rmc("235958", date: "311216"))
    for (time, _) in seconds { alone.receive(gga(time)) }
    alone.finish()
    #expect(alone.fixes.map(\.time) == [newYear + -2, newYear + -1, newYear, newYear, newYear + 1])

    for (first, second) in [("235959.998", "000000.00"), ("235960.998", "000000.00")] {
      var rounded = Playback()
      rounded.receive(gga(first), gll(second))
      rounded.finish()
      #expect(rounded.epochs == 1, "\(first)")
    }
  }

  @Test("A leap second in NAV-PVT")
  func leapSecondPVT() {
    var playback = Playback()
    playback.receive(navPVT(23, 59, 59) { $0.day(31) })
    let leapSecond = navPVT(23, 59, 59) {
      $0.iTOW(5)
      $0.day(31)
      $0.sec(60)
    }
    playback.receive(leapSecond)
    playback.finish()
    #expect(playback.fixes.map(\.time) == [UTCTime(2025, 12, 31, 23, 59, 59), UTCTime(2026, 1, 1)])
  }

  @Test("Negative nanoseconds belong to the second before")
  func negativeNanoseconds() {
    var playback = Playback()
    playback.receive(navPVT(12) { $0.nano(-250_000) })
    playback.finish()
    let second = UTCTime(2025, 12, 9, 10, 11, 12)
    #expect(playback.lastFix?.time?.nanosecondsSince1970 == second.nanosecondsSince1970 - 250_000)
  }

  @Test("A live stream begins in the middle of an epoch: its first fix has the computer's date, a recording's has none")
  func fragment() {
    for (isLive, expected) in [(true, UTCTime(2025, 12, 8, 23, 59, 59)), (false, nil)] {
      // Just after midnight, the rest of the preceding epoch.
      var playback = Playback(reference: UTCTime(2025, 12, 9, 0, 0, 1), isLive: isLive)
      playback.receive(gga("235959"))
      playback.receive(rmc("000000", date: "091225"))
      playback.finish()
      #expect(playback.fixes.map(\.time) == [expected, UTCTime(2025, 12, 9)])
    }
  }

  @Test("Without a fix the time of day of a live stream has no date before the receiver gives it")
  func fragmentWithoutFix() {
    var playback = Playback(reference: UTCTime(2025, 12, 9, 0, 0, 1), isLive: true)
    playback.receive(gga("235959", quality: 0))
    playback.receive(gga("000000"))
    playback.finish()
    #expect(playback.fixes.map(\.time) == [nil, nil])
  }

  @Test("A date 1024 weeks before the computer's is corrected, from RMC, ZDA and NAV-PVT")
  func rolledOver() {
    let rolled = UTCTime(2006, 4, 25, 10, 11, 12)
    let today = UTCTime(2025, 12, 9, 10, 11, 12)
    #expect(today.day.since1970 - rolled.day.since1970 == 7168)
    var playback = Playback(reference: UTCTime(2025, 12, 9, 23))
    playback.receive(rmc("101112", date: "250406"))
    playback.receive(gga("101113"), zda("101113", 25, 4, 2006))
    let rolledPVT = navPVT(14) {
      $0.year(2006)
      $0.month(4)
      $0.day(25)
    }
    playback.receive(rolledPVT)
    playback.finish()
    #expect(playback.fixes.map(\.time) == [today, today + 1, today + 2])
  }

  @Test("A date 2048 weeks before is corrected too")
  func rolledTwice() {
    var playback = Playback(reference: UTCTime(2025, 12, 10))
    playback.receive(rmc("101112", date: "090986"))
    playback.finish()
    #expect(playback.lastFix?.time == UTCTime(2025, 12, 9, 10, 11, 12))
  }

  @Test("GPS weeks 1024 too low are corrected to the second, with leap seconds")
  func rolledWeek() {
    var playback = Playback(reference: UTCTime(2025, 12, 9, 12))
    for second in 12...13 { playback.receive(solution(week: 2396 - 1024, second)) }
    playback.finish()
    #expect(playback.fixes.map(\.time) == [12, 13].map { UTCTime(2025, 12, 9, 10, 11, $0) })
  }

  @Test("A corrected receiver that later sends the correct date is followed")
  func unrolled() {
    var playback = Playback(reference: UTCTime(2025, 12, 9))
    playback.receive(rmc("101112", date: "250406"), rmc("101113", date: "250406"))
    playback.receive(rmc("101114", date: "091225"), rmc("101115", date: "091225"))
    playback.finish()
    #expect(playback.fixes.map(\.time) == (12...15).map { UTCTime(2025, 12, 9, 10, 11, $0) })
  }

  @Test("After a date 1024 weeks ahead, a right one is right again", arguments: [0, 100])
  func jumpsAhead(daysSinceStart: Int64) {
    let today = UTCTime(2025, 12, 9, 10, 11, 12)
    var playback = Playback(
      reference: UTCTime(day: Day(since1970: today.day.since1970 - daysSinceStart), nanosecondsOfDay: 0))
    playback.receive(rmc("101112", date: "091225"), rmc("101113", date: "260745"), rmc("101114", date: "260745"))
    playback.receive(rmc("101115", date: "091225"), rmc("101116", date: "091225"))
    playback.finish()
    let ahead = UTCTime(2045, 7, 26, 10, 11, 13)
    #expect(playback.fixes.map(\.time) == [today, ahead, ahead + 1, today + 3, today + 4])
  }

  @Test(
    "A rollover of the week number in mid-stream does not interrupt the date", arguments: [nil, UTCTime(2025, 12, 9)])
  func rollsOver(reference: UTCTime?) {
    var playback = Playback(reference: reference)
    playback.receive(rmc("235958", date: "060419"), rmc("235959", date: "060419"))
    playback.receive(rmc("000000", date: "220899"), rmc("000001", date: "220899"), rmc("000000", date: "230899"))
    playback.finish()
    let rollover = UTCTime(2019, 4, 7)
    #expect(playback.fixes.map(\.time) == [-2, -1, 0, 1, 86_400].map { rollover + $0 })
  }

  @Test("A recording of another time is not changed")
  func replay() {
    var playback = Playback(reference: UTCTime(2025, 12, 9))
    playback.receive(rmc("101112", date: "091202"), rmc("101113", date: "250405"))
    playback.finish()
    #expect(playback.fixes.map(\.time) == [UTCTime(2002, 12, 9, 10, 11, 12), UTCTime(2005, 4, 25, 10, 11, 13)])
  }

  @Test("A year outside the plausible range is rejected", arguments: [1, 1979, 2263, 9999, 65_535])
  func absurdYear(year: Int) {
    var playback = Playback()
    playback.receive(navPVT(12) { $0.year(UInt16(year)) })
    if year >= 1980, year <= 9999 { playback.receive(zda("101112", 9, 12, year)) }
    playback.finish()
    #expect(playback.fixes.allSatisfy { $0.time == nil })
    #expect(playback.rejectedFields >= 1)
  }

  @Test("GPS week and time of week give UTC, with the receiver's leap seconds or the table's")
  func gpsTime() {
    var playback = Playback()
    playback.receive(solution(week: 2396, 12))
    let time = ubx {
      NavTIMEGPS.encode(into: &$0) {
        $0.iTOW(timeOfWeek(10, 11, 13))
        $0.week(2396)
        $0.leapS(17)
        $0.valid(7)
      }
    }
    playback.receive(time)
    playback.finish()
    #expect(playback.fixes.map(\.time) == [UTCTime(2025, 12, 9, 10, 11, 12), UTCTime(2025, 12, 9, 10, 11, 14)])
    #expect(playback.lastFix?.leapSeconds == 17)
  }

  /// NAV-SOL of 10:11:`second` UTC on the Tuesday of a week in which GPS − UTC is 18 s.
  private func solution(week: Int16, _ second: Int) -> [UInt8] {
    ubx {
      NavSOL.encode(into: &$0) {
        $0.iTOW(timeOfWeek(10, 11, second))
        $0.week(week)
        $0.gpsFix(3)
        $0.flags(0b1101)
      }
    }
  }
}

@Suite("Days and leap seconds")
struct DayTests {
  @Test("Every day from 1900 to 2200 has one number")
  func days() throws {
    var number = try #require(Day(year: 1900, month: 1, day: 1)).since1970
    #expect(number == -25_567)
    for year in 1900...2200 {
      let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
      for (month, length) in [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31].enumerated() {
        for day in 1...length {
          let components = Day(since1970: number).components
          if Day(year: year, month: month + 1, day: day)?.since1970 != number || components != (year, month + 1, day) {
            Issue.record("\(year)-\(month + 1)-\(day)")
          }
          number += 1
        }
        #expect(Day(year: year, month: month + 1, day: length + 1) == nil)
      }
    }
  }

  @Test("There is no month 0 or 13, no day 0")
  func noDay() {
    #expect(Day(year: 2025, month: 0, day: 1) == nil)
    #expect(Day(year: 2025, month: 13, day: 1) == nil)
    #expect(Day(year: 2025, month: 1, day: 0) == nil)
  }

  @Test(
    "Years outside the range of day numbers are rejected", arguments: [Int.min, -1_000_000_001, 1_000_000_001, Int.max])
  func noYear(year: Int) {
    for month in [1, 2, 12] { #expect(Day(year: year, month: month, day: 1) == nil) }
  }

  @Test(
    "GPS − UTC on known days",
    arguments: [
      (1980, 1, 6, 0), (1981, 6, 30, 0), (1981, 7, 1, 1), (1998, 12, 31, 12), (1999, 1, 1, 13), (2005, 12, 31, 13),
      (2006, 1, 1, 14), (2012, 7, 1, 16), (2016, 12, 31, 17), (2017, 1, 1, 18), (2025, 12, 9, 18),
    ])
  func leapSeconds(year: Int, month: Int, day: Int, seconds: Int) throws {
    #expect(LeapSeconds.on(try #require(Day(year: year, month: month, day: day))) == seconds)
  }

  @Test("Times before 1970 and at midnight belong to their day")
  func parts() {
    #expect(UTCTime(nanosecondsSince1970: -1).day.since1970 == -1)
    #expect(UTCTime(nanosecondsSince1970: -1).nanosecondsOfDay == 86_399_999_999_999)
    #expect(UTCTime(nanosecondsSince1970: 0).day.since1970 == 0)
    #expect(UTCTime(2026, 1, 1).nanosecondsOfDay == 0)
  }
}

/// Adds seconds.
func + (time: UTCTime, seconds: Int) -> UTCTime {
  UTCTime(nanosecondsSince1970: time.nanosecondsSince1970 + Int64(seconds) * 1_000_000_000)
}
