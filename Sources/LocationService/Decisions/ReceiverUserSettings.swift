// SPDX-License-Identifier: Apache-2.0
import Receiver
import Synchronization

/// The settings of a receiver that a user has changed through the service. They have precedence over the settings of
/// power control; nil leaves a setting to power control.
package struct ReceiverUserSettings: Equatable, Sendable {
  /// The rate of the line, in baud. It remains in effect after the end of the service.
  package var bitsPerSecond: UInt32?
  /// The time between two epochs at full rate, in milliseconds, at most 1000. Power control sets longer ones.
  package var cycleMilliseconds: UInt16?

  package init() {}

  /// Returns a configuration with these settings instead of its own.
  package func applied(to desired: DesiredConfiguration) -> DesiredConfiguration {
    var desired = desired
    if let bitsPerSecond {
      desired.portRate = bitsPerSecond
      desired.keepsPortRate = true
      desired.leastPortRate = nil
    }
    // Power control saves energy with more than a second.
    if let cycleMilliseconds, desired.measurementPeriodMilliseconds ?? 0 <= 1000 {
      desired.measurementPeriodMilliseconds = cycleMilliseconds
    }
    return desired
  }
}

/// The settings that apply when a session of a receiver starts.
final class ReceiverUserSettingsHandle: Sendable {
  private let settings = Mutex(ReceiverUserSettings())

  var value: ReceiverUserSettings {
    get { settings.withLock { $0 } }
    set { settings.withLock { $0 = newValue } }
  }
}
