import MonotonicTime
import Receiver
import UBX

/// Reads settings of a receiver: items by name or group, with what the firmware has them at, or CFG messages.
///
///     items:     group, page by page ─▶ the same in the default layer ─▶ next group
///                 └─ refused: the receiver has none of it
///     by key:    64 at a time ─ refused ─▶ halves, until the ones that it does not have stand alone
///     messages:  one by one ─ refused: the receiver does not have it
public struct SettingsReading: ReceiverScript {
  private enum Work: Sendable {
    /// All items that match a key with wildcards, from a place in the list on.
    case page(key: UInt32, layer: UInt8, position: Int)
    case keys([UInt32], layer: UInt8)
    case record(ConfigurationRecord)
  }

  /// Items by key: what the receiver uses (the RAM layer).
  private(set) var items: [UInt32: UInt64] = [:]
  /// Items by key: what the firmware has.
  private(set) var standards: [UInt32: UInt64] = [:]
  private(set) var records: [(record: ConfigurationRecord, payload: [UInt8])] = []
  /// What was asked for by name and the receiver does not have.
  public private(set) var missing: [String] = []
  /// What was asked for by name and had no answer: the receiver does not know it, or had no room for the answer.
  public private(set) var unanswered: [String] = []
  /// Whether a question stayed without an answer: what is told is not all.
  public private(set) var isIncomplete = false

  /// The line's rate, where it is another for the time of the reading.
  public var raisedRate: RaisedRate?

  private var work: [Work]
  private var done = 0
  private var repetitions = 0
  private var filter: Filter
  private var order: [String] = []

  private enum Filter: Sendable {
    case all
    case pattern(String)
    /// What was named, in this order.
    case names
  }

  /// CFG-VALGET's layers (interface descriptions).
  private static let ram: UInt8 = 0
  private static let standard: UInt8 = 7
  /// Items whose values fit into an answer of some hundred bytes.
  private static let fewItems = 16
  /// All groups, all items.
  private static let everything: UInt32 = 0x0FFF_FFFF

  /// All settings, or those that fit a pattern.
  ///
  /// - Parameters:
  ///   - pattern: nil for all.
  ///   - receiver: who it is.
  ///   - readsStandards: whether to ask for the firmware's values too, where it tells them.
  public init(pattern: String?, of receiver: ReceiverDescription, readsStandards: Bool) {
    filter = pattern.map { .pattern($0) } ?? .all
    if receiver.can(.valset) {
      let layers = readsStandards ? [Self.ram, Self.standard] : [Self.ram]
      work = Self.wildcards(pattern).flatMap { key in layers.map { .page(key: key, layer: $0, position: 0) } }
    } else {
      work = ConfigurationRecord.all.filter { Self.mayFit($0, pattern) }.map { .record($0) }
    }
  }

  /// Settings by name.
  public init(names: [SettingName], of receiver: ReceiverDescription) throws(SettingProblem) {
    filter = .names
    var keys: [UInt32] = []
    var records: [ConfigurationRecord] = []
    for name in names {
      switch name.meant(on: receiver) {
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
      // `meant` has chosen.
      case .family: break
      }
    }
    work = stride(from: 0, to: keys.count, by: ConfigurationWriter.mostItems).map {
      .keys(Array(keys[$0..<min($0 + ConfigurationWriter.mostItems, keys.count)]), layer: Self.ram)
    }
    work += records.map { .record($0) }
  }

  /// Whether names of this kind make sense for a receiver.
  static func check(_ receiver: ReceiverDescription, hasItems: Bool) throws(SettingProblem) {
    if hasItems, !receiver.can(.valset) {
      throw SettingProblem(
        "this receiver (\(receiver.firmware ?? "older firmware")) has no configuration items; "
          + "use the fields of CFG messages, such as CFG-NAV5.dynModel")
    }
    if !hasItems, !receiver.can(.legacyConfig) {
      throw SettingProblem(
        "this receiver (\(receiver.firmware ?? "newer firmware")) has no CFG messages any more; "
          + "use configuration items, such as CFG-NAVSPG-DYNMODEL")
    }
  }

  /// Of hundreds of questions those that are passed over are about what the receiver does not have. Of a single one that
  /// would be said of a receiver that has it and no room on its line.
  public var takesSilenceForRefusal: Bool { if case .names = filter { false } else { true } }

  public var progress: (done: Int, of: Int) { (done, done + work.count) }

  public func next() -> Command? {
    switch work.first {
    case .page(let key, let layer, let position): Self.question([key], layer, position)
    case .keys(let keys, let layer): Self.question(keys, layer, 0)
    case .record(let record): .poll(record.identity, record.selector)
    case nil: nil
    }
  }

