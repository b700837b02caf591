// SPDX-License-Identifier: Apache-2.0
import NMEA

/// A point in time, UTC, to the nanosecond.
public struct UTCTime: Hashable, Comparable, Sendable {
  /// Nanoseconds since 1970-01-01 00:00:00 UTC, leap seconds not counted (POSIX).
  public var nanosecondsSince1970: Int64

  @inlinable
  public init(nanosecondsSince1970: Int64) { self.nanosecondsSince1970 = nanosecondsSince1970 }

  /// A calendar day and a time of day.
  ///
  /// - Parameters:
  ///   - day: the day in UTC.
  ///   - nanosecondsOfDay: may be negative or beyond a day, because UBX rounds to the nearest second and corrects.
  @inlinable
  public init(day: Day, nanosecondsOfDay: Int64) {
    nanosecondsSince1970 = day.since1970 &* UTCTime.nanosecondsPerDay &+ nanosecondsOfDay
  }

  @inlinable
  public static func < (a: UTCTime, b: UTCTime) -> Bool { a.nanosecondsSince1970 < b.nanosecondsSince1970 }

  /// The day of the time.
  @inlinable
  public var day: Day {
    let days = nanosecondsSince1970 / UTCTime.nanosecondsPerDay
    return Day(since1970: nanosecondsSince1970 % UTCTime.nanosecondsPerDay < 0 ? days - 1 : days)
  }

  /// Nanoseconds since midnight, 0…86,399,999,999,999.
  @inlinable
  public var nanosecondsOfDay: Int64 { nanosecondsSince1970 &- day.since1970 &* UTCTime.nanosecondsPerDay }

  /// The nearest millisecond, for texts that end there. Day and time of day are both taken from it, so that 59.9996 s is
  /// the next minute and not second 60, and 342 ns before midnight (NAV-PVT rounds to the nearest second and corrects)
  /// is midnight.
  package var roundedToMilliseconds: UTCTime {
    let (shifted, isTooLarge) = nanosecondsSince1970.addingReportingOverflow(500_000)
    guard !isTooLarge else { return self }
    let rest = shifted % 1_000_000
    return UTCTime(nanosecondsSince1970: shifted &- (rest < 0 ? rest &+ 1_000_000 : rest))
  }

  @inlinable public static var nanosecondsPerDay: Int64 { 86_400_000_000_000 }

  /// The years of credible dates: from the start of GPS to the limit of nanoseconds since 1970.
  @inlinable public static var believedYears: ClosedRange<Int> { 1980...2199 }

  /// Whether the time is within `believedYears`.
  @inlinable
  public var isBelieved: Bool {
    // 1980-01-01 and 2200-01-01, as days since 1970.
    nanosecondsSince1970 >= 3652 * UTCTime.nanosecondsPerDay
      && nanosecondsSince1970 < 84_006 * UTCTime.nanosecondsPerDay
  }
}

extension TimeOfDay {
  /// The time of day as a sentence writes it: with hundredths, as most receivers do, or with milliseconds if it is not a
  /// whole hundredth. Take the date of the sentence from `UTCTime.roundedToMilliseconds` too.
  package init(_ time: UTCTime) {
    let nanoseconds = time.roundedToMilliseconds.nanosecondsOfDay
    self.init(nanosecondsOfDay: nanoseconds, fractionDigits: nanoseconds % 10_000_000 == 0 ? 2 : 3)
  }
}

/// A day of the Gregorian calendar.
public struct Day: Hashable, Comparable, Sendable {
  /// Days since 1970-01-01.
  public var since1970: Int64

  @inlinable public init(since1970: Int64) { self.since1970 = since1970 }

  /// Month 1…12, day 1…31; nil if there is no such day, and for years beyond a billion.
  @inlinable
  public init?(year: Int, month: Int, day: Int) {
    guard year.magnitude <= 1_000_000_000 else { return nil }
    guard month >= 1, month <= 12, day >= 1, day <= Day.length(ofMonth: month, year: year) else { return nil }
    // Years that begin in March have the leap day last (H. Hinnant, "chrono-Compatible Low-Level Date Algorithms").
    let shifted = month <= 2 ? year - 1 : year
    let era = (shifted >= 0 ? shifted : shifted - 399) / 400
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    since1970 = Int64(era * 146_097 + dayOfEra - 719_468)
  }

  /// Year, month 1…12 and day 1…31.
  public var components: (year: Int, month: Int, day: Int) {
    let shifted = Int(since1970) + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    return (year, month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
  }

  @inlinable
  static func length(ofMonth month: Int, year: Int) -> Int {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  @inlinable
  public static func < (a: Day, b: Day) -> Bool { a.since1970 < b.since1970 }

  /// 1980-01-06, the day GPS time begins.
  @inlinable public static var gpsEpoch: Day { Day(since1970: 3657) }
}
