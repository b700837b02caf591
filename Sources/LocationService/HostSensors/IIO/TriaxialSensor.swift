// SPDX-License-Identifier: Apache-2.0

/// A sensor of three axes of the kernel's industrial I/O, /sys/bus/iio: the scale, offset and axes of its numbers. It is made
/// from the sensor's attributes and does not read files (Documentation/ABI/testing/sysfs-bus-iio).
package struct TriaxialSensor: Hashable, Sendable {
  /// The measured quantity.
  package enum Quantity: String, Sendable, CaseIterable {
    /// `in_magn`: gauss in the ABI, microtesla here.
    case magneticField = "magn"
    /// `in_accel`: m/s².
    case acceleration = "accel"

    /// The factor from the ABI's unit to the unit here.
    fileprivate var factor: Double { self == .magneticField ? 100 : 1 }
  }

  package let quantity: Quantity
  /// The driver's name of the part, such as `hmc5883`; empty if it has none.
  package let name: String
  /// The raw attributes, x, y and z.
  package let rawAttributes: [String]
  /// The sensor's own period, seconds; nil if unknown.
  package let periodSeconds: Double?
  private let scale: SIMD3<Double>
  private let offset: SIMD3<Double>
  private let mount: MountMatrix

  /// - Parameter attribute: returns the content of a file in the device's folder; nil if there is none.
  /// - Returns: nil if the device does not measure this in three axes, or has no scale for it.
  package init?(_ quantity: Quantity, attribute: (String) -> String?) {
    let prefix = "in_\(quantity.rawValue)"
    func number(_ name: String) -> Double? {
      attribute(name).flatMap { Double($0.filter { !$0.isWhitespace }) }.flatMap { $0.isFinite ? $0 : nil }
    }
    /// Returns a number for each axis, or the shared one.
    func numbers(_ name: String) -> SIMD3<Double>? {
      let shared = number("\(prefix)_\(name)")
      guard let x = number("\(prefix)_x_\(name)") ?? shared, let y = number("\(prefix)_y_\(name)") ?? shared,
        let z = number("\(prefix)_z_\(name)") ?? shared
      else { return nil }
      return SIMD3(x, y, z)
    }
    rawAttributes = ["x", "y", "z"].map { "\(prefix)_\($0)_raw" }
    guard attribute(rawAttributes[0]) != nil, let scale = numbers("scale"), scale.x * scale.y * scale.z != 0 else {
      return nil
    }
    self.quantity = quantity
    name = (attribute("name") ?? "").split(whereSeparator: \.isWhitespace).joined(separator: " ")
    self.scale = scale * quantity.factor * Self.scaleCorrection(name, scale.x)
    offset = numbers("offset") ?? SIMD3()
    // The newest name contains the quantity, an older one applies to the whole device, and the oldest is
    // driver-specific.
    let matrices = ["\(prefix)_mount_matrix", "in_mount_matrix", "mount_matrix"]
    mount = matrices.lazy.compactMap(attribute).first.flatMap(MountMatrix.init(parsing:)) ?? .identity
    let frequency = number("\(prefix)_sampling_frequency") ?? number("sampling_frequency")
    periodSeconds = frequency.flatMap { $0 > 0 ? 1 / $0 : nil }
  }

  /// The kernel's hmc5843 driver reports a hundredth of the scale (measured with Linux 6.1: 0.000009766 for the 0.000976 gauss
  /// of the data sheet); no range of these parts has a step below 0.0004 gauss.
  private static func scaleCorrection(_ name: String, _ scale: Double) -> Double {
    ["hmc5843", "hmc5883", "hmc5883l", "hmc5983"].contains(name) && abs(scale) < 1e-4 ? 100 : 1
  }

  /// The size of a step of the raw numbers, which drivers use as the unit of thresholds: microtesla or m/s².
  package var step: Double { abs(scale.x) }

  /// Returns the value of raw numbers, microtesla or m/s², along the device's axes.
  package func value(raw: SIMD3<Double>) -> SIMD3<Double> { mount.applied(to: (raw + offset) * scale) }
}
