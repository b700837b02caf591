// SPDX-License-Identifier: Apache-2.0
import ReceiverStream
import UBX

/// A leap second that a receiver has announced.
package struct LeapSecondNotice: Equatable, Sendable {
  /// The midnight, UTC, before which a second is inserted or deleted.
  package var midnight: UTCTime
  package var leap: TimeSample.Leap

  package init(midnight: UTCTime, leap: TimeSample.Leap) {
    self.midnight = midnight
    self.leap = leap
  }

  /// The announcement in NAV-TIMELS; nil if there is no future one. Interface descriptions, UBX-NAV-TIMELS: `lsChange`
  /// and `timeToLsEvent` belong to a past event if none is scheduled.
  ///
  /// - Parameter utc: the time of the message's epoch.
  package init?(_ message: borrowing NavTIMELS, utc: UTCTime) {
    guard message.valid_validTimeToLsEvent, message.timeToLsEvent > 0, message.lsChange != 0 else { return nil }
    let event = utc.nanosecondsSince1970 &+ Int64(message.timeToLsEvent) * second
    // The event is in GPS time; the midnight is near.
    let day = (event + UTCTime.nanosecondsPerDay / 2) / UTCTime.nanosecondsPerDay
    guard abs(event - day * UTCTime.nanosecondsPerDay) < 60 * second else { return nil }
    midnight = UTCTime(nanosecondsSince1970: day * UTCTime.nanosecondsPerDay)
    leap = message.lsChange > 0 ? .insertion : .deletion
  }

  /// Returns the announcement that applies at a time: it applies to the day that ends with the leap second.
  func leap(at time: UTCTime) -> TimeSample.Leap {
    let distance = midnight.nanosecondsSince1970 &- time.nanosecondsSince1970
    return distance > 0 && distance <= UTCTime.nanosecondsPerDay ? leap : .none
  }
}

extension UTCTime {
  /// Whether a leap second may be near: from a second before the end of any month until two seconds after (ITU-R TF.460-6,
  /// annex 1, section 2). POSIX has no number for it, and a receiver need not announce it.
  var isAtLeapSecond: Bool {
    let (before, after) = (second, 2 * second)
    let shifted = nanosecondsSince1970 &+ before
    let ofDay = shifted % UTCTime.nanosecondsPerDay
    guard ofDay >= 0, ofDay <= before + after else { return false }
    return UTCTime(nanosecondsSince1970: shifted).day.components.day == 1
  }
}
