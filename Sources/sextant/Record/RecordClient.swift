// SPDX-License-Identifier: Apache-2.0
import GPSD
import LinuxIO
import MonotonicTime
import RTCM3
import Receiver
import ReceiverRuntime
import ReceiverStream
import SerialPort
import UBX
import WireBytes

/// `sextant record`: writes received bytes.
struct RecordClient: ReceiverClient, ~Copyable {
  /// The number of bytes of the stream in the file.
  private(set) var bytes: UInt64 = 0

  private let path: String
  private let baud: UInt32?
  private let isRaw: Bool
  private var file: RecordingFile
  private var plan: RecordingPlan
  private var writer = RecordingWriter()
  private var hasHeader = false
  private var problem: (any Error)?
  /// Watches whether requested raw measurements arrive.
  private var measurements: MeasurementWatch
  /// The reason why the receiver sends no raw measurements: the recording ends in order.
  private(set) var refusal: CommandFailure?
  private var rate: UInt32?
  /// The frames of all openings of the line.
  var frames: UInt64 = 0
  /// The number of epochs with a position.
  private var fixes = 0
  private var finishedFiles = 0
  private let started: Instant
  private var last: Instant
  private var progress: RecordProgress

  init(
    _ source: Source, baud: UInt32?, plan: RecordingPlan, isRaw: Bool, wantsMeasurements: Bool,
    into file: consuming RecordingFile
  ) {
    path = source.name
    self.baud = baud
    var plan = plan
    plan.resume(atByte: file.length)
    self.plan = plan
    self.isRaw = isRaw
    measurements = MeasurementWatch(isWanted: wantsMeasurements)
    self.file = file
    started = SystemClock.monotonic
    last = started
    progress = RecordProgress(isShown: showsProgress(), at: started)
  }

  var deadline: Instant? { .earlier(.earlier(plan.deadline, progress.deadline), measurements.deadline) }

  mutating func receive(bytes received: RawSpan, at now: Instant) {
    last = now
    measurements.receive(bytes: received)
    attempt { (client: inout RecordClient) in
      if client.plan.isRotationDue(at: now) { try client.rotate(at: now) }
      if client.isRaw {
        try client.file.write(received)
        client.plan.wrote(received.byteCount, at: now)
      } else {
        try client.add(.data, received, at: now)
      }
      client.bytes += UInt64(received.byteCount)
    }
  }

  mutating func receive(_ report: borrowing EpochAssembler.Report, _ sky: borrowing Sky, at now: Instant) {
    guard !report.isUpdate, report.fix.hasPosition else { return }
    fixes += 1
    measurements.receiveFix(at: now)
  }

  mutating func receive(
    _ event: ReceiverConnection.Event, _ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant
  ) {
    switch event {
    case .opened(let path, let rate):
      self.rate = rate
      mark(.opened, path, at: now)
      if let rate { mark(rate: rate, at: now) }
    case .rate(let rate): mark(rate: rate, at: now)
    case .lost: mark(.lost, "", at: now)
    case .session(.identified(let description)): mark(.note, description.summary, at: now)
    default: break
    }
    if measurements.isWanted { refusal = refusal ?? event.refusalOfMeasurements(by: connection.description) }
    if case .session(.configured(refused: 0)) = event { measurements.start() }
    if let text = event.notice(path: path, baud: baud, bytes: connection.bytesOfLine, connection.counters) {
      progress.clear()
      printNotice(text)
    }
  }

  mutating func finishRound(
    _ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant
  ) throws -> Bool {
    if let problem { throw problem }
    if plan.isSyncDue(at: now) {
      // A sync that takes longer than a second is repeated a second later.
      let isStarted = try file.startSync()
      plan.synced()
      if !isStarted { plan.wrote(0, at: now) }
    }
    if measurements.takeOverdue(at: now) {
      progress.clear()
      let name = connection.description?.name ?? "the receiver"
      printNotice(
        "\(name) has a position and has sent no raw measurements for \(MeasurementWatch.timeout.count / 1000) s; some firmware "
          + "sends them as a base station only (docs/guides/ppk.md)")
    }
    frames = connection.totalCounters.frames
    progress.show(bytes: bytes, frames: frames, at: now)
    return refusal != nil
  }

