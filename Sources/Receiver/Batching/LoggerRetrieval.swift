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
///
/// The logger stores nothing while it is read. The number of fixes that this costs is the time between the records on both sides of the
/// pause, so the next retrieval reports it: `BatchJournal.recordsAtPause` is the place, which is stored before the logger goes on.
struct LoggerRetrieval: Retrieval {
  private enum Step { case polling, stopping, dumping, resuming }

  private static let mostDumps = 3

  var progress: RetrievalProgress
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
  private var isStopped = false
  /// The number of records at the last pause until its fixes are reported, and that at the present one if the logger goes on after it.
  private var pause: Int?
  private var pauseNow: Int?

  init?(
    _ journal: BatchJournal, on receiver: ReceiverDescription, resumed: LoggerState?, since: Instant?
  ) {
    guard let language = receiver.family?.language, language.logger != nil else { return nil }
    (progress, self.language, self.receiver) = (RetrievalProgress(journal), language, receiver)
    (self.resumed, self.since) = (resumed, since)
    commands = language.polls(of: .logger)
  }

  /// The logger goes on as soon as the place of its pause is stored.
  var deadline: Instant? { !isOver && step == .resuming && !isReported && !commands.isEmpty ? .zero : nil }

  mutating func next() -> Command? {
    // The receiver of the events stores the place of the pause.
    if step == .resuming, !progress.events.isEmpty { return nil }
    guard !isOver, !isReported, let command = commands.first else { return nil }
    isReported = true
    if step == .stopping { progress.isStopped = goesOn }
    return command
  }

  private mutating func go(_ next: Step, _ list: [Command]) { (step, commands, isReported) = (next, list, false) }

  mutating func receive(_ outcome: Outcome, at now: Instant) {
    guard !isOver, !commands.isEmpty else { return }
    commands.removeFirst()
    isReported = false
    switch step {
    case .polling:
      if case .answered(let reply) = outcome { replies.append(reply) } else { replies.append(nil) }
      if commands.isEmpty { begin() }
    case .stopping:
      guard outcome != .silent else { return cut() }
      isStopped = true
      dump()
    case .dumping: receive(dump: outcome, at: now)
    case .resuming: if commands.isEmpty { progress.finish() }
    }
  }

  /// Fewer free records than that, and a memory of that kind may have been full: it is then freed sector by sector.
  private static let freeAtTurn = 600

  /// Whether the oldest records may be gone, so that places in the memory say nothing.
  private var overwrites: Bool { found.map { $0.overwrites && $0.free < Self.freeAtTurn } ?? false }

  /// The number of records that belong to the batch by the state.
  private var expected: Int {
    guard let found, let before = journal.lastNumber else { return 0 }
    return max(found.records - Int(before), 0)
  }

  private mutating func begin() {
    guard case .logger(let state)? = language.value(.logger, from: replies, on: receiver) else { return cut() }
    found = state
    progress.isStopped = !state.isOn && goesOn
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
    let first = overwrites ? 0 : Int(journal.lastNumber ?? 0)
    var read = 0
    var previous: (index: Int, time: UTCTime)?
    pause = journal.recordsAtPause
    pauseNow = resumed != nil && journal.lastNumber != nil ? max(memory.records.count, found?.records ?? 0) : nil
    if pause == nil { journal.recordsAtPause = pauseNow }
    for (index, record) in memory.records.enumerated().dropFirst(first) {
      guard let record else { continue }
      read += 1
      if let time = record.fix.time {
        if let previous { losePaused(before: index, at: time, after: previous) }
        previous = (index, time)
      }
      progress.deliverDated(record)
    }
    endPause()
    if !overwrites { lose(expected - read, .line) }
    // A logger that has stopped by itself was full, or its receiver restarted.
    if let since, let found, !found.isOn, let resumed {
      let due = now.milliseconds(since: since) / (1000 * UInt64(max(resumed.interval, 1)))
      progress.lose(Int(clamping: due) - max(read, expected), .overrun)
    }
  }

  /// Records that cannot be read stay where they are: they are reported once.
  private mutating func lose(_ missing: Int, _ loss: BatchLoss) {
    progress.lose(missing - journal.drops, loss)
    journal.drops = max(journal.drops, missing)
  }

  /// Records that may be stored between the poll of the state and the stop. In a full memory, of which the oldest ones are gone, the
  /// place is unknown.
  private static let placeTolerance = 2

