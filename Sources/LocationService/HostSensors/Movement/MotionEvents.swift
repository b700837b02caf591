// SPDX-License-Identifier: Apache-2.0
import WireBytes

/// The files of an accelerometer's `events` folder, and the texts for them, that make its driver report movements
/// (Documentation/ABI/testing/sysfs-bus-iio). It is made from the names of the files and the sensor's scale, and does
/// not read files.
///
/// Two kinds of events report a movement and not gravity: the rate of change (`roc`) and the magnitude without its slow part
/// (`mag_adaptive`). Plain thresholds include gravity and are not used.
package struct MotionEvents: Hashable, Sendable {
  /// A file of the folder, and the text for it.
  package struct Write: Hashable, Sendable {
    package var file: String
    package var text: String
  }

  /// The thresholds, then the switches.
  package let writes: [Write]
  /// The writes that end the reports.
  package let undoing: [Write]

  /// - Parameters:
  ///   - files: the names in the `events` folder.
  ///   - scale: m/s² of one step of the sensor's raw numbers.
  /// - Returns: nil if the driver has no such event.
  package init?(files: [String], scale: Double) {
    guard scale.isFinite, scale != 0 else { return nil }
    let present = Set(files)
    for kind in ["roc", "mag_adaptive"] {
      for direction in ["rising", "either"] {
        let ending = "_\(kind)_\(direction)_en"
        let switches = files.filter { $0.hasPrefix("in_accel") && $0.hasSuffix(ending) }.sorted()
        guard !switches.isEmpty else { continue }
        let steps = max(1, Int(clamping: (MovementWatch.threshold / abs(scale)).rounded()))
        // Each axis may have its own threshold, or all share one.
        let own = switches.map { String($0.dropLast("_en".count)) + "_value" }
        let values = (own + ["in_accel_\(kind)_\(direction)_value"]).filter(present.contains)
        guard !values.isEmpty else { continue }
        writes = values.map { Write(file: $0, text: String(steps)) } + switches.map { Write(file: $0, text: "1") }
        undoing = switches.map { Write(file: $0, text: "0") }
        return
      }
    }
    return nil
  }
}
