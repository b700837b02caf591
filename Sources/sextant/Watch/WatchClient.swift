// SPDX-License-Identifier: Apache-2.0

import LinuxIO
import MonotonicTime
import NMEA
import Receiver
import ReceiverRuntime
import ReceiverStream
import SerialPort
import WireBytes

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
  /// The frames before the first fix.
  private var datum = LocalDatum()
  private var stream = FrameStream()
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
    noFix.networkAdvice = (try? LineAddress(source.name))?.networkSource?.adviceOnSilence
  }

  private static var keysToken: Poller.Token { Poller.Token(rawValue: 5) }

  /// The number of epochs with a position.
  var fixes: Int { view.fixes }
  var signals: [Poller.Signal] { view.isScreen ? [.quit, .stop, .resume] : [] }
  var deadline: Instant? { .earlier(view.deadline, corrections?.deadline) }

  mutating func receive(bytes: RawSpan, at now: Instant) {
    view.show(bytes: bytes, at: now)
    // A datum is sent in each burst. The first one may be incomplete.
    guard view.fixes == 0 && !noFix.hasOthers || noFix.epochs < 3 && datum.notice == nil else { return }
    var (noFix, datum) = (noFix, datum)
    stream.receive(bytes) { frame in
      noFix.receive(frame)
      datum.receive(frame)
    }
    if self.datum.notice == nil, let notice = datum.notice { view.show(notice: "\(path): \(notice)") }
    (self.noFix, self.datum) = (noFix, datum)
  }

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
    if let text = event.notice(path: path, baud: baud, bytes: connection.bytesOfLine, connection.counters) {
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
    if let receiver = connection.description, receiver.family != nil { noFix.identified = receiver.summary }
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

/// Why a watched receiver gave no fix, derived from its bytes, with the next step.
struct NoFix {
  /// The number of bytes from the device.
  var bytes: UInt64
  var counters: StreamCounters
  /// The number of epochs. None had a position.
  var epochs: Int
  /// The receiver's last error or warning.
  var warning: String?
  /// Whether the bytes come from a recording: replayed, or on standard input.
  var isReplay = false
  /// The sentences without a position among the messages, and whether there are other messages.
  var sentences: Set<String> = []
  var hasOthers = false
  /// The name of another maker's receiver that has replied to polls.
  var identified: String?
  /// The checks to suggest at a network source; nil for a line.
  var networkAdvice: String?

  var text: String { "no fix was received: \(cause)" }

  private static let withoutPosition: [StaticString] = ["GSV", "GSA", "VTG", "ZDA", "GST", "GRS", "GBS", "DTM", "TXT"]

  mutating func receive(_ frame: borrowing Frame) {
    if let sentence = frame.nmea, sentence.isProprietary {
      // Replies to polls, and sentences of the receiver's state.
      if sentence.messageNumber == PUBX00.messageNumber { hasOthers = true }
    } else if let sentence = frame.nmea,
      let name = Self.withoutPosition.first(where: { sentence.formatter == Formatter($0) })
    {
      sentences.insert("\(name)")
    } else {
      hasOthers = true
    }
  }

  private var cause: String {
    if let warning { return "the receiver warns: \(warning)" }
    if epochs > 0, !hasOthers, !sentences.isEmpty {
      return "it sends \(sentences.sorted().joined(separator: ", ")) and no sentence with a position; "
        + "enable RMC and GGA in the receiver"
    }
    if epochs > 0 {
      return "the receiver has no position yet; check the antenna and its view of the sky"
    }
    if bytes == 0, isReplay { return "the input has no frame of NMEA, UBX or RTCM 3; name a recording of a receiver" }
    if counters.frames == 0, let identified {
      return
        "\(identified) replies, and sends no sentence; enable some with `sextant configure set messages=GGA,GSA,GSV,RMC`"
    }
    if counters.frames == 0, let networkAdvice {
      return bytes == 0 ? "no byte arrived; \(networkAdvice)" : "no valid frame in \(bytes) bytes; \(networkAdvice)"
    }
    if bytes == 0 {
      return "no byte arrived; check the receiver's supply, and that its TX is wired to this port's RX"
    }
    if counters.frames == 0 {
      return RecordingFault.fault(counters, bytes: bytes)
        ?? "no valid frame in \(bytes) bytes; check the wiring and the baud rate"
    }
    if counters.nmeaFrames + counters.ubxFrames == 0 {
      return "it sends only \(counters.rtcm3Frames > 0 ? "RTCM 3" : "SPARTN"), as a source of corrections does;"
        + " enable NMEA or UBX in the receiver"
    }
    let found = "none of \(counters.frames) messages has a time or a position"
    return isReplay
      ? found + " of a live receiver; `sextant decode` prints also fixes that a receiver has stored"
      : found + "; enable RMC and GGA, or NAV-PVT, in the receiver"
  }
}

/// Sends corrections to the receiver of a command, or refuses if the receiver does not accept them.
final class CorrectionClient {
  let feed: CorrectionFeed
  private var isOpen = false
  private var refusal: CommandFailure?

  init(_ sources: [CorrectionSource]) {
    // The connection has token 1.
    feed = CorrectionFeed(
      sources, token: Poller.Token(rawValue: 4), at: SystemClock.monotonic)
  }

  var deadline: Instant? { isOpen ? feed.deadline : .zero }

  func receive(_ event: ReceiverConnection.Event, _ connection: ReceiverConnection, path: String) {
    switch event {
    case .opened where connection.isWritable == false:
      refuse("\(path): the port cannot be written, so corrections cannot be sent; name the receiver's own port")
    case .session(.identified(let receiver)) where !receiver.can(.rtcmInput):
      refuse(
        "\(path): \(receiver.summary) accepts no RTCM 3 corrections; leave --corrections out, or use a receiver with RTK "
          + "(such as ZED-F9P)")
    case .session(.identified(let receiver)): feed.acceptsSPARTN = receiver.can(.spartnInput)
    case .session(.notIdentified):
      refuse(
        "\(path): the receiver is not identified as one of u-blox that accepts corrections; leave --corrections out")
    case .finished(let ticket, _): feed.finished(ticket)
    default: break
    }
  }

  /// Ends a round of events. Throws if the receiver accepts no corrections, or if the source cannot be opened.
  func work(_ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant) throws {
    if let refusal { throw refusal }
    if !isOpen {
      isOpen = true
      try feed.open(&poller, at: now)
    }
    feed.work(connection, &poller, at: now)
  }

  private func refuse(_ text: String) {
    refusal = CommandFailure(.unavailable, text)
  }
}
