import Corrections
import MonotonicTime
import Receiver
import ReceiverRuntime
import ReceiverStream
import SerialPort

/// `sextant watch`: what comes is shown.
struct WatchClient: ReceiverClient, ~Copyable {
  private var view: WatchView
  private let source: Source
  private let path: String
  private let baud: UInt32?
  private let epochs: Int?
  private let corrections: CorrectionClient?
  /// What came so far, for the case that no fix is among it.
  private(set) var noFix = NoFix(bytes: 0, counters: StreamCounters(), epochs: 0)
  /// What was learned of the receiver that helps it at its next start.
  private(set) var record: AssistanceRecord?
  private var place: AssistanceRecord.Place?
  /// Whether an epoch of this round was written; what comes after it is written at the round's end, in one piece.
  private var hasWritten = false
  /// Why it could not be written.
  private var failure: (any Error)?

  /// - Parameters:
  ///   - epochs: after how many with a position to end.
  ///   - corrections: where the receiver's corrections come from.
  init(
    _ kind: WatchView.Kind, source: Source, baud: UInt32?, epochs: Int?, corrections: CorrectionSource? = nil
  ) {
    self.corrections = corrections.map { CorrectionClient($0) }
    view = WatchView(kind, limit: epochs, now: SystemClock.monotonic)
    self.source = source
    path = if case .device(let path) = source { path } else { "built-in simulator" }
    self.baud = baud
    self.epochs = epochs
  }

  /// Epochs with a position so far.
  var fixes: Int { view.fixes }
  var deadline: Instant? { .earlier(view.deadline, corrections?.deadline) }

  mutating func receive(_ report: borrowing EpochAssembler.Report, _ sky: borrowing Sky, at now: Instant) {
    view.show(report, sky, now)
    noFix.epochs += 1
    // Who waits for the epoch has it before the rest of the round is done.
    if !hasWritten {
      hasWritten = true
      do { try view.flush() } catch { failure = error }
    }
    if let place = AssistanceRecord.Place(report.fix) { self.place = place }
    corrections?.feed.receive(report.fix)
  }

  mutating func receive(
    _ event: ReceiverConnection.Event, _ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant
  ) {
    switch event {
    case .opened(let path, let rate): view.open(path, baud: rate, source)
    case .rate(let rate), .session(.rateFound(let rate)): view.set(baud: rate)
    default: break
    }
    if let text = text(of: event, path: path, baud: baud) { view.tell(text) }
    corrections?.receive(event, connection, path: path)
  }

  mutating func handle(_ event: Poller.Event, _ poller: inout Poller, at now: Instant) {
    corrections?.feed.handle(event, &poller, at: now)
  }

  mutating func finishRound(
    _ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant
  ) throws -> Bool {
    if let corrections {
      try corrections.work(connection, &poller, at: now)
      while let text = corrections.feed.nextReport() { view.tell(text) }
    }
    view.set(bytes: connection.bytes)
    noFix.bytes = connection.bytes
    if connection.isOpen { noFix.counters = connection.counters }
    view.update(connection.counters, rejected: connection.rejectedFields, now)
    if let description = connection.description, place != nil || !connection.navigationDatabase.isEmpty {
      var record = AssistanceRecord(key: AssistanceRecord.Key(description))
      record.place = place
      record.database = connection.navigationDatabase
      self.record = record
    }
    if let failure { throw failure }
    hasWritten = false
    try view.flush()
    return epochs.map { view.fixes >= $0 } ?? false
  }

  mutating func resize() { view.resize() }

  mutating func prepare(for report: borrowing EpochAssembler.Report, _ sky: borrowing Sky) {
    view.rehearse(report, sky)
  }

  /// Gives the terminal back.
  mutating func close() { view.close() }
}
