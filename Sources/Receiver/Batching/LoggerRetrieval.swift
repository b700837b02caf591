// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import ReceiverStream

/// Reads the memory of another maker's logger: each fix once, oldest first. Records of earlier than the batch are skipped.
///
///     state ── new records ──▶ stop ─▶ dump (again where lines are missing) ─▶ (log again) ─▶ over
///       └── none ─▶ over
///
/// The memory is kept, so that a retrieval after a killed one continues after the time of the journal. `BatchJournal.lastNumber` is the
/// number of records that were there before the batch; without it all of them were.
struct LoggerRetrieval: Retrieval {
  private enum Step { case polling, stopping, dumping, resuming, over }

  private static let mostDumps = 3

  private var journal: BatchJournal
  private let language: any FamilyLanguage
  private let receiver: ReceiverDescription
  /// The state in which the logger goes on; nil where this is the end of the batch.
  private let resumed: LoggerState?
  /// When the batch began, as far as that is known.
  private let since: Instant?
  private var step = Step.polling
  private var commands: [Command]
  private var isReported = false
  private var replies: [[UInt8]?] = []
  private var found: LoggerState?
  private var lines: [[UInt8]] = []
  private var dumps = 0
  private var pausedAt: Instant?
  private var fixes = 0
  private var events: [BatchEvent] = []

  init?(
    _ journal: BatchJournal, on receiver: ReceiverDescription, resumed: LoggerState?, since: Instant?
  ) {
    guard let language = receiver.family?.language, language.logger != nil else { return nil }
    (self.journal, self.language, self.receiver) = (journal, language, receiver)
    (self.resumed, self.since) = (resumed, since)
    commands = language.polls(of: .logger)
  }

  var isOver: Bool { step == .over }
  var deadline: Instant? { nil }
  mutating func nextEvent() -> BatchEvent? { events.isEmpty ? nil : events.removeFirst() }
  mutating func receive(logBATCH payload: [UInt8], at now: Instant) {}
  mutating func wake(at now: Instant) {}

  mutating func next() -> Command? {
    guard step != .over, !isReported, let command = commands.first else { return nil }
    isReported = true
    return command
  }

  mutating func cut() {
    guard step != .over else { return }
    step = .over
    events.append(.cut(journal))
  }

  private mutating func go(_ next: Step, _ list: [Command]) { (step, commands, isReported) = (next, list, false) }

  mutating func receive(_ outcome: Outcome, at now: Instant) {
    guard step != .over, !commands.isEmpty else { return }
    commands.removeFirst()
    isReported = false
    switch step {
    case .polling:
      if case .answered(let reply) = outcome { replies.append(reply) } else { replies.append(nil) }
      if commands.isEmpty { begin() }
    case .stopping:
      guard outcome != .silent else { return cut() }
      pausedAt = now
      dump()
    case .dumping: receive(dump: outcome, at: now)
    case .resuming: if commands.isEmpty { finish(at: now) }
    case .over: break
    }
  }

  /// The number of records that belong to the batch by the state.
  private var expected: Int {
    guard let found, let before = journal.lastNumber else { return 0 }
    return max(found.records - Int(before), 0)
  }

  private mutating func begin() {
    guard case .logger(let state)? = language.value(.logger, from: replies) else { return cut() }
    found = state
    // A memory that overwrites its oldest records has as many as before.
    guard expected > 0 || state.overwrites && journal.lastNumber != nil, let logger = language.logger else {
      return resume()
    }
    if state.isOn { go(.stopping, [logger.stop]) } else { dump() }
  }

  private mutating func dump() {
    dumps += 1
    go(.dumping, language.logger.map { [$0.dump] } ?? [])
  }

  private mutating func receive(dump outcome: Outcome, at now: Instant) {
    if case .listed(let more) = outcome { lines += more }
    let memory = language.loggerDump(from: lines)
    guard memory.isComplete || dumps >= Self.mostDumps else { return dump() }
    guard !lines.isEmpty else { return cut() }
    deliver(memory, at: now)
    resume()
  }

  private mutating func deliver(_ memory: LoggerDump, at now: Instant) {
    // The places of the records are known in a complete dump, and by the lines of a memory that only grows.
    let first = found?.overwrites == true ? 0 : Int(journal.lastNumber ?? 0)
    var read = 0
    for record in memory.records.dropFirst(first) {
      guard let record else { continue }
      read += 1
      deliver(record)
    }
    if found?.overwrites != true { lose(expected - read, .line) }
    // A logger that has stopped by itself was full, or its receiver restarted.
    if let since, let found, !found.isOn, let resumed {
      let due = now.milliseconds(since: since) / (1000 * UInt64(max(resumed.interval, 1)))
      loseMore(Int(clamping: due) - max(read, expected), .overrun)
    }
  }

  /// Records that cannot be read stay where they are: they are reported once.
  private mutating func lose(_ missing: Int, _ loss: BatchLoss) {
    loseMore(missing - journal.drops, loss)
    journal.drops = max(journal.drops, missing)
  }

  private mutating func loseMore(_ number: Int, _ loss: BatchLoss) {
    guard number > 0 else { return }
    journal.lost += number
    events.append(.lost(number, loss))
  }

  private mutating func deliver(_ entry: BatchedFix) {
    guard let time = entry.fix.time, entry.fix.hasPosition else { return }
    if let last = journal.lastTime, time <= last { return }
    journal.lastTime = time
    journal.delivered += 1
    fixes += 1
    events.append(.fix(entry, journal))
  }

  private mutating func resume() {
    guard let resumed, journal.lastNumber != nil, found?.isOn == false || pausedAt != nil else {
      return finish(at: nil)
    }
    let present = found.map { ReceiverValue.logger($0) }
    let list = language.commands(setting: .logger(resumed), from: present, on: receiver) ?? []
    if list.isEmpty { finish(at: nil) } else { go(.resuming, list) }
  }

  /// - Parameter now: when the logger went on.
  private mutating func finish(at now: Instant?) {
    if let now, let pausedAt, let resumed {
      loseMore(Int(clamping: now.milliseconds(since: pausedAt) / (1000 * UInt64(max(resumed.interval, 1)))), .pause)
    }
    step = .over
    events.append(.finished(fixes: fixes, journal))
  }
}
