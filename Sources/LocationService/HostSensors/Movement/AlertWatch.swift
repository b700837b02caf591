// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// Detects movement with an accelerometer that reports changes itself: between two such events there is no measurement.
/// After an event the sensor is read every second for ten seconds, and `MovementWatch` decides, because a slammed door
/// is not movement.
package struct AlertWatch: Sendable {
  static let period = Milliseconds(1000)
  static let alert = Milliseconds(10_000)

  private var watch = MovementWatch()
  /// The time of the next measurement; nil until there is an event.
  package private(set) var deadline: Instant?
  private var alertUntil: Instant?

  /// Starts with a stationary device, whose attitude is given by the first measurement.
  package init(at now: Instant) { deadline = now }

  /// Handles an event of the sensor.
  package mutating func changed(at now: Instant) {
    alertUntil = now + Self.alert
    // Further events do not delay or add measurements.
    deadline = Instant.earlier(deadline, now)
  }

  /// Handles the measurement that was due, m/s². Returns whether the device is moved.
  package mutating func receive(_ acceleration: SIMD3<Double>, at now: Instant) -> Bool {
    let isMovement = watch.receive(acceleration)
    if let until = alertUntil, now < until {
      deadline = now + Self.period
    } else {
      (alertUntil, deadline) = (nil, nil)
    }
    return isMovement
  }
}
