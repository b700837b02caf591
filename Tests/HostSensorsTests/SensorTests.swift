// SPDX-License-Identifier: Apache-2.0
import Glibc
import LocationService
import Testing

@Suite("Sensors of the kernel")
struct SensorTests {
  private let hmc5883 = [
    "name": "hmc5883\n", "in_magn_x_raw": "200\n", "in_magn_y_raw": "0\n", "in_magn_z_raw": "-400\n",
    "in_magn_scale": "0.000917432\n", "in_magn_sampling_frequency": "15\n",
  ]

  private func made(_ attributes: [String: String], _ quantity: TriaxialSensor.Quantity = .magneticField)
    -> TriaxialSensor?
  { TriaxialSensor(quantity) { attributes[$0] } }

  @Test("Gauss become microtesla; the period is the driver's")
  func magnetometer() throws {
    let sensor = try #require(made(hmc5883))
    let field = sensor.value(raw: SIMD3(200, 0, -400))
    #expect(abs(field.x - 18.34864) < 1e-9 && field.y == 0 && abs(field.z + 36.69728) < 1e-9)
    #expect(sensor.name == "hmc5883" && sensor.periodSeconds == 1.0 / 15)
    #expect(sensor.rawAttributes == ["in_magn_x_raw", "in_magn_y_raw", "in_magn_z_raw"])
  }

  @Test("The scale of a driver that reports a hundredth is corrected")
  func mended() throws {
    var attributes = hmc5883
    attributes["in_magn_scale"] = "0.000009766"
    #expect(abs(try #require(made(attributes)).value(raw: SIMD3(200, 0, -400)).x - 19.532) < 1e-9)
    attributes["name"] = "another"
    #expect(abs(try #require(made(attributes)).value(raw: SIMD3(200, 0, -400)).x - 0.19532) < 1e-9)
  }

  @Test("A scale and an offset for each axis precede those for all axes")
  func axes() throws {
    var attributes = hmc5883
    attributes["in_magn_x_scale"] = "0.01"
    attributes["in_magn_offset"] = "10"
    attributes["in_magn_z_offset"] = "400"
    let value = try #require(made(attributes)).value(raw: SIMD3(90, -10, -400))
    #expect(abs(value.x - 100) < 1e-9 && value.y == 0 && value.z == 0)
  }

  @Test("The mounting matrix turns the sensor's axes into the device's; an invalid one is ignored")
  func mounting() throws {
    var attributes = hmc5883
    attributes["in_magn_scale"] = "0.01"
    attributes["in_mount_matrix"] = "0, 1, 0; -1, 0, 0; 0, 0, 1"
    #expect(try #require(made(attributes)).value(raw: SIMD3(1, 2, 3)) == SIMD3(2, -1, 3))
    attributes["in_magn_mount_matrix"] = "1, 0, 0; 0, -1, 0; 0, 0, -1\n"
    #expect(try #require(made(attributes)).value(raw: SIMD3(1, 2, 3)) == SIMD3(1, -2, -3))
    for text in [
      "", "1, 0, 0; 0, 1, 0", "0, 0, 0; 0, 0, 0; 0, 0, 0", "1, 0, x; 0, 1, 0; 0, 0, 1", "9, 0, 0; 0, 9, 0; 0, 0, 9",
    ] {
      #expect(MountMatrix(parsing: text) == nil)
    }
  }

  @Test(
    "A device without a unit or without three axes is not a sensor",
    arguments: ["in_magn_scale", "in_magn_x_raw", "in_magn_y_raw", "in_magn_z_raw"])
  func incomplete(missing: String) {
    var attributes = hmc5883
    attributes[missing] = nil
    #expect(made(attributes) == nil)
    attributes = hmc5883
    attributes["in_magn_scale"] = "nan"
    #expect(made(attributes) == nil)
  }

  @Test("A tree of files: the first sensor of a kind, its measurements, its removal")
  func tree() throws {
    let root = try Folder()
    #expect(!SensorTree(root: root.path).has(.magneticField))
    #expect(SensorTree(root: root.path).first(.magneticField) == nil)
    let accelerometer = "bus/iio/devices/iio:device0"
    for (axis, value) in [("x", "0"), ("y", "0"), ("z", "1000")] {
      root.write("\(accelerometer)/in_accel_\(axis)_raw", value)
    }
    root.write("\(accelerometer)/in_accel_scale", "0.00981")
    for (name, content) in hmc5883 { root.write("bus/iio/devices/iio:device10/\(name)", content) }
    let tree = SensorTree(root: root.path)
    #expect(tree.has(.magneticField) && tree.has(.acceleration))
    let found = try #require(tree.first(.magneticField))
    #expect(found.path.hasSuffix("iio:device10"))
    let reader = try SensorReader(found)
    #expect(abs(try reader.read().z + 36.69728) < 1e-9)
    root.write("bus/iio/devices/iio:device10/in_magn_z_raw", "400\n")
    #expect(abs(try reader.read().z - 36.69728) < 1e-9)
    root.write("bus/iio/devices/iio:device10/in_magn_z_raw", "\n")
    #expect(throws: SensorReader.Failure.self) { _ = try reader.read() }
    #expect(abs(try SensorReader(#require(tree.first(.acceleration))).read().z - 9.81) < 1e-9)
  }

  @Test("A Bluetooth adapter counts unless it is switched off; a connection does not count")
  func bluetooth() throws {
    let root = try Folder()
    let tree = SensorTree(root: root.path)
    #expect(!tree.hasBluetoothAdapter)
    root.write("class/bluetooth/hci0:11/type", "")
    #expect(!tree.hasBluetoothAdapter)
    root.write("class/bluetooth/hci0/rfkill3/soft", "0\n")
    #expect(tree.hasBluetoothAdapter)
    root.write("class/bluetooth/hci0/rfkill3/soft", "1\n")
    #expect(!tree.hasBluetoothAdapter)
  }
}

/// A folder that is removed with the test.
final class Folder {
  struct Failure: Error {}
  let path: String

  init() throws {
    var name = Array("/tmp/sensors-XXXXXX\0".utf8CString)
    guard unsafe mkdtemp(&name) != nil else { throw Failure() }
    path = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit { remove(path) }

  func text(of name: String) -> String? {
    guard let file = unsafe fopen("\(path)/\(name)", "r") else { return nil }
    defer { unsafe fclose(file) }
    var bytes: [UInt8] = []
    while case let byte = unsafe fgetc(file), byte >= 0 { bytes.append(UInt8(byte)) }
    return String(decoding: bytes, as: UTF8.self)
  }

  func write(_ name: String, _ text: String) {
    var folder = path
    for part in name.split(separator: "/").dropLast() {
      folder += "/" + part
      unsafe mkdir(folder, 0o700)
    }
    guard let file = unsafe fopen("\(path)/\(name)", "w") else { return }
    unsafe fputs(text, file)
    unsafe fclose(file)
  }

  private func remove(_ path: String) {
    if let folder = unsafe opendir(path) {
      while let entry = unsafe readdir(folder) {
        let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
          unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
        }
        if name != ".", name != ".." { remove("\(path)/\(name)") }
      }
      unsafe closedir(folder)
    }
    unsafe Glibc.remove(path)
  }
}
