// SPDX-License-Identifier: Apache-2.0

/// Stores the date for messages that have only a time of day, and corrects dates that are 1024 weeks early.
struct ReceiverCalendar: Sendable {
  /// Days in 1024 weeks: after that time the week number of GPS's older messages begins again at 0.
  static var rolloverDays: Int64 { 7168 }

  /// The time of the computer's clock, if it is credible.
  var reference: UTCTime?
  /// The last time with a known date.
  private(set) var last: UTCTime?
  /// The computer's time at the start of a live stream, from which the date of the first epoch is known: a stream may begin in the
  /// middle of an epoch, after the message with the date.
  var start: UTCTime?
  /// The number of days to add to the receiver's dates.
  private(set) var correctionDays: Int64 = 0
  /// Whether the receiver has stated `last` since the last epoch. Then no time that was found by an earlier date replaces it.
  private var isStated = false

  /// A date of the receiver, corrected if it is 1024 weeks (or twice as many) early.
  ///
  /// It is early if the corrected date equals the computer's within a day, or continues the previous dates. Other dates
  /// are unchanged: for recordings, and when the clock is not set.
  mutating func mended(_ day: Day) -> Day {
    // Not early, though a date before it may have been late. The clock's time may be that of the stream's start.
    if let reference, day.since1970 >= reference.day.since1970 - 1 {
      correctionDays = 0
      return day
    }
    // Some receivers correct the week later on their own.
    if let last, correctionDays > 0, abs(day.since1970 - last.day.since1970) <= 1 { correctionDays = 0 }
    if let last, correctionDays == 0 || day.since1970 + correctionDays < last.day.since1970 - 1 {
      let back = last.day.since1970 - day.since1970 - correctionDays
      if abs(back - Self.rolloverDays) <= 1 { correctionDays += Self.rolloverDays }
    }
    if correctionDays == 0, let reference {
      for weeks in 1...2 {
        let days = Int64(weeks) * Self.rolloverDays
        if abs(day.since1970 + days - reference.day.since1970) <= 1 { correctionDays = days }
      }
    }
    return Day(since1970: day.since1970 + correctionDays)
  }

  /// The time of an epoch with date and time; nil when the year is not credible. The day is within a few hundred years
  /// of 1970.
  mutating func time(on day: Day, nanosecondsOfDay: Int64) -> UTCTime? {
    let time = UTCTime(day: mended(day), nanosecondsOfDay: nanosecondsOfDay)
    guard time.isBelieved else { return nil }
    last = time
    isStated = true
    return time
  }

  /// The time of an epoch with only a time of day; nil until a date is known. Midnight is between two epochs when the
  /// time of day changes by more than half a day.
  func time(at nanosecondsOfDay: Int64) -> UTCTime? {
    guard let last = last ?? start else { return nil }
    let halfDay = UTCTime.nanosecondsPerDay / 2
    let step = nanosecondsOfDay - last.nanosecondsOfDay
    var day = last.day
    if step < -halfDay { day.since1970 += 1 }
    if step > halfDay { day.since1970 -= 1 }
    let time = UTCTime(day: day, nanosecondsOfDay: nanosecondsOfDay)
    return time.isBelieved ? time : nil
  }

  /// The time of an epoch with only a time of week (GPS time, milliseconds); nil until a date is known, and for an
  /// invalid time of week. It is the first matching time not earlier than one hour before the last one.
  func time(atTimeOfWeek milliseconds: UInt32, leapSeconds: Int) -> UTCTime? {
    guard let last = last ?? start, milliseconds < 604_800_000 else { return nil }
    let week: Int64 = 604_800_000_000_000
    let shift = Day.gpsEpoch.since1970 * UTCTime.nanosecondsPerDay - Int64(leapSeconds) * 1_000_000_000
    let earliest = last.nanosecondsSince1970 - shift - 3_600_000_000_000
    let ofWeek = Int64(milliseconds) * 1_000_000
    let weeks = (earliest - ofWeek + week - 1) / week
    let time = UTCTime(nanosecondsSince1970: shift + weeks * week + ofWeek)
    return time.isBelieved ? time : nil
  }

  /// Stores the time of an epoch for comparison with the next time of day.
  mutating func advance(to time: UTCTime) {
    if !isStated { last = time }
    isStated = false
  }
}
