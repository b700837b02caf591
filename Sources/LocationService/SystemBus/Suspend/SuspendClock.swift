// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// The duration of the computer's suspends: one of its clocks counts them, and the other does not. It also works without an
/// announcement of the suspend.
package struct SuspendClock: Sendable {
  /// The shortest suspend that is detected; the clocks are read one after the other.
  static let thresholdNanoseconds: Int64 = 200_000_000

  private var last: Int64?

  package init() {}

  /// Handles the difference of the clocks, nanoseconds. Returns the seconds of suspend since the last call; nil if
  /// there were none.
  package mutating func receive(differenceNanoseconds: Int64) -> Double? {
    let before = last ?? differenceNanoseconds
    // A difference below the threshold is kept for the next call; otherwise many short suspends would be lost.
    guard differenceNanoseconds - before >= Self.thresholdNanoseconds else {
      last = before
      return nil
    }
    last = differenceNanoseconds
    return Double(differenceNanoseconds - before) / 1e9
  }

  /// Returns the time since boot minus the monotonic time.
  package static func differenceNanoseconds() -> Int64 {
    let monotonic = SystemClock.monotonic
    return Int64(SystemClock.sinceBoot.nanoseconds) - Int64(monotonic.nanoseconds)
  }
}
