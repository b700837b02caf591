import Foundation
import ReceiverStream

extension Date {
  /// To the microsecond, which is what a date of today can hold.
  init(_ time: UTCTime) { self.init(timeIntervalSince1970: Double(time.nanosecondsSince1970) / 1e9) }
}

extension UTCTime {
  /// Dates beyond the range, as `distantFuture`, are taken for its end.
  init(_ date: Date) {
    let nanoseconds = date.timeIntervalSince1970 * 1e9
    self.init(nanosecondsSince1970: Int64(exactly: nanoseconds.rounded()) ?? (nanoseconds < 0 ? .min : .max))
  }
}
