// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import ReceiverStream

/// A reader of the fixes that a receiver stores.
protocol Retrieval: Sendable {
  var isOver: Bool { get }
  var deadline: Instant? { get }
  mutating func nextEvent() -> BatchEvent?
  mutating func next() -> Command?
  mutating func receive(_ outcome: Outcome, at now: Instant)
  mutating func receive(logBATCH payload: [UInt8], at now: Instant)
  mutating func wake(at now: Instant)
  mutating func cut()
}

extension BatchRetrieval: Retrieval {}

/// Reads the log in a receiver's flash: each position once, oldest first.
///
///     stop recording ─▶ how many? ─▶ (from which time on?) ─▶ 256 of them ─▶ … ─▶ record again ─▶ over
///
/// A log cannot be read while it is written. It keeps its entries: lost ones are requested again, and the retrieval after a
/// killed one continues after the time of the journal.
struct FlashRetrieval: Retrieval {
  private enum Step { case stopping, counting, finding, reading, recording, over }

  private var journal: BatchJournal
  private let usesItems: Bool
  private var step = Step.stopping
  private var isReported = false
  /// The next entry to read, and the number of all.
  private var position = 0
  private var count = 0
  private var fruitless = 0
  private var fixes = 0
  private var events: [BatchEvent] = []

  /// The most entries of one request (interface descriptions, LOG-RETRIEVE).
  private static let most = 256
  /// The number of requests without an entry after which the remaining ones are taken for entries of another kind.
  private static let mostFruitless = 2

  init(_ journal: BatchJournal, usesItems: Bool) {
    self.journal = journal
    self.usesItems = usesItems
  }

  var isOver: Bool { step == .over }
  var deadline: Instant? { nil }
  mutating func nextEvent() -> BatchEvent? { events.isEmpty ? nil : events.removeFirst() }
  mutating func receive(logBATCH payload: [UInt8], at now: Instant) {}
  mutating func wake(at now: Instant) {}

  mutating func next() -> Command? {
    guard !isReported else { return nil }
    isReported = true
    switch step {
    case .stopping: return .records(false, usesItems: usesItems)
    case .counting: return FlashLogStatus.poll
    case .finding: return journal.lastTime.map { .entry(at: $0) }
    case .reading: return .entries(from: position, count: min(count - position, Self.most))
    case .recording: return .records(true, usesItems: usesItems)
    case .over: return nil
    }
  }

  mutating func receive(_ outcome: Outcome, at now: Instant) {
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
    case (.recording, .acknowledged):
      step = .over
      events.append(.finished(fixes: fixes, journal))
    default: cut()
    }
  }

  mutating func cut() {
    guard step != .over else { return }
    step = .over
    events.append(.cut(journal))
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
      deliver(entry)
    }
    fruitless = position > began ? 0 : fruitless + 1
    if fruitless > Self.mostFruitless {
      (position, fruitless) = (end, 0)
    }
    go(position < count ? .reading : .recording)
  }

  private mutating func deliver(_ entry: BatchedFix) {
    guard let time = entry.fix.time, entry.fix.hasPosition else { return }
    if let last = journal.lastTime, time <= last { return }
    journal.lastTime = time
    journal.delivered += 1
    fixes += 1
    events.append(.fix(entry, journal))
  }
}
