// SPDX-License-Identifier: Apache-2.0
import UBX

/// Stores the settings in battery-backed memory, where they outlive sleep, and restores that memory.
///
///     items:         read ─▶ write the different ones ─▶ read one back   … at the end: delete the added, restore the others
///     CFG messages:  save the present ones (CFG-CFG)                     … at the end: save the restored ones
///
/// Standby and the off phases of power save mode lose RAM (interface descriptions, "power management"). The memory is
/// written before sleep only. A receiver without it loses its settings; they are written again after the sleep.
struct BackupStore: Sendable {
  /// The content of battery-backed memory before this host wrote there.
  struct Before: Sendable, Equatable {
    /// Items in the memory, with their values.
    var kept: [ConfigurationPair] = []
    /// Items that were added.
    var added: [UInt32] = []
    /// Whether the memory cannot be read, so that some of `added` may have been there.
    var isUnreadable = false
    /// Whether it was saved as a whole, by CFG-CFG.
    var isWhole = false

    var isEmpty: Bool { kept.isEmpty && added.isEmpty && !isWhole }
  }

  private enum Step { case reading, writing, readingBack, deleting, saving, switching, done }

  private var step: Step
  private var pairs: [ConfigurationPair]
  private var keys: [UInt32]
  private var found: [ConfigurationPair] = []
  /// Groups of items that are not read yet, each with a poll of its own: the receiver refuses a poll with an empty group.
  private var groups: [UInt32] = []
  private var page: UInt16 = 0
  /// Whether the memory could be read.
  private var isReadable = false
  /// The content before, with what this store finds.
  private(set) var before: Before
  /// Whether everything was accepted.
  private(set) var isKept = true

  /// The command after everything is stored.
  private var last: Command?
  /// Whether that command was refused.
  private(set) var isLastRefused = false

  private static let layer: UInt8 = 1 << 1

  /// Stores settings.
  ///
  /// - Parameters:
  ///   - settings: the settings to store; CFG messages are saved as a whole.
  ///   - before: the findings of an earlier store.
  ///   - last: the command after everything is stored.
  init(_ settings: [Setting], before: Before, last: Command? = nil) {
    self.last = last
    pairs = settings.compactMap { if case .item(let pair) = $0 { pair } else { nil } }
    keys = []
    for pair in pairs where !groups.contains(pair.group) { groups.append(pair.group) }
    self.before = before
    step = settings.isEmpty ? .done : pairs.isEmpty ? .saving : .reading
  }

  /// Restores the memory, after the settings in RAM.
  ///
  /// - Parameter inForce: the settings with which the receiver was found. Memory that cannot be read gets them, so that the
  ///   receiver starts next time as it was found.
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

  /// The content before, if the process is killed now: the receiver may have executed a command without a reply.
  var beforeIfKilled: Before {
    var before = before
    if step == .saving { before.isWhole = true }
    return before
  }

  /// Returns the next command; nil when finished.
  func next() -> Command? {
    switch step {
    case .reading: return poll(groups.first ?? 0)
    case .readingBack: return poll(pairs.first?.id ?? 0)
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

  private func poll(_ key: UInt32) -> Command {
    var payload: [UInt8] = [0, 1, 0, 0]
    payload.set(u2: page, at: 2)
    payload.append(u4: key)
    return Command(.cfgVALGET, payload, answer: .message(.cfgVALGET))
  }

  /// Saves ports, messages, navigation and receiver manager to battery-backed memory alone (CFG-CFG).
  static var saving: Command {
    var payload = [UInt8](repeating: 0, count: 13)
    payload.set(u4: 0b1_1011, at: 4)
    payload[12] = 1
    return Command(.cfgCFG, payload, answer: .acknowledgement)
  }

  /// Handles the outcome of the last command.
  mutating func receive(_ outcome: Outcome) {
    switch step {
    case .reading: receiveReading(outcome)
    case .writing:
      isKept = isKept && outcome == .acknowledged
      let written = pairs.prefix(ConfigurationWriter.mostItems)
      pairs.removeFirst(written.count)
      guard pairs.isEmpty else { break }
      step = .done
      // The memory was empty or cannot be read: the written item shows which.
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

  /// Whether it is unknown that the memory can be read.
  private var mustReadBack: Bool { !isReadable && !before.isUnreadable && !before.added.isEmpty }

  private mutating func receiveReading(_ outcome: Outcome) {
    if case .answered(let payload) = outcome {
      let there = Configuration.pairs(payload)
      found += there
      isReadable = true
      if there.count == ConfigurationWriter.mostItems, page < 4096 {
        page += UInt16(ConfigurationWriter.mostItems)
        return
      }
    }
    // A refusal means an empty group, or early firmware that cannot read the memory.
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
  /// The key of its whole group, for a poll.
  fileprivate var group: UInt32 { id & 0x0FFF_0000 | 0xFFFF }
}
