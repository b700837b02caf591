// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// The rhythm of a client that polls: when its next poll is expected, and whether the polls are so close together that the receiver
/// stays on.
struct PollRhythm: Equatable, Sendable {
  /// Polls within this time count as one: programs repeat a poll whose reply is not complete.
  private static var burst: Milliseconds { Milliseconds(1500) }
  /// The longest interval of polls during which the receiver stays on.
  private static var dense: Milliseconds { Milliseconds(10_000) }

  private var last: Instant?
  /// The time between the last two polls; nil before the second one.
  private var interval: Milliseconds?

  /// Whether the client has polled.
  var hasBegun: Bool { last != nil }

  mutating func polled(at now: Instant) {
    if let last {
      let passed = Milliseconds(now.milliseconds(since: last))
      if passed < Self.burst { return }
      interval = passed
    }
    last = now
  }

  /// The next poll, and the time between it and the last one; nil before the second poll.
  var expected: (at: Instant, interval: Milliseconds)? {
    guard let last, let interval else { return nil }
    return (last + interval, interval)
  }

  /// The time until which the receiver stays on for the next poll; nil if it does not.
  var staysOnUntil: Instant? {
    guard let last, let interval, interval <= Self.dense else { return nil }
    return last + Self.dense
  }
}
