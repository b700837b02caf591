// SPDX-License-Identifier: Apache-2.0

/// A point on a clock that never steps: nanoseconds since an arbitrary start. In tests the start is zero and the time
/// is virtual.
///
/// The last instant, about 584 years after the start, which means never. Arithmetic saturates here.
public struct Instant: Hashable, Comparable, Sendable {
  public var nanoseconds: UInt64

  public init(nanoseconds: UInt64) { self.nanoseconds = nanoseconds }

  /// The start of the clock.
  public static let zero = Instant(nanoseconds: 0)

  public static func < (a: Instant, b: Instant) -> Bool { a.nanoseconds < b.nanoseconds }

  /// A later instant; saturates at the last one.
  public static func + (instant: Instant, milliseconds: Milliseconds) -> Instant {
    let (length, isTooLong) = milliseconds.count.multipliedReportingOverflow(by: 1_000_000)
    let (nanoseconds, isTooLate) = instant.nanoseconds.addingReportingOverflow(length)
    return Instant(nanoseconds: isTooLong || isTooLate ? .max : nanoseconds)
  }

  /// Advances the instant.
  public static func += (instant: inout Instant, milliseconds: Milliseconds) { instant = instant + milliseconds }

  /// The instant this number of seconds later, or earlier if negative; saturates at the clock's start and at the last
  /// instant.
  public func moved(by seconds: Double) -> Instant {
    let distance = UInt64(exactly: (abs(seconds) * 1e9).rounded()) ?? (seconds.isNaN ? 0 : .max)
    if seconds < 0 { return Instant(nanoseconds: nanoseconds - min(nanoseconds, distance)) }
    let (later, isTooLate) = nanoseconds.addingReportingOverflow(distance)
    return Instant(nanoseconds: isTooLate ? .max : later)
  }

  /// Milliseconds from `earlier` to this instant; 0 if `earlier` is not earlier.
  public func milliseconds(since earlier: Instant) -> UInt64 {
    self < earlier ? 0 : (nanoseconds - earlier.nanoseconds) / 1_000_000
  }

  /// Seconds from `other` to this instant; negative if this instant is earlier.
  public func seconds(since other: Instant) -> Double {
    self < other ? -Double(other.nanoseconds - nanoseconds) / 1e9 : Double(nanoseconds - other.nanoseconds) / 1e9
  }

  /// The earlier of two deadlines, where nil means never.
  public static func earlier(_ a: Instant?, _ b: Instant?) -> Instant? {
    guard let a else { return b }
    guard let b else { return a }
    return min(a, b)
  }
}