  /// Reports the fixes that the last pause cost, if it is between two records.
  private mutating func losePaused(before index: Int, at time: UTCTime, after previous: (index: Int, time: UTCTime)) {
    guard let pause, let found else { return }
    let isAtPause = overwrites ? journal.lastTime.map { time > $0 } ?? false : index >= pause
    guard isAtPause else { return }
    let interval = Int64(max(found.interval, 1)) * 1_000_000_000
    let gap = time.nanosecondsSince1970.subtractingReportingOverflow(previous.time.nanosecondsSince1970)
    let intervals = gap.overflow ? 0 : gap.partialValue / interval + gap.partialValue % interval * 2 / interval
    // Damaged records between the two are reported on their own.
    let missing = Int(clamping: intervals) - (index - previous.index)
    progress.lose(missing, .pause)
    if missing > 0 || !overwrites && index >= pause + Self.placeTolerance { endPause() }
  }

  /// The last pause is reported; the present one is next.
  private mutating func endPause() { (pause, journal.recordsAtPause) = (nil, pauseNow) }

  /// Whether the logger is to run after the retrieval.
  private var goesOn: Bool { resumed != nil && journal.lastNumber != nil }

  private mutating func resume() {
    guard let resumed, goesOn, found?.isOn == false || isStopped else { return progress.finish() }
    let present = found.map { ReceiverValue.logger($0) }
    let list = language.commands(setting: .logger(resumed), from: present, on: receiver) ?? []
    if list.isEmpty { return progress.finish() }
    journal.recordsAtPause = journal.recordsAtPause ?? found?.records
    go(.resuming, list)
    progress.events.append(.pauseEnds(journal))
  }
}

/// The retrieval of a receiver's batch or flash log, and entries that arrive without one.
struct BatchReading {
  /// More than any receiver stores.
  private static let mostUnrequested = 1024

  private var retrieval: (any Retrieval)?
  /// LOG-BATCH payloads without a retrieval: the receiver goes on to send what a killed reader requested.
  private var unrequested: [[UInt8]] = []

  var isActive: Bool { retrieval != nil }
  var deadline: Instant? { retrieval?.deadline }

  mutating func start(_ retrieval: any Retrieval, at now: Instant) {
    self.retrieval = retrieval
    for payload in unrequested { self.retrieval?.receive(logBATCH: payload, at: now) }
    unrequested = []
  }

  /// - Parameter keeps: whether an entry is kept for a later retrieval.
  mutating func receive(logBATCH payload: [UInt8], keeps: Bool, at now: Instant) {
    if retrieval != nil {
      retrieval?.receive(logBATCH: payload, at: now)
    } else if keeps, unrequested.count < Self.mostUnrequested {
      unrequested.append(payload)
    }
  }

  mutating func next(at now: Instant) -> Command? {
    retrieval?.wake(at: now)
    return retrieval?.next()
  }

  mutating func receive(_ outcome: Outcome, at now: Instant) { retrieval?.receive(outcome, at: now) }

  mutating func cut() { retrieval?.cut() }

  mutating func takeEvents() -> [BatchEvent] {
    var events: [BatchEvent] = []
    while let event = retrieval?.nextEvent() { events.append(event) }
    if retrieval?.isOver == true { retrieval = nil }
    return events
  }
}

/// A reader of the fixes that a receiver stores.
protocol Retrieval: Sendable {
  var progress: RetrievalProgress { get set }
  var deadline: Instant? { get }
  mutating func next() -> Command?
  mutating func receive(_ outcome: Outcome, at now: Instant)
  mutating func receive(logBATCH payload: [UInt8], at now: Instant)
  mutating func wake(at now: Instant)
}

extension Retrieval {
  var isOver: Bool { progress.isOver }
  var journal: BatchJournal {
    get { progress.journal }
    set { progress.journal = newValue }
  }
  mutating func receive(logBATCH payload: [UInt8], at now: Instant) {}
  mutating func wake(at now: Instant) {}
  mutating func nextEvent() -> BatchEvent? { progress.nextEvent() }
  mutating func cut() { progress.cut() }
}

extension BatchRetrieval: Retrieval {}

/// The progress of a retrieval.
struct RetrievalProgress: Sendable {
  /// The journal with all delivered fixes.
  var journal: BatchJournal
  /// The results that the reader has not taken yet.
  var events: [BatchEvent] = []
  /// The number of delivered fixes.
  private(set) var fixes = 0
  /// Whether the receiver stores nothing until the end of the retrieval.
  var isStopped = false
  private(set) var isOver = false

  init(_ journal: BatchJournal) { self.journal = journal }

