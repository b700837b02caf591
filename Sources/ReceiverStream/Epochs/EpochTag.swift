// SPDX-License-Identifier: Apache-2.0

/// The time of the epoch in a message. It separates messages of different epochs.
package enum EpochTag: Equatable, Sendable {
  /// Nanoseconds since midnight UTC, as in NMEA sentences.
  case timeOfDay(Int64)
  /// Milliseconds since the start of the week, GPS time, as in UBX messages.
  case timeOfWeek(UInt32)

  /// Times of day, in nanoseconds, that differ by less belong to one epoch: some receivers round the time to
  /// milliseconds in one sentence and to hundredths in another.
  static var rounding: Int64 { 10_000_000 }

  /// Whether two tags belong to different clocks. Their comparison needs the leap seconds.
  func isOtherClock(than other: EpochTag) -> Bool {
    switch (self, other) {
    case (.timeOfWeek, .timeOfWeek), (.timeOfDay, .timeOfDay): false
    default: true
    }
  }

  /// Whether the tag precedes the tag of an epoch, by the same clock, by at most `limit`. False for an epoch without a time.
  func isBehind(_ other: EpochTag?, milliseconds limit: Int64) -> Bool {
    let (delay, length): (Int64, Int64)
    switch (self, other) {
    case (.timeOfDay(let own), .timeOfDay(let other)?): (delay, length) = ((other - own) / 1_000_000, 86_400_000)
    case (.timeOfWeek(let own), .timeOfWeek(let other)?): (delay, length) = (Int64(other) - Int64(own), 604_800_000)
    default: return false
    }
    return 1...limit ~= delay || 1...limit ~= delay + length
  }

  /// Whether two tags of one clock belong to the same epoch.
  @inline(__always)
  func isSame(as other: EpochTag) -> Bool {
    switch (self, other) {
    case (.timeOfWeek(let a), .timeOfWeek(let b)): a == b
    case (.timeOfDay(let a), .timeOfDay(let b)): a == b || Self.isNear(a, b)
    default: false
    }
  }

  @inline(never)
  private static func isNear(_ a: Int64, _ b: Int64) -> Bool {
    let difference = abs(a - b)
    // Midnight follows 24:00:00, or a leap second, 23:59:60.
    let length: Int64 = max(a, b) < 86_400_000_000_000 ? 86_400_000_000_000 : 86_401_000_000_000
    return min(difference, length - difference) < rounding
  }

  /// Whether two tags belong to the same epoch, given GPS − UTC in seconds.
  package func isSame(as other: EpochTag, leapSeconds: Int) -> Bool {
    switch (self, other) {
    case (.timeOfWeek, .timeOfWeek), (.timeOfDay, .timeOfDay): return isSame(as: other)
    case (.timeOfDay(let day), .timeOfWeek(let week)), (.timeOfWeek(let week), .timeOfDay(let day)):
      // Both are rounded in different ways, by at most 10 ms. The shortest epoch interval of receivers is 25 ms.
      let milliseconds = (Int64(week) - Int64(leapSeconds) * 1000) % 86_400_000
      let difference = abs(milliseconds - day / 1_000_000) % 86_400_000
      return min(difference, 86_400_000 - difference) <= 10
    }
  }
}
