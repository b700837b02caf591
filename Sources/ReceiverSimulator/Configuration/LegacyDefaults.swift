// SPDX-License-Identifier: Apache-2.0

/// The configuration messages of a fresh u-blox 6 or M8 as payloads (interface descriptions, class CFG).
///
/// A key is the message id, with the selector of a poll in the high byte: a port, a time pulse or a protocol.
enum LegacyDefaults {
  static func blocks(_ traits: ModelTraits) -> [UInt16: [UInt8]] {
    var blocks: [UInt16: [UInt8]] = [:]
    for port in 0..<5 as Range<UInt8> {
      if port == 3, !traits.hasUSB { continue }
      blocks[LegacyKey.port(port)] = self.port(port, traits)
    }
    for text in 0..<2 as Range<UInt8> {
      blocks[LegacyKey.text(text)] = [text, 0, 0, 0] + [UInt8](repeating: text == 1 ? 7 : 0, count: 6)
    }
    blocks[LegacyKey.rate] = [0xE8, 3, 1, 0, 1, 0]
    blocks[LegacyKey.power] = [traits.protocolVersion < 1500 ? 8 : 0, traits.protocolVersion >= 2300 ? 1 : 0]
    blocks[LegacyKey.navigation] = navigation
    blocks[LegacyKey.navigationExpert] = navigationExpert(traits)
    blocks[0x16] = [1, 3, 3, 0, 0, 0, 0, 0]
    blocks[0x13] = [0x1B, 0, 0xF0, 0xB9]
    blocks[0x39] = [0xF3, 0xAC, 0x62, 0x2D, 0x1E, 0x03, 0, 0]
    blocks[0x31] = timePulse(0)
    blocks[0x131] = timePulse(1)
    addNewer(traits, to: &blocks)
    addPower(traits, to: &blocks)
    return blocks
  }

  private static func addNewer(_ traits: ModelTraits, to blocks: inout [UInt16: [UInt8]]) {
    let isM8 = traits.protocolVersion >= 1500
    blocks[LegacyKey.nmea] =
      isM8 ? [0, traits.nmeaVersion, 0, 2, 0, 0, 0, 0, 0, 0, 0, 1] + [UInt8](repeating: 0, count: 8) : [0, 0x23, 0, 2]
    if traits.hasFlashLog { blocks[LegacyKey.logFilter] = [1] + [UInt8](repeating: 0, count: 11) }
    if traits.hasUSB { blocks[0x1B] = usb(isM8 ? 0x01A8 : 0x01A6) }
    guard isM8 else { return }
    blocks[LegacyKey.systems] = systems(traits)
    blocks[LegacyKey.odometer] =
      [UInt8](repeating: 0, count: 12) + [25, 10, 0, 0, 153, 76, 0, 0]
    if traits.hasGeofence { blocks[0x69] = [UInt8](repeating: 0, count: 8) }
    if traits.batch != nil { blocks[LegacyKey.batch] = [0, 0x0C, 0, 0, 0, 0, 0, 0] }
  }

  private static func addPower(_ traits: ModelTraits, to blocks: inout [UInt16: [UInt8]]) {
    guard traits.hasPowerSave else { return }
    let isSuperE = traits.protocolVersion >= 2300
    var save = [UInt8](repeating: 0, count: traits.protocolVersion >= 1800 ? 48 : 44)
    save[0] = traits.protocolVersion >= 1800 ? 2 : 1
    // Cyclic tracking, updateEPH; Super-E: doNotEnterOff instead.
    save.set(isSuperE ? 0x0003_0000 : 0x0002_1000 as UInt32, at: 4)
    save.set(1000 as UInt32, at: 8)
    save.set(10_000 as UInt32, at: 12)
    save.set(UInt16(isSuperE ? 300 : 0), at: 22)
    blocks[LegacyKey.powerSave] = save
    if traits.protocolVersion < 1500 {
      var old = [UInt8](repeating: 0, count: 24)
      old.set(1000 as UInt32, at: 8)
      old.set(10_000 as UInt32, at: 12)
      blocks[0x32] = old
    }
    if (1800...2301).contains(traits.protocolVersion) {
      blocks[LegacyKey.powerPreset] = [0, isSuperE ? 3 : 0, 0, 0, 0, 0, 0, 0]
    }
  }

