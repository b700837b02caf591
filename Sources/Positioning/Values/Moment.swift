import MonotonicTime
import ReceiverStream

/// Now, on both clocks that matter: the one that never steps decides when something is due, the other one is what people
/// read. Both are handed in; nothing in this module has a clock.
public struct Moment: Hashable, Sendable {
  /// For time-outs and ages.
  public var instant: Instant
  /// For time stamps, where what is stamped does not bring its own.
  public var utc: UTCTime

  public init(_ instant: Instant, utc: UTCTime) {
    self.instant = instant
    self.utc = utc
  }
}
