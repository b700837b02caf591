// SPDX-License-Identifier: Apache-2.0

import Glibc
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
  /// A field whose strength differs by more than this fraction of the calibrated strength is disturbed.
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

/// The direction in which a device points, from the magnetic field and the vertical, both along its axes.
enum Attitude {
  /// The fraction of the vertical above which the top points too steeply up or down to define a direction: 60°. The
  /// direction of the back is then used, which is the same for a device that was raised to the eyes.
  private static let steep = 0.866

  struct Direction {
    /// 0 ≤ heading < 360, from magnetic north.
    var magneticDegrees: Double
    /// The horizontal part of the field.
    var horizontalMicrotesla: Double
  }

  /// - Parameters:
  ///   - field: the earth's field, without the device's own.
  ///   - up: the vertical, of any length but 0.
  /// - Returns: nil if the field is vertical, as at the magnetic poles.
  static func direction(field: SIMD3<Double>, up: SIMD3<Double>) -> Direction? {
    let up = up / up.length
    let east = field.cross(up)
    let horizontal = east.length
    // 1° from the vertical. A fraction also fits drivers with another unit.
    guard horizontal > 0.02 * field.length else { return nil }
    let north = up.cross(east)
    let pointer = abs(up.y) > steep ? SIMD3(0, 0, up.y > 0 ? -1.0 : 1.0) : SIMD3(0, 1, 0)
    let degrees = atan2(pointer.dot(east), pointer.dot(north)) * 180 / .pi
    return Direction(magneticDegrees: degrees < 0 ? degrees + 360 : degrees, horizontalMicrotesla: horizontal)
  }

  /// Returns the error of the heading for an error across the field, degrees.
  static func degrees(error: Double, horizontal: Double) -> Double { atan2(error, horizontal) * 180 / .pi }
}

/// The device's own magnetic field (hard iron), which turns with the device and is subtracted to get the earth's field.
package struct FieldCalibration: Hashable, Sendable {
  /// Along the device's axes, microtesla.
  package var offsetMicrotesla: SIMD3<Double>
  /// The strength of the remaining field: of the earth's field, or of its horizontal part if the device was turned
  /// about only one axis.
  package var strengthMicrotesla: Double
  /// The variation of the strength while the device is turned, one standard deviation.
  package var residualMicrotesla: Double
  /// Whether the device was turned about more than one axis.
  package var isSpatial: Bool

  package init(offsetMicrotesla: SIMD3<Double>, strengthMicrotesla: Double, residualMicrotesla: Double, isSpatial: Bool)
  {
    self.offsetMicrotesla = offsetMicrotesla
    self.strengthMicrotesla = strengthMicrotesla
    self.residualMicrotesla = residualMicrotesla
    self.isSpatial = isSpatial
  }
}

/// The search for the device's own field while the device is used. The strength of the earth's field does not depend on the
/// device's attitude, so measurements lie on a sphere around the device's own field (or on a circle, if it turns about
/// only one axis, as in a vehicle).
struct CalibrationSearch: Sendable {
  /// The distance from a kept measurement below which another one adds no information.
  static let spacingMicrotesla = 4.0
  /// The number of kept measurements, enough for a sphere in steps of 25°. New ones replace the oldest, so that a change of
  /// the device is detected.
  static let capacity = 96
  /// The spread of measurements along an axis (one standard deviation) below which the axis is unknown.
  static let spreadMicrotesla = 4.0
  /// The number of eighths of the circle that need a measurement.
  static let sectors = 6
  /// Plausible strengths: the horizontal part is 8 µT and more outside the polar regions, the whole is 67 µT at most.
  static let strengths = 8.0...80
  /// The largest deviation from the sphere, as a fraction of its radius.
  static let roundness = 0.1

  private var points: [SIMD3<Double>] = []
  private var oldest = 0

  /// Handles a measurement. Returns a new calibration if it makes one possible.
  ///
  /// - Parameter prior: the current offset, which is kept along an axis about which the device was not turned.
  mutating func receive(_ field: SIMD3<Double>, prior: SIMD3<Double>) -> FieldCalibration? {
    guard !points.contains(where: { ($0 - field).length < Self.spacingMicrotesla }) else { return nil }
    if points.count < Self.capacity {
      points.append(field)
    } else {
      points[oldest] = field
      oldest = (oldest + 1) % Self.capacity
    }
    return points.count < 8 ? nil : fit(prior)
  }

