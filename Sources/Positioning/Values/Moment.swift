// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import ReceiverStream

/// The current time on both clocks: the monotonic clock determines when something is due, the wall clock provides time
/// stamps. Both are passed in; this module does not read a clock.
public struct Moment: Hashable, Sendable {
  /// For timeouts and ages.
  public var instant: Instant
  /// For time stamps, if the data has no time.
  public var utc: UTCTime

  public init(_ instant: Instant, utc: UTCTime) {
    self.instant = instant
    self.utc = utc
  }

  /// The same two clocks at an instant that is not later than this one.
  public func earlier(at instant: Instant) -> Moment {
    let nanoseconds = self.instant.nanoseconds - min(self.instant.nanoseconds, instant.nanoseconds)
    return Moment(
      instant, utc: UTCTime(nanosecondsSince1970: utc.nanosecondsSince1970 - Int64(clamping: nanoseconds)))
  }
}
