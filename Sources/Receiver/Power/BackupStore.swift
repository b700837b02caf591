// SPDX-License-Identifier: Apache-2.0
import UBX

/// Stores the configuration in battery-backed memory, where it outlives sleep, and restores that memory.
///
///     items:         (read it, once) ─▶ save (CFG-CFG) ─▶ (read it back)   … at the end: clear, write what was there
///     CFG messages:  save (CFG-CFG)                                        … at the end: save the restored settings
///
/// A process that is killed before it reads the memory back leaves that to the next one's end: save, read it back, clear.
///
/// Standby and the off phases of power save mode lose RAM (interface descriptions, "power management"). The whole of RAM is
/// saved: other programs and their users have settings there too. The memory is written before sleep only. A receiver
/// without it loses its settings; the session's settings are written again after the sleep.
struct BackupStore: Sendable {
  /// The content of battery-backed memory before this host wrote there.
  struct Before: Sendable, Equatable {
    /// Items in the memory, with their values.
    var kept: [ConfigurationPair] = []
    var knowledge = Knowledge.complete
    /// Whether it was saved as a whole, by CFG-CFG.
    var isWhole = false

    enum Knowledge: Sendable {
      /// `kept` is the content.
      case complete
      /// Reading was refused: the memory was empty, or early firmware cannot read it. It was empty if it can be read after a save.
      case emptyIfReadable
      /// `kept` is not the content: the memory cannot be read, or a program stored settings there meanwhile.
      case incomplete
    }

    var isEmpty: Bool { kept.isEmpty && !isWhole }

    /// Whether the end saves the restored settings of RAM, instead of the content before.
    func endsWithRAM(usesItems: Bool) -> Bool { isWhole && (!usesItems || knowledge != .complete) }
  }

  private enum Step { case reading, saving, readingBack, clearing, writing, switching, done }

  private var step: Step
  /// Items that were read, or that are still to be written.
  private var pairs: [ConfigurationPair] = []
  private var page: UInt16 = 0
  private let isUndoing: Bool
  /// The content before this host wrote there; with what was read, once that may have been overwritten.
  private(set) var before: Before
  /// The same with what was read, before anything is written.
  private var content: Before
  /// Whether everything was accepted.
  private(set) var isKept = true

  /// The command after everything is stored.
  private var last: Command?
  /// Whether that command was refused, or not sent because storing was.
  private(set) var isLastRefused = false

  private static let layer: UInt8 = 1 << 1
  /// The key of all items, for a poll.
  private static let allItems: UInt32 = 0x0FFF_FFFF

  /// Stores the settings in force.
  ///
  /// - Parameters:
  ///   - before: the findings of an earlier store.
  ///   - usesItems: whether the receiver has configuration items.
  ///   - last: the command after everything is stored.
  init(before: Before, usesItems: Bool, last: Command? = nil) {
    self.before = before
    content = before
    self.last = last
    isUndoing = false
    step = usesItems && !before.isWhole ? .reading : .saving
    if step == .reading { content.knowledge = .complete }
  }

  /// Restores the memory, after the settings in RAM.
  init(undoing before: Before, usesItems: Bool) {
    self.before = before
    content = before
    isUndoing = true
    pairs = before.kept
    step =
      if before.endsWithRAM(usesItems: usesItems) {
        .saving
      } else if before.isWhole {
        .clearing
      } else {
        pairs.isEmpty ? .done : .writing
      }
  }

  /// The content before, if the process is killed now: the receiver may have executed a command without a reply.
  var beforeIfKilled: Before {
    guard step == .saving else { return before }
    var content = content
    content.isWhole = true
    return content
  }

  /// Whether the next command is the one after everything is stored.
  var isSwitching: Bool { step == .switching }

  /// Returns the next command; nil when finished.
  func next() -> Command? {
    switch step {
    case .reading, .readingBack:
      var payload: [UInt8] = [0, 1, 0, 0]
      payload.set(u2: page, at: 2)
      payload.append(u4: Self.allItems)
      return Command(.cfgVALGET, payload, answer: .message(.cfgVALGET))
    case .saving: return Self.saving
    case .clearing: return Self.command(at: 0)
    case .writing:
      return Configuration.valset(Array(pairs.prefix(ConfigurationWriter.mostItems)), layers: Self.layer)
    case .switching: return last
    case .done: return nil
    }
  }

  /// Saves the whole configuration to battery-backed memory alone (CFG-CFG).
  static var saving: Command { command(at: 4) }

  /// - Parameter mask: the offset of the mask: 0 clears, 4 saves.
  private static func command(at mask: Int) -> Command {
    var payload = [UInt8](repeating: 0, count: 13)
    payload.set(u4: CFGCFG.allSections, at: mask)
    payload[12] = CFGCFG.batteryBacked
    return Command(.cfgCFG, payload, answer: .acknowledgement)
  }

  /// Handles the outcome of the last command.
  mutating func receive(_ outcome: Outcome) {
    switch step {
    case .reading: receiveReading(outcome)
    case .saving:
      isKept = outcome == .acknowledged
      if case .refused = outcome {
        // What cannot be stored cannot be restored either.
        isLastRefused = last != nil
        last = nil
      } else {
        // Without a reply it may have been executed.
        before = beforeIfKilled
      }
      step = before.knowledge == .emptyIfReadable && isKept ? .readingBack : .done
    case .readingBack:
      step = .done
      switch outcome {
      case .answered:
        before.knowledge = .complete
        if isUndoing { step = .clearing }
      case .refused: before.knowledge = .incomplete
      default: break
      }
    case .clearing:
      isKept = outcome == .acknowledged
      step = pairs.isEmpty ? .done : .writing
    case .writing:
      isKept = isKept && outcome == .acknowledged
      pairs.removeFirst(min(pairs.count, ConfigurationWriter.mostItems))
      if pairs.isEmpty { step = .done }
    case .switching:
      if case .refused = outcome { isLastRefused = true }
      last = nil
    case .done: break
    }
    if step == .done, last != nil { step = .switching } else if step == .switching, last == nil { step = .done }
  }

  private mutating func receiveReading(_ outcome: Outcome) {
    switch outcome {
    case .answered(let payload):
      let there = Configuration.pairs(payload)
      pairs += there
      if there.count == ConfigurationWriter.mostItems, page < 4096 {
        page += UInt16(ConfigurationWriter.mostItems)
        return
      }
    // A full page before this one was the last.
    case .refused: if page == 0 { content.knowledge = .emptyIfReadable }
    // A part of the content cannot be restored.
    default: content.knowledge = .incomplete
    }
    content.kept += pairs.filter { pair in !content.kept.contains { $0.id == pair.id } }
    page = 0
    step = .saving
  }
}
