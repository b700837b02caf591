// SPDX-License-Identifier: Apache-2.0

/// The configuration of a u-blox 6 or M8: the messages of class CFG, in force and saved (interface descriptions,
/// class CFG and CFG-CFG).
struct LegacyConfiguration: Sendable {
  /// The effect of a configuration message.
  enum Outcome: Sendable, Equatable {
    case acknowledged
    /// A reply with this payload, followed by an acknowledgement.
    case answer([UInt8])
    case refused
  }

  /// Messages by key, and the rates of each output message on six ports.
  struct Store: Sendable, Equatable {
    var blocks: [UInt16: [UInt8]] = [:]
    var rates: [UInt16: [UInt8]] = [:]
  }

  private let traits: ModelTraits
  private let defaults: Store
  private(set) var current: Store
  private var bbr = Store()
  private var flash = Store()

  init(_ traits: ModelTraits) {
    self.traits = traits
    var rates: [UInt16: [UInt8]] = [:]
    for message in OutputMessage.all where message.isAvailable(in: traits) {
      rates[message.identity.key] = [UInt8](repeating: message.isDefault ? 1 : 0, count: 6)
    }
    defaults = Store(blocks: LegacyDefaults.blocks(traits), rates: rates)
    current = defaults
  }

  /// A message in force.
  func block(_ key: UInt16) -> [UInt8]? { current.blocks[key] }

  /// Restores the messages at a start: saved ones over the defaults, battery-backed RAM before flash.
  mutating func restart() {
    current = defaults
    load(Self.everything)
  }

  /// Clears battery-backed memory: the battery is empty.
  mutating func clearBackup() { bbr = Store() }

  /// Handles a message of class CFG that the host sent to a port.
  mutating func receive(_ id: UInt8, _ payload: [UInt8], port: Int) -> Outcome {
    switch id {
    case 0x00: return receivePort(payload, port: port)
    case 0x01: return receiveRate(payload, port: port)
    case 0x02: return receiveText(payload)
    case 0x09: return clearSaveLoad(payload) ? .acknowledged : .refused
    case 0x31: return receiveSelected(0x31, payload)
    default:
      let key = UInt16(id)
      guard let block = current.blocks[key] else { return .refused }
      if payload.isEmpty { return .answer(block) }
      guard let wanted = merged(key, payload, into: block), isValid(key, wanted) else { return .refused }
      current.blocks[key] = wanted
      if key == LegacyKey.powerPreset { applyPreset(wanted) }
      return .acknowledged
    }
  }

  /// Sets a port's rate for PUBX,41.
  mutating func setPort(_ port: Int, baudRate: UInt32, input: UInt16, output: UInt16) {
    guard var block = current.blocks[LegacyKey.port(UInt8(port))] else { return }
    block.set(u4: baudRate, at: 8)
    block.set(u2: input, at: 12)
    block.set(u2: output, at: 14)
    if isValid(LegacyKey.port(UInt8(port)), block) { current.blocks[LegacyKey.port(UInt8(port))] = block }
  }

  /// Sets a message's rates on all ports for PUBX,40.
  mutating func setRates(_ identity: UInt16, _ rates: [UInt8]) {
    if current.rates[identity] != nil { current.rates[identity] = rates }
  }

  // MARK: - Messages with a selector

  private mutating func receivePort(_ payload: [UInt8], port: Int) -> Outcome {
    if payload.count <= 1 {
      guard let block = current.blocks[LegacyKey.port(payload.first ?? UInt8(port))] else { return .refused }
      return .answer(block)
    }
    let key = LegacyKey.port(payload[0])
    guard payload.count == 20, current.blocks[key] != nil, isValid(key, payload) else { return .refused }
    current.blocks[key] = payload
    return .acknowledged
  }

  private mutating func receiveRate(_ payload: [UInt8], port: Int) -> Outcome {
    guard payload.count >= 2 else { return .refused }
    let message = UInt16(payload[0]) << 8 | UInt16(payload[1])
    guard var rates = current.rates[message] else { return .refused }
    switch payload.count {
    case 2: return .answer(payload + rates)
    case 3: rates[port] = payload[2]
    case 8: rates = Array(payload[2...])
    default: return .refused
    }
    current.rates[message] = rates
    return .acknowledged
  }

