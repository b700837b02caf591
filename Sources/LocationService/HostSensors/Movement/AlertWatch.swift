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

/// Detects with an accelerometer that a stationary device is moved. It expects a measurement every `period`, and does
/// not use a sensor or a clock.
///
/// A stationary device measures gravity in a constant direction. A moving vehicle shakes it by a few tenths of m/s²,
/// and a hand that picks it up turns it. Both cause a difference from the mean of earlier measurements. One difference
/// may be a slammed door; two of three are a movement.
package struct MovementWatch: Sendable {
  /// The period of measurements: long enough for an idle host; a movement is detected within three of them.
  package static let period = Milliseconds(2000)
  /// The threshold of the difference, m/s²: ten times the noise of a phone's sensor, a tilt of 2°.
  static let threshold = 0.35
  /// The weight of a new measurement in the mean, because sensors drift with their temperature.
  static let drift = 0.1

  private var mean: SIMD3<Double>?
  /// Whether the last three differed, the newest first.
  private var differed = (false, false)

  package init() {}

  /// Handles a measurement, m/s² in any axes. Returns whether the device is moved.
  package mutating func receive(_ acceleration: SIMD3<Double>) -> Bool {
    guard let mean else {
      self.mean = acceleration
      return false
    }
    let differs = (acceleration - mean).length > Self.threshold
    let isMovement = differs && (differed.0 || differed.1)
    differed = (differs, differed.0)
    self.mean = differs ? mean : mean + (acceleration - mean) * Self.drift
    if isMovement {
      // Later measurements are compared with the new attitude.
      self.mean = nil
      differed = (false, false)
    }
    return isMovement
  }
}
