// SPDX-License-Identifier: Apache-2.0
import HostSimulator
import MonotonicTime
import Positioning
import Power
import Receiver
import ReceiverSimulator
import ReceiverStream

/// A coordinator with a session on a virtual receiver's line, in virtual time: the driver's work without a machine.
typealias Scene = VirtualHost<CoordinatorLog, VirtualLine>

/// A coordinator and a record of its outputs.
struct CoordinatorLog: HostMachine {
  fileprivate(set) var coordinator: PowerCoordinator
  /// Fixes with a position, in the order of delivery.
  fileprivate(set) var fixes: [(at: Instant, time: UTCTime, isBatched: Bool)] = []
  /// The same, including fixes without a date.
  private(set) var positions = 0
  private(set) var commands: [(at: Instant, command: ReceiverCommand)] = []
  private(set) var reports: [(at: Instant, report: PowerReport)] = []
  private(set) var sessionReports: [SessionReport] = []
  private(set) var losses: [BatchLoss: Int] = [:]
  private(set) var startedAnew = 0
  /// The number of wake-ups of the host.
  private(set) var hostWakeUps = 0
  /// The journal that the process would leave if it were killed now.
  private(set) var journal: BatchJournal?

  init(_ coordinator: PowerCoordinator) { self.coordinator = coordinator }

  var deadline: Instant? { coordinator.deadline }

  mutating func wake(at now: Instant) { coordinator.wake(at: now) }
  mutating func hostWoke(at now: Instant) { hostWakeUps += 1 }
  mutating func lineLost(at now: Instant) { coordinator.lost(at: now) }

  mutating func receive(_ report: borrowing EpochAssembler.Report, _ sky: borrowing Sky, at now: Instant) {
    coordinator.receive(report.fix, sky: sky, isUpdate: report.isUpdate, at: now)
  }

  mutating func receive(_ action: SessionAction, from session: borrowing ReceiverSession, at now: Instant) {
    switch action {
    case .report(let report):
      sessionReports.append(report)
      coordinator.receive(
        report, desired: session.desired, receiver: session.description, port: session.port, at: now)
    case .batch(let event): coordinator.receive(event, at: now)
    case .send, .setRate, .finished: break
    }
  }

  mutating func commands(at now: Instant) -> [HostCommand]? {
    var passed: [HostCommand] = []
    var isIdle = true
    while let output = coordinator.nextOutput(at: now) {
      isIdle = false
      if case .command(let command) = output {
        commands.append((now, command))
        passed.append(.receiver(command))
      }
      receive(output, at: now)
    }
    return isIdle ? nil : passed
  }

  private mutating func receive(_ output: CoordinatorOutput, at now: Instant) {
    switch output {
    case .command: break
    case .report(let report): reports.append((now, report))
    case .live(let fix, _): note(fix, isBatched: false, at: now)
    case .batched(let entry, let after):
      journal = after
      note(entry.fix, isBatched: true, at: now)
    case .collects(let journal): self.journal = journal
    case .collectsNoMore: journal = nil
    case .lost(let count, let loss): losses[loss, default: 0] += count
    case .startedAnew: startedAnew += 1
    case .readOutBegins, .readOutEnds: break
    }
  }

  private mutating func note(_ fix: Fix, isBatched: Bool, at now: Instant) {
    if fix.hasPosition { positions += 1 }
    guard fix.hasPosition, let time = fix.time, fixes.last?.time != time else { return }
    fixes.append((now, time, isBatched))
  }
}

extension VirtualHost where Machine == CoordinatorLog, Line == VirtualLine {
  static var start: Int64 { 1_780_000_000 }

  convenience init(
    _ model: ReceiverModel, scenario: Scenario = Scenario(), intent: SessionSettings.Intent = .serve,
    policy: PowerPolicy = .standard,
    supply: ReceiverCapabilities.PowerSwitch = .none, isInModem: Bool = false, seed: UInt64 = 1
  ) {
    var line = VirtualLine(model: model, scenario: scenario, seed: seed, startUTCSeconds: Self.start)
    line.hostRate = 9600
    var settings = SessionSettings(intent: intent, line: .serial)
    settings.desired = { .saving(for: $0) }
    settings.pollsOrbits = true
    let now = Instant.zero + Milliseconds(4000)
    let isReadOnly = !isInModem && intent == .readOnly
    var coordinator = PowerCoordinator(policy: policy, isReadOnly: isReadOnly, supply: supply, at: now)
    coordinator.setInModem(isInModem)
    self.init(CoordinatorLog(coordinator), line, settings: settings, startUTCSeconds: Self.start, at: now)
  }

  var isSilent: Bool { machine.coordinator.isSilenceWanted }
  /// The session's configuration; nil while the line is not read.
  var desired: DesiredConfiguration? { read { $0.desired } }
  var chargeMilliampereSeconds: Double { line.receiver.chargeMilliampereSeconds }

  func demand(_ demand: Demand?, of id: Int = 1) { post(.demand(ClientID(id), demand)) }
  func post(_ event: PowerEvent) { withMachine { $0.coordinator.handle(event, at: $1) } }
  func clearFixes() { machine.fixes = [] }
  func reported(_ report: PowerReport) -> Int { machine.reports.count { $0.report == report } }

  /// Kills the process, and starts another one with the stored journal.
  func dieAndReturn() {
    kill(for: Milliseconds(0))
    machine.coordinator = PowerCoordinator(isReadOnly: settings.intent == .readOnly, at: now)
    if let journal = machine.journal { machine.coordinator.expectLeftover(journal) }
  }
}

extension Demand {
  static var paused: Demand { Demand(updates: .init(delivery: .paused)) }

  static func deferred(_ seconds: Double, from start: Instant) -> Demand {
    Demand(updates: .init(delivery: .deferred(.init(remainingMetres: nil, ends: start.moved(by: seconds)))))
  }
}
