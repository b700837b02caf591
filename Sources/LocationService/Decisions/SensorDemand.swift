// SPDX-License-Identifier: Apache-2.0

/// The measurements that clients need of the computer's own sensors. A sensor without a demand is not read.
package struct SensorDemand: Hashable, Sendable {
  /// The smallest turn that is reported, degrees, 0 for every one; nil if no heading is needed.
  var headingFilterDegrees: Double?
  /// Whether the accelerometer must detect movement.
  package var movement = false
  /// Whether beacons are received.
  var beacons = false
  /// Whether suspends of the computer are observed, because a receiver is open.
  var suspends = false
}
