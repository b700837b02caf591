// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
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
/// without it loses its settings; the session's settings are written again after the sleep. After a refused save the items of
/// all memories show what a start gives.
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

  enum Result: Sendable, Equatable {
    case kept
    /// - Parameter losesRAM: whether a start may not give all settings that RAM has, without those that the session has written.
    case refused(losesRAM: Bool)
    /// Without a reply it may have been executed.
    case silent
  }

  /// A memory, by its number in CFG-VALGET. A start takes an item from the last one that has it, except RAM.
  enum ItemLayer: UInt8, Sendable, CaseIterable { case defaults = 7, flash = 2, batteryBacked = 1, ram = 0 }

  private enum Step: Equatable {
    case reading, saving, readingBack, clearing, writing, verifying, switching, done
    case comparing(ItemLayer)
  }

  private var step: Step
  /// Items that were read, or that are still to be written.
  private var pairs: [ConfigurationPair] = []
  private var page: UInt16 = 0
  private let isUndoing: Bool
  /// The content before this host wrote there; with what was read, once that may have been overwritten.
  private(set) var before: Before
  /// The same with what was read, before anything is written.
  private var content: Before
  private(set) var result = Result.kept
  private let usesItems: Bool
  /// The settings that the session has written.
  private let own: [Setting]
  /// The items after a start, as far as they were read.
  private var start: [UInt32: UInt64] = [:]

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
  ///   - own: the settings that the session has written, and writes again after the sleep.
  ///   - last: the command after everything is stored.
  init(before: Before, usesItems: Bool, own: [Setting] = [], last: Command? = nil) {
    (self.usesItems, self.own) = (usesItems, own)
    self.before = before
    content = before
    self.last = last
    isUndoing = false
    step = usesItems && !before.isWhole ? .reading : .saving
    if step == .reading { content.knowledge = .complete }
  }

  /// Restores the memory, after the settings in RAM.
  init(undoing before: Before, usesItems: Bool) {
    (self.usesItems, own) = (usesItems, [])
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
    case .reading, .readingBack, .verifying: return poll(.batteryBacked)
    case .comparing(let layer): return poll(layer)
    case .saving: return Self.saving
    case .clearing: return Self.command(at: 0)
    case .writing:
      return Configuration.valset(Array(pairs.prefix(ConfigurationWriter.mostItems)), layers: Self.layer)
    case .switching: return last
    case .done: return nil
    }
  }

  /// A reply of 64 items has up to 776 bytes, which take 0.8 s at 9600 baud.
  private func poll(_ layer: ItemLayer) -> Command {
    var command = Configuration.valget([Self.allItems], layer: layer.rawValue, position: page)
    command.timeout = Milliseconds(1500)
    command.attempts = 3
    return command
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
      judge(outcome)
      if case .refused = outcome {
        // What cannot be stored cannot be restored either.
        isLastRefused = last != nil
        last = nil
        step = usesItems && !isUndoing ? .comparing(.defaults) : .done
      } else {
        before = beforeIfKilled
        step = before.knowledge == .emptyIfReadable && result == .kept ? .readingBack : .done
      }
    case .readingBack:
      step = .done
      switch outcome {
      case .answered:
        before.knowledge = .complete
        if isUndoing { step = .clearing }
      case .refused: before.knowledge = .incomplete
      default: break
      }
    case .comparing(let layer): receiveComparing(layer, outcome)
    case .clearing:
      judge(outcome)
      step = pairs.isEmpty ? .done : .writing
    case .writing:
      judge(outcome)
      pairs.removeFirst(min(pairs.count, ConfigurationWriter.mostItems))
      if pairs.isEmpty { step = .done }
    case .verifying: return receiveVerifying(outcome)
    case .switching:
      if case .refused = outcome { isLastRefused = true }
      last = nil
    case .done: break
    }
    if step == .done, isUndoing, case .refused = result, usesItems, before.knowledge != .incomplete {
      // A receiver that refuses this, as a locked one does, may have refused the save of a killed program too.
      (step, pairs) = (.verifying, [])
    }
    if step == .done, last != nil { step = .switching } else if step == .switching, last == nil { step = .done }
  }

  /// The first failure is the result.
  private mutating func judge(_ outcome: Outcome) {
    guard outcome != .acknowledged, result == .kept else { return }
    result = if case .refused = outcome { .refused(losesRAM: true) } else { .silent }
  }

  private mutating func receiveReading(_ outcome: Outcome) {
    switch readPage(outcome) {
    case .goesOn: return
    case .complete: break
    case .refused: content.knowledge = .emptyIfReadable
    // A part of the content cannot be restored.
    case .incomplete: content.knowledge = .incomplete
    }
    content.kept += pairs.filter { pair in !content.kept.contains { $0.id == pair.id } }
    pairs = []
    step = .saving
  }

  private mutating func receiveComparing(_ layer: ItemLayer, _ outcome: Outcome) {
    switch (readPage(outcome), layer) {
    case (.goesOn, _): return
    case (.complete, _): break
    // It is empty, or the receiver does not have it.
    case (.refused, .flash), (.refused, .batteryBacked): break
    case (.refused, _), (.incomplete, _):
      step = .done
      return
    }
    if layer == .ram {
      let written = own.compactMap { if case .item(let pair) = $0 { pair.id } else { nil } }
      let losesRAM = pairs.contains { start[$0.id] != $0.bits && !written.contains($0.id) }
      result = .refused(losesRAM: losesRAM)
    }
    for pair in pairs { start[pair.id] = pair.bits }
    pairs = []
    let next = ItemLayer.allCases.drop { $0 != layer }.dropFirst().first
    step = next.map { .comparing($0) } ?? .done
  }

  private mutating func receiveVerifying(_ outcome: Outcome) {
    let read = readPage(outcome)
    if read == .goesOn { return }
    step = .done
    let there = Dictionary(pairs.map { ($0.id, $0.bits) }) { $1 }
    let isSame = before.kept.allSatisfy { there[$0.id] == $0.bits }
    if read != .incomplete, isSame, !before.isWhole || there.count == before.kept.count { result = .kept }
  }

  private enum Page { case goesOn, complete, refused, incomplete }

  /// Adds a page of items to `pairs`.
  private mutating func readPage(_ outcome: Outcome) -> Page {
    let first = page
    page = 0
    switch outcome {
    case .answered(let payload):
      let there = Configuration.pairs(payload)
      pairs += there
      guard there.count == ConfigurationWriter.mostItems, first < 4096 else { return .complete }
      page = first + UInt16(ConfigurationWriter.mostItems)
      return .goesOn
    // A full page before this one was the last.
    case .refused: return first == 0 ? .refused : .complete
    default: return .incomplete
    }
  }
}
