// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import UBX
import WireBytes

/// Brings a receiver's settings to the desired values: polls them, writes only the different ones, and verifies them.
///
///     each CFG message:   poll ─▶ as desired? ── yes ──▶ next
///                                    └─ no ─▶ write ─▶ verify ─▶ next
///     all items at once:  poll ─▶ write the different ones ─▶ verify
///                          └─ refused: one by one, to find the unknown ones
///
/// A write without an acknowledgement is verified too: the receiver may have it, and only the acknowledgement is lost.
///
/// A change of this host is restored without regard to a poll, whose reply may be from before the change:
///
///     write ─▶ next, or verify a port     refused (a locked configuration): poll ─▶ as restored, or refused
///
/// The values that were found are kept for the end of the session, which restores them.
package struct Configuration: Sendable {
  /// The result of one setting.
  package enum Result: Sendable, Equatable {
    case wasThere, written, refused, silent, notVerified
  }

  private enum Step {
    case polling, writing
    /// Of a message rate whose poll had no reply.
    case writingUnread
    case verifying
    /// A value that is restored was refused: the receiver may have it.
    case comparing
  }

  private var settings: [Setting]
  private let port: ReceiverPortNumber?
  /// Whether settings are written whatever a poll shows: they are known to differ.
  private let writesAtOnce: Bool
  private let arriving: Set<MessageIdentity>
  private let rate: UInt32?

  private var index = 0
  private var step: Step
  private var written: [UInt8] = []
  private var portNumber: Int
  private var writings = 0
  /// Whether the last write had no acknowledgement.
  private var isDoubtful = false
  /// The items of one message; one item each after a refusal.
  private var batch: [ConfigurationPair] = []
  private var different: [ConfigurationPair] = []
  private var isSingle = false

  /// The settings as they were found, in the order of writing.
  private(set) var found: [Setting] = []
  /// Rates that were written without a reply to their polls, as they presumably were.
  private var assumed: [Setting] = []
  /// The settings that restore the written ones.
  var undoing: [Setting] { found + assumed }
  /// The same while no write is in flight: the next one has changed nothing.
  var undoingWritten: [Setting] {
    let next: [Setting] =
      switch step {
      case .writing where writings == 0, .writingUnread: batch.isEmpty ? [settings[index]] : different.map { .item($0) }
      default: []
      }
    return undoing.filter { one in !next.contains { $0.isOfSame(one) } }
  }
  private(set) var results: [Result] = []
  /// The settings that the receiver refused.
  private(set) var refused: [Setting] = []

  /// - Parameters:
  ///   - settings: the desired settings, either all CFG messages or all items.
  ///   - port: the port of the line, if it is known.
  ///   - writesAtOnce: whether to write whatever a poll shows, as the end of a session does.
  ///   - arriving: the messages that the receiver sent before.
  ///   - rate: the rate of the line, in baud: a port that does not reply to a poll is restored with it.
  package init(
    _ settings: [Setting], port: ReceiverPortNumber?, writesAtOnce: Bool = false, arriving: Set<MessageIdentity> = [],
    rate: UInt32? = nil
  ) {
    self.settings = settings
    self.port = port
    self.writesAtOnce = writesAtOnce
    self.arriving = arriving
    self.rate = rate
    portNumber = Int(port?.rawValue ?? 1)
    portFound = port
    step = .polling
    startBatch()
  }

  /// Whether the items were polled again because the reply did not have all of them.
  private var hasPolledAgain = false

  /// The port, once CFG-PRT was received.
  private(set) var portFound: ReceiverPortNumber?

  /// Returns the next command; nil when finished.
  package func next() -> Command? {
    if !batch.isEmpty { return nextOfItems() }
    guard index < settings.count, case .message(let identity, let selector, _) = settings[index] else { return nil }
    switch step {
    case .polling, .verifying, .comparing: return .poll(identity, selector)
    case .writing, .writingUnread:
      let command = Command(identity, written, answer: .acknowledgement)
      // A port that restarts drops bytes on their way. It may be silent from now on, and its user without fixes: a poll shows soon whether
      // it has its protocols.
      return identity == .cfgPRT ? command.with(attempts: 2, pause: Milliseconds(100)) : command
    }
  }

  /// Handles the outcome of the last command.
  package mutating func receive(_ outcome: Outcome) {
    if batch.isEmpty { receiveOfMessage(outcome) } else { receiveOfItems(outcome) }
  }

  // MARK: CFG messages

  private mutating func receiveOfMessage(_ outcome: Outcome) {
    guard index < settings.count, case .message(let identity, let selector, let change) = settings[index] else {
      return
    }
    switch (step, outcome) {
    case (.polling, .answered(let payload)):
      if identity == .cfgPRT, let number = payload.first {
        portNumber = Int(number)
        portFound = ReceiverPortNumber(rawValue: number)
      }
      guard let wanted = change.applied(to: payload, identity, port: portNumber) else { return finish(.refused) }
      if !writesAtOnce, change.isSame(wanted, payload, identity) { return finish(.wasThere) }
      found.append(.message(identity, selector: selector, change.undoing(payload)))
      written = wanted
      step = .writing
    case (.polling, .silent) where writesAtOnce && identity == .cfgPRT:
      // A full line loses the reply, and not the write.
      guard case .portProtocols(let input, let output) = change,
        let whole = port?.protocols(input: input, output: output, rate: rate)
      else { return finish(.silent) }
      written = whole
      step = .writing
    case (.polling, _):
      // Without a reply, a message rate can be set without the rates of the other ports.
      guard identity == .cfgMSG, case .messageRate(let rate) = change, case .silent = outcome else {
        return finish(outcome == .silent ? .silent : .refused)
      }
      // A message that arrived was on: it is not switched off at the end, though its rate is not known.
      let wasOn = arriving.contains { settings[index].isRate(of: $0) }
      if wasOn != (rate > 0) {
        assumed.append(.message(identity, selector: selector, .payload(selector + [wasOn ? 1 : 0])))
      }
      written = selector + [rate]
      step = .writingUnread
    case (.writing, .acknowledged), (.writingUnread, .acknowledged):
      // The end does not verify what it restores, as the user waits, except the port: the others depend on it.
      if writesAtOnce, identity != .cfgPRT { return finish(.written) }
      verify(isDoubtful: false)
    case (.writing, .silent): verify(isDoubtful: true)
    case (.writingUnread, .silent):
      // A receiver that replies to nothing about a message does not know it: a u-blox 6 may ignore what it does not know.
      // A third request would have no reply either.
      assumed.removeAll { $0.isOfSame(settings[index]) }
      finish(.silent)
    case (.writing, _) where writesAtOnce: step = .comparing
    case (.writing, _), (.writingUnread, _):
      if writings == 0 { discardFound(of: [settings[index]]) }
      finish(.refused)
    case (.verifying, .answered(let payload)):
      if change.isSame(payload, written, identity) || written.count == 3 { return finish(.written) }
      // Not damage on the line, which has a right checksum too rarely: a reply from before the write, or a limited value.
      guard writings < mostWritings else { return finish(.notVerified) }
      step = .writing
    case (.verifying, _): finish(isDoubtful ? .silent : .notVerified)
    case (.comparing, .answered(let payload)):
      // A rate of the line's port alone.
      let wanted = written.count == 3 ? Setting.Change.messageRate(written[2]) : .payload(written)
      let isThere = wanted.applied(to: payload, identity, port: portNumber).map { change.isSame($0, payload, identity) }
      finish(isThere == true ? .wasThere : .refused)
    case (.comparing, _): finish(.refused)
    }
  }

  /// A write without an acknowledgement may be lost, which a second one may be too.
  /// At the end several replies to earlier polls can be on their way on a full line.
  private var mostWritings: Int { writesAtOnce ? 4 : isDoubtful ? 3 : 2 }

  private mutating func verify(isDoubtful: Bool) {
    writings += 1
    self.isDoubtful = isDoubtful
    step = .verifying
  }

  /// Discards findings of refused settings: they are unchanged.
  private mutating func discardFound(of settings: [Setting]) {
    found.removeAll { found in settings.contains { $0.isOfSame(found) } }
    assumed.removeAll { assumed in settings.contains { $0.isOfSame(assumed) } }
  }

  private mutating func finish(_ result: Result) {
    results.append(result)
    if result == .refused { refused.append(settings[index]) }
    index += 1
    writings = 0
    step = .polling
    startBatch()
  }

  // MARK: Items

  /// Takes the next items of the list, at most as many as one message can hold.
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
    hasPolledAgain = false
    step = writesAtOnce ? .writing : .polling
  }

  private func nextOfItems() -> Command? {
    switch step {
    case .polling: Self.valget(batch.map(\.id))
    case .verifying, .comparing: Self.valget(different.map(\.id))
    case .writing, .writingUnread: Self.valset(different, layers: 1)
    }
  }

  private mutating func receiveOfItems(_ outcome: Outcome) {
    switch (step, outcome) {
    case (.polling, .answered(let payload)):
      let there = Self.pairs(payload)
      // An incomplete reply is that to an earlier, repeated poll of fewer items: a missing value could not be restored.
      let isWhole = batch.allSatisfy { wanted in there.contains { $0.id == wanted.id } }
      guard isWhole || hasPolledAgain else { return hasPolledAgain = true }
      different = batch.filter { wanted in !there.contains(wanted) }
      for pair in there where different.contains(where: { $0.id == pair.id }) {
        found.append(.item(pair))
      }
      if different.isEmpty { return finishItems(.wasThere) }
      step = .writing
    case (.writing, .refused) where writesAtOnce: step = .comparing
    case (.comparing, .answered(let payload)):
      let there = Self.pairs(payload)
      let missing = different.filter { !there.contains($0) }
      if missing.isEmpty { return finishItems(.wasThere) }
      guard different.count > 1 else { return refuseItems() }
      different = missing
      divide()
    case (.polling, .refused), (.writing, .refused), (.comparing, _):
      // The reply does not contain the refused item: one by one. Those that the receiver has need no second poll.
      if step == .writing, writings == 0 { discardFound(of: different.map { .item($0) }) }
      refuseItems()
    case (.writing, .acknowledged): verify(isDoubtful: false)
    case (.writing, .silent): verify(isDoubtful: true)
    case (.verifying, .answered(let payload)):
      let there = Self.pairs(payload)
      let missing = different.filter { !there.contains($0) }
      if missing.isEmpty { return finishItems(.written) }
      guard writings < mostWritings else { return finishItems(.notVerified) }
      different = missing
      step = .writing
    case (.verifying, _):
      finishItems(isDoubtful ? .silent : .notVerified)
    default:
      finishItems(.silent)
    }
  }

  private mutating func refuseItems() {
    if different.count > 1 { return divide() }
    noteOthers()
    refused += different.map { .item($0) }
    finishItems(.refused)
  }

  /// Continues with one by one of the different items.
  private mutating func divide() {
    noteOthers()
    settings.insert(contentsOf: different.map { .item($0) }, at: index)
    batch = []
    writings = 0
    isSingle = true
    startBatch()
  }

  /// The other items of the batch need no write.
  private mutating func noteOthers() {
    if different.count < batch.count { results.append(writings == 0 ? .wasThere : .written) }
  }

  private mutating func finishItems(_ result: Result) {
    results.append(result)
    batch = []
    writings = 0
    step = .polling
    startBatch()
  }

  /// Returns the pairs of a CFG-VALGET reply.
  package static func pairs(_ payload: [UInt8]) -> [ConfigurationPair] {
    guard payload.count > 4 else { return [] }
    var pairs: [ConfigurationPair] = []
    var items = unsafe ConfigurationPairs(payload.span.bytes.part(4, payload.count - 4))
    while let pair = items.next() { pairs.append(pair) }
    return pairs
  }

  package static func valget(_ keys: [UInt32], layer: UInt8 = 0, position: UInt16 = 0) -> Command {
    let payload = [0, layer] + littleEndianBytes(position) + keys.flatMap(littleEndianBytes)
    return Command(.cfgVALGET, payload, answer: .message(.cfgVALGET))
  }

  package static func valset(_ pairs: [ConfigurationPair], layers: UInt8) -> Command {
    Command(.cfgVALSET, [0, layers, 0, 0] + pairs.flatMap(\.bytes), answer: .acknowledgement)
  }
}
