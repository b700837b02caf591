// SPDX-License-Identifier: Apache-2.0

import LinuxIO
import SystemPackage

/// Reads a sensor. A read can take as long as a measurement of the sensor, up to a few hundred milliseconds at its
/// slowest rate.
package struct SensorReader: Sendable {
  /// The sensor does not answer: it was removed, or its bus has a fault.
  package struct Failure: Error, Hashable, Sendable, CustomStringConvertible {
    package var path: String
    /// nil if the content is not a number.
    package var errno: Errno?

    package var description: String {
      "\(path) cannot be read (\(errno?.description ?? "no number")): is the sensor's driver still bound, and may this user read it?"
    }
  }

  package let sensor: TriaxialSensor
  private let files: [AttributeFile]

  /// - Throws: ``Failure`` if one of its files cannot be opened.
  package init(_ found: SensorTree.Found) throws(Failure) {
    sensor = found.sensor
    var files: [AttributeFile] = []
    do throws(FileError) {
      for attribute in found.sensor.rawAttributes { files.append(try AttributeFile("\(found.path)/\(attribute)")) }
    } catch {
      throw Failure(path: error.path, errno: error.errno)
    }
    self.files = files
  }

  /// Returns a measurement, microtesla or m/s², along the device's axes.
  package func read() throws(Failure) -> SIMD3<Double> {
    var raw = SIMD3<Double>()
    for (axis, file) in files.enumerated() { raw[axis] = try Self.number(file) }
    return sensor.value(raw: raw)
  }

  private static func number(_ file: AttributeFile) throws(Failure) -> Double {
    let text: String
    do throws(FileError) { text = try file.read() } catch { throw Failure(path: error.path, errno: error.errno) }
    let word = text.split(whereSeparator: \.isWhitespace).first
    guard let number = word.flatMap({ Double($0) }), number.isFinite else { throw Failure(path: file.path, errno: nil) }
    return number
  }
}

/// The sensors of this computer in /sys.
package struct SensorTree: Sendable {
  /// A sensor and its folder.
  package struct Found: Hashable, Sendable {
    package var sensor: TriaxialSensor
    package var path: String
  }

  private let root: String

  /// - Parameter root: the mount point of sysfs.
  package init(root: String = "/sys") { self.root = root }

  /// Returns the first sensor of a quantity, in the order of the kernel's numbers; nil if there is none. Reads only
  /// small files.
  package func first(_ quantity: TriaxialSensor.Quantity) -> Found? {
    for path in devices() {
      if let sensor = TriaxialSensor(quantity, attribute: { AttributeFile.read("\(path)/\($0)") }) {
        return Found(sensor: sensor, path: path)
      }
    }
    return nil
  }

  /// Whether there is a sensor of a quantity, determined from the names of its files, without a measurement.
  package func has(_ quantity: TriaxialSensor.Quantity) -> Bool {
    devices().contains { path in
      TriaxialSensor.rawAttributes(of: quantity).allSatisfy { FileLookup.exists("\(path)/\($0)") }
    }
  }

  /// Whether the kernel has a Bluetooth adapter that is not blocked (rfkill).
  package var hasBluetoothAdapter: Bool {
    let folder = "\(root)/class/bluetooth"
    return FileLookup.names(in: folder).contains { name in
      // `hci0:11` is a connection.
      guard name.hasPrefix("hci"), !name.contains(":") else { return false }
      let switches = FileLookup.names(in: "\(folder)/\(name)").filter { $0.hasPrefix("rfkill") }
      return !switches.contains { block in
        ["soft", "hard"].contains { AttributeFile.read("\(folder)/\(name)/\(block)/\($0)")?.hasPrefix("1") == true }
      }
    }
  }

  private func devices() -> [String] {
    let folder = "\(root)/bus/iio/devices"
    let numbers = FileLookup.names(in: folder).compactMap { name -> Int? in
      name.hasPrefix("iio:device") ? Int(name.dropFirst(10)) : nil
    }
    return numbers.sorted().map { "\(folder)/iio:device\($0)" }
  }
}

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
    rawAttributes = Self.rawAttributes(of: quantity)
    guard rawAttributes.allSatisfy({ attribute($0) != nil }), let scale = numbers("scale"),
      scale.x * scale.y * scale.z != 0
    else {
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

  static func rawAttributes(of quantity: Quantity) -> [String] {
    ["x", "y", "z"].map { "in_\(quantity.rawValue)_\($0)_raw" }
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

/// The rotation of a sensor in its device: three rows by which the sensor's vector is multiplied (mount-matrix.txt of
/// the kernel's device tree bindings). In the device's frame x points to the right, y to the top, z out of the front.
package struct MountMatrix: Hashable, Sendable {
  private let first, second, third: SIMD3<Double>

  /// The sensor's axes are the device's axes.
  package static let identity = MountMatrix(SIMD3(1, 0, 0), SIMD3(0, 1, 0), SIMD3(0, 0, 1))

  init(_ first: SIMD3<Double>, _ second: SIMD3<Double>, _ third: SIMD3<Double>) {
    self.first = first
    self.second = second
    self.third = third
  }

  /// Reads the text of `in_mount_matrix`: `a, b, c; d, e, f; g, h, i`.
  ///
  /// - Returns: nil for another count of numbers, or for a volume that is not about 1 (−1 for a mirrored sensor, as in
  ///   some drivers).
  package init?(parsing text: some StringProtocol) {
    let rows = text.split(separator: ";").map { row in
      row.split(separator: ",").map { Double(String($0.filter { !$0.isWhitespace })) }
    }
    guard rows.count == 3, rows.allSatisfy({ $0.count == 3 }) else { return nil }
    let vectors = rows.compactMap { row -> SIMD3<Double>? in
      guard let x = row[0], let y = row[1], let z = row[2] else { return nil }
      return SIMD3(x, y, z)
    }
    guard vectors.count == 3 else { return nil }
    self.init(vectors[0], vectors[1], vectors[2])
    let volume = abs(first.dot(second.cross(third)))
    guard volume > 0.8, volume < 1.25 else { return nil }
  }

  /// Returns the device's vector for a vector of the sensor.
  package func applied(to vector: SIMD3<Double>) -> SIMD3<Double> {
    SIMD3(first.dot(vector), second.dot(vector), third.dot(vector))
  }
}

extension SIMD3<Double> {
  func dot(_ other: Self) -> Double { (self * other).sum() }
  func cross(_ other: Self) -> Self {
    Self(y * other.z - z * other.y, z * other.x - x * other.z, x * other.y - y * other.x)
  }
  var length: Double { dot(self).squareRoot() }
}
