// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Receiver
import ReceiverSimulator
import ReceiverStream
import Testing

/// A session at a virtual receiver's line, in virtual time: the part of the driver, without a machine.
final class SessionScene {
  /// When the scenes begin, seconds since 1970.
  static let start: Int64 = 1_780_000_000

  var line: VirtualLine
  private(set) var now = Instant.zero
  private var held: Held?
  /// An optional of the session itself cannot be borrowed through.
  private struct Held: ~Copyable { var session: ReceiverSession }
  private(set) var reports: [(at: Instant, report: SessionReport)] = []
  private(set) var outcomes: [SessionTicket: Outcome] = [:]
  private(set) var fixes: [(at: Instant, fix: Fix)] = []
  /// Bytes that the session sent.
  private(set) var sentBytes = 0
  /// How often the session was woken without a byte.
  private(set) var wakeUps = 0
  private(set) var memory: SessionMemory?
  /// The results of retrievals.
  private(set) var batch: [BatchEvent] = []
  /// Bytes that came from the receiver.
  private(set) var receivedBytes = 0
  private var settings: SessionSettings
  private var nextOpening = Instant.zero

  init(
    _ model: ReceiverModel, baud: UInt32? = nil, hostRate: UInt32 = 9600, intent: SessionSettings.Intent = .serve,
    scenario: Scenario = Scenario(), seed: UInt64 = 1, hasRate: Bool = true,
    _ adapt: (inout SessionSettings) -> Void = { _ in }
  ) {
    line = VirtualLine(model: model, scenario: scenario, seed: seed, startUTCSeconds: Self.start, hasRate: hasRate)
    line.hostRate = hostRate
    // The receiver is on, and through with its start, when the host comes.
    now = Instant.zero + Milliseconds(4000)
    line.advance(to: now)
    if let baud { line.inject(.baudRateChange(to: baud), at: now) }
    now = now + Milliseconds(2150)
    line.advance(to: now)
    _ = line.takeReceived()
    nextOpening = now
    opened = now
    var settings = SessionSettings(intent: intent, line: .serial)
    adapt(&settings)
    self.settings = settings
  }

  /// The host comes at another time.
  func move(to later: Instant) {
    now = later
    nextOpening = later
    opened = later
  }

  /// Whether the computer's clock is set.
  var knowsTheTime = false
  /// The memory for the next session.
  var currentMemory: SessionMemory? {
    if held == nil { return memory }
    return held!.session.memory
  }

  /// When the host opened the line at first.
  private(set) var opened = Instant.zero
  /// When a byte came first since `clearFirstByte`.
  private(set) var firstByte: Instant?
  func clearFirstByte() { firstByte = nil }

  /// Milliseconds since the line was opened.
  var milliseconds: UInt64 { now.milliseconds(since: opened) }
  var description: ReceiverDescription? {
    if held == nil { return memory?.description }
    return held!.session.description
  }
  var port: ReceiverPortNumber? {
    if held == nil { return nil }
    return held!.session.port
  }
  var isSteady: Bool {
    if held == nil { return false }
    return held!.session.isSteady
  }
  var isEnded: Bool {
    if held == nil { return true }
    return held!.session.isEnded
  }
  /// The record for the next program.
  var recovery: CrashRecoveryRecord? {
    if held == nil { return nil }
    return held!.session.recovery
  }
  /// The changed settings for the next program.
  var recoverySettings: CrashRecoverySettings? {
    if held == nil { return nil }
    return held!.session.recoverySettings
  }
  /// Discards the reports so far.
  func clearReports() { reports = [] }
  var counters: StreamCounters { held == nil ? StreamCounters() : held!.session.counters }
  /// Fixes with a position.
  var positions: [(at: Instant, fix: Fix)] { fixes.filter(\.fix.hasPosition) }

  /// Returns the fixes so far, and discards them.
  func takeFixes() -> [(at: Instant, fix: Fix)] {
    defer { fixes = [] }
    return fixes
  }
  /// Returns the number of reports so far, and discards them.
  func takeReports() -> Int {
    defer { reports = [] }
    return reports.count
  }

  func reported(_ report: SessionReport) -> Int { reports.count { $0.report == report } }
  func time(of report: SessionReport) -> UInt64? {
    reports.first { $0.report == report }.map { $0.at.milliseconds(since: opened) }
  }

  /// Lets time pass, until `condition` holds or `seconds` are over; whether it held.
  @discardableResult
  func run(_ seconds: Double, until condition: (SessionScene) -> Bool) -> Bool {
    let end = now + Milliseconds(seconds: seconds)
    var rounds = 0
    while now < end {
      step(before: end)
      if condition(self) { return true }
      rounds += 1
      if rounds > 300_000 {
        Issue.record(
          "no rest at \(now): session \(String(describing: deadline)), line \(String(describing: line.deadline)), \(reports.suffix(3))"
        )
        return false
      }
    }
    return condition(self)
  }

  private var deadline: Instant? {
    if held == nil { return nextOpening }
    return held!.session.deadline
  }

  /// Lets time pass.
  func run(_ seconds: Double) { run(seconds) { _ in false } }

  /// A command, and its outcome when it is over.
  func send(_ command: Command, within seconds: Double = 10) -> Outcome? {
    guard held != nil else { return nil }
    let ticket = held!.session.submit(command, at: now)
    carryOut()
    run(seconds) { $0.outcomes[ticket] != nil }
    return outcomes[ticket]
  }

  func sleep(seconds: Double?) {
    held?.session.sleep(for: seconds.map { Milliseconds(seconds: $0) }, at: now)
    carryOut()
  }

  func wakeUp() {
    held?.session.wakeUp(at: now)
    carryOut()
  }

