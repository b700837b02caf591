// SPDX-License-Identifier: Apache-2.0
import UBX

/// The configuration of a receiver with items: layers of values over the defaults. CFG-VALSET and CFG-VALDEL write
/// them, CFG-VALGET reads them (interface descriptions, "configuration interface").
struct ItemConfiguration: Sendable {
  /// A memory layer, with its number in CFG-VALSET's mask.
  enum Layer: UInt8, CaseIterable, Sendable {
    case ram = 1
    case bbr = 2
    case flash = 4
  }

  let database: ItemDatabase
  let traits: ModelTraits
  private(set) var ram: [UInt32: UInt64] = [:]
  private(set) var bbr: [UInt32: UInt64] = [:]
  private(set) var flash: [UInt32: UInt64] = [:]
  private var transaction: Transaction?

  private struct Transaction: Sendable {
    var layers: UInt8
    var sets: [(key: UInt32, bits: UInt64)] = []
    var deletes: [UInt32] = []
    var isDeleting: Bool
  }

  init(_ traits: ModelTraits) {
    self.traits = traits
    database = ItemDatabase(traits)
  }

  /// The value in force.
  func value(_ key: UInt32) -> UInt64 { ram[key] ?? database.defaults[key] ?? 0 }

  /// Sets a value in force, for messages other than CFG-VALSET.
  mutating func set(_ key: UInt32, _ bits: UInt64) { ram[key] = bits }

  /// Sets values in force, for messages other than CFG-VALSET. Returns false, and changes nothing, if they are
  /// invalid. Items that the model does not have are skipped.
  mutating func setInForce(_ pairs: [(UInt32, UInt64)]) -> Bool {
    let known = pairs.filter { database.contains($0.0) }.map { (key: $0.0, bits: $0.1) }
    guard check(known) == .accepted else { return false }
    for pair in known { ram[pair.key] = pair.bits }
    return true
  }

  /// Rebuilds the RAM layer, as at each start: flash over the defaults, battery-backed RAM over both.
  mutating func restart() {
    ram = flash
    for (key, bits) in bbr { ram[key] = bits }
    transaction = nil
  }

  /// Clears battery-backed memory: the battery is empty.
  mutating func clearBackup() { bbr = [:] }

  /// Ends a transaction, as any other configuration message does.
  mutating func abortTransaction() { transaction = nil }

  // MARK: - Writing

  /// The result of CFG-VALSET: only after an acceptance something is changed.
  enum Outcome: Sendable {
    case accepted, refused
    /// The model cannot use these signals together.
    case refusedSignals
  }

  /// CFG-VALSET.
  mutating func set(_ payload: [UInt8]) -> Outcome {
    guard payload.count >= 4, payload[0] <= 1, hasLayers(payload[1], of: Layer.allCases) else { return refuse() }
    guard var pairs = pairs(of: payload) else { return refuse() }
    let layers = payload[1]
    let action = payload[0] == 1 ? payload[2] & 3 : 0
    guard action <= 1 || transaction?.layers == layers && transaction?.isDeleting == false else { return refuse() }
    switch action {
    case 1:
      transaction = Transaction(layers: layers, sets: pairs, isDeleting: false)
      return .accepted
    case 2:
      guard !pairs.isEmpty else { return refuse() }
      transaction?.sets += pairs
      return .accepted
    case 3: pairs = transaction?.sets ?? []
    default: if transaction != nil { return refuse() }
    }
    transaction = nil
    if layers & Layer.ram.rawValue != 0 {
      let check = check(pairs)
      guard check == .accepted else { return check }
    }
    for pair in pairs {
      if layers & Layer.ram.rawValue != 0 { ram[pair.key] = pair.bits }
      if layers & Layer.bbr.rawValue != 0 { bbr[pair.key] = pair.bits }
      if layers & Layer.flash.rawValue != 0 { flash[pair.key] = pair.bits }
    }
    return .accepted
  }