  private mutating func receiveText(_ payload: [UInt8]) -> Outcome {
    if payload.count == 1 {
      guard let block = current.blocks[LegacyKey.text(payload[0])] else { return .refused }
      return .answer(block)
    }
    guard !payload.isEmpty, payload.count % 10 == 0 else { return .refused }
    for at in stride(from: 0, to: payload.count, by: 10) where payload[at] > 1 { return .refused }
    for at in stride(from: 0, to: payload.count, by: 10) {
      current.blocks[LegacyKey.text(payload[at])] = Array(payload[at..<at + 10])
    }
    return .acknowledged
  }

  private mutating func receiveSelected(_ id: UInt16, _ payload: [UInt8]) -> Outcome {
    let key = UInt16(payload.first ?? 0) << 8 | id
    guard let block = current.blocks[key] else { return .refused }
    if payload.count <= 1 { return .answer(block) }
    guard payload.count == block.count else { return .refused }
    current.blocks[key] = payload
    return .acknowledged
  }

  // MARK: - Valid values

  /// The new payload: a message with a mask changes only the selected fields. Nil if the length is wrong.
  private func merged(_ key: UInt16, _ payload: [UInt8], into block: [UInt8]) -> [UInt8]? {
    switch key {
    case LegacyKey.systems:
      guard payload.count >= 4, payload.count == 4 + 8 * Int(payload[3]) else { return nil }
      return mergedSystems(payload, into: block)
    case 0x69:
      guard payload.count >= 8, payload[1] <= 4, payload.count == 8 + 12 * Int(payload[1]) else { return nil }
      return payload
    case LegacyKey.nmea:
      return [4, 12, 20].contains(payload.count) && payload.count <= block.count
        ? payload + block[payload.count...] : nil
    case LegacyKey.powerSave:
      return payload.count == 44 || payload.count == block.count
        ? payload + block[payload.count...] : nil
    case LegacyKey.navigation: return payload.count == 36 ? mergedNavigation(payload, into: block) : nil
    case LegacyKey.navigationExpert: return payload.count == 40 ? mergedExpert(payload, into: block) : nil
    case LegacyKey.logFilter:
      guard payload.count == 12 else { return nil }
      // The thresholds are used only with applyAllFilterSettings.
      return payload[1] & 4 != 0 ? payload : Array(payload[..<2]) + block[2...]
    default: return payload.count == block.count ? payload : nil
    }
  }

  private func mergedSystems(_ payload: [UInt8], into block: [UInt8]) -> [UInt8]? {
    var wanted = block
    for at in stride(from: 4, to: payload.count, by: 8) {
      let row = stride(from: 4, to: block.count, by: 8).first { block[$0] == payload[at] }
      guard let row else { return nil }
      // The top byte of the flags is the receiver's own, whatever is written.
      wanted.replaceSubrange(row..<row + 7, with: payload[at..<at + 7])
    }
    wanted[2] = payload[2] == 0xFF ? wanted[1] : payload[2]
    return wanted
  }

  private func mergedNavigation(_ payload: [UInt8], into block: [UInt8]) -> [UInt8] {
    let fields: [(bit: UInt16, Range<Int>)] = [
      (0x001, 2..<3), (0x002, 12..<13), (0x004, 3..<12), (0x010, 14..<16), (0x010, 18..<20), (0x020, 16..<18),
      (0x020, 20..<22), (0x040, 22..<23), (0x040, 28..<30), (0x080, 23..<24), (0x100, 24..<26), (0x400, 30..<31),
    ]
    var wanted = block
    for (bit, range) in fields where payload.u2(0) & bit != 0 {
      wanted.replaceSubrange(range, with: payload[range])
    }
    return wanted
  }

