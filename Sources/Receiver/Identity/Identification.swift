// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import NMEA
import UBX

/// Polls the identity of a receiver, the id of its chip, and the port that the line is connected to: MON-VER, SEC-UNIQID
/// and MON-COMMS in one write.
///
///     polling ── replies ──▶ poll the id alone, if one is missing:  ──▶ poll the port again, if it is ambiguous ──▶ done
///      │                     some receivers read only the first of
///      │                     several polls
///      ├─ full line ─▶ insist on MON-VER, (with UBX output on,) on the port's rate by its item and by CFG-PRT, on MON-VER:
///      │               many polls at once, until a reply finds room; only the port's rate replied ─▶ done: the identity
///      │               needs a faster line
///      └─ silent ─▶ switch UBX output on by items and poll, in one write (only if it can be a u-blox receiver)
///            └─ silent ─▶ the same by CFG-PRT, for receivers before protocol version 27
///                  └─ silent ─▶ switch UBX on by PUBX,41 (only if it is proved to be one) ─▶ poll ─▶ …
///     a late MON-VER, to an earlier poll or to one of another program ─▶ poll the rest ─▶ done
struct Identification: Sendable {
  private enum Step: Equatable {
    case polling, insisting(on: Question), switchingItemOn, switchingMessageOn, switchingOn, pollingAgain
    case pollingOthers, pollingID, pollingPort, done
  }

  /// The polls on a full line: MON-VER, the rate of the port by its item and by CFG-PRT, and MON-VER a last time.
  private enum Question { case identity, rateItem, ratePort, identityAgain }

  /// The rate from which on a line has room for replies beside periodic messages, in baud.
  private static let fastRate: UInt32 = 57_600

  /// The number of polls in one write. A reply finds room in the gap of some tens of milliseconds before an epoch; this many
  /// polls take a third of a second at 9600 baud, longer than an epoch that fills such a line.
  private static let insistence = 40
  /// The time of the queue before a reply at 9600 baud: 4 kB on most receivers.
  private static let insistingTimeout = Milliseconds(4000)

  private var step = Step.polling
  private let isProved: Bool
  /// The port whose UBX output was switched on.
  private(set) var switchedPort: ReceiverPortNumber?
  /// Whether it was switched on by CFG-PRT in this round, after items had no effect.
  private var isSwitchedByMessage = false
  private var isLineFull = false
  private let isRepeated: Bool
  private let rate: UInt32?
  private let wantsID: Bool
  private let mayRaiseRate: Bool
  /// The language of a receiver that replied only to short polls: the line has to be faster for its identity.
  private(set) var needsRoom: Language?

  /// How a receiver's port gets another rate.
  enum Language { case messages, items }
  private var communication: [UInt8] = []

  /// The description; nil without a reply.
  private(set) var description: ReceiverDescription?
  /// The port that the line is connected to; nil if it is unknown.
  private(set) var port: ReceiverPortNumber?
  /// The setting of the port whose UBX output was off when it was found; nil if it was on.
  var foundSilent: Setting? {
    guard let switchedPort, let description, port ?? switchedPort == switchedPort else { return nil }
    let usesItems = description.can(.valset)
    // A receiver without items that replies without CFG-PRT, or later, has its UBX output on: other replies were lost.
    guard usesItems || isSwitchedByMessage else { return nil }
    return switchedPort.withoutUBXOutput(usesItems: usesItems)
  }
  /// The settings before a change, for a receiver that has not replied: of one with items, and of one without.
  var foundOfUnidentified: [Setting] {
    guard let switchedPort else { return [] }
    return (isSwitchedByMessage ? [true, false] : [true]).map { switchedPort.withoutUBXOutput(usesItems: $0) }
  }

  /// - Parameters:
  ///   - isProved: whether it is a u-blox receiver for sure, so that UBX may be switched on by PUBX,41.
  ///   - switchedPort: the port whose UBX output an earlier round has switched on without a reply.
  ///   - isRepeated: whether earlier polls had no reply: one round is enough then.
  ///   - port: the port, if the line determines it.
  ///   - rate: the rate of the line, in baud.
  ///   - wantsID: whether the chip's id is worth a poll of its own: not if the receiver has none.
  ///   - mayRaiseRate: whether the rate of a full line may be raised.
  init(
    isProved: Bool, switchedPort: ReceiverPortNumber? = nil, isRepeated: Bool = false, port: ReceiverPortNumber?,
    rate: UInt32?, wantsID: Bool = true,
    mayRaiseRate: Bool = false
  ) {
    self.mayRaiseRate = mayRaiseRate
    self.isProved = isProved
    self.switchedPort = switchedPort
    self.isRepeated = isRepeated
    self.port = port
    self.rate = rate
    self.wantsID = wantsID
  }

