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
    var isDeleting: Bool
    var items: [(key: UInt32, bits: UInt64)]
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
    write(payload, pairs(of: payload), layers: Layer.allCases, isDeleting: false)
  }

  /// CFG-VALDEL.
  mutating func delete(_ payload: [UInt8]) -> Outcome {
    write(payload, keys(of: payload)?.map { ($0, 0) }, layers: [.bbr, .flash], isDeleting: true)
  }

  /// - Parameters:
  ///   - items: the items of the message; nil if it is malformed. A deletion has no values.
  ///   - layers: the layers that the message may write.
  private mutating func write(
    _ payload: [UInt8], _ items: [(key: UInt32, bits: UInt64)]?, layers allowed: [Layer], isDeleting: Bool
  ) -> Outcome {
    guard payload.count >= 4, payload[0] <= 1, hasLayers(payload[1], of: allowed), var items else { return refuse() }
    let layers = payload[1]
    let action = payload[0] == 1 ? payload[2] & 3 : 0
    guard action <= 1 || transaction?.layers == layers && transaction?.isDeleting == isDeleting else { return refuse() }
    switch action {
    case 1:
      transaction = Transaction(layers: layers, isDeleting: isDeleting, items: items)
      return .accepted
    case 2:
      guard !items.isEmpty else { return refuse() }
      transaction?.items += items
      return .accepted
    case 3: items = transaction?.items ?? []
    default: if transaction != nil { return refuse() }
    }
    transaction = nil
    if isDeleting {
      items = items.flatMap { database.expand($0.key).map { ($0, 0) } }
    } else if layers & Layer.ram.rawValue != 0 {
      let check = check(items)
      guard check == .accepted else { return check }
    }
    for item in items {
      let bits = isDeleting ? nil : item.bits
      if layers & Layer.ram.rawValue != 0 { ram[item.key] = bits }
      if layers & Layer.bbr.rawValue != 0 { bbr[item.key] = bits }
      if layers & Layer.flash.rawValue != 0 { flash[item.key] = bits }
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
      answer += ConfigurationPair(id: key, bits: bits).bytes
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
      warning: Int(value(Key.batchWarning)))
  }

  /// The settings of a port by the values in force.
  func settings(port: Int) -> Settings {
    var settings = Settings()
    settings.baudRate = UInt32(value(port == 2 ? Key.uart2BaudRate : Key.uart1BaudRate))
    settings.readsUBX = value(Key.input(port, 1)) != 0
    settings.readsNMEA = value(Key.input(port, 2)) != 0
    settings.readsRTCM3 = value(Key.input(port, 4)) != 0 && traits.hasCorrections
    settings.readsSPARTN = value(Key.input(port, 5)) != 0 && traits.hasHighPrecision
    settings.usesLBand = value(Key.spartnSource) != 0
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

// The old configuration messages on receivers with items, as an alternative for the same items (F9 interface
// descriptions, "mapped cousins").
extension ItemConfiguration {
  /// Handles CFG-PRT, -MSG, -INF, -RATE, -NAV5 and -NAVX5; others are refused.
  mutating func receiveLegacy(_ id: UInt8, _ payload: [UInt8], port: Int) -> LegacyConfiguration.Outcome {
    switch id {
    case 0x00: return receivePort(payload, port)
    case 0x01: return receiveRate(payload, port)
    case 0x02: return receiveText(payload)
    case 0x08:
      if payload.isEmpty { return .answer(rate) }
      guard payload.count == 6 else { return .refused }
      return write([
        (Key.measurement, UInt64(payload.u2(0))), (Key.cycles, UInt64(payload.u2(2))),
        (Key.timeReference, UInt64(payload.u2(4))),
      ])
    case 0x23:
      if payload.isEmpty {
        var answer = [UInt8](repeating: 0, count: 40)
        answer[0] = 2
        answer[17] = UInt8(value(Key.acknowledgeAiding))
        return .answer(answer)
      }
      guard payload.count == 40 else { return .refused }
      return payload.u2(2) & 0x400 == 0 ? .acknowledged : write([(Key.acknowledgeAiding, UInt64(payload[17]))])
    case 0x24:
      if payload.isEmpty { return .answer(navigation) }
      guard payload.count == 36 else { return .refused }
      return write(
        navigationPairs.filter { payload.u2(0) & $0.bit != 0 }.map { ($0.key, payload.number($0.at, $0.size)) })
    default: return .refused
    }
  }

  /// Sets a port's rate and protocols for PUBX,41.
  mutating func setPort(_ port: Int, rate: UInt32, input: UInt16, output: UInt16) {
    var pairs = [
      (Key.input(port, 1), UInt64(input & 1)), (Key.input(port, 2), UInt64(input >> 1 & 1)),
      (Key.output(port, 1), UInt64(output & 1)), (Key.output(port, 2), UInt64(output >> 1 & 1)),
    ]
    if port == 1 { pairs.append((Key.uart1BaudRate, UInt64(rate))) }
    if port == 2 { pairs.append((Key.uart2BaudRate, UInt64(rate))) }
    _ = write(pairs)
  }

  private mutating func write(_ pairs: [(UInt32, UInt64)]) -> LegacyConfiguration.Outcome {
    setInForce(pairs) ? .acknowledged : .refused
  }

  private var rate: [UInt8] {
    var answer: [UInt8] = []
    for key in [Key.measurement, Key.cycles, Key.timeReference] { answer.append(u2: UInt16(value(key))) }
    return answer
  }

  /// The fields of CFG-NAV5 with their items.
  private var navigationPairs: [(bit: UInt16, at: Int, size: Int, key: UInt32)] {
    [
      (0x001, 2, 1, Key.dynamicModel), (0x004, 3, 1, 0x2011_0011), (0x004, 4, 4, 0x4011_00C1),
      (0x004, 8, 4, 0x4011_00C2), (0x002, 12, 1, 0x2011_00A4), (0x010, 14, 2, 0x3011_00B1),
      (0x020, 16, 2, 0x3011_00B2), (0x010, 18, 2, 0x3011_00B3), (0x020, 20, 2, 0x3011_00B4),
      (0x040, 22, 1, 0x2025_0038), (0x080, 23, 1, 0x2011_00C4), (0x100, 24, 1, 0x2011_00AA),
      (0x100, 25, 1, 0x2011_00AB), (0x040, 28, 2, 0x3025_003B), (0x400, 30, 1, 0x2011_001C),
    ]
  }

  private var navigation: [UInt8] {
    var answer = [UInt8](repeating: 0, count: 36)
    answer.set(u2: 0xFFFF, at: 0)
    for row in navigationPairs {
      for index in 0..<row.size {
        answer[row.at + index] = UInt8(truncatingIfNeeded: value(row.key) >> UInt64(8 * index))
      }
    }
    return answer
  }

  /// Handles a poll of CFG-PRT, which firmware without the other messages replies to as well.
  func pollPort(_ payload: [UInt8], _ current: Int) -> LegacyConfiguration.Outcome {
    let port = payload.first.map { Int($0) } ?? current
    return port <= 4 ? .answer(portRecord(port)) : .refused
  }

  private mutating func receivePort(_ payload: [UInt8], _ current: Int) -> LegacyConfiguration.Outcome {
    if payload.count <= 1 { return pollPort(payload, current) }
    let port = Int(payload[0])
    guard port <= 4 else { return .refused }
    guard payload.count == 20, port != 1 && port != 2 || payload.u4(4) >> 6 & 3 == 3 else { return .refused }
    let (input, output) = (payload.u2(12), payload.u2(14))
    var pairs: [(UInt32, UInt64)] = [
      (Key.input(port, 1), UInt64(input & 1)), (Key.input(port, 2), UInt64(input >> 1 & 1)),
      (Key.input(port, 4), UInt64(input >> 5 & 1)), (Key.output(port, 1), UInt64(output & 1)),
      (Key.output(port, 2), UInt64(output >> 1 & 1)),
    ]
    if port == 1 { pairs.append((Key.uart1BaudRate, UInt64(payload.u4(8)))) }
    if port == 2 { pairs.append((Key.uart2BaudRate, UInt64(payload.u4(8)))) }
    return write(pairs)
  }

  private func portRecord(_ port: Int) -> [UInt8] {
    var record = [UInt8](repeating: 0, count: 20)
    record[0] = UInt8(port)
    if port == 1 || port == 2 {
      record.set(u4: 0x8C0, at: 4)
      record.set(u4: UInt32(value(port == 1 ? Key.uart1BaudRate : Key.uart2BaudRate)), at: 8)
    }
    record.set(u2: protocols { Key.input(port, $0) }, at: 12)
    record.set(u2: protocols { Key.output(port, $0) }, at: 14)
    return record
  }

  /// The mask of CFG-PRT for protocols that have items: UBX, NMEA, RTCM 3, SPARTN.
  private func protocols(_ key: (UInt32) -> UInt32) -> UInt16 {
    let items: [(item: UInt32, bit: UInt16)] = [(1, 0), (2, 1), (4, 5), (5, 6)]
    return items.reduce(0) { mask, row in
      (row.bit < 5 || traits.hasCorrections) && value(key(row.item)) != 0 ? mask | 1 << row.bit : mask
    }
  }

  private mutating func receiveRate(_ payload: [UInt8], _ port: Int) -> LegacyConfiguration.Outcome {
    guard payload.count >= 2, let index = OutputMessage.index(of: MessageIdentity(payload[0], payload[1])),
      case let key = OutputMessage.all[index].key, database.contains(key + 1)
    else { return .refused }
    switch payload.count {
    case 2: return .answer(payload + (0..<5).map { UInt8(truncatingIfNeeded: value(key + $0)) } + [0])
    case 3: return write([(key + UInt32(port), UInt64(payload[2]))])
    case 8: return write((0..<5).map { (key + UInt32($0), UInt64(payload[2 + $0])) })
    default: return .refused
    }
  }

  private mutating func receiveText(_ payload: [UInt8]) -> LegacyConfiguration.Outcome {
    let key = { (kind: UInt8, port: Int) in kind == 0 ? Key.textUBX(port) : Key.textNMEA(port) }
    guard let kind = payload.first, kind <= 1 else { return .refused }
    if payload.count == 1 {
      return .answer([kind, 0, 0, 0] + (0..<5).map { UInt8(truncatingIfNeeded: value(key(kind, $0))) } + [0])
    }
    guard payload.count == 10 else { return .refused }
    return write((0..<5).map { (key(kind, $0), UInt64(payload[4 + $0])) })
  }
}

extension [UInt8] {
  /// Reads a little-endian number of this many bytes.
  fileprivate func number(_ at: Int, _ size: Int) -> UInt64 {
    (0..<size).reduce(0) { $0 | UInt64(self[at + $1]) << UInt64(8 * $1) }
  }
}
