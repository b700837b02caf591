// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import ReceiverStream

/// Distinguishes locations of a receiver whose time has stepped back from repeated locations (SU-16, SU-19).
///
/// A service that returns repeats its newest location, and those that were kept for a deferral or in a receiver's memory. They
/// arrive faster than their times advance. The times of live locations advance as they arrive.
package struct BackwardStep: Sendable {
  /// The fewest locations in a row that show the pace, and the shortest time between the first and the last one, in seconds.
  private static let (fewest, shortest) = (3, 2.0)
  /// The largest deviation from the pace of live locations.
  private static let tolerance = 0.25

  private var first: (time: UTCTime, arrival: Instant)?
  private var last: UTCTime?
  private var count = 0

  package init() {}

  /// Handles a location. Returns whether it is live, after at least two others with earlier times.
  ///
  /// - Parameters:
  ///   - time: the time of a location that is older than one before.
  ///   - now: the instant of its arrival.
  package mutating func noteArrival(of time: UTCTime, at now: Instant) -> Bool {
    if let first, let last, time > last {
      self.last = time
      count += 1
      let elapsed = now.seconds(since: first.arrival)
      if count < Self.fewest || elapsed < Self.shortest { return false }
      let advance = (Double(time.nanosecondsSince1970) - Double(first.time.nanosecondsSince1970)) / 1e9
      if abs(advance - elapsed) <= elapsed * Self.tolerance { return true }
    }
    (first, last, count) = ((time, now), time, 1)
    return false
  }
}
