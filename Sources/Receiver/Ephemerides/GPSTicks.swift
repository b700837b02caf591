// SPDX-License-Identifier: Apache-2.0
import ReceiverStream

/// A time of GPS in units of 100 ns since 1980-01-06, the resolution of RINEX.
package struct GPSTicks: Equatable, Comparable {
  package static let second: Int64 = 10_000_000
  package static let week: Int64 = 604_800 * second
  package var count: Int64

  package static func < (a: GPSTicks, b: GPSTicks) -> Bool { a.count < b.count }

  /// - Parameters:
  ///   - week: 1 or more, until the year 2190; a receiver without the time sends 0.
  ///   - secondOfWeek: 0 to the length of a week.
  package init?(week: UInt16, secondOfWeek: Double) {
    guard (1...11_000).contains(week), secondOfWeek >= 0, secondOfWeek < 604_800 else { return nil }
    count = Int64(week) * Self.week + Int64(clamping: (secondOfWeek * 1e7).rounded())
  }

  package init(count: Int64) { self.count = count }

  package init(_ time: UTCTime) {
    let leap = Int64(LeapSeconds.on(time.day)) * Self.second
    count = (time.nanosecondsSince1970 - Day.gpsEpoch.since1970 * UTCTime.nanosecondsPerDay) / 100 + leap
  }

  /// The time in UTC.
  package var utc: UTCTime {
    let sinceEpoch = UTCTime(day: .gpsEpoch, nanosecondsOfDay: count * 100)
    return UTCTime(
      nanosecondsSince1970: sinceEpoch.nanosecondsSince1970 - Int64(LeapSeconds.on(sinceEpoch.day)) * 1_000_000_000)
  }

  /// The time with this remainder of a period that is nearest to `self`.
  package func nearest(_ remainder: Int64, of period: Int64) -> GPSTicks {
    let difference = ((remainder - count) % period + period) % period
    return GPSTicks(count: count + (difference > period / 2 ? difference - period : difference))
  }

  /// The date of GPS time, and the time of the day.
  package var date: (day: Day, ticksOfDay: Int64) {
    let ticksOfDay = count % (86_400 * Self.second)
    return (Day(since1970: Day.gpsEpoch.since1970 + count / (86_400 * Self.second)), ticksOfDay)
  }
}
