// SPDX-License-Identifier: Apache-2.0
import Foundation
import ReceiverStream

extension Date {
  /// The date of a time, to the microsecond, the resolution of a current date.
  init(_ time: UTCTime) { self.init(timeIntervalSince1970: Double(time.nanosecondsSince1970) / 1e9) }
}

extension UTCTime {
  /// The time of a date. A date beyond the range, such as `distantFuture`, becomes the end of the range.
  init(_ date: Date) {
    let nanoseconds = date.timeIntervalSince1970 * 1e9
    self.init(nanosecondsSince1970: Int64(exactly: nanoseconds.rounded()) ?? (nanoseconds < 0 ? .min : .max))
  }
}
