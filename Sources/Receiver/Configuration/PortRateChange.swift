// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import UBX

/// Changes the rate of both sides of the line, and changes it back if the receiver does not reply at the new rate.
///
///     (poll CFG-PRT, and insist on it) ─▶ set the receiver ─▶ set the line ─▶ poll ── reply ──▶ changed
///                        ▲                                            └─ silent ─▶ set the line back ─▶ poll ─▶ failed
///                        └──────────────── as long as attempts are left ────────────────────────────────┘
///
/// Where the command names a port and nothing tells which one the host is at, the ports that have the line's rate are tried: a receiver
/// that still replies at the old rate has changed another port, which gets its rate back.
///
///     poll the rate of each port ─▶ set a port that has the line's rate ─▶ … failed with a reply at the old rate ─▶ set it back ─▶ next port
///
/// The way back names the port that the way up has found: by then others can have the line's rate.
///
/// The acknowledgement may come at the old rate, at the new one, or damaged; only a reply at the new rate counts
/// (interface descriptions, CFG-PRT). Raising the rate is worth one attempt. Restoring it is repeated: one lost frame would
/// leave the receiver at a rate that its owner does not expect.
package struct PortRateChange: Sendable {
  package enum Action: Equatable { case send(Command), setRate(UInt32), finished(isChanged: Bool) }

  /// The number of attempts at the end.
  private static let restoringAttempts = 4
  /// The rate from which on queues are short, in baud.
  private static let fastRate: UInt32 = 38_400
  /// The time for a reply on a slower line: a receiver changes its rate once its queue is sent, and 8 kB take eight seconds at 9600 baud.
  private static let queueTime = Milliseconds(10_500)

  private enum Step: Equatable {
    case reading, insisting, sending, setting, polling, settingBack, pollingBack, changed, failed
    /// The rates of the receiver's ports are polled; a port that is not the host's gets its rate back.
    case readingPorts, undoing
    /// The logger of a receiver that restarts is stopped before, so that it keeps its records, and started again.
    case stoppingLog, startingLog(isChanged: Bool)
  }

  package let from: UInt32
  package let to: UInt32
  private let port: ReceiverPortNumber?
  private let usesItems: Bool
  private let family: ReceiverFamily?
  private let logger: LoggerCommands?
  private var step: Step
  private var record: [UInt8] = []
  /// The number of attempts left.
  private var attemptsLeft: Int
  private let isRestored: Bool
  /// The ports that the host may be at, and those whose rate is not polled yet.
  private var ports: [FamilyPort] = []
  private var unread: [FamilyPort] = []
  /// Whether the receiver replies neither at the new rate nor at the old one, and may have either.
  package private(set) var isReceiverLost = false
  /// The name of the family's port that was set last: the host's, once the receiver has the new rate.
  package var familyPort: String? { ports.first?.name }
  /// The port in CFG-PRT.
  package var portFound: ReceiverPortNumber? { record.first.flatMap { ReceiverPortNumber(rawValue: $0) } }

  /// - Parameters:
  ///   - isRestored: whether the end of a session restores the found rate.
  ///   - familyPort: the name of the family's port that the host is at; nil if it is not known.
  ///   - isLogging: whether the logger of a receiver of the family runs.
  package init(
    from: UInt32, to: UInt32, port: ReceiverPortNumber?, usesItems: Bool, isRestored: Bool = false,
    family: ReceiverFamily? = nil, familyPort: String? = nil, isLogging: Bool = false
  ) {
    self.family = family
    let logger = isLogging ? family?.language?.logger : nil
    self.logger = logger?.resumption == nil ? nil : logger
    self.from = from
    self.to = to
    self.port = port
    self.usesItems = usesItems
    self.isRestored = isRestored
    attemptsLeft = isRestored ? Self.restoringAttempts : 1
    step = usesItems || family != nil ? .sending : .reading
    // The family cannot, or not for this session alone.
    if let family, family.language?.rateChange(to: to) == nil { step = .failed }
    if port?.hasRate == false { step = .failed }
    if step == .sending, self.logger != nil { step = .stoppingLog }
    if step == .sending, let all = family?.language?.ports, !all.isEmpty {
      ports = all.filter { $0.name == familyPort }
      if ports.isEmpty {
        unread = all
        step = .readingPorts
      }
    }
  }

  package mutating func next() -> Action {
    switch step {
    case .reading: return .send(.poll(.cfgPRT))
    case .insisting: return .send(.poll(.cfgPRT, [], times: 40).with(attempts: 2, timeout: Milliseconds(4000)))
    case .readingPorts:
      guard let poll = unread.first?.poll else { return .finished(isChanged: false) }
      return .send(poll)
    case .stoppingLog, .startingLog:
      guard let logger, let start = logger.resumption else { return .finished(isChanged: false) }
      return .send(step == .stoppingLog ? logger.stop : start)
    case .sending:
      attemptsLeft -= 1
      return .send(rateCommand(to))
    case .undoing: return .send(rateCommand(from))
    case .setting:
      step = .polling
      return .setRate(to)
    case .polling, .pollingBack:
      var command = family?.language?.poll ?? .poll(.monVER)
      command.attempts = isRestored ? 2 : step == .pollingBack ? 3 : ports.count > 1 ? 2 : 4
      let waitsForQueue = !isRestored && step == .polling && ports.count <= 1 && from < Self.fastRate
      while waitsForQueue, command.longestSilence < Self.queueTime { command.attempts += 1 }
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
    case (.reading, .answered(let payload)) where payload.count >= 20: take(payload)
    case (.insisting, .answeredAll(let answers)): take(answers[.cfgPRT] ?? [])
    case (.insisting, _): step = .failed
    // On a full line one of many replies finds room.
    case (.reading, .silent) where !isRestored && from < Self.fastRate: step = .insisting
    case (.reading, _): step = isRestored && takeAttempt() ? .reading : .failed
    case (.readingPorts, _):
      readPort(outcome)
    case (.undoing, _):
      ports.removeFirst()
      attemptsLeft = 1
      step = ports.isEmpty ? .failed : .sending
    case (.stoppingLog, _): step = .sending
    case (.startingLog(let isChanged), _): step = isChanged ? .changed : .failed
    case (.sending, _): step = .setting
    case (.polling, _): step = outcome.isReply ? stepAfterChange : .settingBack
    // It still has the old rate at this port: the changed one is another.
    case (.pollingBack, let outcome) where !ports.isEmpty && attemptsLeft == 0 && outcome != .silent: step = .undoing
    case (.pollingBack, _):
      step = attemptsLeft > 0 ? .sending : .failed
      isReceiverLost = step == .failed && outcome == .silent
      if step == .failed, !isReceiverLost, logger != nil { step = .startingLog(isChanged: false) }
    case (.setting, _), (.settingBack, _), (.changed, _), (.failed, _): break
    }
  }

  /// Handles a frame at the present rate: the reply may be queued behind much else. At the new rate the change is done, at
  /// the old one it is sent again. Returns whether a reply was awaited.
  package mutating func receiveFrame() -> Bool {
    switch step {
    case .polling: step = stepAfterChange
    case .pollingBack where attemptsLeft > 0: step = .sending
    default: return false
    }
    return true
  }

  /// Takes CFG-PRT of the port, which has no rate at USB.
  private mutating func take(_ payload: [UInt8]) {
    record = payload
    step = record.count >= 20 && portFound?.hasRate == true ? .sending : .failed
  }

  private var stepAfterChange: Step { logger == nil ? .changed : .startingLog(isChanged: true) }

  private mutating func readPort(_ outcome: Outcome) {
    let port = unread.removeFirst()
    // A port without a reply may be the host's.
    var rate: UInt32?
    if case .answered(let reply) = outcome { rate = port.rate(from: reply) }
    if rate == nil || rate == from { ports.append(port) }
    guard unread.isEmpty else { return }
    // The time of the end is enough for one attempt at each port.
    if ports.count > 1 { attemptsLeft = 1 }
    step = ports.isEmpty ? .failed : .sending
  }

  private mutating func takeAttempt() -> Bool {
    attemptsLeft -= 1
    return attemptsLeft > 0
  }

  /// The command, without an acknowledgement, which has no certain rate: the receiver sends it, and all that follows, at the
  /// new one. The line follows when the command has left it: a port changes its rate also for bytes that it still has to send
  /// (TCSETS2).
  private func rateCommand(_ rate: UInt32) -> Command {
    var command: Command
    if let port = ports.first {
      command = .raw(port.change(to: rate))
    } else if let bytes = family?.language?.rateChange(to: rate) {
      command = .raw(bytes)
    } else if usesItems {
      let pairs = (port ?? .uart1).rateKey.map { [ConfigurationPair(id: $0, bits: UInt64(rate))] }
      command = Configuration.valset(pairs ?? [], layers: 1)
    } else {
      var payload = record
      payload.set(u4: rate, at: 8)
      command = Command(.cfgPRT, payload, answer: .none)
    }
    command.answer = .none
    let secondsOnLine = Double(command.bytes.count * Self.bitsOfByte) / Double(from)
    return command.with(pause: Milliseconds(seconds: secondsOnLine) + Self.adapterTime)
  }

  private static let bitsOfByte = 10
  /// The time until an adapter on USB has begun to send.
  private static let adapterTime = Milliseconds(5)
}
