// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// When a receiver that refused, or did not reply, is tried again: after a time that doubles with each attempt.
struct RetrySchedule {
  private static let first = Milliseconds(5000)
  /// The first time for a receiver that only looks like a u-blox one.
  private static let firstOfUnsure = Milliseconds(60_000)
  private static let longest = Milliseconds(1_800_000)

  private(set) var at: Instant?
  private var delay = RetrySchedule.first

  init(at first: Instant? = nil) { at = first }

  func isDue(at now: Instant) -> Bool { at.map { now >= $0 } ?? false }

  mutating func schedule(from now: Instant, isUnsure: Bool = false) {
    if isUnsure { delay = max(delay, Self.firstOfUnsure) }
    at = now + nextDelay()
  }

  /// Moves a scheduled attempt to `now`.
  mutating func hurry(to now: Instant) { if at != nil { at = now } }

  mutating func cancel() { at = nil }

  /// The present delay; the next one is twice as long.
  mutating func nextDelay() -> Milliseconds {
    defer { delay = min(delay * 2, Self.longest) }
    return delay
  }

  mutating func restart() { delay = Self.first }
}
