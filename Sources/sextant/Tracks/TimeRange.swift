// SPDX-License-Identifier: Apache-2.0
import ReceiverStream

/// A closed range of times; an end that is nil is open.
package struct TimeRange: Equatable, Sendable {
  package var from: UTCTime?
  package var to: UTCTime?

  package init(from: UTCTime? = nil, to: UTCTime? = nil) {
    self.from = from
    self.to = to
  }

  package var isOpen: Bool { from == nil && to == nil }

  /// Whether a time is in the range. An unknown time is only in the open range.
  package func contains(_ time: UTCTime?) -> Bool {
    guard let time else { return isOpen }
    return from.map { $0 <= time } ?? true && to.map { time <= $0 } ?? true
  }
}

extension UTCTime {
  /// Reads a time in ISO 8601, UTC: `2026-11-24`, `2026-11-24T12:30Z`, `2026-11-24T12:30:05.25Z`; the Z may be omitted.
  /// Nil for any other text.
  package init?(iso8601 text: String) {
    var parts = text.split(separator: "T", maxSplits: 1, omittingEmptySubsequences: false)
    let date = parts.removeFirst().split(separator: "-", omittingEmptySubsequences: false)
    guard date.count == 3, let year = Self.digits(date[0], 4), let month = Self.digits(date[1], 2),
      let ofMonth = Self.digits(date[2], 2), let day = Day(year: year, month: month, day: ofMonth)
    else { return nil }
    guard let time = parts.first else {
      self.init(day: day, nanosecondsOfDay: 0)
      return
    }
    let clock = (time.hasSuffix("Z") ? time.dropLast() : time).split(separator: ":", omittingEmptySubsequences: false)
    guard clock.count == 2 || clock.count == 3, let hour = Self.digits(clock[0], 2), hour < 24,
      let minute = Self.digits(clock[1], 2), minute < 60
    else { return nil }
    var nanoseconds = Int64(hour * 60 + minute) * 60_000_000_000
    if clock.count == 3 {
      let second = clock[2].split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
      guard let whole = Self.digits(second[0], 2), whole <= 60 else { return nil }
      nanoseconds += Int64(whole) * 1_000_000_000
      if second.count == 2 {
        guard (1...9).contains(second[1].utf8.count), var part = Self.digits(second[1], second[1].utf8.count) else {
          return nil
        }
        for _ in second[1].utf8.count..<9 { part *= 10 }
        nanoseconds += Int64(part)
      }
    }
    self.init(day: day, nanosecondsOfDay: nanoseconds)
  }

  private static func digits(_ text: Substring, _ count: Int) -> Int? {
    guard text.utf8.count == count, text.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else { return nil }
    return Int(text)
  }
}
