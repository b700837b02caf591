// SPDX-License-Identifier: Apache-2.0
import Positioning

/// The authorization that was last reported to a delegate. Several changes may wait for a run loop, and a delegate that
/// reads the manager's status sees the newest one at the first change.
struct ReportedAuthorization {
  struct Value: Equatable {
    var status: AuthorizationStatus
    var accuracy: AccuracyAuthorization
  }

  /// The value that the delegate has: the current one at that time, or the event's for the older method.
  var value: Value
  var isOfEvent = false
  /// The event being delivered, or the last delivered one.
  let event: Value

  init(value: Value, event: Value) {
    self.value = value
    self.event = event
  }
}
