/// A point on a clock that never steps: nanoseconds since some start. In tests the start is zero and the time is made up.
public struct Instant: Hashable, Comparable, Sendable {
  public var nanoseconds: UInt64

  public init(nanoseconds: UInt64) { self.nanoseconds = nanoseconds }

  public static func < (a: Instant, b: Instant) -> Bool { a.nanoseconds < b.nanoseconds }

  /// A later instant.
  public static func + (instant: Instant, milliseconds: Milliseconds) -> Instant {
    Instant(nanoseconds: instant.nanoseconds + milliseconds.count * 1_000_000)
  }

  /// Milliseconds from `earlier` to this instant; 0 when it is not earlier.
  public func milliseconds(since earlier: Instant) -> UInt64 {
    self < earlier ? 0 : (nanoseconds - earlier.nanoseconds) / 1_000_000
  }
}

/// A length of time.
public struct Milliseconds: Hashable, Sendable {
  public var count: UInt64
  public init(_ count: UInt64) { self.count = count }
}