  mutating func nextEvent() -> BatchEvent? { events.isEmpty ? nil : events.removeFirst() }

  /// Delivers a fix, unless its time is not later than the last one's.
  mutating func deliver(_ entry: BatchedFix) {
    if let time = entry.fix.time {
      if let last = journal.lastTime, time <= last { return }
      journal.lastTime = time
    }
    fixes += 1
    journal.delivered += 1
    events.append(.fix(entry, journal))
  }

  /// Delivers a fix of a memory whose records may have no time or no position; these are skipped.
  mutating func deliverDated(_ entry: BatchedFix) {
    if entry.fix.time != nil, entry.fix.hasPosition { deliver(entry) }
  }

  /// Reports lost fixes, if there are any.
  mutating func lose(_ number: Int, _ loss: BatchLoss) {
    guard number > 0 else { return }
    journal.lost += number
    events.append(.lost(number, loss))
  }

  mutating func finish() { end(.finished(fixes: fixes, journal)) }

  /// Ends the retrieval early.
  mutating func cut() { end(.cut(journal, isStopped: isStopped)) }

  private mutating func end(_ event: BatchEvent) {
    guard !isOver else { return }
    isOver = true
    events.append(event)
  }
}

/// Reads the log in a receiver's flash: each position once, oldest first.
///
///     stop recording ─▶ how many? ─▶ (from which time on?) ─▶ 256 of them ─▶ … ─▶ record again ─▶ over
///
/// A log cannot be read while it is written. It keeps its entries: lost ones are requested again, and the retrieval after a
/// killed one continues after the time of the journal.
struct FlashRetrieval: Retrieval {
  private enum Step { case stopping, counting, finding, reading, recording }

  var progress: RetrievalProgress
  private let usesItems: Bool
  private var step = Step.stopping
  private var isReported = false
  /// The next entry to read, and the number of all.
  private var position = 0
  private var count = 0
  private var fruitless = 0

  /// The most entries of one request (interface descriptions, LOG-RETRIEVE).
  private static let most = 256
  /// The number of requests without an entry after which the remaining ones are taken for entries of another kind.
  private static let mostFruitless = 2

  init(_ journal: BatchJournal, usesItems: Bool) {
    progress = RetrievalProgress(journal)
    self.usesItems = usesItems
  }

  var deadline: Instant? { nil }

  mutating func next() -> Command? {
    guard !isOver, !isReported else { return nil }
    isReported = true
    switch step {
    case .stopping:
      progress.isStopped = true
      return .records(false, usesItems: usesItems)
    case .counting: return FlashLogStatus.poll
    case .finding: return journal.lastTime.map { .entry(at: $0) }
    case .reading: return .entries(from: position, count: min(count - position, Self.most))
    case .recording: return .records(true, usesItems: usesItems)
    }
  }

  mutating func receive(_ outcome: Outcome, at now: Instant) {
    guard !isOver else { return }
    switch (step, outcome) {
    case (.stopping, .acknowledged): go(.counting)
    case (.counting, .answered(let payload)):
      guard let status = FlashLogStatus(payload) else { return cut() }
      count = status.entries
      go(count == 0 ? .recording : journal.lastTime == nil ? .reading : .finding)
    case (.finding, .answered(let payload)):
      // All ones: there is no entry so late.
      let found = payload.u4(4)
      position = found == .max ? count : Int(found)
      go(position < count ? .reading : .recording)
    case (.reading, .listed(let payloads)): take(payloads)
    // All entries are of another kind.
    case (.reading, .silent): take([])
    case (.recording, .acknowledged): progress.finish()
    default: cut()
    }
  }

  private mutating func go(_ next: Step) {
    (step, isReported) = (next, false)
  }

  /// Handles the entries of a request, perhaps not all. Entries before a gap are delivered, the others are requested again; a
  /// gap that stays is an entry of another kind.
  private mutating func take(_ payloads: [[UInt8]]) {
    let end = min(position + Self.most, count)
    let began = position
    for payload in payloads {
      let index = Int(payload.u4(0))
      guard index >= position, index < end, let entry = BatchedFix(logRETRIEVEPOS: payload) else { continue }
      if index > position, fruitless < Self.mostFruitless { break }
      position = index + 1
      progress.deliverDated(entry)
    }
    fruitless = position > began ? 0 : fruitless + 1
    if fruitless > Self.mostFruitless {
      (position, fruitless) = (end, 0)
    }
    go(position < count ? .reading : .recording)
  }
}
