// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import PowerControl
import Receiver
import ReceiverPower
import ReceiverSimulator
import ReceiverStream
import Testing

/// A coordinator with a session at a virtual receiver's line, in virtual time: the driver's work without a machine.
final class Scene {
  static let start: Int64 = 1_780_000_000

  var line: VirtualLine
  private(set) var coordinator: PowerCoordinator
  private(set) var now = Instant.zero
  private var held: Held?
  /// The session in a wrapper, because an optional of the session itself cannot be borrowed through.
  private struct Held: ~Copyable { var session: ReceiverSession }
  private var memory: SessionMemory?
  private let intent: SessionSettings.Intent
  private var isOpen = true
  private var nextOpening = Instant.zero

  /// Fixes with a position, in the order of delivery.
  private(set) var fixes: [(at: Instant, time: UTCTime, isBatched: Bool)] = []
  /// The same, and those without a date.
  private(set) var positions = 0
  private(set) var commands: [(at: Instant, command: ReceiverCommand)] = []
  private(set) var reports: [(at: Instant, report: PowerReport)] = []
  private(set) var sessionReports: [SessionReport] = []
  private(set) var losses: [BatchLoss: Int] = [:]
  private(set) var startedAnew = 0
  private(set) var receivedBytes = 0
  private(set) var sentBytes = 0
  /// The number of wake-ups of the host.
  private(set) var hostWakeUps = 0
  /// The journal that a process that dies now would leave.
  private(set) var journal: BatchJournal?

  init(
    _ model: ReceiverModel, scenario: Scenario = Scenario(), intent: SessionSettings.Intent = .serve,
    policy: PowerPolicy = .standard,
    supply: ReceiverCapabilities.PowerSwitch = .none, seed: UInt64 = 1
  ) {
    line = VirtualLine(model: model, scenario: scenario, seed: seed, startUTCSeconds: Self.start)
    line.hostRate = 9600
    self.intent = intent
    now = Instant.zero + Milliseconds(4000)
    line.advance(to: now)
    _ = line.takeReceived()
    coordinator = PowerCoordinator(policy: policy, isReadOnly: intent == .readOnly, supply: supply, at: now)
  }

  var isAsleep: Bool { line.receiver.powerState == .standby }
  var isSilent: Bool { coordinator.isSilenceWanted }
  /// The session's configuration; nil while the line is not read.
  var desired: DesiredConfiguration? { held == nil ? nil : held!.session.desired }
  var chargeMilliampereSeconds: Double { line.receiver.chargeMilliampereSeconds }

  func demand(_ demand: Demand?, of id: UInt64 = 1) { post(.demand(ClientID(id), demand)) }

  func inject(_ fault: Fault) {
    line.inject(fault, at: now)
    plug()
    work()
  }

  func post(_ event: PowerEvent) {
    coordinator.handle(event, at: now)
    work()
  }

  func clearFixes() { fixes = [] }

  func reported(_ report: PowerReport) -> Int { reports.count { $0.report == report } }

  /// The process dies and another starts with the stored journal.
  func dieAndReturn() {
    held = nil
    memory = nil
    isOpen = true
    nextOpening = now
    coordinator = PowerCoordinator(isReadOnly: intent == .readOnly, at: now)
    if let journal { coordinator.expectLeftover(journal) }
  }

  /// Ends in order; returns the seconds that it took.
  func finish() -> Double {
    let from = now
    if held != nil { held!.session.finish(at: now) }
    drainSession()
    run(20) { $0.held == nil || $0.held!.session.isEnded }
    return now.seconds(since: from)
  }

  @discardableResult
  func run(_ seconds: Double, until condition: (Scene) -> Bool = { _ in false }) -> Bool {
    let end = now + Milliseconds(seconds: seconds)
    var rounds = 0
    while now < end {
      step(before: end)
      if condition(self) { return true }
      rounds += 1
      if rounds > 2_000_000 {
        Issue.record("endless loop at \(now): \(commands.suffix(4)), \(sessionReports.suffix(4))")
        return false
      }
    }
    return condition(self)
  }

