// SPDX-License-Identifier: Apache-2.0

import MonotonicTime
import ReceiverStream
import UBX

/// A result of a retrieval.
public enum BatchEvent: Sendable, Equatable {
  /// The next fix, oldest first, and the journal after its delivery.
  case fix(BatchedFix, BatchJournal)
  /// The number of lost fixes, and the cause.
  case lost(Int, BatchLoss)
  /// The receiver restarted since the last retrieval and lost an unknown number of fixes.
  case startedAnew
  /// Everything is read: the number of fixes of this retrieval, and the journal to store.
  case finished(fixes: Int, BatchJournal)
  /// A logger that stored nothing while it was read goes on once this journal is stored.
  case pauseEnds(BatchJournal)
  /// The receiver was disconnected or silent before the end, or the program ended; the next retrieval continues. Until then a receiver
  /// that was stopped stores nothing.
  case cut(BatchJournal, isStopped: Bool)
}

/// The cause of a loss of fixes.
public enum BatchLoss: Sendable, Equatable {
  /// The buffer was full, and the oldest fixes were overwritten.
  case overrun
  /// Fixes were sent and did not arrive.
  case line
  /// The receiver does not store fixes while its memory is read.
  case pause
}

/// Reads a batch: each fix once, oldest first.
///
///     requesting ── MON-BATCH: entries ──▶ receiving ── all received, or silence ──▶ requesting … ── none ──▶ over
///
/// LOG-RETRIEVEBATCH has sendMonFirst set: MON-BATCH comes first with the number of entries and the number of the first
/// one, from which the number of the last follows. Entries of an earlier retrieval, whose reader was killed, may come before it. A missing
/// number was lost on the line. An entry that was delivered before, by its number and time, is not delivered again: some
/// firmware keeps what it has sent. Fixes that are added meanwhile are read in the next round.
public struct BatchRetrieval: Sendable {
  private enum Step { case requesting, receiving }

  var progress: RetrievalProgress
  /// The journal with all delivered fixes.
  public var journal: BatchJournal { progress.journal }
  private var step = Step.requesting
  private var isReported = false
  /// The number of entries in this round, by MON-BATCH.
  private var announced = 0
  /// The number of the last entry of this round; nil while it is unknown.
  private var lastOfRound: UInt16?
  private var fixesBefore = 0
  private var cameBeforeReply = false
  private var fruitless = 0
  private var dueAt: Instant?
  /// When the first entry came.
  private var begunAt: Instant?

  /// The silence that ends a round. A receiver sends one entry after the other; one takes 1/4 s at 4800 baud.
  static var quiet: Milliseconds { Milliseconds(1500) }
  /// The number of rounds without a new fix before the retrieval ends: a receiver that keeps sent entries needs one.
  static var mostFruitless: Int { 3 }
  /// The longest retrieval: a full buffer takes two minutes at 4800 baud, and a faulty receiver sends entries without an end.
  static var longest: Milliseconds { Milliseconds(600_000) }

  /// - Parameters:
  ///   - journal: the journal of earlier retrievals.
  ///   - earlier: LOG-BATCH payloads, oldest first, of a reader that did not deliver all of them; those in the journal are
  ///     skipped.
  public init(_ journal: BatchJournal, earlier: [[UInt8]] = []) {
    progress = RetrievalProgress(journal)
    for payload in earlier {
      guard let entry = BatchedFix(logBATCH: payload) else { continue }
      if let last = progress.journal.lastNumber, Int16(bitPattern: entry.number &- last) <= 0 { continue }
      take(entry)
    }
  }

  /// Whether the retrieval is over.
  public var isOver: Bool { progress.isOver }
  /// When `wake` is due.
  public var deadline: Instant? { isOver ? nil : dueAt }
  /// Returns the next result; nil without one.
  public mutating func nextEvent() -> BatchEvent? { progress.nextEvent() }

  /// Returns the next command; nil without one.
  public mutating func next() -> Command? {
    guard !isOver, step == .requesting, !isReported else { return nil }
    isReported = true
    fixesBefore = progress.fixes
    return Command(.logRETRIEVEBATCH, [0, 1, 0, 0], answer: .message(.monBATCH))
  }

  /// Handles the outcome of the command.
  public mutating func receive(_ outcome: Outcome, at now: Instant) {
    guard !isOver, step == .requesting else { return }
    if case .answered(let payload) = outcome, let status = BatchStatus(payload) {
      begin(status, at: now)
    } else if cameBeforeReply {
      // MON-BATCH was damaged on the line, or the receiver ignores a second retrieval while an earlier one goes on.
      (announced, lastOfRound) = (.max, nil)
      receiving(at: now)
    } else {
      cut()
    }
  }

  /// Handles a LOG-BATCH payload.
  public mutating func receive(logBATCH payload: [UInt8], at now: Instant) {
    guard !isOver, let entry = BatchedFix(logBATCH: payload) else { return }
    if step == .requesting { cameBeforeReply = true }
    if dueAt != nil { dueAt = now + Self.quiet }
    take(entry)
    let begun = begunAt ?? now
    begunAt = begun
    if now >= begun + Self.longest { return cut() }
    if step == .receiving, isComplete { endRound() }
  }

  private mutating func take(_ entry: BatchedFix) {
    noticeGap(before: entry.number)
    progress.journal.lastNumber = entry.number
    progress.deliver(entry)
  }

