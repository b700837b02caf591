// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// The duration of a start here and now, from the wake-up command to the fix. It is learned, so that a wake-up is early
/// enough for the promised fix and not earlier.
struct TimeToFix: Sendable {
  /// The measured starts, newest last, at most ``capacity``.
  private var starts: [(seconds: Double, at: Instant)] = []
  private let usualSeconds: Double
  private static let capacity = 16
  /// The surroundings change: older starts do not count. Otherwise a receiver that no longer sleeps, because starts
  /// were slow between houses, would not learn that they are fast again.
  private static let memorySeconds = 600.0

  init(usualSeconds: Double) { self.usualSeconds = usualSeconds }

  mutating func observe(_ seconds: Double, at now: Instant) {
    if starts.count == Self.capacity { starts.removeFirst() }
    starts.append((seconds, now))
  }

  /// An upper estimate of the 90 % quantile of recent starts, and at least the usual duration. A single outlier does
  /// not count, two do.
  func seconds(at now: Instant) -> Double {
    var largest = 0.0
    var second = 0.0
    var count = 0
    for (value, at) in starts where now.seconds(since: at) < Self.memorySeconds {
      count += 1
      if value > largest {
        second = largest
        largest = value
      } else if value > second {
        second = value
      }
    }
    return max(usualSeconds, count > 1 ? second : largest)
  }

  /// The average duration of a start, which sets its cost.
  func meanSeconds(at now: Instant) -> Double {
    var sum = 0.0
    var count = 0
    for (value, at) in starts where now.seconds(since: at) < Self.memorySeconds {
      sum += value
      count += 1
    }
    return count > 0 ? sum / Double(count) : usualSeconds
  }
}
