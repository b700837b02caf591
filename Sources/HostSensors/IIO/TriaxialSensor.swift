/// A sensor of three axes as the kernel's industrial I/O shows it in /sys/bus/iio: what its numbers mean. Made of its
/// attributes, so that it needs no file (Documentation/ABI/testing/sysfs-bus-iio).
public struct TriaxialSensor: Hashable, Sendable {
  /// What is measured.
  public enum Quantity: String, Sendable, CaseIterable {
    /// `in_magn`: gauss by the ABI, microtesla here.
    case magneticField = "magn"
    /// `in_accel`: m/s².
    case acceleration = "accel"

    /// From the ABI's unit to ours.
    fileprivate var factor: Double { self == .magneticField ? 100 : 1 }
  }

  public let quantity: Quantity
  /// The driver's name of the part, such as `hmc5883`; empty where it gives none.
  public let name: String
  /// The raw attributes, x, y and z.
  public let rawAttributes: [String]
  /// The sensor's own period, seconds; nil where it does not tell.
  public let periodSeconds: Double?
  private let scale: SIMD3<Double>
  private let offset: SIMD3<Double>
  private let mount: MountMatrix

  /// - Parameter attribute: the content of a file in the device's folder; nil when there is none.
  /// - Returns: nil when the device does not measure this in three axes, or does not say in which unit.
  public init?(_ quantity: Quantity, attribute: (String) -> String?) {
    let prefix = "in_\(quantity.rawValue)"
    func number(_ name: String) -> Double? {
      attribute(name).flatMap { Double($0.filter { !$0.isWhitespace }) }.flatMap { $0.isFinite ? $0 : nil }
    }
    /// One for each axis, or one for all.
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
    self.scale = scale * quantity.factor * Self.mending(name, scale.x)
    offset = numbers("offset") ?? SIMD3()
    // The newer name tells the kind, the older one is for all of the device, the oldest is a driver's own.
    let matrices = ["\(prefix)_mount_matrix", "in_mount_matrix", "mount_matrix"]
    mount = matrices.lazy.compactMap(attribute).first.flatMap(MountMatrix.init(parsing:)) ?? .identity
    let frequency = number("\(prefix)_sampling_frequency") ?? number("sampling_frequency")
    periodSeconds = frequency.flatMap { $0 > 0 ? 1 / $0 : nil }
  }

  /// The kernel's hmc5843 driver tells a hundredth of the scale (seen with Linux 6.1: 0.000009766 for the 0.000976 gauss of
  /// the data sheet); no range of these parts has a step below 0.0004 gauss.
  private static func mending(_ name: String, _ scale: Double) -> Double {
    ["hmc5843", "hmc5883", "hmc5883l", "hmc5983"].contains(name) && abs(scale) < 1e-4 ? 100 : 1
  }

  /// What a step of the raw numbers means, as drivers count thresholds: microtesla or m/s².
  public var step: Double { abs(scale.x) }

  /// What raw numbers mean: microtesla or m/s², along the device's axes.
  public func value(raw: SIMD3<Double>) -> SIMD3<Double> { mount.applied(to: (raw + offset) * scale) }
}