  /// Begins with a late reply; the id of the chip and the port are still polled.
  init(
    lateAnswer monVER: [UInt8], switchedPort: ReceiverPortNumber?, port: ReceiverPortNumber?, rate: UInt32?
  ) {
    self.init(isProved: true, switchedPort: switchedPort, port: port, rate: rate)
    description = ReceiverDescription(monVER: monVER)
    step = .pollingOthers
  }

  func next() -> Command? {
    switch step {
    case .polling, .pollingAgain:
      // A slow full line loses replies with everything else that does not fit. A fast line is polled less often.
      let isFast = rate ?? Self.fastRate >= Self.fastRate
      return .polls([.monVER, .secUNIQID, .monCOMMS])
        .with(attempts: isFast ? isRepeated || step == .pollingAgain ? 2 : 3 : nil)
    case .insisting(let question): return Self.command(question)
    case .pollingOthers: return .polls([.secUNIQID, .monCOMMS]).with(attempts: 2)
    case .switchingItemOn, .switchingMessageOn:
      // Without UBX output no ACK-ACK is sent either: only a reply to the polls in the same write shows that the item was
      // set (M10 SPG 5.10 interface description, "CFG-UART1OUTPROT").
      var command = isLineFull ? Self.insisting(on: .monVER) : .polls([.monVER, .secUNIQID, .monCOMMS])
      let usesItems = step == .switchingItemOn
      if let bytes = switchedPort?.switchingUBXOutput(true, usesItems: usesItems, rate: rate) {
        command.bytes = bytes + command.bytes
      }
      return command.with(attempts: isLineFull ? 1 : 2)
    case .switchingOn:
      // PUBX,41 sets the protocols of the port of any generation (interface descriptions, "PUBX,41");
      // the rate stays. UBX, NMEA and RTCM in, UBX and NMEA out.
      return .raw(sentenceBytes("PUBX,41,1,0007,0003,\(rate ?? 9600),0"), pause: Milliseconds(150))
    case .pollingID: return .poll(.secUNIQID).with(attempts: 1)
    case .pollingPort:
      // X20 replies with its next second (recorded: up to 0.93 s after the poll).
      return .poll(.monCOMMS).with(
        attempts: 2, timeout: description?.generation == .x20 ? Milliseconds(1100) : nil)
    case .done: return nil
    }
  }

  /// - Parameters:
  ///   - outcome: the outcome of the last command.
  ///   - isLineFull: whether the line has no room for replies.
  ///   - mayHaveNoUBXOutput: whether it can be a u-blox receiver and has sent no UBX message.
  mutating func receive(_ outcome: Outcome, isLineFull: Bool = false, mayHaveNoUBXOutput: Bool = false) {
    self.isLineFull = isLineFull
    if mayHaveNoUBXOutput, !isRepeated, switchedPort == nil, outcome == .silent,
      step == (isLineFull ? .insisting(on: .identity) : .polling)
    {
      switchedPort = port ?? .uart1
      step = .switchingItemOn
      return
    }
    switch (step, outcome) {
    case (.polling, .answeredAll(let answers)), (.insisting, .answeredAll(let answers)),
      (.pollingAgain, .answeredAll(let answers)), (.switchingItemOn, .answeredAll(let answers)),
      (.switchingMessageOn, .answeredAll(let answers)):
      guard let version = answers[.monVER] else { return goOn(answers, isLineFull: isLineFull) }
      description = ReceiverDescription(monVER: version)
      take(answers)
    case (.pollingOthers, .answeredAll(let answers)): take(answers)
    case (.switchingItemOn, _) where switchedPort?.switchingUBXOutput(true, usesItems: false, rate: rate) != nil:
      isSwitchedByMessage = true
      step = .switchingMessageOn
    case (.polling, _), (.insisting, _), (.switchingItemOn, _), (.switchingMessageOn, _):
      goOn([:], isLineFull: isLineFull)
    case (.switchingOn, _): step = .pollingAgain
    case (.pollingID, .answered(let payload)):
      takeID(payload)
      step = isPortOpen ? .pollingPort : .done
    case (.pollingID, _): step = isPortOpen ? .pollingPort : .done
    case (.pollingPort, .answered(let payload)):
      port = communication.isEmpty ? Self.port(payload) : Self.port(before: communication, after: payload)
      step = .done
    case (.pollingAgain, _), (.pollingOthers, _), (.pollingPort, _), (.done, _): step = .done
    }
  }

