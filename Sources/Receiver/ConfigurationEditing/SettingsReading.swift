// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import UBX
import WireBytes

/// Reads settings of a receiver: items by name or group, with their defaults, or CFG messages.
///
///     items:     group, page by page ─▶ the same in the default layer ─▶ next group
///                 └─ refused: the receiver has no item of the group
///     by key:    64 at a time ─ refused ─▶ halves, until a missing item is requested by itself
///     messages:  one by one ─ refused: the receiver does not have it
package struct SettingsReading: ReceiverScript {
  private enum Work: Sendable {
    /// All items that match a key with wildcards, from a position in the list on.
    case page(key: UInt32, layer: UInt8, position: Int)
    case keys([UInt32], layer: UInt8)
    case record(ConfigurationRecord)
  }

  /// Values of items by key in the RAM layer, which the receiver uses.
  private(set) var items: [UInt32: UInt64] = [:]
  /// Defaults of the firmware by key.
  private(set) var standards: [UInt32: UInt64] = [:]
  private(set) var records: [(record: ConfigurationRecord, payload: [UInt8])] = []
  /// Names that were requested and that the receiver does not have.
  package private(set) var missing: [String] = []
  /// Names that were requested and had no reply: the receiver does not have them, or the line had no capacity for the
  /// reply.
  package private(set) var withoutReply: [String] = []
  /// Whether a request had no reply, so that the values are not complete.
  package private(set) var isIncomplete = false

  /// The rate of the line during the reading, if it differs from the configured one.
  package var raisedRate: RaisedRate?

  private var work: [Work]
  private var done = 0
  private var repetitions = 0
  private var filter: Filter
  private var order: [String] = []

  private enum Filter: Sendable {
    case all
    case pattern(String)
    /// The requested names, in their order.
    case names
  }

  /// CFG-VALGET's layers (interface descriptions).
  private static let ram: UInt8 = 0
  private static let standard: UInt8 = 7
  /// The number of items whose values fit into a reply of some hundred bytes.
  private static let fewItems = 16
  /// The key of all items of all groups.
  private static let everything: UInt32 = 0x0FFF_FFFF

  /// Reads all settings, or those that match a pattern.
  ///
  /// - Parameters:
  ///   - pattern: nil for all.
  ///   - receiver: the receiver to read.
  ///   - readsStandards: whether to read the defaults too, if the receiver reports them.
  package init(pattern: String?, of receiver: ReceiverDescription, readsStandards: Bool) {
    filter = pattern.map { .pattern($0) } ?? .all
    if receiver.can(.valset) {
      let layers = readsStandards ? [Self.ram, Self.standard] : [Self.ram]
      work = Self.wildcards(pattern).flatMap { key in layers.map { .page(key: key, layer: $0, position: 0) } }
    } else {
      work = ConfigurationRecord.all.filter { Self.mayMatch($0, pattern) }.map { .record($0) }
    }
  }

  /// Reads settings by name.
  package init(names: [SettingName], of receiver: ReceiverDescription) throws(SettingProblem) {
    filter = .names
    var keys: [UInt32] = []
    var records: [ConfigurationRecord] = []
    for name in names {
      switch name.resolved(for: receiver) {
      case .item(let id, let item):
        try Self.check(receiver, hasItems: true)
        if !keys.contains(id) { keys.append(id) }
        order.append(item?.name.description ?? SettingValue.name(ofKey: id))
      case .field(let record, let path):
        try Self.check(receiver, hasItems: false)
        if !records.contains(record) { records.append(record) }
        order.append("\(record.name).\(path.text)")
      case .record(let record):
        try Self.check(receiver, hasItems: false)
        if !records.contains(record) { records.append(record) }
        order.append(record.name)
      // `resolved` never returns a family.
      case .family: break
      }
    }
    work = stride(from: 0, to: keys.count, by: ConfigurationWriter.mostItems).map {
      .keys(Array(keys[$0..<min($0 + ConfigurationWriter.mostItems, keys.count)]), layer: Self.ram)
    }
    work += records.map { .record($0) }
  }

  /// Checks that a receiver has items, or CFG messages.
  static func check(_ receiver: ReceiverDescription, hasItems: Bool) throws(SettingProblem) {
    if hasItems, !receiver.can(.valset) {
      throw SettingProblem(
        "this receiver (\(receiver.firmware ?? "older firmware")) has no configuration items; "
          + "use the fields of CFG messages, such as CFG-NAV5.dynModel")
    }
    if !hasItems, !receiver.can(.legacyConfig) {
      throw SettingProblem(
        "this receiver (\(receiver.firmware ?? "newer firmware")) no longer has CFG messages; "
          + "use configuration items, such as CFG-NAVSPG-DYNMODEL")
    }
  }

  /// Whether a poll without a reply counts as refused. Most of hundreds of polls concern messages that the receiver
  /// lacks; a single requested name may lack a reply because the line is full.
  package var treatsSilenceAsRefusal: Bool { if case .names = filter { false } else { true } }

  package var progress: (done: Int, of: Int) { (done, done + work.count) }

  package func next() -> Command? {
    switch work.first {
    case .page(let key, let layer, let position): Self.request([key], layer, position)
    case .keys(let keys, let layer): Self.request(keys, layer, 0)
    case .record(let record): .poll(record.identity, record.selector)
    case nil: nil
    }
  }

  package mutating func receive(_ outcome: Outcome) {
    guard !work.isEmpty else { return }
    let current = work.removeFirst()
    done += 1
    switch (current, outcome) {
    case (.page(let key, let layer, let position), .answered(let payload)):
      let pairs = Configuration.pairs(payload)
      // A reply with few of all items is a late reply to an earlier request.
      if key == Self.everything, position == 0, pairs.count < ConfigurationWriter.mostItems, repetitions < 3 {
        repetitions += 1
        work.insert(current, at: 0)
        return
      }
      store(pairs, layer)
      // A reply has at most 64 pairs; fewer pairs end the list.
      if pairs.count >= ConfigurationWriter.mostItems {
        work.insert(.page(key: key, layer: layer, position: position + pairs.count), at: 0)
      }
    case (.keys(_, let layer), .answered(let payload)): store(Configuration.pairs(payload), layer)
    case (.keys(let keys, let layer), .refused):
      if keys.count > 1 { return split(keys, layer) }
      if layer == Self.ram {
        missing.append(Self.name(ofKey: keys[0]))
      }
    case (.keys(let keys, let layer), .silent) where keys.count > 1: split(keys, layer)
    case (.page(_, Self.standard, _), .silent) where !items.isEmpty:
      // A full line has no capacity for long replies. The keys are known by now, and short replies pass.
      let keys = items.keys.filter { standards[$0] == nil }.sorted()
      work.removeAll { if case .page(_, Self.standard, _) = $0 { true } else { false } }
      for start in stride(from: 0, to: keys.count, by: Self.fewItems) {
        work.append(.keys(Array(keys[start..<min(start + Self.fewItems, keys.count)]), layer: Self.standard))
      }
    case (.record(let record), .answered(let payload)):
      records.append((record, raisedRate?.undone(record, payload) ?? payload))
    case (.record(let record), .refused): if case .names = filter { missing.append(record.name) }
    case (.page, .refused): break
    default:
      isIncomplete = true
      noteWithoutReply(current)
    }
  }

  private mutating func noteWithoutReply(_ work: Work) {
    switch work {
    case .keys(let keys, layer: Self.ram): withoutReply += keys.map { Self.name(ofKey: $0) }
    case .record(let record): if case .names = filter { withoutReply.append(record.name) }
    case .keys, .page: break
    }
  }

  private static func name(ofKey key: UInt32) -> String {
    ConfigurationItem.with(id: key)?.name.description ?? SettingValue.name(ofKey: key)
  }

  /// Requests the two halves of keys that were refused or had no reply.
  private mutating func split(_ keys: [UInt32], _ layer: UInt8) {
    let middle = keys.count / 2
    work.insert(.keys(Array(keys[middle...]), layer: layer), at: 0)
    work.insert(.keys(Array(keys[..<middle]), layer: layer), at: 0)
  }

  private mutating func store(_ pairs: [ConfigurationPair], _ layer: UInt8) {
    for pair in pairs {
      if layer == Self.ram {
        items[pair.id] = raisedRate?.undone(pair.id, pair.bits) ?? pair.bits
      } else {
        standards[pair.id] = pair.bits
      }
    }
  }

  /// The values: items by key, then messages in their order; for requested names in the order of the request.
  package var values: [SettingValue] {
    var all: [SettingValue] = []
    // The order is by group and item; the size in the upper bits is ignored.
    for (id, bits) in items.sorted(by: { ($0.key & 0x0FFF_FFFF, $0.key) < ($1.key & 0x0FFF_FFFF, $1.key) }) {
      all.append(SettingValue(ConfigurationPair(id: id, bits: bits), standard: standards[id]))
    }
    for (record, payload) in records { all += SettingValue.fields(record, payload) }
    switch filter {
    case .all: return all
    case .pattern(let pattern): return all.filter { NameMatching.matches($0.name, pattern) }
    case .names: return order.flatMap { Self.named($0, in: all) }
    }
  }

  /// Returns the values of a name: of a field, of one element of it, or of all fields of a record.
  private static func named(_ name: String, in all: [SettingValue]) -> [SettingValue] {
    let key = name.lowercased()
    let exact = all.filter { $0.name.lowercased() == key || $0.name.lowercased().hasPrefix(key + ".") }
    guard exact.isEmpty, let path = FieldPath(name), let element = path.element else { return exact }
    return all.compactMap { value in
      guard value.name.lowercased() == path.path.lowercased(), value.text.hasPrefix("[") else { return nil }
      let parts = value.text.dropFirst().dropLast().split(separator: ",")
      guard element < parts.count else { return nil }
      return SettingValue(name: "\(value.name)[\(element)]", text: String(parts[element]), unit: value.unit)
    }
  }

  /// Returns the keys with wildcards for a pattern: its groups if they are few, else everything.
  private static func wildcards(_ pattern: String?) -> [UInt32] {
    guard let pattern else { return [everything] }
    var groups: [UInt32] = []
    for item in ConfigurationItem.all where NameMatching.matches(item.name.description, pattern) {
      let group = item.id & 0x00FF_0000
      if !groups.contains(group) { groups.append(group) }
    }
    return groups.isEmpty || groups.count > 6 ? [everything] : groups.map { $0 | 0xFFFF }
  }

  /// Whether a field of a record may match a pattern.
  private static func mayMatch(_ record: ConfigurationRecord, _ pattern: String?) -> Bool {
    guard let pattern else { return true }
    if NameMatching.matches(record.name, pattern) { return true }
    return PayloadFields.names(record.identity).contains { name in
      // The number of repetitions of a group is not known before the reply.
      NameMatching.matches("\(record.name).\(name)", pattern) || name.includes("[0]")
    }
  }

  /// Returns a CFG-VALGET request. A reply of 64 items has up to 776 bytes, which take 0.8 s at 9600 baud.
  private static func request(_ keys: [UInt32], _ layer: UInt8, _ position: Int) -> Command {
    Configuration.valget(keys, layer: layer, position: UInt16(truncatingIfNeeded: position))
      .with(timeout: Milliseconds(1500))
  }
}