  func retrieve(_ journal: BatchJournal) {
    held?.session.retrieveBatch(journal, at: now)
    carryOut()
  }

  func takeBatch() -> [BatchEvent] {
    defer { batch = [] }
    return batch
  }

  func set(_ desired: DesiredConfiguration) {
    held?.session.set(desired, at: now)
    carryOut()
  }

  func restoreAtEnd(_ restores: Bool) { held?.session.restoreAtEnd(restores) }

  /// Ends the session in order; how long it took, milliseconds.
  func finish() -> UInt64 {
    let from = now
    held?.session.finish(at: now)
    carryOut()
    run(20) { $0.isEnded }
    return now.milliseconds(since: from)
  }

  /// The process is killed and started again after so many milliseconds; what the line brings meanwhile is lost.
  func kill(for gap: UInt64, _ adapt: (inout SessionSettings) -> Void) {
    held = nil
    memory = nil
    // The next session counts its tickets anew.
    outcomes = [:]
    adapt(&settings)
    nextOpening = now + Milliseconds(gap)
  }

  /// The crash-recovery record of a killed process, as the file has it.
  struct StoredRecord {
    var recovery: CrashRecoveryRecord?
    var settings: CrashRecoverySettings?
    var writes = 0
  }

  private(set) var stored = StoredRecord()
  /// The number of sent commands.
  private(set) var sent = 0
  /// The number of sent commands after which the process is killed.
  var killsAfter: Int?

  /// Whether the process was killed by `killsAfter`.
  var isKilled: Bool { killsAfter.map { sent >= $0 } ?? false }

  /// Stores the record before bytes are sent, as the driver does.
  private func store() {
    guard held != nil, let recovery = held!.session.recovery else { return }
    let settings = held!.session.recoverySettings
    guard recovery != stored.recovery || settings != stored.settings else { return }
    stored = StoredRecord(recovery: recovery, settings: settings, writes: stored.writes + 1)
  }

  /// Whether the last session ended and the record is obsolete; then it is removed.
  func clearStored() -> Bool {
    guard held != nil, held!.session.isRestored else { return false }
    stored = StoredRecord(writes: stored.writes)
    return true
  }

  /// Another process opens the line, with the record as it is read back from text.
  func open(after gap: UInt64, hostRate: UInt32 = 9600, _ adapt: (inout SessionSettings) -> Void) {
    let record = stored
    let text = record.settings?.text
    (sent, killsAfter) = (0, nil)
    kill(for: gap) { settings in
      settings.recovery = record.recovery.flatMap { CrashRecoveryRecord($0.text) }
      settings.recoverySettings = text.flatMap { CrashRecoverySettings("\n" + $0) }
      adapt(&settings)
    }
    line.hostRate = hostRate
  }

  /// The port goes and comes back after half a second; the receiver goes on meanwhile.
  func unplugHost() {
    guard held != nil else { return }
    held!.session.lost { report, _ in if !report.isUpdate { fixes.append((now, report.fix)) } }
    carryOut()
    memory = held!.session.memory
    held = nil
    nextOpening = now + Milliseconds(500)
  }

  private func step(before end: Instant) {
    var next = Instant.earlier(line.deadline, end) ?? end
    if held != nil { next = Instant.earlier(next, held!.session.deadline) ?? next }
    if held == nil { next = Instant.earlier(next, nextOpening) ?? next }
    let wasAt = now
    now = max(now, next)
    line.advance(to: now)
    plug()
    guard held != nil else {
      // The device is not open.
      _ = line.takeReceived()
      return
    }
    let bytes = line.takeReceived()
    if !bytes.isEmpty {
      receivedBytes += bytes.count
      if firstByte == nil { firstByte = now }
      let span = bytes.span
      unsafe held!.session.receive(span.bytes, at: now) { report, _ in
        if !report.isUpdate { fixes.append((now, report.fix)) }
      }
    }
    if let due = held!.session.deadline, now >= due {
      wakeUps += 1
      held!.session.wake(at: now) { report, _ in if !report.isUpdate { fixes.append((now, report.fix)) } }
      if let again = held!.session.deadline, again <= now, wasAt == now { now = now + Milliseconds(1) }
    }
    carryOut()
  }

  /// The driver's part at an unplug and a plug.
  private func plug() {
    if held != nil, !line.isPresent {
      held!.session.lost { report, _ in if !report.isUpdate { fixes.append((now, report.fix)) } }
      carryOut()
      memory = held!.session.memory
      held = nil
      nextOpening = now + Milliseconds(500)
    } else if held == nil, now >= nextOpening {
      guard line.isPresent else {
        nextOpening = now + Milliseconds(500)
        return
      }
      var settings = settings
      settings.memory = memory
      let time = knowsTheTime ? UTCTime(nanosecondsSince1970: line.receiver.utcMilliseconds(at: now) * 1_000_000) : nil
      held = Held(session: ReceiverSession(settings, lineRate: line.hostRate, reference: time, now: now))
    }
  }

  private func carryOut() {
    while held != nil, let action = held!.session.nextAction() {
      switch action {
      case .send(let bytes):
        store()
        sentBytes += bytes.count
        line.send(bytes, at: now)
        sent += 1
        if sent == killsAfter {
          held = nil
          memory = nil
          nextOpening = now + Milliseconds(1_000_000_000)
        }
      case .setRate(let rate):
        line.advance(to: now)
        line.hostRate = rate
        _ = line.takeReceived()
      case .report(let report): reports.append((now, report))
      case .finished(let ticket, let outcome): outcomes[ticket] = outcome
      case .batch(let event): batch.append(event)
      }
    }
  }
}
