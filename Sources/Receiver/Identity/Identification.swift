import MonotonicTime
import UBX

/// Asks a receiver who it is, what its chip's id is, and which of its ports is talked over: MON-VER, SEC-UNIQID and
/// MON-COMMS in one breath.
///
///     ask ── answered ──▶ ask for the id alone, where it has to have one ──▶ ask for the port again, where that is not
///      │                  and did not tell it: some hear only the first of     clear ──▶ done
///      │                  what comes in one breath
///      │           the line is full ─▶ insist on MON-VER, on what tells the port's rate, on MON-VER: again and again, until an
///      │                               answer finds room; the port's alone ─▶ done: it needs a faster line to say who it is
///      └─ silent ─▶ switch UBX on (only where it is proved to be a u-blox) ─▶ ask ─▶ …
///     a late MON-VER, to a question that was given up or of another program ─▶ ask for the rest ─▶ done
struct Identification: Sendable {
  private enum Step {
    case asking, insisting, insistingOnPort, insistingOnItem, insistingAgain, switchingOn, askingAgain
    case askingForRest, askingForID, askingForPort, done
  }

  /// The rate from which on a line has room for answers beside all that a receiver writes by itself, baud.
  private static let fastRate: UInt32 = 57_600

  /// An answer finds room just before an epoch, where the gap is some tens of milliseconds long: so many questions one behind
  /// the other take a third of a second at 9600 baud, longer than an epoch that fills such a line.
  private static let insistence = 40
  /// What is queued before an answer, 4 kB on most receivers, takes so long at 9600 baud.
  private static let insistingPatience = Milliseconds(4000)

  private var step = Step.asking
  private let isProved: Bool
  private let isRepeated: Bool
  private let rate: UInt32?
  private let wantsID: Bool
  private let mayRaiseRate: Bool
  /// What it answers, if only what is short, and so takes for its settings: the line has to be faster for the rest.
  private(set) var needsRoom: Language?

  /// In what a receiver is told its port's rate.
  enum Language { case messages, items }
  private var communication: [UInt8] = []

  /// Who it is; nil when it did not say.
  private(set) var description: ReceiverDescription?
  /// The port that is talked over; nil when it is not known.
  private(set) var port: ReceiverPortNumber?

  /// - Parameters:
  ///   - isProved: whether it is a u-blox receiver for sure, so that it may be told to speak UBX.
  ///   - isRepeated: whether it was asked all this before and did not answer: one look is enough then.
  ///   - port: the port, where the kind of line tells it.
  ///   - rate: the line's rate.
  ///   - wantsID: whether the chip's id is worth a question of its own: not where it was not told before.
  ///   - mayRaiseRate: whether a line that is full may be made faster.
  init(
    isProved: Bool, isRepeated: Bool = false, port: ReceiverPortNumber?, rate: UInt32?, wantsID: Bool = true,
    mayRaiseRate: Bool = false
  ) {
    self.mayRaiseRate = mayRaiseRate
    self.isProved = isProved
    self.isRepeated = isRepeated
    self.port = port
    self.rate = rate
    self.wantsID = wantsID
  }

  /// The answer to a question that was given up. Its receiver is known by its chip's id and its port as well.
  init(lateAnswer monVER: [UInt8], port: ReceiverPortNumber?, rate: UInt32?) {
    self.init(isProved: true, port: port, rate: rate)
    description = ReceiverDescription(monVER: monVER)
    step = .askingForRest
  }

  var isFinished: Bool { step == .done }

