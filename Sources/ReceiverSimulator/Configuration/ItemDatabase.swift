// SPDX-License-Identifier: Apache-2.0

import UBX

/// The configuration items of a model, with their defaults.
struct ItemDatabase: Sendable {
  /// The model's items, by key in ascending order.
  let keys: [UInt32]
  /// Defaults that are not 0.
  let defaults: [UInt32: UInt64]

  private let known: Set<UInt32>

  init(_ traits: ModelTraits) {
    var keys: [UInt32] = []
    let signals = traits.signals.defaults
    for item in ConfigurationItem.all where !SignalItems.hasKey(item.id) && Self.has(item.id, traits) {
      keys.append(item.id)
    }
    keys += signals.keys
    keys.sort()
    self.keys = keys
    known = Set(keys)
    var defaults = Self.commonDefaults
    Self.addPorts(traits, to: &defaults)
    Self.addPulse(traits, to: &defaults)
    defaults.merge(signals) { $1 }
    self.defaults = defaults.filter { keys.contains($0.key) && $0.value != 0 }
  }

  func contains(_ key: UInt32) -> Bool { known.contains(key) }

  /// The keys that a key of a request selects: the item itself, all items of its group (item 0xFFFF), or all items
  /// (group 0xFFF).
  func expand(_ key: UInt32) -> ArraySlice<UInt32> {
    guard key & 0xFFFF == 0xFFFF else {
      guard let index = keys.firstIndex(of: key) else { return [] }
      return keys[index...index]
    }
    let group = key >> 16 & 0xFFF
    return group == 0xFFF ? keys[...] : keys.filter { $0 >> 16 & 0xFFF == group & 0xFFF }[...]
  }

  // MARK: - Items of a model

  private static func has(_ key: UInt32, _ traits: ModelTraits) -> Bool {
    switch key >> 16 & 0xFF {
    case 0x65, 0x77, 0x78: traits.hasUSB
    case 0x53, 0x75, 0x76: traits.hasHighPrecision
    case 0x64, 0x79, 0x7A: traits.hasUSB || traits.hasHighPrecision
    case 0xD0: traits.hasPowerSave
    case 0x26: traits.batch != nil
    case 0xDE: traits.hasFlash
    case 0x24: traits.hasGeofence
    // Time mode, RTK, RTCM output and SPARTN.
    case 0x03, 0x14, 0x09, 0xA7: traits.hasHighPrecision
    // Sensor fusion, high rate navigation, L-band.
    case 0x06, 0x07, 0x08, 0xB1, 0xC8: false
    case 0x41: traits.protocolVersion < 5000
    case 0x91: hasOutput(key, traits)
    default: true
    }
  }

  private static func hasOutput(_ key: UInt32, _ traits: ModelTraits) -> Bool {
    let isEnabledByIt = { (message: OutputMessage) in message.key != 0 && (message.key...message.key + 4) ~= key }
    if let message = OutputMessage.all.first(where: isEnabledByIt) { return message.isAvailable(in: traits) }
    let silent = traits.hasHighPrecision ? silentOutputs + silentOutputsOfHighPrecision : silentOutputs
    return silent.contains { (0x2091_0000 | $0...0x2091_0000 | $0 + 4) ~= key }
  }

  /// CFG-MSGOUT of messages that all these receivers have and the simulator never sends: GBS, GRS, VLW, NAV-TIMEGLO,
  /// -TIMEBDS, -TIMEGAL, -SBAS, -GEOFENCE, TIM-TM2, TIM-TP, RXM-MEASX, RXM-SFRBX, RXM-RLM, MON-MSGPP, MON-TXBUF,
  /// MON-RXBUF, MON-IO, MON-HW3, MON-SPAN, NAV-SLAS.
  private static let silentOutputs: [UInt32] = [
    0xDD, 0xCE, 0xE7, 0x4C, 0x51, 0x56, 0x6A, 0xA1, 0x178, 0x17D, 0x204, 0x231, 0x25E, 0x196, 0x19B, 0x1A0, 0x1A5,
    0x354, 0x38B, 0x336,
  ]

