// SPDX-License-Identifier: Apache-2.0
import Positioning

/// The authorization that a delegate was told last. Several changes may wait for a run loop, and a delegate that reads the
/// manager's status has the newest one at the first of them.
struct ReportedAuthorization {
  struct Value: Equatable {
    var status: AuthorizationStatus
    var accuracy: AccuracyAuthorization
  }

  /// The value that the delegate has: the present one at that time, or that of the event for the older method.
  var value: Value
  var isOfEvent = false
  /// The event that is delivered, or was delivered last.
  let event: Value

  init(value: Value, event: Value) {
    self.value = value
    self.event = event
  }
}
