// SPDX-License-Identifier: Apache-2.0

/// The measurements that clients need of the computer's own sensors. A sensor without a demand is not read.
package struct SensorDemand: Hashable, Sendable {
  /// The smallest turn that is reported, degrees, 0 for every one; nil without a demand for a heading.
  var headingFilterDegrees: Double?
  /// Whether the accelerometer has to notice movement.
  package var movement = false
  /// Whether beacons are received.
  var beacons = false
  /// Whether suspends of the computer matter, as a receiver is open.
  var suspends = false
}
