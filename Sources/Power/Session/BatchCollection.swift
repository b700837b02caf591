// SPDX-License-Identifier: Apache-2.0

import MonotonicTime
import Receiver
import ReceiverStream
import WireBytes

/// Fixes that the receiver collects in its memory, from the command to collect to the last read.
///
/// No fix is lost or delivered twice at either end. Collecting begins with the memory on, then the messages off; a fix that
/// arrived both ways is recognised by its time. Collecting ends with the messages on, then the memory is read and switched off.
/// Fixes that arrive meanwhile are held, so that all fixes stay in order.
///
///     off ─ start ─▶ starting ─ accepted ─▶ on ─ stop ─▶ restoringOutput ─ configured ─▶ lastRead ─ finished, cut ─▶ off
///                       ▲                   │
///                       └────── start ──────┘ with another plan
///
///     off ─ expect ─▶ leftover ─ found ─▶ lastRead, or off where the receiver cannot batch
///     starting ─ stop ─▶ restoringOutput           starting ─ refused ─▶ off
///     restoringOutput, lastRead ─ failed ─▶ off    lastRead ─ finished with a gap ─▶ lastRead, three times at most
///     on, restoringOutput, lastRead ─ lost ─▶ leftover           starting ─ lost ─▶ off
///     starting, on, restoringOutput, lastRead ─ sleep, reset ─▶ off
struct BatchCollection: Sendable {
  enum State: Sendable, Equatable {
    case off
    /// The receiver may hold fixes of an earlier process, or from before its line was lost.
    case leftover
    /// The session has the command to collect and has not confirmed it.
    case starting
    /// Epochs that arrive although the messages are off are counted.
    case on(since: Instant, unexpectedEpochs: Int)
    /// The messages are being switched on.
    case restoringOutput
    /// The messages are on and the memory is read to its end.
    case lastRead(rereads: Int)
  }

  enum Event: Sendable {
    /// A batch with this journal may be in the receiver.
    case expect(BatchJournal)
    case found(canBatch: Bool)
    /// The memory holds this number of records of earlier than the batch.
    case holds(Int)
    case start, stop
    case accepted, refused
    /// The session has applied its configuration, or cannot.
    case configured, failed
    case epoch
    case fix(Fix)
    case readOut
    /// `gapSeconds`: the longest time between fixes between which none is missing.
    case retrieval(BatchEvent, gapSeconds: Double)
    case sleep, reset, lost
  }

  enum Effect: Sendable, Equatable {
    case output(CoordinatorOutput)
    case post(PowerEvent)
    /// The session's configuration is to be applied again.
    case applyAgain
    /// The receiver sends what it was configured not to send: it has restarted.
    case restarted
  }

  /// Epochs that arrive this long after the messages were switched off come from a receiver that has lost its configuration.
  static var unexpectedAfter: Milliseconds { Milliseconds(3000) }
  /// Fixes that are held during the last read: two minutes at a fix a second, as long as a slow line needs.
  static var mostHeld: Int { 128 }
  /// Further reads at the end of collecting, for fixes that arrived neither way.
  static var mostRereads: Int { 3 }

  /// Whether the receiver stores no fixes while its memory is read.
  var endsWithRead = false
  private(set) var state = State.off
  private var before: Int?
  private var read: Read?
  private var journal = BatchJournal()
  private var held: [(fix: Fix, at: Instant)] = []
  private var newestLive: UTCTime?

  /// A read of the memory that is under way.
  private struct Read {
    var count = 0
    var lost = 0
    var newest: Fix?
  }

  var isReading: Bool { read != nil }
  var isOn: Bool { if case .on = state { true } else { false } }

  /// Whether the receiver holds fixes that the host does not have.
  var holdsFixes: Bool {
    switch state {
    case .on, .lastRead: true
    case .off, .leftover, .starting, .restoringOutput: isReading
    }
  }

  /// Whether collecting is about to end: the receiver's configuration is left alone.
  var isEnding: Bool {
    switch state {
    case .leftover, .restoringOutput, .lastRead: true
    case .off, .starting, .on: false
    }
  }