  /// Least squares for the centre c of a sphere: |q|² = 2 q·c + k for each q, a measurement relative to the mean of
  /// all. Because the sum of all q is 0, k cancels, and along each main axis of their scatter S the centre is ½ (e · Σ
  /// q|q|²) / λ.
  private func fit(_ prior: SIMD3<Double>) -> FieldCalibration? {
    let count = Double(points.count)
    let mean = points.reduce(SIMD3(), +) / count
    var scatter = SymmetricMatrix()
    var moment = SIMD3<Double>()
    for point in points {
      let q = point - mean
      scatter.add(q)
      moment += q * q.dot(q)
    }
    let axes = scatter.axes()
    let known = axes.filter { ($0.value / count).squareRoot() >= Self.spreadMicrotesla }
    guard known.count >= 2 else { return nil }
    var middle = SIMD3<Double>()
    for axis in axes {
      let isKnown = axis.value >= known[known.count - 1].value
      middle += axis.vector * (isKnown ? axis.vector.dot(moment) / axis.value / 2 : axis.vector.dot(prior - mean))
    }
    var sum = 0.0
    var squares = 0.0
    var seen: Set<Int> = []
    for point in points {
      let q = point - mean - middle
      let radius = known.map { $0.vector.dot(q) }.reduce(0) { $0 + $1 * $1 }.squareRoot()
      sum += radius
      squares += radius * radius
      seen.insert(Self.sector(known[0].vector.dot(q), known[1].vector.dot(q)))
    }
    let strength = sum / count
    let residual = max(0, squares / count - strength * strength).squareRoot()
    guard Self.strengths.contains(strength), residual <= Self.roundness * strength, seen.count >= Self.sectors else {
      return nil
    }
    return FieldCalibration(
      offsetMicrotesla: mean + middle, strengthMicrotesla: strength, residualMicrotesla: residual,
      isSpatial: known.count == 3)
  }

  /// Returns the eighth of the circle.
  private static func sector(_ x: Double, _ y: Double) -> Int {
    (x < 0 ? 1 : 0) + (y < 0 ? 2 : 0) + (abs(x) < abs(y) ? 4 : 0)
  }
}

/// A symmetric matrix of three rows: the scatter of points, and its main axes.
struct SymmetricMatrix {
  private var rows = [SIMD3<Double>](repeating: SIMD3(), count: 3)

  /// Adds q qᵀ.
  mutating func add(_ q: SIMD3<Double>) { for row in 0..<3 { rows[row] += q * q[row] } }

  /// Returns eigenvectors of length 1 with their values, the largest first, using Jacobi rotations, which converge in a
  /// few sweeps for three rows.
  func axes() -> [(vector: SIMD3<Double>, value: Double)] {
    var matrix = rows
    var vectors = [SIMD3(1.0, 0, 0), SIMD3(0, 1.0, 0), SIMD3(0, 0, 1.0)]
    for _ in 0..<12 {
      for (p, q) in [(0, 1), (0, 2), (1, 2)] where abs(matrix[p][q]) > 1e-300 {
        let theta = (matrix[q][q] - matrix[p][p]) / (2 * matrix[p][q])
        let tangent = (theta < 0 ? -1 : 1) / (abs(theta) + (theta * theta + 1).squareRoot())
        let cosine = 1 / (tangent * tangent + 1).squareRoot()
        let sine = tangent * cosine
        // Jᵀ M J: rows, then columns.
        let (rowP, rowQ) = (matrix[p], matrix[q])
        matrix[p] = rowP * cosine - rowQ * sine
        matrix[q] = rowP * sine + rowQ * cosine
        for row in 0..<3 {
          let (atP, atQ) = (matrix[row][p], matrix[row][q])
          matrix[row][p] = atP * cosine - atQ * sine
          matrix[row][q] = atP * sine + atQ * cosine
        }
        let (vectorP, vectorQ) = (vectors[p], vectors[q])
        vectors[p] = vectorP * cosine - vectorQ * sine
        vectors[q] = vectorP * sine + vectorQ * cosine
      }
    }
    return (0..<3).map { (vectors[$0], matrix[$0][$0]) }.sorted { $0.value > $1.value }
  }
}

/// The rate at which a compass is read: as high as its clients can use, and no higher than the sensor's.
package enum CompassRate {
  /// - Parameters:
  ///   - filterDegrees: the smallest change that a client needs; 0 or less for every change.
  ///   - sensorPeriodSeconds: the sensor's own period.
  package static func period(filterDegrees: Double, sensorPeriodSeconds: Double?) -> Milliseconds {
    // A hand turns a device by 5° in a tenth of a second; less detail needs fewer reads.
    let wanted = filterDegrees < 5 ? 0.1 : filterDegrees < 15 ? 0.2 : 0.5
    return Milliseconds(seconds: max(wanted, min(sensorPeriodSeconds ?? 0, 10)))
  }
}