  /// Continues without MON-VER.
  private mutating func goOn(_ answers: [MessageIdentity: [UInt8]], isLineFull: Bool) {
    // A late reply to an earlier poll counts as well.
    needsRoom = step == .polling || step == .pollingAgain ? nil : language(of: answers)
    if needsRoom != nil { return step = .done }
    switch step {
    case .polling where isLineFull && !isRepeated: step = .insisting(on: .identity)
    case .insisting(on: .identity): step = .insisting(on: mayRaiseRate ? .rateItem : .identityAgain)
    case .insisting(on: .rateItem): step = .insisting(on: .ratePort)
    case .insisting(on: .ratePort): step = .insisting(on: .identityAgain)
    case .switchingItemOn where isLineFull, .switchingMessageOn where isLineFull:
      step = .insisting(on: mayRaiseRate ? .rateItem : .identityAgain)
    case .polling, .switchingItemOn, .switchingMessageOn, .insisting(on: .identityAgain):
      step = isProved && !isRepeated && rate != nil ? .switchingOn : .done
    default: step = .done
    }
  }

  /// The language of a receiver that replied with the rate of its port. The item counts first: firmware that is configured by
  /// items alone replies to a poll of CFG-PRT too (recorded: M10, SPG 5.10).
  private func language(of answers: [MessageIdentity: [UInt8]]) -> Language? {
    guard mayRaiseRate else { return nil }
    // A port with another rate is not the port of this line.
    let sent = answers[.cfgVALGET].flatMap { Configuration.pairs($0).first { $0.id == Self.rateKey }?.bits }
    if sent != nil, sent == rate.map({ UInt64($0) }) { return .items }
    guard let port = answers[.cfgPRT], port.count >= 20 else { return nil }
    return ReceiverPortNumber(rawValue: port[0])?.hasRate == true ? .messages : nil
  }

  private static func command(_ question: Question) -> Command {
    switch question {
    case .identity: return insisting(on: .monVER)
    case .identityAgain: return insisting(on: .monVER, isLast: true)
    case .ratePort: return insisting(on: .cfgPRT)
    case .rateItem:
      var command = insisting(on: .cfgVALGET, ratePoll)
      // A receiver without items refuses the poll.
      command.companions = [.cfgVALGET]
      return command
    }
  }

  private static func insisting(on identity: MessageIdentity, _ selector: [UInt8] = [], isLast: Bool = false) -> Command
  {
    let answers = [identity] + [.monVER, .cfgPRT, .cfgVALGET].filter { $0 != identity }
    // A queue of 8 kB takes twice as long; the last attempt waits for that.
    return .poll(identity, selector, times: insistence, answers: answers)
      .with(attempts: 1, timeout: isLast ? insistingTimeout * 2 : insistingTimeout)
  }

  /// CFG-UART1-BAUDRATE: the port of most lines.
  private static let rateKey: UInt32 = 0x4052_0001
  /// Its CFG-VALGET payload for RAM.
  private static let ratePoll: [UInt8] = [0, 0, 0, 0, 0x01, 0x00, 0x52, 0x40]

  private mutating func take(_ answers: [MessageIdentity: [UInt8]]) {
    if let payload = answers[.secUNIQID] { takeID(payload) }
    if needsPort, let payload = answers[.monCOMMS] {
      communication = payload
      port = Self.port(payload)
    }
    // SEC-UNIQID exists from protocol version 18 on (interface descriptions).
    let hasID = (description?.protocolVersion).map { $0 >= ProtocolVersion(18, 0) } ?? false
    step = wantsID && hasID && description?.uniqueID == nil ? .pollingID : isPortOpen ? .pollingPort : .done
  }

  /// SEC-UNIQID: a version, three reserved bytes, then five bytes of id in version 1 and six in version 2.
  private mutating func takeID(_ payload: [UInt8]) {
    if payload.count > 4 { description?.uniqueID = Array(payload[4...]) }
  }

  private var isPortOpen: Bool { needsPort && port == nil }

  /// CFG-PRT contains the port; items have one key for each port.
  private var needsPort: Bool { port == nil && description?.can(.valset) == true }
}