  func next() -> Command? {
    switch step {
    case .asking, .askingAgain:
      var command = Command.polls([.monVER, .secUNIQID, .monCOMMS])
      // A slow line that is full loses answers with all else that does not fit; a fast one that is asked in vain is
      // listened to all the while, so it is asked less.
      if rate ?? Self.fastRate >= Self.fastRate { command.attempts = isRepeated || step == .askingAgain ? 2 : 3 }
      return command
    case .insisting, .insistingAgain: return Self.insisting(on: .monVER, isLast: step == .insistingAgain)
    case .insistingOnPort: return Self.insisting(on: .cfgPRT)
    case .insistingOnItem: return Self.insisting(on: .cfgVALGET, Self.rateQuestion)
    case .askingForRest:
      var command = Command.polls([.secUNIQID, .monCOMMS])
      command.attempts = 2
      return command
    case .switchingOn:
      // PUBX,41 sets the protocols of the port without knowing the generation (interface descriptions, "PUBX,41");
      // the rate stays. UBX, NMEA and RTCM in, UBX and NMEA out.
      return .raw(Self.sentence("PUBX,41,1,0007,0003,\(rate ?? 9600),0"), pause: Milliseconds(150))
    case .askingForID:
      var command = Command.poll(.secUNIQID)
      command.attempts = 1
      return command
    case .askingForPort:
      var command = Command.poll(.monCOMMS)
      command.attempts = 2
      return command
    case .done: return nil
    }
  }

  /// - Parameters:
  ///   - outcome: how the last command ended.
  ///   - isLineFull: whether the line has no room for answers.
  mutating func receive(_ outcome: Outcome, isLineFull: Bool = false) {
    switch (step, outcome) {
    case (.asking, .answeredAll(let answers)), (.insisting, .answeredAll(let answers)),
      (.insistingOnPort, .answeredAll(let answers)), (.insistingOnItem, .answeredAll(let answers)),
      (.insistingAgain, .answeredAll(let answers)), (.askingAgain, .answeredAll(let answers)):
      guard let version = answers[.monVER] else { return goOn(answers, isLineFull: isLineFull) }
      description = ReceiverDescription(monVER: version)
      take(answers)
    case (.askingForRest, .answeredAll(let answers)): take(answers)
    case (.asking, _), (.insisting, _), (.insistingOnPort, _), (.insistingOnItem, _), (.insistingAgain, _):
      goOn([:], isLineFull: isLineFull)
    case (.switchingOn, _): step = .askingAgain
    case (.askingForID, .answered(let payload)):
      takeID(payload)
      step = isPortOpen ? .askingForPort : .done
    case (.askingForID, _): step = isPortOpen ? .askingForPort : .done
    case (.askingForPort, .answered(let payload)):
      port = communication.isEmpty ? Self.port(payload) : Self.port(before: communication, after: payload)
      step = .done
    case (.askingAgain, _), (.askingForRest, _), (.askingForPort, _), (.done, _): step = .done
    }
  }

  /// What it answered is not who it is.
  private mutating func goOn(_ answers: [MessageIdentity: [UInt8]], isLineFull: Bool) {
    // A late answer to an earlier question counts as well.
    needsRoom = step == .asking || step == .askingAgain ? nil : language(of: answers)
    if needsRoom != nil { return step = .done }
    switch step {
    case .asking where isLineFull && !isRepeated: step = .insisting
    case .insisting: step = mayRaiseRate ? .insistingOnPort : .insistingAgain
    case .insistingOnPort: step = .insistingOnItem
    case .insistingOnItem: step = .insistingAgain
    case .asking, .insistingAgain: step = isProved && !isRepeated && rate != nil ? .switchingOn : .done
    default: step = .done
    }
  }

  /// In what a receiver that told its port's rate can be told another.
  private func language(of answers: [MessageIdentity: [UInt8]]) -> Language? {
    guard mayRaiseRate else { return nil }
    if let payload = answers[.cfgPRT], payload.count >= 20 { return .messages }
    // A port with another rate is not the one that is talked over.
    let sent = answers[.cfgVALGET].flatMap { Configuration.pairs($0).first { $0.id == Self.rateKey }?.bits }
    return sent != nil && sent == rate.map { UInt64($0) } ? .items : nil
  }

