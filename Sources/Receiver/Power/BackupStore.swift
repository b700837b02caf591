import UBX

/// Puts the settings where they outlive sleep, in battery-backed memory, and takes them out again.
///
///     items:         look what is there ─▶ write what differs ─▶ read one back
///                                                                … at the end: delete what was added, put back the rest
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
    /// The memory does not let itself be read, so that some of `added` may have been there.
    var isUnreadable = false
    /// It was saved as a whole, by CFG-CFG.
    var isWhole = false

    var isEmpty: Bool { kept.isEmpty && added.isEmpty && !isWhole }
  }

  private enum Step { case looking, writing, readingBack, deleting, saving, switching, done }

  private var step: Step
  private var pairs: [ConfigurationPair]
  private var keys: [UInt32]
  private var found: [ConfigurationPair] = []
  /// Groups of items that were not looked for yet. Each is asked for by itself: one without an item has the whole question
  /// refused.
  private var groups: [UInt32] = []
  private var page: UInt16 = 0
  /// Whether something could be read.
  private var isReadable = false
  /// What is known to have been there, with what this store finds.
  private(set) var before: Before
  /// Whether all was accepted.
  private(set) var isKept = true

  /// What is said once all is stored.
  private var last: Command?
  /// Whether that was refused.
  private(set) var isLastRefused = false

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
    for pair in pairs where !groups.contains(pair.group) { groups.append(pair.group) }
    self.before = before
    step = settings.isEmpty ? .done : pairs.isEmpty ? .saving : .looking
  }

  /// Makes it what it was; the settings in force have been put back.
  ///
  /// - Parameter inForce: what was in force when the receiver was found. Memory that cannot be read is given that instead of
  ///   nothing, so that the receiver starts next time as it was found.
  init(undoing before: Before, inForce: [Setting] = []) {
    pairs = before.kept
    keys = before.added
    if before.isUnreadable {
      let known = inForce.compactMap { setting -> ConfigurationPair? in
        if case .item(let pair) = setting, before.added.contains(pair.id) { pair } else { nil }
      }
      pairs += known
      keys = []
    }
    isReadable = true
    self.before = before
    step = before.isWhole ? .saving : keys.isEmpty ? (pairs.isEmpty ? .done : .writing) : .deleting
  }

  /// What to say next; nil when finished.
  func next() -> Command? {
    switch step {
    case .looking: return question(groups.first ?? 0)
    case .readingBack: return question(pairs.first?.id ?? 0)
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

  private func question(_ key: UInt32) -> Command {
    var payload: [UInt8] = [0, 1, 0, 0]
    payload.set(u2: page, at: 2)
    payload.append(u4: key)
    return Command(.cfgVALGET, payload, answer: .message(.cfgVALGET))
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
      let written = pairs.prefix(ConfigurationWriter.mostItems)
      pairs.removeFirst(written.count)
      guard pairs.isEmpty else { break }
      step = .done
      // Nothing was there, or nothing could be read: what is there now tells.
      if mustReadBack, isKept, let one = written.first {
        pairs = [one]
        step = .readingBack
      }
    case .readingBack:
      if case .answered = outcome {} else { before.isUnreadable = true }
      pairs = []
      step = .done
    case .deleting:
      isKept = isKept && outcome == .acknowledged
      keys.removeFirst(min(keys.count, ConfigurationWriter.mostItems))
      if keys.isEmpty { step = pairs.isEmpty ? .done : .writing }
    case .saving:
      isKept = outcome == .acknowledged
      before.isWhole = before.isWhole || isKept
      step = .done
    case .switching:
      if case .refused = outcome { isLastRefused = true }
      last = nil
    case .done: break
    }
    if step == .done, last != nil { step = .switching } else if step == .switching, last == nil { step = .done }
  }

  /// Whether it is not known if the memory can be read.
  private var mustReadBack: Bool { !isReadable && !before.isUnreadable && !before.added.isEmpty }

  private mutating func receiveOfLooking(_ outcome: Outcome) {
    if case .answered(let payload) = outcome {
      let there = Configuration.pairs(payload)
      found += there
      isReadable = true
      if there.count == ConfigurationWriter.mostItems, page < 4096 {
        page += UInt16(ConfigurationWriter.mostItems)
        return
      }
    }
    // A refusal is a group without an item there, or early firmware that does not let the memory be read.
    page = 0
    groups.removeFirst(min(groups.count, 1))
    guard groups.isEmpty else { return }
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

extension ConfigurationPair {
  /// All items of its group, in a question.
  fileprivate var group: UInt32 { id & 0x0FFF_0000 | 0xFFFF }
}
