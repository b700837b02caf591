// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import ReceiverStream

/// Two clocks of the computer at one moment.
package struct ClockReading: Equatable, Sendable {
  /// The oscillator's clock, which is neither set nor slewed: CLOCK_MONOTONIC_RAW of clock_gettime(2).
  package var raw: Instant
  /// The system's time, which is set and slewed: CLOCK_REALTIME.
  package var system: UTCTime

  package init(raw: Instant, system: UTCTime) {
    self.raw = raw
    self.system = system
  }

  /// Returns the system's time at an instant of the raw clock, which should be near.
  func system(at raw: Instant) -> UTCTime {
    UTCTime(nanosecondsSince1970: system.nanosecondsSince1970 &+ nanoseconds(from: self.raw, to: raw))
  }
}

/// A pulse of a receiver: the on-time edge, as the kernel stamped it (RFC 2783, section 3.2, "assert" or "clear" timestamp).
package struct Pulse: Equatable, Sendable {
  /// The system's time at the edge.
  package var edge: UTCTime
  /// The clocks after the edge was fetched.
  package var reading: ClockReading

  package init(edge: UTCTime, reading: ClockReading) {
    self.edge = edge
    self.reading = reading
  }
}

/// The signed distance of two instants, nanoseconds.
func nanoseconds(from start: Instant, to end: Instant) -> Int64 {
  Int64(bitPattern: end.nanoseconds &- start.nanoseconds)
}

/// The nanoseconds in a second.
let second: Int64 = 1_000_000_000
