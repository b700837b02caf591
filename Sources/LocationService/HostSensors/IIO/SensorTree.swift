// SPDX-License-Identifier: Apache-2.0
import LinuxIO

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
    devices().contains { FileLookup.exists("\($0)/in_\(quantity.rawValue)_x_raw") }
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
