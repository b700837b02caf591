// SPDX-License-Identifier: Apache-2.0
import HostSimulator
import Messages
import MonotonicTime
import Receiver
import ReceiverRuntime
import ReceiverStream

@testable import ReceiverSimulator
@testable import sextant

/// One part of the check in a session at a simulated receiver: the work of `CheckClient` without I/O.
struct CheckHost: HostMachine {
  private(set) var run: CheckRun
  private(set) var stored: StoredRecord
  private(set) var notices: [String] = []
  private(set) var isInterrupted = false
  /// Whether bytes were sent since the last round.
  private(set) var hasSent = false
  private var ticket: SessionTicket?
  /// Whether the end of the session was requested.
  private var isEnding = false

  init(_ run: CheckRun, _ stored: StoredRecord, rate: UInt32, at now: Instant) {
    (self.run, self.stored) = (run, stored)
    self.run.receive(.opened(path: CheckScene.path, rate: rate), on: CheckedLine(), at: now)
  }

  /// The stage, and its finding.
  var moment: String {
    "\(Mirror(reflecting: run.stage).children.first?.label ?? "\(run.stage)") \(run.stage.name ?? run.part.rawValue)"
  }

  var deadline: Instant? { isEnding ? nil : run.deadline }

  mutating func receive(_ bytes: [UInt8], at now: Instant) { unsafe run.receive(bytes.span.bytes, at: now) }

  mutating func receive(_ epoch: borrowing EpochAssembler.Report, _ sky: borrowing Sky, at now: Instant) {
    run.receive(epoch, at: now)
  }

  mutating func receive(_ action: SessionAction, from session: borrowing ReceiverSession, at now: Instant) {
    let line = CheckedLine(session)
    switch action {
    case .send(let bytes):
      stored.store(session)
      hasSent = true
      run.send(bytes, at: now)
    case .setRate(let rate): run.receive(.rate(rate), on: line, at: now)
    case .report(let report): run.receive(.session(report), on: line, at: now)
    case .finished(let finished, let outcome):
      if finished == ticket { run.receive(.finished(finished, outcome), on: line, at: now) }
    case .batch(let event): run.receive(.batch(event), on: line, at: now)
    }
  }

  mutating func lineLost(at now: Instant) { run.receive(.lost(path: CheckScene.path), on: CheckedLine(), at: now) }

  mutating func hostWoke(at now: Instant) { hasSent = false }

  mutating func endRound(of session: borrowing ReceiverSession, at now: Instant) {
    if !isEnding { run.endRound(on: CheckedLine(session), at: now) }
  }

  mutating func accept(_ ticket: SessionTicket) { self.ticket = ticket }

  mutating func commands(at now: Instant) -> [HostCommand]? {
    var commands: [HostCommand] = []
    while let action = run.nextAction() {
      switch action {
      case .submit(let command): commands.append(.submit(command))
      case .perform(let tasks, let values): commands.append(.perform(tasks, restoring: values))
      case .set(let desired): commands.append(.receiver(.set(desired)))
      case .sleep(let time): commands.append(.receiver(.sleep(time)))
      case .wakeUp: commands.append(.receiver(.wakeUp))
      case .retrieveBatch: commands.append(.receiver(.retrieveBatch(BatchJournal())))
      case .notify(let text): notices.append(text)
      }
    }
    if !isEnding, run.isOver || isInterrupted && !waitsForRun { commands += end() }
    return commands.isEmpty ? nil : commands
  }

  private var waitsForRun = true

  /// A signal, as the loop handles it.
  mutating func interrupt(at now: Instant) {
    isInterrupted = true
    waitsForRun = run.interrupt(at: now)
  }

  private mutating func end() -> [HostCommand] {
    isEnding = true
    return [.finish]
  }
}

extension CheckedLine {
  init(_ session: borrowing ReceiverSession) {
    self.init(
      isOpen: !session.isEnded, description: session.description, port: session.port, rate: session.rate,
      configuredRate: session.raisedRate?.found ?? session.rate)
  }
}

/// `sextant check` at a simulated receiver, in virtual time. A copy goes on by itself.
struct CheckScene {
  typealias Host = VirtualHost<CheckHost, VirtualLine>

  static let path = "receiver"
  /// The receiver is on, and through with its start.
  private static let start = Instant.zero + Milliseconds(6150)

  let model: ReceiverModel
  var sequence: CheckSequence
  var line: VirtualLine
  var now = CheckScene.start
  var stored = StoredRecord()
  private(set) var notices: [String] = []
  private let isUSB: Bool

