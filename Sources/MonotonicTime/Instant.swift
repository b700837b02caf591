// SPDX-License-Identifier: Apache-2.0

/// A point on a clock that never steps: nanoseconds since some start. In tests the start is zero and the time is made up.
///
/// The last one, 584 years after the start, is as good as never: what would be later is that.
public struct Instant: Hashable, Comparable, Sendable {
  public var nanoseconds: UInt64

  public init(nanoseconds: UInt64) { self.nanoseconds = nanoseconds }

  /// The clock's start.
  public static let zero = Instant(nanoseconds: 0)

  public static func < (a: Instant, b: Instant) -> Bool { a.nanoseconds < b.nanoseconds }

  /// A later instant, or the last possible one.
  public static func + (instant: Instant, milliseconds: Milliseconds) -> Instant {
    let (length, isTooLong) = milliseconds.count.multipliedReportingOverflow(by: 1_000_000)
    let (nanoseconds, isTooLate) = instant.nanoseconds.addingReportingOverflow(length)
    return Instant(nanoseconds: isTooLong || isTooLate ? .max : nanoseconds)
  }

  /// Moves the instant on.
  public static func += (instant: inout Instant, milliseconds: Milliseconds) { instant = instant + milliseconds }

  /// The instant so many seconds later, or earlier where they are negative: between the clock's start and its last instant.
  public func moved(by seconds: Double) -> Instant {
    let distance = UInt64(exactly: (abs(seconds) * 1e9).rounded()) ?? (seconds.isNaN ? 0 : .max)
    if seconds < 0 { return Instant(nanoseconds: nanoseconds - min(nanoseconds, distance)) }
    let (later, isTooLate) = nanoseconds.addingReportingOverflow(distance)
    return Instant(nanoseconds: isTooLate ? .max : later)
  }

  /// Milliseconds from `earlier` to this instant; 0 when it is not earlier.
  public func milliseconds(since earlier: Instant) -> UInt64 {
    self < earlier ? 0 : (nanoseconds - earlier.nanoseconds) / 1_000_000
  }

  /// Seconds from `other` to this instant; negative when this one is earlier.
  public func seconds(since other: Instant) -> Double {
    self < other ? -Double(other.nanoseconds - nanoseconds) / 1e9 : Double(nanoseconds - other.nanoseconds) / 1e9
  }

  /// The earlier of two deadlines, where nil is "never".
  public static func earlier(_ a: Instant?, _ b: Instant?) -> Instant? {
    guard let a else { return b }
    guard let b else { return a }
    return min(a, b)
  }
}