  private func mergedExpert(_ payload: [UInt8], into block: [UInt8]) -> [UInt8] {
    let fields: [(bit: UInt16, Range<Int>)] = [
      (0x0004, 10..<12), (0x0008, 12..<13), (0x0040, 14..<15), (0x0200, 18..<20), (0x0400, 17..<18),
      (0x2000, 26..<27), (0x4000, 27..<32),
    ]
    var wanted = block
    for (bit, range) in fields where payload.u2(2) & bit != 0 {
      wanted.replaceSubrange(range, with: payload[range])
    }
    return wanted
  }

  private func isValid(_ key: UInt16, _ block: [UInt8]) -> Bool {
    switch key {
    case 0x0100, 0x0200:
      // Eight bits, with or without parity, and a rate of the UART: a payload of zeros is refused.
      return block.u4(4) >> 6 & 3 == 3 && traits.baudRates ~= block.u4(8)
    case LegacyKey.rate:
      let hasCycles = traits.protocolVersion >= 1800
      return block.u2(0) >= UInt16(traits.protocolVersion >= 2400 ? 25 : 50) && block.u2(2) >= 1
        && block.u2(2) <= (hasCycles ? 127 : 1) && block.u2(4) <= 4
    case LegacyKey.navigation: return block[2] <= 10 && block[2] != 1 && 1...3 ~= block[3]
    case LegacyKey.power:
      let isMixed = current.blocks[LegacyKey.systems].map(systems(of:))?.contains(.glonass) ?? false
      return block[1] == 0 || block[1] == 4
        || block[1] == 1 && traits.hasPowerSave && !(isMixed && 1500..<1800 ~= traits.protocolVersion)
    case LegacyKey.powerPreset:
      let isInterval = block[1] == 2
      return block[1] <= 5 && (isInterval ? block.u2(2) > 5 && block.u2(4) < block.u2(2) : block.u4(2) == 0)
    case LegacyKey.powerSave: return block[0] == 1 || block[0] == 2
    case LegacyKey.batch: return batch(of: block).fits(traits)
    case LegacyKey.systems: return areSystemsValid(block)
    default: return true
    }
  }

  /// CFG-GNSS: the reserved channels fit, each major system has at least four, and at most two bands are used (GPS, SBAS,
  /// QZSS and Galileo share one). GPS without QZSS is accepted, as recorded receivers do.
  private func areSystemsValid(_ block: [UInt8]) -> Bool {
    var reserved = 0
    var on: Set<UInt8> = []
    for at in stride(from: 4, to: block.count, by: 8) where block[at + 4] & 1 != 0 {
      reserved += Int(block[at + 1])
      on.insert(block[at])
      if [0, 2, 3, 6].contains(block[at]), block[at + 2] < 4 { return false }
    }
    let bands = (on.isDisjoint(with: [0, 1, 2, 5]) ? 0 : 1) + (on.contains(3) ? 1 : 0) + (on.contains(6) ? 1 : 0)
    return !on.isDisjoint(with: [0, 2, 3, 6]) && reserved <= Int(block[2]) && bands <= 2
  }

  /// A preset overwrites the settings of power save mode.
  private mutating func applyPreset(_ preset: [UInt8]) {
    guard var save = current.blocks[LegacyKey.powerSave] else { return }
    let isInterval = preset[1] == 2
    var flags = save.u4(4) & ~0x0006_0000
    if !isInterval { flags |= 0x0002_0000 }
    save.set(u4: flags, at: 4)
    save.set(u4: isInterval ? UInt32(preset.u2(2)) * 1000 : [1000, 1000, 0, 1000, 500, 250][Int(preset[1])], at: 8)
    save.set(u2: isInterval ? preset.u2(4) : 0, at: 20)
    if traits.protocolVersion == 2301 { save.set(u2: 180, at: 22) }
    current.blocks[LegacyKey.powerSave] = save
    current.blocks[LegacyKey.power]?[1] = preset[1] == 0 ? 0 : 1
  }

  // MARK: - Memory

  private static let everything: UInt32 = 0xFFFF

