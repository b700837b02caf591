// SPDX-License-Identifier: Apache-2.0

/// The stored calibration of a compass: the device's own field, for the sensor with this name.
extension StateText {
  static let compassHeading = "sextant compass 1"

  static func text(of calibration: FieldCalibration, sensor name: String) -> String {
    let numbers = [
      calibration.offsetMicrotesla.x, calibration.offsetMicrotesla.y, calibration.offsetMicrotesla.z,
      calibration.strengthMicrotesla, calibration.residualMicrotesla,
    ]
    return compassHeading + "\n" + line(numbers.map(\.description) + [flag(calibration.isSpatial), escape(name)])
  }

  /// Returns nil for a calibration of another sensor, and for invalid numbers.
  static func calibration(in text: String, sensor name: String) -> FieldCalibration? {
    guard let fields = lines(of: text, heading: compassHeading)?.first, fields.count == 7, unescape(fields[6]) == name
    else {
      return nil
    }
    let numbers = fields[..<5].compactMap { Double($0) }
    guard numbers.count == 5, numbers.allSatisfy(\.isFinite), numbers[3] > 0, numbers[4] >= 0 else { return nil }
    return FieldCalibration(
      offsetMicrotesla: SIMD3(numbers[0], numbers[1], numbers[2]), strengthMicrotesla: numbers[3],
      residualMicrotesla: numbers[4], isSpatial: fields[5] == "yes")
  }
}