  init(
    _ model: ReceiverModel, _ quirks: Set<Quirk> = [], restarts: Bool = false, isAtTerminal: Bool = false,
    isUSB: Bool = false, _ adapt: (inout VirtualLine) -> Void = { _ in }
  ) {
    (self.model, self.isUSB) = (model, isUSB)
    var scenario = Scenario(stayingAt: Place(latitudeDegrees: 48.1642, longitudeDegrees: 11.6056, altitudeMetres: 512))
    scenario.beginsHot = true
    scenario.quirks = quirks
    line = VirtualLine(model: model, scenario: scenario, startUTCSeconds: 1_780_000_000, hasRate: !isUSB)
    line.advance(to: Self.start)
    adapt(&line)
    sequence = CheckSequence(path: Self.path, restarts: restarts, isAtTerminal: isAtTerminal)
  }

  var settings: [String] { line.receiver.settingLines }
  var findings: [CheckFinding] { sequence.state.report.findings }
  var deviations: [String] { sequence.state.report.deviations.map(\.name) }
  var deviationTexts: [String] { sequence.state.report.deviations.map(\.text) }

  /// The settings in flash, without the baud rate, which some commands save; none of a u-blox receiver with messages of class CFG.
  struct Saved: Equatable {
    var family: ReceiverSimulator.FamilySettings?
    var items: [UInt32: UInt64] = [:]

    init(_ receiver: VirtualReceiver) {
      family = receiver.family?.stored
      family?.baudRate = 0
      if let items = receiver.configuration.items { self.items = items.flash }
    }
  }

  /// A moment of the check, from which a copy can go on in another way.
  struct Moment {
    var part: CheckPart
    var stage: String
    /// Whether the stage begins; else bytes were written.
    var isFirst: Bool
    /// Before the part.
    var before: CheckScene
    /// At the moment, when the process is killed.
    var killed: CheckScene

  }

  /// Makes all parts, and returns the first moment of each stage of each part, and of each write.
  static func moments(_ scene: CheckScene) -> [Moment] {
    var (scene, moments) = (scene, [Moment]())
    while let part = scene.sequence.next() {
      let before = scene
      var seen: Set<String> = []
      var writes = 0
      _ = scene.make(part) { host in
        let stage = host.machine.moment
        let isFirst = seen.insert(stage).inserted
        guard isFirst || host.sent != writes else { return }
        writes = host.sent
        var killed = before
        (killed.line, killed.now, killed.stored) = (host.line, host.now, host.machine.stored)
        moments.append(Moment(part: part, stage: stage, isFirst: isFirst, before: before, killed: killed))
      }
    }
    return moments
  }

  /// Makes all parts. `disturb` is called after each round. Returns the failure of the command.
  mutating func check(_ disturb: (Host) -> Void = { _ in }) -> CommandFailure? {
    while let part = sequence.next() {
      if part == .powerLoss {
        line.inject(.powerCycle(for: Milliseconds(10_000), losingBackup: false), at: now)
        pass(seconds: 15)
      }
      if let failure = make(part, disturb) { return failure }
    }
    return sequence.failure
  }

  /// Makes one part. Returns its failure; a process that was killed has none.
  mutating func make(_ part: CheckPart, _ disturb: (Host) -> Void = { _ in }) -> CommandFailure? {
    var settings = part.settings(of: sequence.state)
    if isUSB { settings.line = .usb }
    let run = CheckRun(part, sequence.state, path: Self.path, at: now)
    let host = Host(CheckHost(run, stored, rate: line.hostRate, at: now), line, settings: settings, at: now)
    host.run(1000) { host in
      disturb(host)
      return host.machine.run.isOver && !host.isOpen || host.machine.isInterrupted && !host.isOpen
    }
    (line, now, stored) = (host.line, host.now, host.machine.stored)
    notices += host.machine.notices
    if host.read({ $0.isRestored }) == true { stored.clear() }
    let failure = host.machine.run.failure
    sequence.receive(
      host.machine.run, isInterrupted: host.machine.isInterrupted, isOrderly: failure == nil, at: now)
    return failure
  }

  /// The next command that opens the receiver to send restores it. Returns whether the record is removed.
  mutating func restore() -> Bool {
    var settings = SessionSettings(intent: .identify, line: isUSB ? .usb : .serial)
    settings.desired = { _ in .nothing }
    stored.read(into: &settings)
    let host = VirtualHost(Idle(), line, settings: settings, at: now)
    host.run(90) { $0.isSteady }
    host.finish()
    (line, now) = (host.line, host.now)
    return host.read { $0.isRestored } == true
  }

  private struct Idle: HostMachine {}

  mutating func pass(seconds: Double) {
    now += Milliseconds(seconds: seconds)
    line.advance(to: now)
    _ = line.takeReceived()
  }
}
