// SPDX-License-Identifier: Apache-2.0

/// Whether clients of gpsd are served, and the limits of their demands on the receiver: `on`, `off`, or `on, every 60
/// s, accuracy 100 m`.
package struct GPSDSetting: Equatable, Sendable {
  package var isOn: Bool
  /// The shortest time between two locations, 1 second to a day; nil if there is no limit.
  package var everySeconds: Double?
  /// The best accuracy, 1 m to 1000 km; nil if there is no limit.
  package var accuracyMetres: Double?

  /// Reads the setting; nil for another text.
  package init?(_ text: String) {
    let parts = text.split(separator: ",", omittingEmptySubsequences: false).map { $0.split(separator: " ") }
    switch parts[0] {
    case ["on"]: isOn = true
    case ["off"] where parts.count == 1: isOn = false
    default: return nil
    }
    for part in parts.dropFirst() {
      let value = part.dropFirst().joined()
      switch part.first {
      case "every" where everySeconds == nil:
        everySeconds =
          Self.number(value, unit: "s", in: 1...86_400) ?? Self.number(value, unit: "min", in: 1...1440).map { $0 * 60 }
        if everySeconds == nil { return nil }
      case "accuracy" where accuracyMetres == nil:
        accuracyMetres = Self.number(value, unit: "m", in: 1...1_000_000)
        if accuracyMetres == nil { return nil }
      default: return nil
      }
    }
  }

  /// Whether it limits the demands of clients.
  package var hasLimit: Bool { everySeconds != nil || accuracyMetres != nil }

  private static func number(_ text: String, unit: String, in range: ClosedRange<Double>) -> Double? {
    guard text.hasSuffix(unit), let number = Double(text.dropLast(unit.count)), range.contains(number) else {
      return nil
    }
    return number
  }
}