  /// CFG-VALDEL; returns false for a NAK.
  mutating func delete(_ payload: [UInt8]) -> Outcome {
    guard payload.count >= 4, payload[0] <= 1, hasLayers(payload[1], of: [.bbr, .flash]), var keys = keys(of: payload)
    else { return refuse() }
    let layers = payload[1]
    let action = payload[0] == 1 ? payload[2] & 3 : 0
    guard action <= 1 || transaction?.layers == layers && transaction?.isDeleting == true else { return refuse() }
    switch action {
    case 1:
      transaction = Transaction(layers: layers, deletes: keys, isDeleting: true)
      return .accepted
    case 2:
      guard !keys.isEmpty else { return refuse() }
      transaction?.deletes += keys
      return .accepted
    case 3: keys = transaction?.deletes ?? []
    default: if transaction != nil { return refuse() }
    }
    transaction = nil
    for key in keys.flatMap({ Array(database.expand($0)) }) {
      if layers & Layer.bbr.rawValue != 0 { bbr[key] = nil }
      if layers & Layer.flash.rawValue != 0 { flash[key] = nil }
    }
    return .accepted
  }

  /// CFG-CFG: above protocol version 23.01 any bit of a mask selects all settings.
  mutating func clearSaveLoad(_ payload: [UInt8]) -> Outcome {
    guard payload.count == 12 || payload.count == 13 else { return refuse() }
    abortTransaction()
    let devices: UInt8 = payload.count == 13 ? payload[12] : 0x17
    let (usesBBR, usesFlash) = (devices & 1 != 0, devices & 0x12 != 0 && traits.hasFlash)
    if payload.u4(0) != 0 {
      if usesBBR { bbr = [:] }
      if usesFlash { flash = [:] }
    }
    if payload.u4(4) != 0 {
      if usesBBR { bbr = ram }
      if usesFlash { flash = ram }
    }
    if payload.u4(8) != 0 { restart() }
    return .accepted
  }

  private mutating func refuse() -> Outcome {
    transaction = nil
    return .refused
  }

  private func hasLayers(_ mask: UInt8, of layers: [Layer]) -> Bool {
    let all = layers.reduce(0) { $0 | $1.rawValue }
    if mask == 0 || mask & ~all != 0 { return false }
    return mask & Layer.flash.rawValue == 0 || traits.hasFlash
  }

  private func pairs(of payload: [UInt8]) -> [(key: UInt32, bits: UInt64)]? {
    var pairs: [(key: UInt32, bits: UInt64)] = []
    var at = 4
    while at < payload.count {
      guard at + 4 <= payload.count else { return nil }
      let key = payload.u4(at)
      guard database.contains(key), let size = configurationValueSize(key), at + 4 + size <= payload.count else {
        return nil
      }
      var bits: UInt64 = 0
      for index in 0..<size { bits |= UInt64(payload[at + 4 + index]) << UInt64(8 * index) }
      pairs.append((key, bits))
      at += 4 + size
    }
    return pairs.count <= ConfigurationWriter.mostItems ? pairs : nil
  }

  private func keys(of payload: [UInt8]) -> [UInt32]? {
    guard (payload.count - 4) % 4 == 0, (payload.count - 4) / 4 <= ConfigurationWriter.mostItems else { return nil }
    let keys = stride(from: 4, to: payload.count, by: 4).map { payload.u4($0) }
    return keys.allSatisfy { Self.isWildcard($0) || !database.expand($0).isEmpty } ? keys : nil
  }

  /// Whether a key selects all items of a group. One whose group has no items selects none, and is not an error.
  private static func isWildcard(_ key: UInt32) -> Bool { key & 0xFFFF == 0xFFFF }

  /// Checks these values together with the others in force.
  private func check(_ pairs: [(key: UInt32, bits: UInt64)]) -> Outcome {
    var wanted = self
    for pair in pairs {
      guard isInRange(pair.key, pair.bits) else { return .refused }
      wanted.ram[pair.key] = pair.bits
    }
    let hasSystem = [Key.gps, Key.galileo, Key.beiDou, Key.glonass].contains { wanted.value($0) != 0 }
    guard hasSystem, wanted.batch.fits(traits) else { return .refused }
    return traits.signals.accepts(wanted.value) ? .accepted : .refusedSignals
  }

