// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import ReceiverStream

/// The present time on both clocks: the one that never steps decides when something is due, the other one stamps. Both
/// are passed in; nothing in this module has a clock.
public struct Moment: Hashable, Sendable {
  /// For time-outs and ages.
  public var instant: Instant
  /// For time stamps, where the data has no time of its own.
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
