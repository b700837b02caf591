import MonotonicTime
import UBX

/// Brings a receiver's settings to what is wished: asks what there is, writes only what differs, reads it back.
///
///     each CFG message:   ask ─▶ as wished? ── yes ──▶ next
///                                   └─ no ─▶ write ─▶ ask again ─▶ next
///     all items at once:  ask ─▶ write the different ones ─▶ ask again
///                          └─ refused: one by one, to find the ones it does not have
///
/// What was found is kept, and put back at an orderly end.
package struct Configuration: Sendable {
  /// What came of a setting.
  package enum Result: Sendable, Equatable {
    case wasThere, written, refused, silent, notVerified
  }

  /// What was found of a setting before it was written.
  package struct Found: Sendable, Equatable {
    var setting: Setting
  }

  private enum Step { case asking, writing, verifying }

  private var settings: [Setting]
  private let port: ReceiverPortNumber?
  /// Settings are known to differ: the receiver lost them. They are written at once and verified.
  private let writesAtOnce: Bool

  private var index = 0
  private var step: Step
  private var written: [UInt8] = []
  private var portNumber: Int
  private var writings = 0
  /// The items that are dealt with together; one each after a refusal.
  private var batch: [ConfigurationPair] = []
  private var different: [ConfigurationPair] = []
  private var isSingle = false

  /// What the settings were, in the order in which they were written.
  private(set) var found: [Found] = []
  private(set) var results: [Result] = []
  /// The settings that the receiver refused.
  private(set) var refused: [Setting] = []

  /// - Parameters:
  ///   - settings: what to set; CFG messages and items are not mixed.
  ///   - port: the port that is talked over, where known.
  ///   - writesAtOnce: whether to write without asking first.
  package init(_ settings: [Setting], port: ReceiverPortNumber?, writesAtOnce: Bool = false) {
    self.settings = settings
    self.port = port
    self.writesAtOnce = writesAtOnce
    portNumber = Int(port?.rawValue ?? 1)
    portFound = port
    step = .asking
    startBatch()
  }

  /// Whether the items were asked for again because not all of them were told.
  private var hasAskedAgain = false

  /// Whether all is dealt with.
  package var isFinished: Bool { index >= settings.count && batch.isEmpty }

  /// The port, once CFG-PRT told it.
  private(set) var portFound: ReceiverPortNumber?

  /// What to say next; nil when finished.
  package func next() -> Command? {
    if !batch.isEmpty { return nextOfItems() }
    guard index < settings.count, case .message(let identity, let selector, _) = settings[index] else { return nil }
    switch step {
    case .asking, .verifying: return .poll(identity, selector)
    case .writing:
      var command = Command(identity, written, answer: .acknowledgement)
      // A port that starts anew drops what is on its way.
      if identity == .cfgPRT { command.pause = Milliseconds(100) }
      return command
    }
  }

  /// How the last command ended.
  package mutating func receive(_ outcome: Outcome) {
    if batch.isEmpty { receiveOfMessage(outcome) } else { receiveOfItems(outcome) }
  }

  // MARK: CFG messages

  private mutating func receiveOfMessage(_ outcome: Outcome) {
    guard index < settings.count, case .message(let identity, let selector, let change) = settings[index] else {
      return
    }
    switch (step, outcome) {
    case (.asking, .answered(let payload)):
      if identity == .cfgPRT, let number = payload.first {
        portNumber = Int(number)
        portFound = ReceiverPortNumber(rawValue: number)
      }
      guard let wanted = change.applied(to: payload, identity, port: portNumber) else { return finish(.refused) }
      if change.isSame(wanted, payload, identity) { return finish(.wasThere) }
      found.append(Found(setting: .message(identity, selector: selector, change.undoing(payload))))
      written = wanted
      step = .writing
    case (.asking, _):
      // Not told, but a message's rate can be set without knowing the rates of the other ports.
      guard identity == .cfgMSG, case .messageRate(let rate) = change, case .silent = outcome else {
        return finish(outcome == .silent ? .silent : .refused)
      }
      written = selector + [rate]
      step = .writing
    case (.writing, .acknowledged):
      // What is put back at the end is not read once more, as the user waits; but for the port, without which nothing
      // that was put back counts.
      if writesAtOnce, identity != .cfgPRT { return finish(.written) }
      writings += 1
      step = .verifying
    case (.writing, .silent):
      finish(.silent)
    case (.writing, _):
      if writings == 0 { forgetFound(of: [settings[index]]) }
      finish(.refused)
    case (.verifying, .answered(let payload)):
      if change.isSame(payload, written, identity) || written.count == 3 { return finish(.written) }
      // Damage on the way has a right checksum too seldom to be it: an answer from before the write, or a clamp.
      guard writings < 2 else { return finish(.notVerified) }
      step = .writing
    case (.verifying, _):
      finish(.notVerified)
    }
  }

  /// What was refused is as it was, and is not put back.
  private mutating func forgetFound(of settings: [Setting]) {
    found.removeAll { found in settings.contains { $0.isOfSame(found.setting) } }
  }

  private mutating func finish(_ result: Result) {
    results.append(result)
    if result == .refused { refused.append(settings[index]) }
    index += 1
    writings = 0
    step = .asking
    startBatch()
  }

  // MARK: Items

  /// Takes the items that stand next in the list together, at the most as many as a message can hold.
  private mutating func startBatch() {
    guard batch.isEmpty, index < settings.count else { return }
    if writesAtOnce, case .message(_, _, .payload(let whole)) = settings[index] {
      written = whole
      step = .writing
    }
    guard case .item = settings[index] else { return }
    let most = isSingle ? 1 : ConfigurationWriter.mostItems
    while index < settings.count, batch.count < most, case .item(let pair) = settings[index] {
      batch.append(pair)
      index += 1
    }
    different = batch
    hasAskedAgain = false
    step = writesAtOnce ? .writing : .asking
  }

  private func nextOfItems() -> Command? {
    switch step {
    case .asking: Self.valget(batch)
    case .verifying: Self.valget(different)
    case .writing: Self.valset(different, layers: 1)
    }
  }

  private mutating func receiveOfItems(_ outcome: Outcome) {
    switch (step, outcome) {
    case (.asking, .answered(let payload)):
      let there = Self.pairs(payload)
      // The answer to an earlier question for fewer items, which was asked twice: what is not told could not be put back.
      let isWhole = batch.allSatisfy { wanted in there.contains { $0.id == wanted.id } }
      guard isWhole || hasAskedAgain else { return hasAskedAgain = true }
      different = batch.filter { wanted in !there.contains(wanted) }
      for pair in there where different.contains(where: { $0.id == pair.id }) {
        found.append(Found(setting: .item(pair)))
      }
      if different.isEmpty { return finishItems(.wasThere) }
      step = .writing
    case (.asking, .refused), (.writing, .refused):
      // The receiver does not say which: one by one.
      if step == .writing, writings == 0 { forgetFound(of: different.map { .item($0) }) }
      guard batch.count > 1 else {
        refused += batch.map { .item($0) }
        return finishItems(.refused)
      }
      index -= batch.count
      batch = []
      isSingle = true
      startBatch()
    case (.writing, .acknowledged):
      writings += 1
      step = .verifying
    case (.verifying, .answered(let payload)):
      let there = Self.pairs(payload)
      let left = different.filter { !there.contains($0) }
      if left.isEmpty { return finishItems(.written) }
      guard writings < 2 else { return finishItems(.notVerified) }
      different = left
      step = .writing
    case (.verifying, _):
      finishItems(.notVerified)
    default:
      finishItems(.silent)
    }
  }

  private mutating func finishItems(_ result: Result) {
    results.append(result)
    batch = []
    writings = 0
    startBatch()
  }

  /// The pairs of a CFG-VALGET answer.
  package static func pairs(_ payload: [UInt8]) -> [ConfigurationPair] {
    var pairs: [ConfigurationPair] = []
    var at = 4
    while at + 4 <= payload.count, let size = configurationValueSize(payload.u4(at)), at + 4 + size <= payload.count {
      var bits: UInt64 = 0
      for index in (0..<size).reversed() { bits = bits << 8 | UInt64(payload[at + 4 + index]) }
      pairs.append(ConfigurationPair(id: payload.u4(at), bits: bits))
      at += 4 + size
    }
    return pairs
  }

  package static func valget(_ pairs: [ConfigurationPair], layer: UInt8 = 0) -> Command {
    var payload: [UInt8] = [0, layer, 0, 0]
    for pair in pairs { payload += (0..<4).map { UInt8(truncatingIfNeeded: pair.id >> ($0 * 8)) } }
    return Command(.cfgVALGET, payload, answer: .message(.cfgVALGET))
  }

  package static func valset(_ pairs: [ConfigurationPair], layers: UInt8) -> Command {
    var payload: [UInt8] = [0, layers, 0, 0]
    for pair in pairs {
      payload += (0..<4).map { UInt8(truncatingIfNeeded: pair.id >> ($0 * 8)) }
      for index in 0..<(configurationValueSize(pair.id) ?? 0) {
        payload.append(UInt8(truncatingIfNeeded: pair.bits >> (index * 8)))
      }
    }
    return Command(.cfgVALSET, payload, answer: .acknowledgement)
  }
}
