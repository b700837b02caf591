import MonotonicTime

/// How long a start takes here and now, from the order to wake to the fix: learned, so that a wake-up is early enough for the
/// promised fix and not earlier.
struct TimeToFix: Sendable {
  /// What was seen, newest last, at most ``capacity``.
  private var starts: [(seconds: Double, at: Instant)] = []
  private let usualSeconds: Double
  private static let capacity = 16
  /// Streets change: what was seen longer ago counts no more. Else a receiver that no longer sleeps, because starts were
  /// slow between houses, would never learn that they are quick again.
  private static let memorySeconds = 600.0

  init(usualSeconds: Double) { self.usualSeconds = usualSeconds }

  mutating func observe(_ seconds: Double, at now: Instant) {
    if starts.count == Self.capacity { starts.removeFirst() }
    starts.append((seconds, now))
  }

  /// Long enough for all but the worst of the last starts: an upper estimate of the 90 % quantile, and never below what is
  /// usual. A single outlier does not count, two do.
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

  /// What a start takes on average: what it costs.
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
