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

  /// The same two clocks at an instant that is not later.
  public func earlier(at instant: Instant) -> Moment {
    let nanoseconds = self.instant.nanoseconds - min(self.instant.nanoseconds, instant.nanoseconds)
    return Moment(
      instant, utc: UTCTime(nanosecondsSince1970: utc.nanosecondsSince1970 - Int64(clamping: nanoseconds)))
  }
}