  /// Takes an event; every event is legal in every state.
  mutating func handle(_ event: Event, at now: Instant) -> [Effect] {
    switch (state, event) {
    case (.off, .expect(let journal)), (.leftover, .expect(let journal)):
      (state, self.journal) = (.leftover, journal)
    case (.leftover, .found(let canBatch)):
      return canBatch ? beginLastRead() : end()
    case (_, .holds(let count)): before = count
    case (.off, .start), (.starting, .start), (.on, .start): state = .starting
    case (.starting, .accepted): return begin(at: now)
    case (.starting, .refused):
      state = .off
      return [.output(.collectsNoMore), .post(.refused(.batching))]
    case (.starting, .stop), (.on, .stop): state = .restoringOutput
    case (.restoringOutput, .configured): return beginLastRead()
    case (.restoringOutput, .failed), (.lastRead, .failed): return end()
    case (.on(let since, let unexpectedEpochs), .epoch) where !isReading && now >= since + Self.unexpectedAfter:
      if unexpectedEpochs > 0 { return [.restarted] }
      state = .on(since: since, unexpectedEpochs: 1)
    case (.leftover, .fix(let fix)), (.restoringOutput, .fix(let fix)), (.lastRead, .fix(let fix)):
      held.append((fix, now))
      if held.count > Self.mostHeld { return releaseHeld() }
    case (_, .fix(let fix)): return live(fix, at: now)
    case (_, .readOut): return isReading ? [] : beginRead()
    case (_, .retrieval(let event, let gapSeconds)): return retrieved(event, gapSeconds)
    case (.leftover, .sleep), (.leftover, .reset), (.off, .sleep): break
    case (_, .sleep), (_, .reset):
      let released = releaseHeld()
      defer { state = .off }
      return state == .off ? released : released + [.output(.collectsNoMore)]
    case (_, .lost): return lost()
    case (_, .expect), (_, .found), (_, .start), (_, .stop), (_, .accepted), (_, .refused), (_, .configured),
      (_, .failed),
      (_, .epoch):
      break
    }
    return []
  }

  private mutating func begin(at now: Instant) -> [Effect] {
    state = .on(since: now, unexpectedEpochs: 0)
    let last = [newestLive, journal.lastTime].compactMap { $0 }.max()
    journal = BatchJournal()
    journal.lastTime = last
    journal.lastNumber = before.map { UInt16(clamping: $0) }
    return [.output(.collects(journal))]
  }

  private mutating func beginLastRead() -> [Effect] {
    state = .lastRead(rereads: 0)
    return beginRead()
  }

  private mutating func beginRead() -> [Effect] {
    read = Read()
    return [.output(.readOutBegins), .output(.command(.retrieveBatch(journal)))]
  }

  private mutating func retrieved(_ event: BatchEvent, _ gapSeconds: Double) -> [Effect] {
    switch event {
    case .fix(let entry, let after):
      journal = after
      read?.count += 1
      if entry.fix.hasPosition { read?.newest = entry.fix }
      return [.output(.batched(entry, after))]
    case .lost(let count, let loss):
      read?.lost += count
      return [.output(.lost(count, loss))]
    case .startedAnew: return [.output(.startedAnew)]
    case .pauseEnds(let after): journal = after
    case .finished(_, let after):
      journal = after
      return endRead(isWhole: true, gapSeconds)
    case .cut(let after, _):
      journal = after
      return endRead(isWhole: false, gapSeconds)
    }
    return []
  }

  private mutating func endRead(isWhole: Bool, _ gapSeconds: Double) -> [Effect] {
    guard let ended = read else { return [] }
    read = nil
    var effects = [Effect.output(.readOutEnds(isWhole: isWhole))]
    switch state {
    case .lastRead(let rereads) where rereads < Self.mostRereads && isToRepeat(isWhole, gapSeconds):
      state = .lastRead(rereads: rereads + 1)
      return effects + beginRead()
    case .lastRead where endsWithRead:
      let missing = missingInHeld(gapSeconds)
      if missing > 0 { effects.append(.output(.lost(missing, .line))) }
      // The fixes of the deferral come before the report that it is over.
      let event = isWhole ? PowerEvent.batchRetrieved(count: ended.count, lost: ended.lost + missing) : .retrievalCut
      return effects + end() + [.post(event)]
    case .lastRead:
      if ended.lost > 0 { effects.append(.output(.report(.fixesLost(ended.lost)))) }
      return effects + end()
    case .off, .leftover, .starting, .on, .restoringOutput:
      // The policy needs the newest position before it decides how to go on.
      if let fix = ended.newest.flatMap({ FixObservation($0) }) { effects.append(.post(.fix(fix))) }
      effects.append(.post(isWhole ? .batchRetrieved(count: ended.count, lost: ended.lost) : .retrievalCut))
      return effects
    }
  }

