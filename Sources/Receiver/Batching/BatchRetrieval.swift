import MonotonicTime
import ReceiverStream
import UBX

/// What comes of a retrieval.
public enum BatchEvent: Sendable, Equatable {
  /// The next fix, oldest first; the journal as it is once the fix is delivered.
  case fix(BatchedFix, BatchJournal)
  /// So many fixes are lost, and why.
  case lost(Int, BatchLoss)
  /// The receiver started anew since the last retrieval: what it had is gone, and how much that was is not known.
  case startedAnew
  /// All is read out: fixes of this retrieval; the journal to keep.
  case finished(fixes: Int, BatchJournal)
  /// The receiver went away, or fell silent, before the end. The next retrieval goes on.
  case cut(BatchJournal)
}

/// Where fixes were lost.
public enum BatchLoss: Sendable, Equatable {
  /// The buffer was full; the oldest were overwritten.
  case overrun
  /// The receiver sent them and they did not arrive.
  case line
}

/// Reads a batch out: every fix once, oldest first.
///
///     asking ── MON-BATCH: so many wait ──▶ receiving ── all came, or quiet ──▶ asking … ── none wait ──▶ over
///
/// LOG-RETRIEVEBATCH is said with sendMonFirst, so that MON-BATCH tells how many follow and with which number the first
/// comes, and so with which the last: entries of an earlier retrieval, whose reader was killed, may come before it. A
/// number that is left out was lost on the line. What was delivered before, by number and time, is not delivered again:
/// firmware may keep what it has sent. Fixes that come in meanwhile are read in the next round.
public struct BatchRetrieval: Sendable {
  private enum Step { case asking, receiving, over }

  /// What was delivered so far.
  public private(set) var journal: BatchJournal
  private var step = Step.asking
  private var isReported = false
  /// Entries that the receiver announced for this round.
  private var announced = 0
  /// The number of the last of them; nil while that is not known.
  private var lastOfRound: UInt16?
  private var fixes = 0
  private var fixesBefore = 0
  private var cameWhileAsking = false
  private var fruitless = 0
  private var dueAt: Instant?
  private var events: [BatchEvent] = []

  /// Silence in the middle of a retrieval after which nothing more comes. A receiver sends one entry after the other;
  /// one takes 1/4 s at 4800 baud.
  static var quiet: Milliseconds { Milliseconds(1500) }
  /// Rounds that bring nothing new before it is given up: a receiver that keeps what it sent shows itself after one.
  static var mostFruitless: Int { 3 }

  /// - Parameters:
  ///   - journal: what was delivered before.
  ///   - earlier: LOG-BATCH payloads that were received before, oldest first, by a reader that did not come to deliver
  ///     them all: those that the journal knows are passed over.
  public init(_ journal: BatchJournal, earlier: [[UInt8]] = []) {
    self.journal = journal
    for payload in earlier {
      guard let entry = BatchedFix(logBATCH: payload) else { continue }
      if let last = self.journal.lastNumber, Int16(bitPattern: entry.number &- last) <= 0 { continue }
      take(entry)
    }
  }

  /// Whether it is over.
  public var isOver: Bool { step == .over }
  /// When `wake` is due.
  public var deadline: Instant? { dueAt }
  /// The next thing to tell or deliver.
  public mutating func nextEvent() -> BatchEvent? { events.isEmpty ? nil : events.removeFirst() }

  /// What to say now; its outcome is received. Nil when there is nothing to say.
  public mutating func next() -> Command? {
    guard step == .asking, !isReported else { return nil }
    isReported = true
    fixesBefore = fixes
    return Command(.logRETRIEVEBATCH, [0, 1, 0, 0], answer: .message(.monBATCH))
  }

  /// How the question ended.
  public mutating func receive(_ outcome: Outcome, at now: Instant) {
    guard step == .asking else { return }
    if case .answered(let payload) = outcome, let status = BatchStatus(payload) {
      begin(status, at: now)
    } else if cameWhileAsking {
      // MON-BATCH was damaged on the line, or an earlier retrieval goes on, and the receiver heeds no second one.
      (announced, lastOfRound) = (.max, nil)
      receiving(at: now)
    } else {
      cut()
    }
  }

  /// A LOG-BATCH payload came.
  public mutating func receive(logBATCH payload: [UInt8], at now: Instant) {
    guard step != .over, let entry = BatchedFix(logBATCH: payload) else { return }
    if step == .asking { cameWhileAsking = true }
    if dueAt != nil { dueAt = now + Self.quiet }
    take(entry)
    if step == .receiving, isComplete { endRound() }
  }

  private mutating func take(_ entry: BatchedFix) {
    noticeGap(before: entry.number)
    journal.lastNumber = entry.number
    deliver(entry)
  }

  /// Whether the last entry of the round is there.
  private var isComplete: Bool {
    guard let lastOfRound, let last = journal.lastNumber else { return false }
    return Int16(bitPattern: last &- lastOfRound) >= 0
  }

  /// The deadline has come.
  public mutating func wake(at now: Instant) {
    guard let dueAt, now >= dueAt, step == .receiving else { return }
    endRound()
  }

  /// The receiver is gone.
  public mutating func cut() {
    guard step != .over else { return }
    step = .over
    dueAt = nil
    events.append(.cut(journal))
  }

  private mutating func begin(_ status: BatchStatus, at now: Instant) {
    noticeDrops(status)
    // Entries that overtook the answer have been counted already.
    if !cameWhileAsking { noticeGap(before: status.nextNumber) }
    announced = status.fillLevel
    if announced == 0 { return finish() }
    lastOfRound = status.nextNumber &+ UInt16(truncatingIfNeeded: announced - 1)
    receiving(at: now)
    if isComplete { endRound() }
  }

  private mutating func receiving(at now: Instant) {
    step = .receiving
    dueAt = now + Self.quiet
  }

  private mutating func endRound() {
    fruitless = fixes == fixesBefore ? fruitless + 1 : 0
    // The one or two that came in since then can wait.
    if isComplete, announced <= 2 || fruitless > 0 { return finish() }
    if fruitless >= Self.mostFruitless { return cut() }
    step = .asking
    isReported = false
    cameWhileAsking = false
    lastOfRound = nil
    dueAt = nil
  }

  private mutating func finish() {
    step = .over
    dueAt = nil
    events.append(.finished(fixes: fixes, journal))
  }

  /// Numbers that were left out; a number below the last one is a receiver that started anew.
  private mutating func noticeGap(before number: UInt16) {
    guard let last = journal.lastNumber else { return }
    let gap = number &- (last &+ 1)
    if gap == 0 { return }
    if gap < 0x8000 {
      lose(Int(gap), .line)
    } else {
      events.append(.startedAnew)
    }
    journal.lastNumber = number &- 1
  }

  private mutating func noticeDrops(_ status: BatchStatus) {
    // The counter begins anew with the receiver.
    let drops = status.drops >= journal.drops ? status.drops - journal.drops : status.drops
    journal.drops = status.drops
    if drops > 0 { lose(drops, .overrun) }
  }

  private mutating func lose(_ number: Int, _ loss: BatchLoss) {
    journal.lost += number
    events.append(.lost(number, loss))
  }

  private mutating func deliver(_ entry: BatchedFix) {
    if let time = entry.fix.time {
      if let last = journal.lastTime, time <= last { return }
      journal.lastTime = time
    }
    fixes += 1
    journal.delivered += 1
    events.append(.fix(entry, journal))
  }
}
