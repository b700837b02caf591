import MonotonicTime
import UBX

/// Changes the rate of the line on both sides, and takes it back when the receiver is not heard at the new one.
///
///     (ask CFG-PRT, and insist on it) ─▶ tell the receiver ─▶ set our side ─▶ ask ── answered ──▶ changed
///                        ▲                                   └─ silent ─▶ set our side back ─▶ ask ─▶ failed
///                        └──────────────── where it has to be, so often as is left ─────────────┘
///
/// The acknowledgement may come at the old rate, at the new one or damaged; only an answer at the new rate counts
/// (interface descriptions, CFG-PRT). A raised rate is worth one attempt. One that is given back is told again: a single frame
/// that is lost would leave a receiver that its owner does not hear any more.
package struct PortRateChange: Sendable {
  package enum Action: Equatable { case send(Command), setRate(UInt32), finished(isChanged: Bool) }

  /// The rate from which on nothing waits for long, baud.
  private static let fastRate: UInt32 = 38_400

  private enum Step { case reading, insisting, sending, setting, polling, settingBack, pollingBack, changed, failed }

  private let from: UInt32
  package let to: UInt32
  private let port: ReceiverPortNumber?
  private let usesItems: Bool
  private var step: Step
  private var record: [UInt8] = []
  /// How often it may still be told.
  private var attemptsLeft: Int
  private let isRestored: Bool
  /// The port that CFG-PRT told.
  package var portFound: ReceiverPortNumber? { record.first.flatMap { ReceiverPortNumber(rawValue: $0) } }

  /// - Parameter isRestored: whether it is the rate that the receiver was found at, at the end.
  package init(from: UInt32, to: UInt32, port: ReceiverPortNumber?, usesItems: Bool, isRestored: Bool = false) {
    self.from = from
    self.to = to
    self.port = port
    self.usesItems = usesItems
    self.isRestored = isRestored
    attemptsLeft = isRestored ? 4 : 1
    step = usesItems ? .sending : .reading
  }

  package mutating func next() -> Action {
    switch step {
    case .reading: return .send(.poll(.cfgPRT))
    case .insisting:
      var command = Command.poll(.cfgPRT, [], times: 40)
      command.attempts = 2
      command.patience = Milliseconds(4000)
      return .send(command)
    case .sending:
      attemptsLeft -= 1
      return .send(sent())
    case .setting:
      step = .polling
      return .setRate(to)
    case .polling, .pollingBack:
      var command = Command.poll(.monVER)
      // A receiver changes its rate once what waits is sent: where a slow line is full, 8 kB take eight seconds at 9600 baud,
      // and nine attempts eleven.
      let isSlow = from < Self.fastRate
      command.attempts = isRestored ? 2 : step == .polling ? (isSlow ? 9 : 4) : 3
      return .send(command)
    case .settingBack:
      step = .pollingBack
      return .setRate(from)
    case .changed: return .finished(isChanged: true)
    case .failed: return .finished(isChanged: false)
    }
  }

  package mutating func receive(_ outcome: Outcome) {
    switch (step, outcome) {
    case (.reading, .answered(let payload)) where payload.count >= 20:
      record = payload
      step = .sending
    case (.insisting, .answeredAll(let answers)):
      record = answers[.cfgPRT] ?? []
      step = record.count >= 20 ? .sending : .failed
    case (.insisting, _): step = .failed
    // On a line that is full one of many answers finds room.
    case (.reading, .silent) where !isRestored && from < Self.fastRate: step = .insisting
    case (.reading, _): step = isRestored && takeAttempt() ? .reading : .failed
    case (.sending, _): step = .setting
    case (.polling, .answered): step = .changed
    case (.polling, _): step = .settingBack
    case (.pollingBack, _): step = attemptsLeft > 0 ? .sending : .failed
    case (.setting, _), (.settingBack, _), (.changed, _), (.failed, _): break
    }
  }

  /// A frame came at the rate that is set: that the answer is still on its way, behind all that fills a slow line, is no
  /// reason to wait for it. At the new rate all is done, at the old one it is told again. Whether it was waited for.
  package mutating func receiveFrame() -> Bool {
    switch step {
    case .polling: step = .changed
    case .pollingBack where attemptsLeft > 0: step = .sending
    default: return false
    }
    return true
  }

  private mutating func takeAttempt() -> Bool {
    attemptsLeft -= 1
    return attemptsLeft > 0
  }

  /// The command, not acknowledged at any rate that can be relied on; then the time that a receiver needs to start its
  /// port anew.
  private func sent() -> Command {
    var command: Command
    if usesItems {
      let key = (port ?? .uart1).rateKey ?? 0x4052_0001
      command = Configuration.valset([ConfigurationPair(id: key, bits: UInt64(to))], layers: 1)
    } else {
      var payload = record
      payload.set(u4: to, at: 8)
      command = Command(.cfgPRT, payload, answer: .none)
    }
    command.answer = .none
    command.pause = Milliseconds(120)
    return command
  }
}