  private static func insisting(on identity: MessageIdentity, _ selector: [UInt8] = [], isLast: Bool = false) -> Command
  {
    let answers = [identity] + [.monVER, .cfgPRT, .cfgVALGET].filter { $0 != identity }
    var command = Command.poll(identity, selector, times: insistence, answers: answers)
    command.attempts = 1
    // 8 kB that are queued take twice as long: who insists the last time waits for that.
    command.patience = isLast ? insistingPatience * 2 : insistingPatience
    return command
  }

  /// CFG-UART1-BAUDRATE: the rate of the port that most lines come from.
  private static let rateKey: UInt32 = 0x4052_0001
  /// CFG-VALGET of it in RAM.
  private static let rateQuestion: [UInt8] = [0, 0, 0, 0, 0x01, 0x00, 0x52, 0x40]

  private mutating func take(_ answers: [MessageIdentity: [UInt8]]) {
    if let payload = answers[.secUNIQID] { takeID(payload) }
    if needsPort, let payload = answers[.monCOMMS] {
      communication = payload
      port = Self.port(payload)
    }
    // SEC-UNIQID is there from protocol version 18 on (interface descriptions).
    let hasID = (description?.protocolVersion).map { $0 >= ProtocolVersion(18, 0) } ?? false
    step = wantsID && hasID && description?.uniqueID == nil ? .askingForID : isPortOpen ? .askingForPort : .done
  }

  /// Version 1 has five bytes of id, version 2 six, behind a version and three reserved bytes.
  private mutating func takeID(_ payload: [UInt8]) {
    if payload.count > 4 { description?.uniqueID = Array(payload[4...]) }
  }

  private var isPortOpen: Bool { needsPort && port == nil }

  /// CFG-PRT tells the port by itself; items have one key a port.
  private var needsPort: Bool { port == nil && description?.can(.valset) == true }

  /// The only port that has received bytes. Of a receiver that does not count them, though it has just been asked: the
  /// only one that has sent any.
  static func port(_ communication: [UInt8]) -> ReceiverPortNumber? {
    let ports = counts(communication)
    let used = ports.contains { $0.received > 0 } ? ports.filter { $0.received > 0 } : ports.filter { $0.sent > 0 }
    if used.count == 1 { return used[0].port }
    return ports.count == 1 ? ports[0].port : nil
  }

  /// The port on which more bytes came in meanwhile than on the others, or went out where none are counted that come in.
  static func port(before: [UInt8], after: [UInt8]) -> ReceiverPortNumber? {
    let first = counts(before)
    let grown = counts(after).map { now in
      let then = first.first { $0.port == now.port }
      return (
        port: now.port, received: now.received &- (then?.received ?? 0), sent: now.sent &- (then?.sent ?? 0)
      )
    }
    let most = grown.max { ($0.received, $0.sent) < ($1.received, $1.sent) }
    return most.flatMap { $0.received > 0 || $0.sent > 0 ? $0.port : nil }
  }

  /// MON-COMMS: 40 bytes a port from offset 8 on; of each portId at 0, txBytes at 4 and rxBytes at 12.
  private static func counts(
    _ payload: [UInt8]
  ) -> [(port: ReceiverPortNumber, received: UInt32, sent: UInt32)] {
    guard payload.count >= 8 else { return [] }
    return (0..<Int(payload[1])).compactMap { index in
      let at = 8 + 40 * index
      guard at + 40 <= payload.count, let port = ReceiverPortNumber(communication: payload.u2(at)) else { return nil }
      return (port, payload.u4(at + 12), payload.u4(at + 4))
    }
  }

  /// A sentence with its checksum and line end.
  private static func sentence(_ content: String) -> [UInt8] {
    let sum = content.utf8.reduce(0, ^)
    let digits = Array("0123456789ABCDEF".utf8)
    return Array("$\(content)*".utf8) + [digits[Int(sum >> 4)], digits[Int(sum & 15)], 13, 10]
  }
}
