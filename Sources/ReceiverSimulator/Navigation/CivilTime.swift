// SPDX-License-Identifier: Apache-2.0

/// A date and time of day in UTC (Gregorian calendar).
struct CivilTime: Equatable {
  var year: Int
  var month: Int
  var day: Int
  var hour: Int
  var minute: Int
  var second: Int

  /// The date of a second since 1970 (H. Hinnant, "chrono-Compatible Low-Level Date Algorithms").
  init(secondsSince1970 seconds: Int64) {
    let days = (seconds >= 0 ? seconds : seconds - 86_399) / 86_400
    let secondOfDay = Int(seconds - days * 86_400)
    let shifted = Int(days) + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
    hour = secondOfDay / 3600
    minute = secondOfDay / 60 % 60
    second = secondOfDay % 60
  }

  /// Seconds since 1970 of a date and time.
  static func secondsSince1970(
    year: Int, month: Int, day: Int, hour: Int = 0, minute: Int = 0, second: Int = 0
  ) -> Int64 {
    let year = month <= 2 ? year - 1 : year
    let era = (year >= 0 ? year : year - 399) / 400
    let yearOfEra = year - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    let days = Int64(era) * 146_097 + Int64(dayOfEra) - 719_468
    return days * 86_400 + Int64(hour * 3600 + minute * 60 + second)
  }
}

/// GPS time of a UTC time in milliseconds since 1970. It began on 1980-01-06, and is 18 seconds ahead of UTC since
/// 2017.
struct GPSTime: Equatable {
  static let leapSeconds = 18
  static let epoch: Int64 = 315_964_800

  var week: Int
  var millisecondOfWeek: UInt32

  init(utcMilliseconds: Int64) {
    let since = max(0, utcMilliseconds - Self.epoch * 1000 + Int64(Self.leapSeconds) * 1000)
    week = Int(since / 604_800_000)
    millisecondOfWeek = UInt32(since % 604_800_000)
  }
}