  /// Whether the last read is repeated: a whole one for fixes that are in neither, where the memory stores them meanwhile.
  ///
  /// - Parameter gapSeconds: 0 where the line is lost.
  private func isToRepeat(_ isWhole: Bool, _ gapSeconds: Double) -> Bool {
    endsWithRead ? !isWhole && gapSeconds > 0 : isWhole && heldHasGap(gapSeconds)
  }

  private mutating func end() -> [Effect] {
    state = .off
    return [.output(.collectsNoMore)] + releaseHeld() + [.applyAgain]
  }

  /// A receiver that keeps its supply keeps its memory as well.
  private mutating func lost() -> [Effect] {
    let before = state
    let effects = endRead(isWhole: false, 0) + releaseHeld()
    state = before == .off || before == .starting ? .off : .leftover
    return effects
  }

  /// Whether a fix is missing between those that were read and those that arrived meanwhile. A line that is too slow for both
  /// makes the receiver drop messages; its memory still has their fixes.
  private func heldHasGap(_ gapSeconds: Double) -> Bool {
    guard var last = journal.lastTime else { return false }
    for (fix, _) in held {
      guard let time = fix.time, time > last else { continue }
      if time.nanosecondsSince1970 - last.nanosecondsSince1970 > Int64(clamping: gapSeconds * 1e9) { return true }
      last = time
    }
    return false
  }

  /// The number of fixes between those that were read and those that arrived meanwhile, which are in neither: the memory stores none
  /// while it is read.
  private func missingInHeld(_ gapSeconds: Double) -> Int {
    guard var last = journal.lastTime, gapSeconds > 0 else { return 0 }
    var missing = 0
    for (fix, _) in held {
      guard let time = fix.time, time > last else { continue }
      let seconds = Double(time.nanosecondsSince1970 - last.nanosecondsSince1970) / 1e9
      if seconds > gapSeconds { missing += max(Int(clamping: (seconds * 1.5 / gapSeconds).rounded()) - 1, 0) }
      last = time
    }
    return missing
  }

  private mutating func releaseHeld() -> [Effect] {
    defer { held = [] }
    return held.flatMap { fix, instant in
      if let time = fix.time, let last = journal.lastTime, time <= last { return [Effect]() }
      return live(fix, at: instant)
    }
  }

  private mutating func live(_ fix: Fix, at instant: Instant) -> [Effect] {
    if let time = fix.time, fix.hasPosition {
      newestLive = max(newestLive ?? time, time)
      // It was on its way when the messages were switched off: the memory has it too.
      if case .on = state, !isReading { journal.lastTime = max(journal.lastTime ?? time, time) }
    }
    return [.output(.live(fix, at: instant))]
  }
}

/// The outputs of a ``PowerCoordinator``, in order.
public enum CoordinatorOutput: Sendable, Equatable {
  case command(ReceiverCommand)
  /// A report for clients or users.
  case report(PowerReport)
  /// An epoch that arrived as it was measured, at that time.
  case live(Fix, at: Instant)
  /// The receiver collects from now on, and is silent; the journal to store.
  case collects(BatchJournal)
  /// A read of the receiver's memory begins.
  case readOutBegins
  /// A fix of the memory, oldest first; the journal to store once the fix is stored.
  case batched(BatchedFix, BatchJournal)
  /// Fixes of the memory were lost: their number, and where.
  case lost(Int, BatchLoss)
  /// The receiver restarted: an unknown number of collected fixes is lost.
  case startedAnew
  /// The read ends: at the end of the memory, or because the line broke off.
  case readOutEnds(isWhole: Bool)
  /// The receiver does not collect any more and its memory is read: there is no journal to store.
  case collectsNoMore
}