  /// Whether the last entry of the round was received.
  private var isComplete: Bool {
    guard let lastOfRound, let last = journal.lastNumber else { return false }
    return Int16(bitPattern: last &- lastOfRound) >= 0
  }

  /// Ends the round if the deadline is over.
  public mutating func wake(at now: Instant) {
    guard let deadline, now >= deadline, step == .receiving else { return }
    endRound()
  }

  /// Ends the retrieval early: the receiver is disconnected.
  public mutating func cut() { progress.cut() }

  private mutating func begin(_ status: BatchStatus, at now: Instant) {
    noticeDrops(status)
    // Entries before the reply are counted already.
    if !cameBeforeReply { noticeGap(before: status.nextNumber) }
    announced = status.fillLevel
    if announced == 0 { return progress.finish() }
    lastOfRound = status.nextNumber &+ UInt16(truncatingIfNeeded: announced - 1)
    receiving(at: now)
    if isComplete { endRound() }
  }

  private mutating func receiving(at now: Instant) {
    step = .receiving
    dueAt = now + Self.quiet
  }

  private mutating func endRound() {
    fruitless = progress.fixes == fixesBefore ? fruitless + 1 : 0
    // One or two entries that were added since can wait.
    if isComplete, announced <= 2 || fruitless > 0 { return progress.finish() }
    if fruitless >= Self.mostFruitless { return cut() }
    step = .requesting
    isReported = false
    cameBeforeReply = false
    lastOfRound = nil
    dueAt = nil
  }

  /// Reports missing numbers; a number below the last one means that the receiver restarted.
  private mutating func noticeGap(before number: UInt16) {
    guard let last = journal.lastNumber else { return }
    let gap = number &- (last &+ 1)
    if gap == 0 { return }
    if gap < 0x8000 {
      progress.lose(Int(gap), .line)
    } else {
      progress.events.append(.startedAnew)
    }
    progress.journal.lastNumber = number &- 1
  }

  private mutating func noticeDrops(_ status: BatchStatus) {
    // The counter restarts with the receiver.
    let drops = status.drops >= journal.drops ? status.drops - journal.drops : status.drops
    progress.journal.drops = status.drops
    progress.lose(drops, .overrun)
  }
}

/// The delivered part of a receiver's batch: the next retrieval, of this process or another, continues after it.
///
/// The text is one line, for a file that is replaced or appended to as a whole.
public struct BatchJournal: Sendable, Equatable {
  /// The number of the last handled LOG-BATCH; nil before the first.
  public var lastNumber: UInt16?
  /// The time of the last delivered fix.
  public var lastTime: UTCTime?
  /// The number of reported epochs that were overwritten.
  public var drops = 0
  /// The numbers of delivered and of lost fixes.
  public var delivered = 0
  public var lost = 0
  /// The number of records in a logger's memory when it stored nothing because it was read, until the fixes that this cost are reported.
  var recordsAtPause: Int?

  public init() {}

  /// The journal of a new, empty batch with this status.
  public init(_ status: BatchStatus) {
    lastNumber = status.nextNumber &- 1
    drops = status.drops
  }

  /// `batch 1 NUMBER TIME DROPS DELIVERED LOST end`, with `-` for an unknown value, and with the records at a pause before `end` if there
  /// was one.
  public var text: String {
    let words =
      [
        lastNumber.map { String($0) } ?? "-", lastTime.map { String($0.nanosecondsSince1970) } ?? "-", String(drops),
        String(delivered), String(lost),
      ] + (recordsAtPause.map { [String($0)] } ?? [])
    return "batch 1 " + words.joined(separator: " ") + " end"
  }

  /// The range of counts that are read: additions to them do not overflow.
  private static let counts = 0...Int.max / 2

  /// Reads `text`; nil if it is incomplete or malformed, or has impossible counts or times.
  public init?(_ text: some StringProtocol) {
    let words = text.split(whereSeparator: { $0 == " " || $0 == "\n" })
    guard 8...9 ~= words.count, words[0] == "batch", words[1] == "1", words.last == "end", let drops = Int(words[4]),
      let delivered = Int(words[5]), let lost = Int(words[6]),
      [drops, delivered, lost].allSatisfy(Self.counts.contains)
    else { return nil }
    if words[2] != "-" {
      guard let number = UInt16(words[2]) else { return nil }
      lastNumber = number
    }
    if words[3] != "-" {
      // After a time beyond all others no fix would ever be delivered.
      guard let time = Int64(words[3]).map(UTCTime.init(nanosecondsSince1970:)), time.isBelieved else { return nil }
      lastTime = time
    }
    if words.count == 9 {
      guard let records = Int(words[7]), Self.counts.contains(records) else { return nil }
      recordsAtPause = records
    }
    (self.drops, self.delivered, self.lost) = (drops, delivered, lost)
  }
}

/// The fill level of a receiver's batch (interface descriptions, MON-BATCH).
public struct BatchStatus: Sendable, Equatable {
  /// The number of stored epochs.
  public var fillLevel: Int
  /// The number of epochs overwritten since batching was set up, or since the start of the receiver.
  public var drops: Int
  /// The number of the next LOG-BATCH.
  public var nextNumber: UInt16

  public static var poll: Command { .poll(.monBATCH) }

  /// Reads the payload of the reply; nil if it is another message.
  public init?(_ payload: [UInt8]) {
    guard payload.count >= 12, payload[0] == 0 else { return nil }
    fillLevel = Int(payload.u2(4))
    drops = Int(payload.u2(6))
    nextNumber = payload.u2(10)
  }
}