  private func isInRange(_ key: UInt32, _ bits: UInt64) -> Bool {
    if key >> 28 == 1 { return bits <= 1 }
    return switch key {
    case Key.measurement: bits >= UInt64(min(traits.fastestMilliseconds, 25))
    case Key.cycles: 1...127 ~= bits
    case Key.timeReference: bits <= 5
    case Key.uart1BaudRate, Key.uart2BaudRate: traits.baudRates ~= UInt32(truncatingIfNeeded: bits)
    case Key.dynamicModel: bits <= 13 && bits != 1
    case 0x2011_0011: 1...3 ~= bits
    case 0x2052_0002, 0x2053_0002: bits <= 3
    case 0x2052_0003, 0x2053_0003: bits <= 1
    case 0x2052_0004, 0x2053_0004: bits <= 2
    case Key.nmeaVersion: [21, 23, 40, 41, 42].contains(bits)
    case Key.powerMode, Key.timeMode: bits <= 2
    case Key.positionType: bits <= 1
    // The longest period is a week.
    case Key.updatePeriod: bits == 0 || 5...604_800 ~= bits
    case Key.searchPeriod: bits <= 604_800
    default: true
    }
  }

  // MARK: - Reading

  /// CFG-VALGET; returns the payload of the reply, nil for a NAK.
  func get(_ payload: [UInt8]) -> [UInt8]? {
    guard payload.count > 4, payload[0] == 0, let keys = keys(of: payload) else { return nil }
    let layer = payload[1]
    guard layer <= 2 || layer == 7, layer != 2 || traits.hasFlash else { return nil }
    var found: [(key: UInt32, bits: UInt64)] = []
    for key in keys {
      let isWildcard = Self.isWildcard(key)
      var any = false
      for key in database.expand(key) {
        guard let bits = value(key, inLayer: layer) else { continue }
        found.append((key, bits))
        any = true
      }
      if !any, !isWildcard { return nil }
    }
    let position = Int(payload.u2(2))
    var answer: [UInt8] = [1, layer, payload[2], payload[3]]
    for (key, bits) in found.dropFirst(position).prefix(ConfigurationWriter.mostItems) {
      answer.append(key)
      for index in 0..<(configurationValueSize(key) ?? 0) {
        answer.append(UInt8(truncatingIfNeeded: bits >> UInt64(8 * index)))
      }
    }
    return answer
  }

  private func value(_ key: UInt32, inLayer layer: UInt8) -> UInt64? {
    switch layer {
    case 0: value(key)
    case 1: bbr[key]
    case 2: flash[key]
    default: database.defaults[key] ?? 0
    }
  }

  // MARK: - Settings

  private var batch: Settings.Batch {
    Settings.Batch(
      isEnabled: value(Key.batchEnable) != 0, keepsPVT: value(Key.batchPVT) != 0,
      keepsOdometer: value(Key.batchOdometer) != 0, size: Int(value(Key.batchEntries)),
      warning: Int(value(Key.batchWarning)), usesPin: value(Key.batchPin) != 0)
  }

