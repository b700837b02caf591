// SPDX-License-Identifier: Apache-2.0
import CByteMask

/// A time of day, UTC, as written.
public struct TimeOfDay: Hashable, Sendable {
  /// 0…23.
  public var hour: UInt8
  /// 0…59.
  public var minute: UInt8
  /// 0…60, 60 in a leap second.
  public var second: UInt8
  /// Digits after the decimal point, 0…9.
  public var fractionDigits: UInt8
  /// The fraction of the second in nanoseconds, 0…999,999,999.
  public var nanosecond: UInt32

  @inlinable
  public init(hour: UInt8, minute: UInt8, second: UInt8, nanosecond: UInt32 = 0, fractionDigits: UInt8 = 2) {
    self.hour = hour
    self.minute = minute
    self.second = second
    self.nanosecond = nanosecond
    self.fractionDigits = fractionDigits
  }

  /// A time since midnight, 0 to less than 24 hours, in nanoseconds. The value is not rounded: the next second may
  /// belong to the next day.
  public init(nanosecondsOfDay nanoseconds: Int64, fractionDigits: UInt8 = 2) {
    let seconds = nanoseconds / 1_000_000_000
    self.init(
      hour: UInt8(seconds / 3600), minute: UInt8(seconds / 60 % 60), second: UInt8(seconds % 60),
      nanosecond: UInt32(nanoseconds % 1_000_000_000), fractionDigits: fractionDigits)
  }

  /// Whether each part is in its range.
  var isWritable: Bool {
    hour < 24 && minute < 60 && second <= 60 && nanosecond < 1_000_000_000 && fractionDigits <= 9
  }

  /// Nanoseconds since midnight.
  @inlinable
  public var nanoseconds: Int64 {
    Int64(hour) * 3_600_000_000_000 + Int64(minute) * 60_000_000_000 + Int64(second) * 1_000_000_000 + Int64(nanosecond)
  }
}

/// A calendar day, UTC, in RMC's form: the year has two digits.
public struct ShortDate: Hashable, Sendable {
  /// 1…31.
  public var day: UInt8
  /// 1…12.
  public var month: UInt8
  /// 0…99.
  public var year: UInt8

  @inlinable
  public init(day: UInt8, month: UInt8, year: UInt8) {
    self.day = day
    self.month = month
    self.year = year
  }

  /// The year with its century. Years from 80 on are in the twentieth century: GPS time begins in 1980.
  @inlinable
  public var fullYear: Int { year >= 80 ? 1900 + Int(year) : 2000 + Int(year) }
}
