// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import MonotonicTime
import Receiver
import ReceiverRuntime
import ReceiverStream
import SerialPort

/// `sextant watch`: shows epochs and events.
struct WatchClient: ReceiverClient, ~Copyable {
  private var view: WatchView
  private let source: Source
  private let path: String
  private let baud: UInt32?
  private let epochs: Int?
  private let corrections: CorrectionClient?
  /// The statistics until now, for the message if there is no fix.
  private(set) var noFix = NoFix(bytes: 0, counters: StreamCounters(), epochs: 0)
  /// The assistance record of the receiver for its next start.
  private(set) var record: AssistanceRecord?
  private var place: AssistanceRecord.Place?
  /// Whether an epoch of this round was written. Further output is written at the end of the round, in one piece.
  private var hasWritten = false
  /// The error of a failed write.
  private var problem: (any Error)?
  /// Whether the poller waits for keys.
  private var waitsForKeys = false

  /// - Parameters:
  ///   - epochs: the number of epochs with a position after which the command ends; nil for no limit.
  ///   - corrections: the sources of corrections, the preferred one first; empty for none.
  init(
    _ kind: WatchView.Kind, source: Source, baud: UInt32?, epochs: Int?, corrections: [CorrectionSource] = []
  ) {
    self.corrections = corrections.isEmpty ? nil : CorrectionClient(corrections)
    view = WatchView(
      kind, limit: epochs, now: SystemClock.monotonic, ScreenCapabilities(environment), TerminalControl())
    self.source = source
    path = source.name
    self.baud = baud
    self.epochs = epochs
    noFix.isReplay = source.isSimulated || source.isStandardInput
  }

  private static var keysToken: Poller.Token { Poller.Token(rawValue: 5) }

  /// The number of epochs with a position.
  var fixes: Int { view.fixes }
  var signals: [Poller.Signal] { view.isScreen ? [.quit, .stop, .resume] : [] }
  var deadline: Instant? { .earlier(view.deadline, corrections?.deadline) }

  mutating func receive(bytes: RawSpan, at now: Instant) { view.show(bytes: bytes, at: now) }

  mutating func receive(_ report: borrowing EpochAssembler.Report, _ sky: borrowing Sky, at now: Instant) {
    view.show(report, sky, now)
    noFix.epochs += 1
    // The first epoch is written before the rest of the round, so that its reader does not wait.
    if !hasWritten {
      hasWritten = true
      do { try view.flush() } catch { problem = error }
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
    if case .session(.warned(let text)) = event { noFix.warning = text }
    if let text = event.notice(path: path, baud: baud, bytes: connection.bytes, connection.counters) {
      view.show(notice: text)
    }
    corrections?.receive(event, connection, path: path)
  }

  mutating func handle(_ event: Poller.Event, _ poller: inout Poller, at now: Instant) {
    switch event {
    case .readable(Self.keysToken):
      if !view.readKeys(at: now) { poller.remove(view.keys) }
    case .hangUp(Self.keysToken): poller.remove(view.keys)
    default: corrections?.feed.handle(event, &poller, at: now)
    }
  }

  mutating func finishRound(
    _ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant
  ) throws -> Bool {
    if let corrections {
      try corrections.work(connection, &poller, at: now)
      while let text = corrections.feed.nextReport() { view.show(notice: text) }
    }
    view.set(bytes: connection.bytes)
    noFix.bytes = connection.bytes
    noFix.counters = connection.totalCounters
    view.update(noFix.counters, rejected: connection.rejectedFields, now)
    if view.hasKeys != waitsForKeys {
      waitsForKeys.toggle()
      if waitsForKeys { try poller.add(view.keys, token: Self.keysToken) } else { poller.remove(view.keys) }
    }
    if let description = connection.description, place != nil || !connection.navigationDatabase.isEmpty {
      var record = AssistanceRecord(key: AssistanceRecord.Key(description))
      record.place = place
      record.database = connection.navigationDatabase
      self.record = record
    }
    if let problem { throw problem }
    hasWritten = false
    try view.flush()
    return view.isEndRequested || epochs.map { view.fixes >= $0 } ?? false
  }

  mutating func resize() { view.resize() }

  mutating func stop() {
    view.leaveScreen()
    TerminalControl.stop()
    view.resize()
  }

  mutating func resume() { view.resume() }

  mutating func reportSlowEnd(_ text: String) {
    view.endScreen()
    printNotice(text)
  }

  mutating func prepare(for report: borrowing EpochAssembler.Report, _ sky: borrowing Sky) {
    view.warmUp(report, sky)
  }

  /// Restores the terminal.
  mutating func close() { view.close(at: SystemClock.monotonic) }
}