  /// The settings of a port by the values in force.
  func settings(port: Int) -> Settings {
    var settings = Settings()
    settings.baudRate = UInt32(value(port == 2 ? Key.uart2BaudRate : Key.uart1BaudRate))
    settings.readsUBX = value(Key.input(port, 1)) != 0
    settings.readsNMEA = value(Key.input(port, 2)) != 0
    settings.readsRTCM3 = value(Key.input(port, 4)) != 0 && traits.hasCorrections
    settings.sendsUBX = value(Key.output(port, 1)) != 0
    settings.sendsNMEA = value(Key.output(port, 2)) != 0
    settings.sendsRTCM3 = value(Key.output(port, 4)) != 0 && traits.hasHighPrecision
    settings.timeMode = timeMode
    settings.measurementMilliseconds = max(UInt32(value(Key.measurement)), traits.fastestMilliseconds)
    settings.cycles = UInt32(value(Key.cycles))
    settings.textUBX = UInt8(truncatingIfNeeded: value(Key.textUBX(port)))
    settings.textNMEA = UInt8(truncatingIfNeeded: value(Key.textNMEA(port)))
    settings.acknowledgesAiding = value(Key.acknowledgeAiding) != 0
    settings.hasOdometer = value(Key.useOdometer) != 0
    settings.nmeaVersion = [21: 0x21, 23: 0x23, 40: 0x40, 41: 0x41, 42: 0x4B][value(Key.nmeaVersion)] ?? 0x4B
    settings.systems = systems
    settings.signals = traits.signals.defaults.keys.filter { value($0) != 0 }.sorted()
    settings.batch = batch
    settings.powerSave = powerSave
    settings.logFilter = logFilter
    for (index, message) in OutputMessage.all.enumerated() where message.key != 0 {
      guard message.isAvailable(in: traits) else { continue }
      let every = UInt8(truncatingIfNeeded: value(message.key + UInt32(port)))
      if every > 0 { settings.rates.append(Settings.OutputRate(message: index, every: every)) }
    }
    return settings
  }

  private var systems: SatelliteSystems {
    var systems: SatelliteSystems = []
    for (key, system) in [
      (Key.gps, SatelliteSystems.gps), (Key.galileo, .galileo), (Key.glonass, .glonass), (Key.beiDou, .beiDou),
    ] where value(key) != 0 { systems.insert(system) }
    return systems.intersection(traits.systems)
  }

  private var powerSave: Settings.PowerSave {
    var save = Settings.PowerSave()
    guard traits.hasPowerSave else { return save }
    let milliseconds = value(Key.measurement)
    let isCyclicPeriod = milliseconds == 500 || milliseconds % 1000 == 0 && milliseconds <= 10_000
    switch value(Key.powerMode) {
    case 1: save.mode = .onOff
    case 2: save.mode = isCyclicPeriod ? .cyclic : .continuous
    default: save.mode = .continuous
    }
    save.updateSeconds = Double(value(Key.updatePeriod))
    save.searchSeconds = Double(value(Key.searchPeriod))
    save.gridOffsetSeconds = Double(value(Key.gridOffset))
    save.onSeconds = Double(value(Key.onTime))
    save.minimumAcquisitionSeconds = Double(value(Key.minimumAcquisition))
    save.maximumAcquisitionSeconds = Double(value(Key.maximumAcquisition))
    save.waitsForTime = value(Key.waitForTime) != 0
    save.updatesEphemeris = value(Key.updateEphemeris) != 0
    save.doesNotEnterOff = value(Key.doNotEnterOff) != 0
    return save
  }

  private var logFilter: Settings.LogFilter {
    var filter = Settings.LogFilter()
    filter.records = value(Key.logRecord) != 0
    filter.oncePerWake = value(Key.logOncePerWake) != 0
    guard value(Key.logApplyFilters) != 0 else { return filter }
    filter.minimumSeconds = Int(value(Key.logMinimum))
    filter.timeSeconds = Int(value(Key.logTime))
    filter.speedMetresPerSecond = Int(value(Key.logSpeed))
    filter.distanceMetres = Int(value(Key.logDistance))
    return filter
  }
}

extension Settings.Batch {
  /// Whether the receiver's memory is large enough for the batch (interface descriptions, CFG-BATCH).
  func fits(_ traits: ModelTraits) -> Bool {
    guard isEnabled else { return true }
    guard let capacity = traits.batch else { return false }
    let most =
      switch (keepsPVT, keepsOdometer) {
      case (false, false): capacity.plain
      case (false, true): capacity.withOdometer
      case (true, false): capacity.withPVT
      case (true, true): capacity.withBoth
      }
    return 1...most ~= size && warning <= size
  }
}