  private func step(before end: Instant) {
    var next = Instant.earlier(line.deadline, end) ?? end
    let host = hostDeadline
    next = Instant.earlier(next, host) ?? next
    let wasAt = now
    now = max(now, next)
    line.advance(to: now)
    plug()
    let bytes = line.takeReceived()
    guard held != nil else {
      if let host, now >= host { coordinator.wake(at: now) }
      return work()
    }
    if !bytes.isEmpty {
      receivedBytes += bytes.count
      hostWakeUps += 1
      unsafe held!.session.receive(bytes.span.bytes, at: now) { report, sky in
        coordinator.receive(report.fix, sky: sky, isUpdate: report.isUpdate, at: now)
      }
    }
    if let host, now >= host {
      if bytes.isEmpty { hostWakeUps += 1 }
      if let due = held!.session.deadline, now >= due {
        held!.session.wake(at: now) { report, sky in
          coordinator.receive(report.fix, sky: sky, isUpdate: report.isUpdate, at: now)
        }
      }
      if let due = coordinator.deadline, now >= due { coordinator.wake(at: now) }
    }
    work()
    if let again = hostDeadline, again <= now, wasAt == now { now = now + Milliseconds(1) }
  }

  private var hostDeadline: Instant? {
    var next = coordinator.deadline
    if held == nil { return isOpen ? Instant.earlier(next, nextOpening) : next }
    next = .earlier(next, held!.session.deadline)
    return next
  }

  /// The driver's part when the device goes and comes.
  private func plug() {
    if held != nil, !line.isPresent {
      held!.session.lost { report, sky in
        coordinator.receive(report.fix, sky: sky, isUpdate: report.isUpdate, at: now)
      }
      drainSession()
      memory = held!.session.memory
      held = nil
      coordinator.lost(at: now)
      nextOpening = now + Milliseconds(500)
    } else if held == nil, isOpen, now >= nextOpening {
      nextOpening = now + Milliseconds(500)
      guard line.isPresent else { return }
      var settings = SessionSettings(intent: intent, line: .serial)
      settings.memory = memory
      settings.desired = { .saving(for: $0) }
      _ = line.takeReceived()
      let time = UTCTime(nanosecondsSince1970: line.receiver.utcMilliseconds(at: now) * 1_000_000)
      held = Held(session: ReceiverSession(settings, lineRate: line.hostRate, reference: time, now: now))
    }
  }

  /// Works until neither side has anything to do.
  private func work() {
    for _ in 0..<64 {
      drainSession()
      var isIdle = true
      while let output = coordinator.nextOutput(at: now) {
        isIdle = false
        take(output)
      }
      if isIdle { return }
    }
    Issue.record("endless loop of coordinator and session: \(commands.suffix(6))")
  }

  private func drainSession() {
    while held != nil, let action = held!.session.nextAction() {
      switch action {
      case .send(let bytes):
        sentBytes += bytes.count
        line.send(bytes, at: now)
      case .setRate(let rate):
        line.advance(to: now)
        line.hostRate = rate
        _ = line.takeReceived()
      case .report(let report):
        sessionReports.append(report)
        coordinator.receive(
          report, desired: held!.session.desired, receiver: held!.session.description, port: held!.session.port, at: now
        )
      case .batch(let event): coordinator.receive(event, at: now)
      case .finished: break
      }
    }
  }

  private func take(_ output: CoordinatorOutput) {
    switch output {
    case .command(let command):
      commands.append((now, command))
      apply(command)
    case .report(let report): reports.append((now, report))
    case .live(let fix, _): note(fix, isBatched: false)
    case .batched(let entry, let after):
      journal = after
      note(entry.fix, isBatched: true)
    case .collects(let journal): self.journal = journal
    case .collectsNoMore: journal = nil
    case .lost(let count, let loss): losses[loss, default: 0] += count
    case .startedAnew: startedAnew += 1
    case .readOutBegins, .readOutEnds: break
    }
  }

  private func note(_ fix: Fix, isBatched: Bool) {
    if fix.hasPosition { positions += 1 }
    guard fix.hasPosition, let time = fix.time, fixes.last?.time != time else { return }
    fixes.append((now, time, isBatched))
  }

  private func apply(_ command: ReceiverCommand) {
    switch command {
    case .set(let desired): held?.session.set(desired, at: now)
    case .sleep(let duration): held?.session.sleep(for: duration, at: now)
    case .wakeUp: held?.session.wakeUp(at: now)
    case .retrieveBatch(let journal): held?.session.retrieveBatch(journal, at: now)
    case .listen(let listens):
      isOpen = listens
      nextOpening = now
      guard !listens, held != nil else { return }
      held!.session.lost { _, _ in }
      memory = held!.session.memory
      held = nil
    case .supply(let isOn): line.inject(.power(isOn: isOn), at: now)
    }
  }
}
