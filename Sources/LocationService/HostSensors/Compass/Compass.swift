// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// A heading of the compass.
package struct CompassReading: Hashable, Sendable {
  /// Degrees, 0 ≤ heading < 360, of the device's top from magnetic north.
  package var magneticDegrees: Double
  /// One standard deviation; negative if the heading is not valid.
  package var accuracyDegrees: Double
  /// The measured field, including the device's own, along the device's axes.
  package var fieldMicrotesla: SIMD3<Double>

  package init(magneticDegrees: Double, accuracyDegrees: Double, fieldMicrotesla: SIMD3<Double>) {
    self.magneticDegrees = magneticDegrees
    self.accuracyDegrees = accuracyDegrees
    self.fieldMicrotesla = fieldMicrotesla
  }
}

/// A compass from a magnetometer and, if there is one, an accelerometer. Its inputs are measurements and the time; it
/// returns headings, and learns the device's own field. It does not use sensors or a clock.
package struct Compass: Sendable {
  package enum Event: Hashable, Sendable {
    /// The device must be turned around, because its own field is unknown or has changed.
    case calibrationWanted
    case calibrated
    /// The calibration must be stored for the next run.
    case keep(FieldCalibration)
  }

  /// The time constant of the smoothing, seconds, like a compass needle.
  static let smoothingSeconds = 0.25
  /// The time without a valid calibration after which one is requested.
  static let uncertaintyTimeout = Milliseconds(3000)
  /// The difference from the stored calibration above which a new one is stored.
  static let significantMicrotesla = 1.0
  /// The shortest time between two stores, to limit wear of flash memory.
  static let keepInterval = Milliseconds(60_000)
  /// The strengths of the earth's field (World Magnetic Model 2025).
  static let earthMicrotesla = 22.0...67
  /// The fraction of the calibrated strength by which a disturbed field differs.
  static let disturbance = 0.3
  /// The difference from gravity above which an acceleration does not show the vertical, m/s².
  static let motion = 2.0

  /// The device's own field; nil while unknown.
  package private(set) var calibration: FieldCalibration?
  private var search = CalibrationSearch()
  private var kept: FieldCalibration?
  private var keepAt = Instant.zero
  private var field: SIMD3<Double>?
  private var up: SIMD3<Double>?
  private var last: Instant?
  private var uncertainSince: Instant?
  private var isWanted = false
  private var events: [Event] = []

  /// - Parameter calibration: the calibration that an earlier run stored.
  package init(calibration: FieldCalibration? = nil) {
    self.calibration = calibration
    kept = calibration
  }

  /// Returns the oldest event; nil if there is none.
  package mutating func nextEvent() -> Event? { events.isEmpty ? nil : events.removeFirst() }

  /// Handles a measurement.
  ///
  /// - Parameters:
  ///   - measured: the magnetic field along the device's axes, microtesla.
  ///   - acceleration: at the same time, m/s²; for a stationary device it points up. nil if there is no accelerometer,
  ///     for a level device.
  /// - Returns: nil if the field is vertical and does not define a direction.
  package mutating func receive(
    field measured: SIMD3<Double>, acceleration: SIMD3<Double>?, at now: Instant
  ) -> CompassReading? {
    learn(measured, at: now)
    let weight = last.map { share(seconds: now.seconds(since: $0)) } ?? 1
    last = now
    field = mixed(field, measured, weight)
    if let acceleration, abs(acceleration.length - 9.81) < Self.motion { up = mixed(up, acceleration, weight) }
    let earth = (field ?? measured) - (calibration?.offsetMicrotesla ?? SIMD3())
    guard let direction = Attitude.direction(field: earth, up: up ?? SIMD3(0, 0, 1)) else { return nil }
    let accuracy = accuracy(earth, direction.horizontalMicrotesla)
    watch(isCertain: calibration != nil && accuracy >= 0, at: now)
    return CompassReading(
      magneticDegrees: direction.magneticDegrees, accuracyDegrees: accuracy, fieldMicrotesla: measured)
  }

  // MARK: Smoothing

  /// Returns the weight of a measurement, from the time since the previous one.
  private func share(seconds: Double) -> Double { seconds / (seconds + Self.smoothingSeconds) }

  private func mixed(_ old: SIMD3<Double>?, _ new: SIMD3<Double>, _ weight: Double) -> SIMD3<Double> {
    guard let old else { return new }
    return old + (new - old) * weight
  }

  // MARK: Accuracy

  private func accuracy(_ earth: SIMD3<Double>, _ horizontal: Double) -> Double {
    guard let calibration else {
      // Up to half of a field of the earth's strength may be the device's own.
      return Self.earthMicrotesla.contains(earth.length) ? 45 : -1
    }
    if calibration.isSpatial,
      abs(earth.length - calibration.strengthMicrotesla) > Self.disturbance * calibration.strengthMicrotesla
    {
      return -1
    }
    // 2° is the best accuracy of a level compass of this kind. A device without an accelerometer may be tilted by a few
    // degrees, each of which changes the heading by about two.
    let error = max(2, Attitude.degrees(error: calibration.residualMicrotesla, horizontal: horizontal))
    return up == nil ? (error * error + 10 * 10).squareRoot() : error
  }

  // MARK: Calibration

  private mutating func learn(_ measured: SIMD3<Double>, at now: Instant) {
    guard let found = search.receive(measured, prior: calibration?.offsetMicrotesla ?? SIMD3()) else { return }
    // A calibration about one axis does not replace a valid calibration about all axes.
    if let calibration, calibration.isSpatial, !found.isSpatial, !isWanted { return }
    calibration = found
    uncertainSince = nil
    if isWanted {
      isWanted = false
      events.append(.calibrated)
    }
    let isSignificant =
      kept.map {
        ($0.offsetMicrotesla - found.offsetMicrotesla).length > Self.significantMicrotesla
          || !$0.isSpatial && found.isSpatial
      }
      ?? true
    if isSignificant, now >= keepAt {
      keepAt = now + Self.keepInterval
      kept = found
      events.append(.keep(found))
    }
  }

  private mutating func watch(isCertain: Bool, at now: Instant) {
    if isCertain {
      uncertainSince = nil
      if isWanted {
        isWanted = false
        events.append(.calibrated)
      }
    } else {
      let since = uncertainSince ?? now
      uncertainSince = since
      if !isWanted, now >= since + Self.uncertaintyTimeout {
        isWanted = true
        events.append(.calibrationWanted)
      }
    }
  }

  /// Requests the storage of the last calibration, regardless of the time since the last one.
  package mutating func finish() {
    guard let calibration, calibration != kept else { return }
    kept = calibration
    events.append(.keep(calibration))
  }
}
