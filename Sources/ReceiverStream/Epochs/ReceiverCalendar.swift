/// Keeps the date for messages that bear only a time of day, and mends dates that are 1024 weeks off.
struct ReceiverCalendar: Sendable {
  /// Days in 1024 weeks: after so many the week number of GPS's older messages begins again at 0.
  static var rolloverDays: Int64 { 7168 }

  /// What the computer's clock says, if it can be believed.
  var reference: UTCTime?
  /// The last time of which the date is known.
  private(set) var last: UTCTime?
  /// Days that are added to the receiver's dates.
  private(set) var correctionDays: Int64 = 0

  /// A date that the receiver said, mended when it is 1024 weeks (or twice as many) off.
  ///
  /// It is when adding the weeks leads to the computer's date, give or take a day, or on from the dates before it. A date
  /// that fits neither is left as it is: a recording is played, or the clock is not set.
  mutating func mended(_ day: Day) -> Day {
    // Some receivers find the right week later by themselves.
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

  /// The time of an epoch of which the receiver said date and time: nil when it is in no year that is believed. The day lies
  /// within some hundred years of 1970.
  mutating func time(on day: Day, nanosecondsOfDay: Int64) -> UTCTime? {
    let time = UTCTime(day: mended(day), nanosecondsOfDay: nanosecondsOfDay)
    guard time.isBelieved else { return nil }
    last = time
    return time
  }

  /// The time of an epoch of which only the time of day is known: nil as long as no date was said. Midnight is between
  /// two epochs when the time of day steps back, or forth, by more than half a day.
  func time(at nanosecondsOfDay: Int64) -> UTCTime? {
    guard let last else { return nil }
    let halfDay = UTCTime.nanosecondsPerDay / 2
    let step = nanosecondsOfDay - last.nanosecondsOfDay
    var day = last.day
    if step < -halfDay { day.since1970 += 1 }
    if step > halfDay { day.since1970 -= 1 }
    let time = UTCTime(day: day, nanosecondsOfDay: nanosecondsOfDay)
    return time.isBelieved ? time : nil
  }

  /// The time of an epoch of which only the time of week is known (GPS time, milliseconds): nil as long as no date was said,
  /// and for what is no time of week. The first such time after the last one, which it may precede by an hour.
  func time(atTimeOfWeek milliseconds: UInt32, leapSeconds: Int) -> UTCTime? {
    guard let last, milliseconds < 604_800_000 else { return nil }
    let week: Int64 = 604_800_000_000_000
    let shift = Day.gpsEpoch.since1970 * UTCTime.nanosecondsPerDay - Int64(leapSeconds) * 1_000_000_000
    let earliest = last.nanosecondsSince1970 - shift - 3_600_000_000_000
    let ofWeek = Int64(milliseconds) * 1_000_000
    let weeks = (earliest - ofWeek + week - 1) / week
    let time = UTCTime(nanosecondsSince1970: shift + weeks * week + ofWeek)
    return time.isBelieved ? time : nil
  }

  /// Keeps `time` as the one that the next time of day is compared with.
  mutating func advance(to time: UTCTime) { last = time }
}