  /// Finishes the file.
  mutating func close() throws {
    progress.clear()
    if let problem { throw problem }
    if hasHeader { try end(at: SystemClock.monotonic) }
    try file.finish()
  }

  /// Returns a summary of the written recording, for the user.
  func summary(_ file: String) -> String {
    func count(_ number: UInt64, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
    let name = file == "-" ? "standard output" : file
    let seconds = Int(clamping: max(0, last.seconds(since: started)).rounded())
    var text =
      "\(name): \(count(bytes, "byte")), \(count(frames, "frame")) and \(fixes) fix\(fixes == 1 ? "" : "es") in \(seconds) s"
    if finishedFiles > 0 { text += ", \(count(UInt64(finishedFiles), "finished file")) before it" }
    return text
  }

  /// Returns a summary of the recording, one line.
  func json(_ file: String) -> String {
    var line = JSONLine()
    line.beginObject()
    line.field("file", text: file)
    line.field("device", text: path)
    line.field("bytes", Int64(bytes))
    line.field("frames", Int64(frames))
    line.name("seconds")
    line.decimal(last.seconds(since: started), digits: 3)
    line.field("fixes", Int64(fixes))
    line.endObject()
    line.endLine()
    return line.text
  }

  // MARK: Writing

  /// Runs an operation. The first error is thrown at the end of the round, and nothing is written after it.
  private mutating func attempt(_ body: (inout RecordClient) throws -> Void) {
    guard problem == nil else { return }
    do { try body(&self) } catch { problem = error }
  }

  private mutating func mark(_ kind: Receiver.Record.Kind, _ text: String, at now: Instant) {
    if isRaw { return }
    let characters = Array(text.utf8)
    attempt { (client: inout RecordClient) in try unsafe client.add(kind, characters.span.bytes, at: now) }
  }

  private mutating func mark(rate: UInt32, at now: Instant) {
    self.rate = rate
    if isRaw { return }
    attempt { (client: inout RecordClient) in
      try client.begin(at: now)
      _ = client.writer.add(rate: rate, Self.arrival(now))
      try client.flush(at: now)
    }
  }

  private mutating func begin(at now: Instant) throws {
    guard !hasHeader else { return }
    hasHeader = true
    let header = RecordingHeader(device: path, baud: rate ?? baud, earlierBytes: bytes)
    _ = writer.add(.header, text: header.text, Self.arrival(now))
    try flush(at: now)
  }

  private mutating func add(_ kind: Receiver.Record.Kind, _ payload: RawSpan, at now: Instant) throws {
    try begin(at: now)
    var used = 0
    repeat {
      let count = min(payload.byteCount - used, Receiver.Record.longestPayload)
      // The writer has capacity, because nothing is pending here.
      _ = writer.add(kind, payload.extracting(used..<used + count), Self.arrival(now))
      try flush(at: now)
      used += count
    } while used < payload.byteCount
  }

  private mutating func end(at now: Instant) throws {
    let nothing: [UInt8] = []
    try unsafe add(.end, nothing.span.bytes, at: now)
  }

  private mutating func flush(at now: Instant) throws {
    plan.wrote(try Self.move(from: &writer, to: &file), at: now)
  }

  /// Writes the pending bytes to the file. After an error they are discarded, because the recording ends.
  private static func move(from writer: inout RecordingWriter, to file: inout RecordingFile) throws -> Int {
    let count = writer.pending.byteCount
    defer { writer.removePending() }
    try file.write(writer.pending)
    return count
  }

  private mutating func rotate(at now: Instant) throws {
    if !isRaw { try end(at: now) }
    try file.rotate()
    plan.rotated()
    finishedFiles += 1
    hasHeader = false
  }

  private static func arrival(_ now: Instant) -> Arrival { Arrival(now, utcNanoseconds: SystemClock.utcNanoseconds) }
}

extension ReceiverConnection.Event {
  /// The failure if the event shows that the receiver has no raw measurements; nil for other events.
  fileprivate func refusalOfMeasurements(by receiver: ReceiverDescription?) -> CommandFailure? {
    switch self {
    case .session(.identified(let receiver)):
      return receiver.lackOfMeasurements.map {
        CommandFailure(.unavailable, "\(receiver.name): \($0); record without --raw-measurements")
      }
    case .session(.notIdentified):
      return CommandFailure(
        .unavailable,
        "the receiver does not identify itself, so that its raw measurements cannot be switched on; "
          + "record without --raw-measurements")
    case .session(.configured(let refused)) where refused > 0: return Self.refusal(of: receiver)
    case .session(.configurationFailed(isRefused: false)):
      return CommandFailure(
        .unavailable, SessionReport.configurationFailure(isRefused: false) + "; record without --raw-measurements")
    case .session(.configurationFailed): return Self.refusal(of: receiver)
    default: return nil
    }
  }

