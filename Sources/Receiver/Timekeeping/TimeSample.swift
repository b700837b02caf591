// SPDX-License-Identifier: Apache-2.0
import ReceiverStream

/// A comparison of the receiver's time with the system's, for a time daemon.
package struct TimeSample: Equatable, Sendable {
  /// The origin of a sample.
  package enum Source: String, Sendable {
    /// The edge of a pulse.
    case pulse
    /// The arrival of the receiver's messages.
    case messages
  }

  /// The announcement of a leap second at the end of the UTC day; the numbers equal NTP's leap indicator (RFC 5905,
  /// figure 9).
  package enum Leap: Int32, Sendable {
    case none, insertion, deletion
  }

  package var source: Source
  /// UTC according to the receiver.
  package var real: UTCTime
  /// The system's time at the same moment.
  package var system: UTCTime
  package var leap: Leap
  /// The base-2 logarithm of the error in seconds, as NTP's precision (RFC 5905, section 7.3).
  package var precision: Int8

  package init(source: Source, real: UTCTime, system: UTCTime, leap: Leap = .none, precision: Int8) {
    self.source = source
    self.real = real
    self.system = system
    self.leap = leap
    self.precision = precision
  }

  /// The receiver's time minus the system's, seconds.
  package var offsetSeconds: Double {
    Double(real.nanosecondsSince1970 &- system.nanosecondsSince1970) / 1e9
  }
}

/// The scatter of the last offsets.
struct OffsetHistory: Sendable {
  private static let count = 16
  /// A greater change of the offset is a step of the system's clock, not jitter.
  private static let stepSeconds = 0.1
  private var changes: [Double] = []
  private var last: Double?

  mutating func append(_ offset: Double) {
    defer { last = offset }
    guard let last else { return }
    if abs(offset - last) > Self.stepSeconds { return changes.removeAll() }
    changes.append(offset - last)
    if changes.count > Self.count { changes.removeFirst() }
  }

  /// One standard deviation of an offset, seconds, from the changes between neighbours, so that a clock with a
  /// different rate contributes little; nil before three offsets.
  var jitterSeconds: Double? {
    guard changes.count >= 2 else { return nil }
    let sum = changes.reduce(0) { $0 + $1 * $1 }
    return (sum / Double(2 * changes.count)).squareRoot()
  }
}
