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

  /// The same tag as a time of day, given GPS − UTC in seconds.
  func timeOfDay(leapSeconds: Int) -> EpochTag {
    guard case .timeOfWeek(let week) = self else { return self }
    let day: Int64 = 86_400_000
    return .timeOfDay(((Int64(week) - Int64(leapSeconds) * 1000) % day + day) % day * 1_000_000)
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

/// The times of sentences that state the time of their output, such as ZDA, and the evidence that these are times of positions. With most
/// receivers they are. Before the first position a heading of two antennas has such a time too.
struct OutputTimes: Sendable {
  /// The time of the last one since the last message with the time of a position, in nanoseconds since midnight; -1 for none, or for one
  /// with that time.
  private var time: Int64 = -1
  /// Whether the sentences after it are collected for the epoch of its time.
  private(set) var isAhead = false
  /// The number of times that were a position's, less those that were not, from 0 to 4. A single one may be so by chance.
  private var trust: Int8 = 1

  var tag: EpochTag? { time < 0 ? nil : .timeOfDay(time) }
  /// Whether no evidence contradicts, and whether there is evidence.
  var mayBeOfPositions: Bool { trust > 0 }
  var areOfPositions: Bool { trust > 1 }

  /// Adds a time of day.
  mutating func add(_ tag: EpochTag, isAhead: Bool) {
    if case .timeOfDay(let time) = tag { (self.time, self.isAhead) = (time, isAhead) }
  }

  /// Records that the sentences from now on are placed without the time.
  mutating func release() { isAhead = false }

  /// Ends the search for a position with the time; `isOfPosition` is nil if it may have been lost.
  mutating func end(isOfPosition: Bool?) {
    if let isOfPosition { trust = isOfPosition ? min(trust + 1, 4) : max(trust - 1, 0) }
    (time, isAhead) = (-1, false)
  }
}