  public mutating func receive(_ outcome: Outcome) {
    guard !work.isEmpty else { return }
    let current = work.removeFirst()
    done += 1
    switch (current, outcome) {
    case (.page(let key, let layer, let position), .answered(let payload)):
      let pairs = Configuration.pairs(payload)
      // Few items of all there are: a late answer to a question about some of them.
      if key == Self.everything, position == 0, pairs.count < ConfigurationWriter.mostItems, repetitions < 3 {
        repetitions += 1
        work.insert(current, at: 0)
        return
      }
      store(pairs, layer)
      // An answer holds 64 pairs at the most; fewer are the last ones.
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
      // A line that is full has no room for long answers; the keys are known by now, and short ones get through.
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
      noteUnanswered(current)
    }
  }

  private mutating func noteUnanswered(_ work: Work) {
    switch work {
    case .keys(let keys, layer: Self.ram): unanswered += keys.map { Self.name(ofKey: $0) }
    case .record(let record): if case .names = filter { unanswered.append(record.name) }
    case .keys, .page: break
    }
  }

  private static func name(ofKey key: UInt32) -> String {
    ConfigurationItem.with(id: key)?.name.description ?? SettingValue.name(ofKey: key)
  }

  /// Asks for the two halves of what had no answer, or was refused.
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

  /// What was read: items by key, then messages in their order; by name as asked for.
  public var values: [SettingValue] {
    var all: [SettingValue] = []
    // The group and the item order them; the size in front of them does not.
    for (id, bits) in items.sorted(by: { ($0.key & 0x0FFF_FFFF, $0.key) < ($1.key & 0x0FFF_FFFF, $1.key) }) {
      all.append(SettingValue(ConfigurationPair(id: id, bits: bits), standard: standards[id]))
    }
    for (record, payload) in records { all += SettingValue.fields(record, payload) }
    switch filter {
    case .all: return all
    case .pattern(let pattern): return all.filter { NameMatching.fits($0.name, pattern) }
    case .names: return order.flatMap { Self.named($0, in: all) }
    }
  }

  /// The values of a name: of a field, of one of its values, or of all fields of a record.
  private static func named(_ name: String, in all: [SettingValue]) -> [SettingValue] {
    let wanted = name.lowercased()
    let exact = all.filter { $0.name.lowercased() == wanted || $0.name.lowercased().hasPrefix(wanted + ".") }
    guard exact.isEmpty, let path = FieldPath(name), let element = path.element else { return exact }
    return all.compactMap { value in
      guard value.name.lowercased() == path.path.lowercased(), value.text.hasPrefix("[") else { return nil }
      let parts = value.text.dropFirst().dropLast().split(separator: ",")
      guard element < parts.count else { return nil }
      return SettingValue(name: "\(value.name)[\(element)]", text: String(parts[element]), unit: value.unit)
    }
  }

  /// The keys with wildcards that hold what fits a pattern: its groups where they are few, else everything.
  private static func wildcards(_ pattern: String?) -> [UInt32] {
    guard let pattern else { return [everything] }
    var groups: [UInt32] = []
    for item in ConfigurationItem.all where NameMatching.fits(item.name.description, pattern) {
      let group = item.id & 0x00FF_0000
      if !groups.contains(group) { groups.append(group) }
    }
    return groups.isEmpty || groups.count > 6 ? [everything] : groups.map { $0 | 0xFFFF }
  }

  /// Whether a field of a record may fit a pattern.
  private static func mayFit(_ record: ConfigurationRecord, _ pattern: String?) -> Bool {
    guard let pattern else { return true }
    if NameMatching.fits(record.name, pattern) { return true }
    return PayloadFields.names(record.identity).contains { name in
      // The rounds of a group are not known before the answer.
      NameMatching.fits("\(record.name).\(name)", pattern) || name.contains("[0]")
    }
  }

  /// An answer of 64 items is up to 776 bytes long, which take 0.8 s at 9600 baud.
  private static func question(_ keys: [UInt32], _ layer: UInt8, _ position: Int) -> Command {
    var payload: [UInt8] = [0, layer, UInt8(truncatingIfNeeded: position), UInt8(truncatingIfNeeded: position >> 8)]
    for key in keys { payload += (0..<4).map { UInt8(truncatingIfNeeded: key >> ($0 * 8)) } }
    var command = Command(.cfgVALGET, payload, answer: .message(.cfgVALGET))
    command.patience = Milliseconds(1500)
    return command
  }
}