  private static func port(_ port: UInt8, _ traits: ModelTraits) -> [UInt8] {
    var block = [UInt8](repeating: 0, count: 20)
    block[0] = port
    switch port {
    case 0: block.set(0x84 as UInt32, at: 4)
    case 1, 2:
      block.set(0x8D0 as UInt32, at: 4)
      block.set(traits.defaultBaudRate, at: 8)
    default: break
    }
    block.set(7 as UInt16, at: 12)
    block.set(port == 2 ? 0 : 3 as UInt16, at: 14)
    return block
  }

  private static let navigation: [UInt8] = [
    0xFF, 0xFF, 0, 3, 0, 0, 0, 0, 0x10, 0x27, 0, 0, 5, 0, 250, 0, 250, 0, 100, 0, 0x5E, 1, 0, 60, 0, 0, 0, 0, 0, 0, 0,
    0,
    0, 0, 0, 0,
  ]

  private static func navigationExpert(_ traits: ModelTraits) -> [UInt8] {
    var block = [UInt8](repeating: 0, count: 40)
    block[0] = traits.protocolVersion >= 1800 ? 2 : 0
    block[10] = 3
    block[11] = traits.protocolVersion >= 1500 ? 32 : 16
    block[12] = 6
    block[30] = 100
    return block
  }

  private static func timePulse(_ index: UInt8) -> [UInt8] {
    var block = [UInt8](repeating: 0, count: 32)
    block[0] = index
    block[1] = 1
    block.set(50 as UInt16, at: 4)
    block.set(1_000_000 as UInt32, at: 8)
    block.set(1_000_000 as UInt32, at: 12)
    block.set(100_000 as UInt32, at: 20)
    block.set((index == 0 ? 0x77 : 0x7E) as UInt32, at: 28)
    return block
  }

  private static func usb(_ product: UInt16) -> [UInt8] {
    var block = [UInt8](repeating: 0, count: 108)
    block.set(0x1546 as UInt16, at: 0)
    block.set(product, at: 2)
    for (at, text) in [(12, "u-blox AG - www.u-blox.com"), (44, "u-blox GNSS receiver")] {
      for (index, character) in text.utf8.enumerated() { block[at + index] = character }
    }
    return block
  }

  /// GPS, SBAS, Galileo, BeiDou, IMES, QZSS and GLONASS in the order of CFG-GNSS. Firmware that lacks Galileo lists it too.
  private static func systems(_ traits: ModelTraits) -> [UInt8] {
    var block: [UInt8] = [0, 32, 32, 0]
    let rows: [(id: UInt8, least: UInt8, most: UInt8, system: SatelliteSystems?, top: UInt8)] = [
      (0, 8, 16, .gps, 1), (1, 1, 3, .gps, 1), (2, 4, 8, .galileo, 1), (3, 8, 16, .beiDou, 1), (4, 0, 8, nil, 3),
      (5, 0, 3, .gps, 5), (6, 8, 14, .glonass, 1),
    ]
    // Firmware from protocol version 23 on has no IMES (MON-VER).
    for row in rows where row.id != 4 || traits.protocolVersion < 2300 {
      let isOn = row.system.map { traits.defaultSystems.contains($0) } ?? false
      block += [row.id, row.least, row.most, 0, isOn ? 1 : 0, 0, 1, row.top]
      block[3] += 1
    }
    return block
  }
}

/// Keys of the messages with an effect in the simulator.
enum LegacyKey {
  static let rate: UInt16 = 0x08
  static let power: UInt16 = 0x11
  static let nmea: UInt16 = 0x17
  static let odometer: UInt16 = 0x1E
  static let navigationExpert: UInt16 = 0x23
  static let navigation: UInt16 = 0x24
  static let powerSave: UInt16 = 0x3B
  static let systems: UInt16 = 0x3E
  static let logFilter: UInt16 = 0x47
  static let powerPreset: UInt16 = 0x86
  static let batch: UInt16 = 0x93
  static func port(_ port: UInt8) -> UInt16 { UInt16(port) << 8 }
  static func text(_ kind: UInt8) -> UInt16 { UInt16(kind) << 8 | 0x02 }
}