  /// The section of CFG-CFG's masks for a message.
  private static func section(of key: UInt16) -> UInt32 {
    switch key & 0xFF {
    case 0x00, 0x1B: 1 << 0
    case 0x01: 1 << 1
    case 0x02: 1 << 2
    case 0x11, 0x32, 0x3B, 0x3E, 0x86, 0x93: 1 << 4
    case 0x13: 1 << 10
    case 0x47: 1 << 11
    default: 1 << 3
    }
  }

  private mutating func clearSaveLoad(_ payload: [UInt8]) -> Bool {
    guard payload.count == 12 || payload.count == 13 else { return false }
    let devices: UInt8 = payload.count == 13 ? payload[12] : 0x17
    let usesBBR = devices & 1 != 0 && traits.hasBackup
    let usesFlash = devices & 0x16 != 0 && traits.hasFlash
    if usesBBR { Self.clear(payload.u4(0), &bbr) }
    if usesFlash { Self.clear(payload.u4(0), &flash) }
    if usesBBR { save(payload.u4(4), &bbr) }
    if usesFlash { save(payload.u4(4), &flash) }
    load(payload.u4(8))
    return true
  }

  private static func clear(_ mask: UInt32, _ store: inout Store) {
    store.blocks = store.blocks.filter { section(of: $0.key) & mask == 0 }
    if mask & 2 != 0 { store.rates = [:] }
  }

  private func save(_ mask: UInt32, _ store: inout Store) {
    for (key, block) in current.blocks where Self.section(of: key) & mask != 0 { store.blocks[key] = block }
    if mask & 2 != 0 { store.rates = current.rates }
  }

  private mutating func load(_ mask: UInt32) {
    for (key, block) in defaults.blocks where Self.section(of: key) & mask != 0 {
      current.blocks[key] = bbr.blocks[key] ?? flash.blocks[key] ?? block
    }
    guard mask & 2 != 0 else { return }
    current.rates = defaults.rates
    for store in [flash, bbr] { for (key, rates) in store.rates { current.rates[key] = rates } }
  }

  // MARK: - Settings

  private func systems(of block: [UInt8]) -> SatelliteSystems {
    var systems: SatelliteSystems = []
    for at in stride(from: 4, to: block.count, by: 8) where block[at + 4] & 1 != 0 {
      switch block[at] {
      case 0: systems.insert(.gps)
      case 2: systems.insert(.galileo)
      case 3: systems.insert(.beiDou)
      case 6: systems.insert(.glonass)
      default: break
      }
    }
    return systems
  }

  /// The numbers of the enabled systems, with those that the simulator has no satellites of.
  private func signals(of block: [UInt8]) -> [UInt32] {
    stride(from: 4, to: block.count, by: 8).filter { block[$0 + 4] & 1 != 0 }.map { UInt32(block[$0]) }
  }

  private func batch(of block: [UInt8]) -> Settings.Batch {
    Settings.Batch(
      isEnabled: block[1] & 1 != 0, keepsPVT: block[1] & 4 != 0, keepsOdometer: block[1] & 8 != 0,
      size: Int(block.u2(2)), warning: Int(block.u2(4)))
  }

