/// When a message says that its epoch was: by this messages are told apart that belong to different epochs.
enum EpochTag: Equatable, Sendable {
  /// Nanoseconds since midnight UTC, as NMEA sentences bear.
  case timeOfDay(Int64)
  /// Milliseconds since the week began, GPS time, as UBX messages bear.
  case timeOfWeek(UInt32)

  /// Whether two tags are of different clocks, so that the leap seconds are needed to compare them.
  func isOtherClock(than other: EpochTag) -> Bool {
    switch (self, other) {
    case (.timeOfWeek, .timeOfWeek), (.timeOfDay, .timeOfDay): false
    default: true
    }
  }

  /// Whether two tags mean the same epoch, given GPS − UTC in seconds.
  func isSame(as other: EpochTag, leapSeconds: Int) -> Bool {
    switch (self, other) {
    case (.timeOfWeek(let a), .timeOfWeek(let b)): return a == b
    case (.timeOfDay(let a), .timeOfDay(let b)): return a == b
    case (.timeOfDay(let day), .timeOfWeek(let week)), (.timeOfWeek(let week), .timeOfDay(let day)):
      // Both are rounded, each in its own way, to 10 ms at the worst; the fastest receivers have 25 ms from epoch to
      // epoch.
      let milliseconds = (Int64(week) - Int64(leapSeconds) * 1000) % 86_400_000
      let difference = abs(milliseconds - day / 1_000_000) % 86_400_000
      return min(difference, 86_400_000 - difference) <= 10
    }
  }
}
