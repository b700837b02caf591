// SPDX-License-Identifier: Apache-2.0
import HostSimulator
import MonotonicTime
import Receiver
import ReceiverSimulator
import ReceiverStream

/// A session at a virtual receiver's line, in virtual time, with a record of its output.
typealias SessionScene = VirtualHost<SessionLog, VirtualLine>

/// The output of the sessions on a line.
struct SessionLog: HostMachine {
  fileprivate(set) var reports: [(at: Instant, report: SessionReport)] = []
  fileprivate(set) var outcomes: [SessionTicket: Outcome] = [:]
  fileprivate(set) var fixes: [(at: Instant, fix: Fix)] = []
  /// The fixes with a position.
  fileprivate(set) var positions: [(at: Instant, fix: Fix)] = []
  /// The results of retrievals.
  fileprivate(set) var batch: [BatchEvent] = []
  fileprivate(set) var stored = StoredRecord()
  fileprivate(set) var writes: [(at: Instant, bytes: [UInt8])] = []

  mutating func receive(_ report: borrowing EpochAssembler.Report, _ sky: borrowing Sky, at now: Instant) {
    guard !report.isUpdate else { return }
    fixes.append((now, report.fix))
    if report.fix.hasPosition { positions.append((now, report.fix)) }
  }

  mutating func receive(_ action: SessionAction, from session: borrowing ReceiverSession, at now: Instant) {
    switch action {
    case .send(let bytes):
      stored.store(session)
      writes.append((now, bytes))
    case .report(let report): reports.append((now, report))
    case .finished(let ticket, let outcome): outcomes[ticket] = outcome
    case .batch(let event): batch.append(event)
    case .setRate: break
    }
  }
}

extension VirtualHost where Machine == SessionLog {
  func reported(_ report: SessionReport) -> Int { machine.reports.count { $0.report == report } }
}

extension VirtualHost where Machine == SessionLog, Line == VirtualLine {
  /// When the scenes begin, seconds since 1970.
  static var start: Int64 { 1_780_000_000 }

  convenience init(
    _ model: ReceiverModel, baud: UInt32? = nil, hostRate: UInt32 = 9600, intent: SessionSettings.Intent = .serve,
    scenario: Scenario = Scenario(), seed: UInt64 = 1, hasRate: Bool = true,
    _ adapt: (inout SessionSettings) -> Void = { _ in }
  ) {
    var line = VirtualLine(model: model, scenario: scenario, seed: seed, startUTCSeconds: Self.start, hasRate: hasRate)
    line.hostRate = hostRate
    // The receiver is on, and through with its start, when the host comes.
    if let baud { line.inject(.baudRateChange(to: baud), at: .zero + Milliseconds(4000)) }
    var settings = SessionSettings(intent: intent, line: .serial)
    adapt(&settings)
    self.init(SessionLog(), line, settings: settings, at: .zero + Milliseconds(6150))
  }

  /// Whether the computer's clock is set.
  var knowsTheTime: Bool {
    get { startUTCSeconds != nil }
    set { startUTCSeconds = newValue ? Self.start : nil }
  }

  // MARK: The session

  var description: ReceiverDescription? { (read { $0.memory } ?? memory)?.description }
  /// The memory for the next session.
  var currentMemory: SessionMemory? { read { $0.memory } ?? memory }
  var port: ReceiverPortNumber? { read { $0.port } }
  var counters: StreamCounters { read { $0.counters } ?? StreamCounters() }
  /// The record for the next program.
  var recovery: CrashRecoveryRecord? { read { $0.recovery } }
  /// The changed settings for the next program.
  var recoverySettings: CrashRecoverySettings? { read { $0.recoverySettings } }

  /// A command, and its outcome when it is over.
  func send(_ command: Command, within seconds: Double = 10) -> Outcome? {
    guard let ticket = withSession({ $0.submit(command, at: now) }) else { return nil }
    run(seconds) { $0.outcomes[ticket] != nil }
    return machine.outcomes[ticket]
  }

  func sleep(seconds: Double?) { apply(.sleep(seconds.map { Milliseconds(seconds: $0) })) }
  func wakeUp() { apply(.wakeUp) }
  func retrieve(_ journal: BatchJournal) { apply(.retrieveBatch(journal)) }
  func set(_ desired: DesiredConfiguration) { apply(.set(desired)) }
  func restoreAtEnd(_ restores: Bool) { withSession { $0.restoreAtEnd(restores) } }

  // MARK: The log

  func clearReports() { machine.reports = [] }

  /// Returns the fixes so far, and discards them.
  func takeFixes() -> [(at: Instant, fix: Fix)] {
    defer { (machine.fixes, machine.positions) = ([], []) }
    return machine.fixes
  }

  func takeBatch() -> [BatchEvent] {
    defer { machine.batch = [] }
    return machine.batch
  }

  /// Milliseconds from the first opening of the line to a report.
  func time(of report: SessionReport) -> UInt64? {
    guard let opened else { return nil }
    return machine.reports.first { $0.report == report }?.at.milliseconds(since: opened)
  }

  // MARK: Processes

  /// The process is killed and started again after this many milliseconds; bytes that arrive in between are lost.
  func kill(for gap: UInt64, _ adapt: (inout SessionSettings) -> Void) {
    // The next session counts its tickets anew.
    machine.outcomes = [:]
    adapt(&settings)
    kill(for: Milliseconds(gap))
  }

  /// Whether the process was killed after a number of writes.
  var isKilled: Bool { killsAfter.map { sent >= $0 } ?? false }

  /// Whether the last session ended and the record is obsolete; then it is removed.
  func clearStored() -> Bool {
    guard read({ $0.isRestored }) == true else { return false }
    machine.stored.clear()
    return true
  }

  /// Another process opens the line, with the record as it is read back from text.
  func open(after gap: UInt64, hostRate: UInt32 = 9600, _ adapt: (inout SessionSettings) -> Void) {
    let record = machine.stored
    kill(for: gap) { settings in
      record.read(into: &settings)
      adapt(&settings)
    }
    line.hostRate = hostRate
  }
}