  private static func refusal(of receiver: ReceiverDescription?) -> CommandFailure {
    let name = receiver?.model ?? receiver?.vendor ?? "the receiver"
    let messages =
      receiver?.family == nil ? "RXM-RAWX or RXM-SFRBX" : "RTCM 3 messages, or does not reply to their commands"
    return CommandFailure(.unavailable, "\(name) refuses \(messages); record without --raw-measurements")
  }
}

extension ReceiverDescription {
  /// Vendor and model, for a message.
  fileprivate var name: String {
    [vendor, model ?? generation?.rawValue].compactMap { $0 }.joined(separator: " ")
  }
}

/// Notices that a receiver has positions and sends no raw measurements, although it accepted the commands.
private struct MeasurementWatch: ~Copyable {
  /// The time with a position and without raw measurements.
  static var timeout: Milliseconds { Milliseconds(30_000) }

  private enum State {
    /// The receiver is not configured yet, or has no position.
    case idle, configured
    case waiting(until: Instant)
    /// Measurements arrived, their lack was reported, or they are not requested.
    case complete
  }

  let isWanted: Bool
  private var state: State
  private var stream = FrameStream()

  init(isWanted: Bool) {
    self.isWanted = isWanted
    state = isWanted ? .idle : .complete
  }

  var deadline: Instant? { if case .waiting(let until) = state { until } else { nil } }

  mutating func start() { if case .idle = state { state = .configured } }

  mutating func receiveFix(at now: Instant) {
    if case .configured = state { state = .waiting(until: now + Self.timeout) }
  }

  mutating func receive(bytes: RawSpan) {
    if case .complete = state { return }
    var isMeasured = false
    stream.receive(bytes) { frame in
      if let ubx = frame.ubx, ubx.identity == RxmRAWX.identity { isMeasured = true }
      if let rtcm = frame.rtcm3, MSMHeader(rtcm) != nil { isMeasured = true }
    }
    if isMeasured { state = .complete }
  }

  /// Returns whether the measurements are missing; true once.
  mutating func takeOverdue(at now: Instant) -> Bool {
    guard let deadline, now >= deadline else { return false }
    state = .complete
    return true
  }
}

/// The progress of a recording: one line a second on standard error, if that is a terminal.
private struct RecordProgress {
  private let isShown: Bool
  private let started: Instant
  private var shown: Instant?
  private var isDirty = false

  init(isShown: Bool, at now: Instant) {
    self.isShown = isShown
    started = now
  }

  var deadline: Instant? { isShown ? (shown ?? started) + Milliseconds(1000) : nil }

  mutating func show(bytes: UInt64, frames: UInt64, at now: Instant) {
    guard let deadline, now >= deadline else { return }
    shown = now
    isDirty = true
    let seconds = now.milliseconds(since: started) / 1000
    let clock = "\(seconds / 3600):\((seconds / 60 % 60).digits(2)):\((seconds % 60).digits(2))"
    printRaw("\r\u{1B}[K\(clock)  \(bytes) bytes  \(frames) frames")
  }

  /// Removes the line.
  mutating func clear() {
    if isDirty { printRaw("\r\u{1B}[K") }
    isDirty = false
  }
}
