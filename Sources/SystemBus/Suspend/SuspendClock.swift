import MonotonicTime

/// For how long the computer was suspended: one of its clocks counts that time, and the other does not. It tells also where
/// nobody announces a suspend.
public struct SuspendClock: Sendable {
  /// A shorter stop is none: both clocks are read one after the other.
  static let thresholdNanoseconds: Int64 = 200_000_000

  private var last: Int64?

  public init() {}

  /// Takes the difference of the clocks, nanoseconds; the seconds of suspend since the last time, nil when there were none.
  public mutating func receive(differenceNanoseconds: Int64) -> Double? {
    let before = last ?? differenceNanoseconds
    // What is below the threshold is left for the next time, or many short stops would be lost.
    guard differenceNanoseconds - before >= Self.thresholdNanoseconds else {
      last = before
      return nil
    }
    last = differenceNanoseconds
    return Double(differenceNanoseconds - before) / 1e9
  }

  /// The time since boot less the monotonic time.
  public static func differenceNanoseconds() -> Int64 {
    let monotonic = SystemClock.monotonic
    return Int64(SystemClock.sinceBoot.nanoseconds) - Int64(monotonic.nanoseconds)
  }
}