  /// The settings in force for a port.
  func settings(port: Int) -> Settings {
    var settings = Settings()
    let blocks = current.blocks
    if let block = blocks[LegacyKey.port(UInt8(port))] {
      settings.baudRate = block.u4(8)
      let (input, output) = (block.u2(12), block.u2(14))
      settings.readsUBX = input & 1 != 0
      settings.readsNMEA = input & 2 != 0
      settings.sendsUBX = output & 1 != 0
      settings.sendsNMEA = output & 2 != 0
    }
    if let block = blocks[LegacyKey.rate] {
      settings.measurementMilliseconds = max(UInt32(block.u2(0)), traits.fastestMilliseconds)
      settings.cycles = UInt32(block.u2(2))
    }
    settings.textUBX = blocks[LegacyKey.text(0)]?[4 + port] ?? 0
    settings.textNMEA = blocks[LegacyKey.text(1)]?[4 + port] ?? 0
    settings.acknowledgesAiding = blocks[LegacyKey.navigationExpert]?[17] == 1
    settings.nmeaVersion = blocks[LegacyKey.nmea]?[1] ?? traits.nmeaVersion
    settings.systems = (blocks[LegacyKey.systems].map(systems(of:)) ?? traits.defaultSystems)
      .intersection(traits.systems)
    settings.signals = blocks[LegacyKey.systems].map(signals(of:)) ?? []
    settings.hasOdometer = (blocks[LegacyKey.odometer]?[4] ?? 0) & 1 != 0
    if let block = blocks[LegacyKey.batch] { settings.batch = batch(of: block) }
    settings.powerSave = powerSave
    if let block = blocks[LegacyKey.logFilter] {
      settings.logFilter = Settings.LogFilter(
        records: block[1] & 1 != 0, minimumSeconds: Int(block.u2(2)), timeSeconds: Int(block.u2(4)),
        speedMetresPerSecond: Int(block.u2(6)), distanceMetres: Int(block.u4(8)))
    }
    for (index, message) in OutputMessage.all.enumerated() {
      let every = current.rates[message.identity.key]?[port] ?? 0
      if every > 0 { settings.rates.append(Settings.OutputRate(message: index, every: every)) }
    }
    return settings
  }

  private var powerSave: Settings.PowerSave {
    var save = Settings.PowerSave()
    guard let block = current.blocks[LegacyKey.powerSave], current.blocks[LegacyKey.power]?[1] == 1 else { return save }
    let flags = block.u4(4)
    save.mode = flags >> 17 & 3 == 0 ? .onOff : .cyclic
    save.updateSeconds = Double(block.u4(8)) / 1000
    save.searchSeconds = Double(block.u4(12)) / 1000
    // Up to ten seconds the receiver continues to track (integration manuals, power save mode).
    if save.mode == .onOff, save.updateSeconds > 0, save.updateSeconds <= 10 { save.mode = .cyclic }
    save.gridOffsetSeconds = Double(block.u4(16)) / 1000
    save.onSeconds = Double(block.u2(20))
    save.minimumAcquisitionSeconds = Double(block.u2(22))
    save.maximumAcquisitionSeconds = Double(block[2])
    save.waitsForTime = flags & 1 << 10 != 0
    save.updatesEphemeris = flags & 1 << 12 != 0
    save.doesNotEnterOff = flags & 1 << 16 != 0
    return save
  }
}

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
    if traits.hasFlash { blocks[LegacyKey.logFilter] = [1] + [UInt8](repeating: 0, count: 11) }
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
    save.set(u4: isSuperE ? 0x0003_0000 : 0x0002_1000 as UInt32, at: 4)
    save.set(u4: 1000, at: 8)
    save.set(u4: 10_000, at: 12)
    save.set(u2: UInt16(isSuperE ? 300 : 0), at: 22)
    blocks[LegacyKey.powerSave] = save
    if traits.protocolVersion < 1500 {
      var old = [UInt8](repeating: 0, count: 24)
      old.set(u4: 1000, at: 8)
      old.set(u4: 10_000, at: 12)
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
    case 0: block.set(u4: 0x84, at: 4)
    case 1, 2:
      block.set(u4: 0x8D0, at: 4)
      block.set(u4: traits.defaultBaudRate, at: 8)
    default: break
    }
    block.set(u2: 7, at: 12)
    block.set(u2: port == 2 ? 0 : 3 as UInt16, at: 14)
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
    block.set(u2: 50, at: 4)
    block.set(u4: 1_000_000, at: 8)
    block.set(u4: 1_000_000, at: 12)
    block.set(u4: 100_000, at: 20)
    block.set(u4: (index == 0 ? 0x77 : 0x7E) as UInt32, at: 28)
    return block
  }

  private static func usb(_ product: UInt16) -> [UInt8] {
    var block = [UInt8](repeating: 0, count: 108)
    block.set(u2: 0x1546, at: 0)
    block.set(u2: product, at: 2)
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
