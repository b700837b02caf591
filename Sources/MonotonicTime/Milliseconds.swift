// SPDX-License-Identifier: Apache-2.0

/// A duration in whole milliseconds, the unit of deadlines. Overflow saturates.
public struct Milliseconds: Hashable, Comparable, Sendable {
  public var count: UInt64

  public init(_ count: UInt64) { self.count = count }

  /// A duration from seconds, rounded up to a millisecond, so that a deadline is never early. Negative values become 0.
  public init(seconds: Double) {
    count = seconds > 0 ? UInt64(min(seconds * 1000, 9e15).rounded(.up)) : 0
  }

  public static func < (a: Milliseconds, b: Milliseconds) -> Bool { a.count < b.count }
  public static func + (a: Milliseconds, b: Milliseconds) -> Milliseconds {
    let (count, isTooLong) = a.count.addingReportingOverflow(b.count)
    return Milliseconds(isTooLong ? .max : count)
  }
  public static func * (a: Milliseconds, factor: UInt64) -> Milliseconds {
    let (count, isTooLong) = a.count.multipliedReportingOverflow(by: factor)
    return Milliseconds(isTooLong ? .max : count)
  }

  public var seconds: Double { Double(count) / 1000 }
}
