// SPDX-License-Identifier: Apache-2.0

/// The signals of a model: its items of CFG-SIGNAL with their defaults, and the sets of signals that it refuses.
///
/// The lists, their defaults and the limits come from recorded receivers: EVK-M101 (SPG 5.10), ZED-F9P (HPG 1.51),
/// ZED-X20P (HPG 2.10), and NEO-F10T (TIM 3.01) for F10. M9 is by its interface description.
struct SignalItems: Sendable {
  /// What a model cannot combine.
  enum Limit: Sendable {
    case none
    /// At most this number of GPS, Galileo, BeiDou and GLONASS.
    case systems(Int)
    /// At least two signals of each enabled system; BeiDou may have one.
    case twoSignalsOfEach
    /// GLONASS, or signals of a second band.
    case glonassOnOneBand
  }

  /// The items that are on by default, and those that are off.
  var on: [UInt32] = []
  var off: [UInt32] = []
  /// The value of CFG-SIGNAL-PLAN, for a model that has it.
  var plan: UInt64?
  var limit = Limit.none

  /// The item of the plan that a receiver with signal plans uses.
  private static let planKey: UInt32 = 0x2031_003A

  /// The model's items with their defaults.
  var defaults: [UInt32: UInt64] {
    var defaults: [UInt32: UInt64] = [:]
    for key in on { defaults[key] = 1 }
    for key in off { defaults[key] = 0 }
    if let plan { defaults[Self.planKey] = plan }
    return defaults
  }

  /// Whether a key is of a group of signals, whose items are listed here.
  static func hasKey(_ key: UInt32) -> Bool { 0x31...0x32 ~= key >> 16 & 0xFF }

  /// Whether the model can use these items together.
  func accepts(_ value: (UInt32) -> UInt64) -> Bool {
    func isOn(_ key: UInt32) -> Bool { value(key) != 0 }
    let systems = Self.systems.filter { isOn($0.enable) }
    switch limit {
    case .none: return true
    case .systems(let most): return systems.count { $0.isMajor } <= most
    case .twoSignalsOfEach:
      return systems.allSatisfy { $0.enable == Key.beiDou || $0.signals.filter { isOn($0) }.count >= 2 }
    case .glonassOnOneBand: return !isOn(Key.glonass) || !systems.contains { $0.second.contains { isOn($0) } }
    }
  }

  private struct System {
    var enable: UInt32
    var signals: [UInt32]
    /// The signals of the band around 1.2 GHz.
    var second: [UInt32]
    var isMajor = true
  }

  private static let systems = [
    System(enable: Key.gps, signals: [0x1031_0001, 0x1031_0003, 0x1031_0004], second: [0x1031_0003, 0x1031_0004]),
    System(
      enable: Key.galileo, signals: [0x1031_0007, 0x1031_0009, 0x1031_000A, 0x1031_000B],
      second: [0x1031_0009, 0x1031_000A, 0x1031_000B]),
    System(
      enable: Key.beiDou, signals: [0x1031_000D, 0x1031_000E, 0x1031_000F, 0x1031_0010, 0x1031_0028],
      second: [0x1031_000E, 0x1031_0010, 0x1031_0028]),
    System(
      enable: Key.qzss, signals: [0x1031_0012, 0x1031_0015, 0x1031_0017], second: [0x1031_0015, 0x1031_0017],
      isMajor: false),
    System(enable: Key.glonass, signals: [0x1031_0018, 0x1031_001A], second: []),
  ]

  // MARK: - Models

  private static func keys(_ items: [UInt32]) -> [UInt32] { items.map { 0x1031_0000 | $0 } }
  /// CFG-SIGNAL items that the interface descriptions do not name.
  private static func unnamed(_ items: [UInt32]) -> [UInt32] { items.map { 0x1032_0000 | $0 } }

  static let m9 = SignalItems(
    on: keys([0x01, 0x05, 0x07, 0x0D, 0x12, 0x18, 0x1F, 0x20, 0x21, 0x22, 0x24, 0x25]), off: keys([0x14]))

  static let m10 = SignalItems(
    on: keys([0x01, 0x05, 0x07, 0x0F, 0x12, 0x14, 0x18, 0x1F, 0x20, 0x21, 0x24]), off: keys([0x0D, 0x22, 0x25]),
    limit: .systems(3))

  static let f9p = SignalItems(
    on: keys([
      0x01, 0x03, 0x05, 0x07, 0x0A, 0x0D, 0x0E, 0x12, 0x15, 0x18, 0x1A, 0x1F, 0x20, 0x21, 0x22, 0x24, 0x25, 0x27,
    ]), off: keys([0x14]), limit: .twoSignalsOfEach)

  static let f10 = SignalItems(
    on: keys([0x01, 0x04, 0x07, 0x09, 0x0F, 0x12, 0x17, 0x1F, 0x21, 0x22, 0x24, 0x28]) + unnamed([0x01]),
    off: keys([0x05, 0x0D, 0x18, 0x1D, 0x20, 0x25, 0x26]) + unnamed([0x02, 0x03, 0x04]), limit: .glonassOnOneBand)

  static let x20 = SignalItems(
    on: keys([
      0x01, 0x03, 0x04, 0x05, 0x07, 0x09, 0x0B, 0x0D, 0x0F, 0x10, 0x12, 0x14, 0x15, 0x17, 0x18, 0x1A, 0x1D, 0x1F, 0x20,
      0x21, 0x22, 0x24, 0x25, 0x26, 0x28, 0x2F, 0x39,
    ]), off: keys([0x0A, 0x0E, 0x2A]) + unnamed([0x01, 0x03, 0x04]), plan: 2)
}
