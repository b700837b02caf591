// SPDX-License-Identifier: Apache-2.0

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