  /// The same of high-precision receivers: NAV-HPPOSECEF, NAV-RELPOSNED, RXM-RTCM, and RTCM 4072.0.
  private static let silentOutputsOfHighPrecision: [UInt32] = [0x2E, 0x8D, 0x268, 0x2FE]

  // MARK: - Defaults

  private static let commonDefaults: [UInt32: UInt64] = [
    Key.measurement: 1000, Key.cycles: 1, Key.timeReference: 1,
    0x2011_0011: 3, 0x2011_00A1: 3, 0x2011_00A2: 32, 0x2011_00A3: 6, 0x2011_00A4: 5, 0x3011_00B1: 250,
    0x3011_00B2: 250, 0x3011_00B3: 100, 0x3011_00B4: 350, 0x2011_00C4: 60,
    Key.updatePeriod: 10, Key.searchPeriod: 10, Key.updateEphemeris: 1,
    0x2051_0001: 132, 0x1051_0003: 1, 0x1065_0001: 1, 0x3065_000A: 0x1546, 0x3065_000B: 0x01A9,
    0x2022_0031: 153, 0x2022_0032: 76,
    0x4005_0002: 1_000_000, 0x4005_0003: 1_000_000, 0x4005_0005: 100_000, 0x3005_0001: 50, 0x1005_0007: 1,
    0x1005_0008: 1, 0x1005_0009: 1, 0x1005_000A: 1, 0x1005_000B: 1, 0x2005_0030: 1, 0x4005_0024: 1, 0x4005_0025: 1,
    0x5005_002B: (10.0).bitPattern,
  ]

  private static func addPorts(_ traits: ModelTraits, to defaults: inout [UInt32: UInt64]) {
    defaults[Key.nmeaVersion] = traits.nmeaVersion == 0x4B ? 42 : 41
    for uart in [0x4052_0000, 0x4053_0000] as [UInt32] {
      defaults[uart | 1] = UInt64(traits.defaultBaudRate)
      defaults[uart & 0x0FFF_0000 | 0x2000_0002] = 1
      defaults[uart & 0x0FFF_0000 | 0x1000_0005] = 1
    }
    for port in 0..<5 {
      // F9P's UART2 has only RTCM (interface description, "default configuration").
      let isForCorrections = port == 2
      for item in [1, 2, 4] as [UInt32] {
        defaults[Key.input(port, item)] = isForCorrections ? (item == 4 ? 1 : 0) : 1
        let isOff = isForCorrections ? item != 4 : item == 4 && !traits.hasHighPrecision
        defaults[Key.output(port, item)] = isOff ? 0 : 1
      }
      if traits.hasHighPrecision { defaults[Key.input(port, 5)] = 1 }
      defaults[Key.textNMEA(port)] = 7
      for message in OutputMessage.all where message.isDefault { defaults[message.key + UInt32(port)] = 1 }
    }
  }

  /// The second time pulse of receivers that have one.
  private static func addPulse(_ traits: ModelTraits, to defaults: inout [UInt32: UInt64]) {
    guard traits.hasSecondPulse else { return }
    for item in [0x12, 0x13, 0x14, 0x15, 0x16] as [UInt32] { defaults[0x1005_0000 | item] = 1 }
    for item in [0x0D, 0x0E] as [UInt32] { defaults[0x4005_0000 | item] = 1_000_000 }
    defaults[0x4005_0010] = 100_000
    for item in [0x26, 0x27] as [UInt32] { defaults[0x4005_0000 | item] = 1 }
    defaults[0x5005_002D] = (10.0).bitPattern
    defaults[0x2011_00A4] = 10
  }
}

/// The signals of a model: its items of CFG-SIGNAL with their defaults, and the sets of signals that it refuses.
///
/// The lists, their defaults and the limits come from recorded receivers: EVK-M101 (SPG 5.10), ZED-F9P (HPG 1.51),
/// ZED-X20P (HPG 2.10), and NEO-F10T (TIM 3.01) for F10. M9 is by its interface description.
struct SignalItems: Sendable {
  /// The limit of a model on combinations of signals.
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
