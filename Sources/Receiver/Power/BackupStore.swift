import UBX

/// Puts the settings where they outlive sleep, in battery-backed memory, and takes them out again.
///
///     items:         look what is there ─▶ write what differs      … at the end: delete what was added, put back the rest
///     CFG messages:  save what is in force (CFG-CFG)               … at the end: save what was put back
///
/// Standby and the off phases of power save mode lose RAM (interface descriptions, "power management"). It is written
/// before sleep and only then. A receiver without such memory forgets; its settings are written again when it wakes.
struct BackupStore: Sendable {
  /// What battery-backed memory held before this host wrote there.
  struct Before: Sendable, Equatable {
    /// Items that were there, with their values.
    var kept: [ConfigurationPair] = []
    /// Items that were not.
    var added: [UInt32] = []
    /// It was saved as a whole, by CFG-CFG.
    var isWhole = false

    var isEmpty: Bool { kept.isEmpty && added.isEmpty && !isWhole }
  }

  private enum Step { case looking, writing, deleting, saving, switching, done }

  private var step: Step
  private var pairs: [ConfigurationPair]
  private var keys: [UInt32]
  private var found: [ConfigurationPair] = []
  private var page: UInt16 = 0
  /// What is known to have been there, with what this store finds.
  private(set) var before: Before
  /// Whether all was accepted.
  private(set) var isKept = true

  /// What is said once all is stored.
  private var last: Command?

  private static let layer: UInt8 = 1 << 1

  /// Stores settings.
  ///
  /// - Parameters:
  ///   - settings: what has to outlive sleep; of CFG messages all that is in force does.
  ///   - before: what was found by an earlier store.
  ///   - last: what is said once all is stored.
  init(_ settings: [Setting], before: Before, last: Command? = nil) {
    self.last = last
    pairs = settings.compactMap { if case .item(let pair) = $0 { pair } else { nil } }
    keys = []
    self.before = before
    step = settings.isEmpty ? .done : pairs.isEmpty ? .saving : .looking
  }

  /// Makes it what it was; the settings in force have been put back.
  init(undoing before: Before) {
    pairs = before.kept
    keys = before.added
    self.before = before
    step = before.isWhole ? .saving : keys.isEmpty ? (pairs.isEmpty ? .done : .writing) : .deleting
  }

  /// What to say next; nil when finished.
  func next() -> Command? {
    switch step {
    case .looking:
      // All of each group: an item that is not there would have the whole question refused.
      var groups: [UInt32] = []
      for pair in pairs where !groups.contains(pair.id & 0x0FFF_0000 | 0xFFFF) {
        groups.append(pair.id & 0x0FFF_0000 | 0xFFFF)
      }
      var payload: [UInt8] = [0, 1, 0, 0]
      payload.set(u2: page, at: 2)
      for group in groups { payload.append(u4: group) }
      return Command(.cfgVALGET, payload, answer: .message(.cfgVALGET))
    case .writing:
      return Configuration.valset(Array(pairs.prefix(ConfigurationWriter.mostItems)), layers: Self.layer)
    case .deleting:
      var payload: [UInt8] = [0, Self.layer, 0, 0]
      for key in keys.prefix(ConfigurationWriter.mostItems) { payload.append(u4: key) }
      return Command(MessageIdentity(0x06, 0x8C), payload, answer: .acknowledgement)
    case .saving:
      return Self.saving
    case .switching: return last
    case .done: return nil
    }
  }

  /// Saves what is in force: ports, messages, navigation and receiver manager, to battery-backed memory alone.
  static var saving: Command {
    var payload = [UInt8](repeating: 0, count: 13)
    payload.set(u4: 0b1_1011, at: 4)
    payload[12] = 1
    return Command(.cfgCFG, payload, answer: .acknowledgement)
  }

  /// How the last command ended.
  mutating func receive(_ outcome: Outcome) {
    switch step {
    case .looking: receiveOfLooking(outcome)
    case .writing:
      isKept = isKept && outcome == .acknowledged
      pairs.removeFirst(min(pairs.count, ConfigurationWriter.mostItems))
      if pairs.isEmpty { step = .done }
    case .deleting:
      isKept = isKept && outcome == .acknowledged
      keys.removeFirst(min(keys.count, ConfigurationWriter.mostItems))
      if keys.isEmpty { step = pairs.isEmpty ? .done : .writing }
    case .saving:
      isKept = outcome == .acknowledged
      before.isWhole = before.isWhole || isKept
      step = .done
    case .switching: last = nil
    case .done: break
    }
    if step == .done, last != nil { step = .switching } else if step == .switching, last == nil { step = .done }
  }

  private mutating func receiveOfLooking(_ outcome: Outcome) {
    if case .answered(let payload) = outcome {
      let there = Configuration.pairs(payload)
      found += there
      if there.count == ConfigurationWriter.mostItems, page < 4096 {
        page += UInt16(ConfigurationWriter.mostItems)
        return
      }
    }
    // A refusal is an empty layer, or early firmware that does not let it be read.
    for pair in pairs where !before.kept.contains(where: { $0.id == pair.id }) && !before.added.contains(pair.id) {
      if let old = found.first(where: { $0.id == pair.id }) {
        before.kept.append(old)
      } else {
        before.added.append(pair.id)
      }
    }
    pairs.removeAll { found.contains($0) }
    step = pairs.isEmpty ? .done : .writing
  }
}
