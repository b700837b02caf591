// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// The interval of a client's locations with reduced accuracy (AU-19): at most every twenty minutes while the client stays
/// in a cell of ``CellGrid``.
struct ReducedAccuracy: Sendable {
  static var interval: Milliseconds { Milliseconds(1_200_000) }

  /// The last sample that one service of one client received.
  private var last: Sample?

  init() {}

  /// Handles a reduced sample; returns whether it differs from the last one.
  mutating func take(_ sample: Sample) -> Bool {
    if let last, last.location.coordinate == sample.location.coordinate,
      sample.measured.milliseconds(since: last.measured) < Self.interval.count
    {
      return false
    }
    last = sample
    return true
  }

  /// The service has started: the next sample is delivered in any case.
  mutating func reset() { last = nil }
}
