// SPDX-License-Identifier: Apache-2.0
import GPSD
import MonotonicTime
import Receiver
import ReceiverStream
import UBX
import WireBytes

/// The data that the live page shows of a receiver, from the bytes of its stream and its epochs. The memory is bounded:
/// only the newest event of each kind waits, and messages beyond ``LiveContent/mostMessages`` are not counted by name.
package struct LiveState: ~Copyable {
  private static var tickMilliseconds: UInt64 { 1000 }

  private var stream = FrameStream()
  private var unfinished = UnfinishedFrame()
  private var content = LiveContent()
  private var lastTick: Instant?
  private var bytesOfSecond = RecentCounts()
  /// The number of bytes of the stream so far.
  package private(set) var bytes: UInt64 = 0
  /// The names of the messages that pages have opened, which get `message` events.
  package var opened: Set<String> {
    get { content.opened }
    set { content.opened = newValue }
  }
  /// The counts of frames and skipped bytes so far.
  package var counters: StreamCounters { stream.counters }

  package init() {}

  /// Handles bytes of the receiver.
  package mutating func receive(_ bytes: RawSpan, at now: Instant) {
    self.bytes += UInt64(bytes.byteCount)
    bytesOfSecond.add(bytes.byteCount)
    stream.receive(bytes) { content.receive($0, at: now) }
    stream.skipFalseStarts(if: &unfinished, at: now.nanoseconds) { content.receive($0, at: now) }
  }

  /// Handles the loss of the receiver, or the opening of another line: an incomplete frame is discarded.
  package mutating func restart() {
    stream.reset()
    content.interrupt()
  }

  /// Handles the report of an epoch.
  ///
  /// - Parameter clock: the time of a computer whose clock is set, for the latency; nil for recordings and simulations.
  package mutating func receive(
    _ report: borrowing EpochAssembler.Report, _ sky: borrowing Sky, clock: UTCTime? = nil, at now: Instant
  ) {
    content.receive(report, sky, clock: clock, at: now)
  }

  /// The bytes per second, over the last ten seconds; nil before the first second.
  package var bytesPerSecond: Double? { lastTick == nil ? nil : bytesOfSecond.perSecond }

  /// The time at which ``tick(at:baud:rejected:)`` is due: every second.
  package var deadline: Instant { lastTick.map { $0 + Milliseconds(Self.tickMilliseconds) } ?? .zero }

  /// Makes the events of each second: rates of the messages, and counts of the line.
  ///
  /// - Parameters:
  ///   - baud: the rate of the line; nil for a line without a rate.
  ///   - rejected: the number of fields that were out of range or unreadable.
  package mutating func tick(at now: Instant, baud: UInt32? = nil, rejected: Int = 0) {
    guard now >= deadline else { return }
    // Rates count whole seconds: the time without a page is not counted.
    if let lastTick, now.milliseconds(since: lastTick) >= 2 * Self.tickMilliseconds {
      bytesOfSecond = RecentCounts()
      content.discardRates()
    }
    lastTick = now
    bytesOfSecond.endSecond()
    content.showLine(
      stream.counters, bytes: bytes, bytesPerSecond: bytesOfSecond.perSecond, baud: baud, rejected: rejected, at: now)
  }

  /// Returns the events since the last call: the newest of each kind.
  package mutating func takeEvents() -> [LiveEvent] { content.takeEvents() }
}

/// The data that is shown about the frames and epochs of a stream.
struct LiveContent: ~Copyable {
  static var mostMessages: Int { 256 }
  /// The least time between two events of the same opened message, milliseconds.
  static var messageInterval: UInt64 { 90 }

  private var events = PageEventQueue()
  private var line = JSONLine()
  private var messages: [MessageKey: MessageCount] = [:]
  private var signals = SignalTable()
  private var trust = TrustMonitor()
  /// The content of the last `trust` event.
  private var shownTrust: (trust: SignalTrust, reasons: [String]) = (.unknown, [])
  private var fusion: FusionStatus?
  var opened: Set<String> = []

  mutating func receive(_ frame: borrowing Frame, at now: Instant) {
    count(frame, at: now)
    guard let ubx = frame.ubx else { return }
    if let message = ubx.message(NavSIG.self) { signals.take(message, at: now) }
    if line.radio(ubx) { add(.rf) }
    if line.spectrum(ubx) { add(.spectrum) }
    if let status = FusionStatus(ubx), status != fusion {
      fusion = status
      line.fusion(status)
      add(.fusion)
    }
    trust.receive(ubx, at: now)
    showTrust(at: now)
  }

  private mutating func showTrust(at now: Instant) {
    let current = trust.trust(at: now)
    let reasons = current > .ok ? trust.reasons(at: now) : []
    guard current != shownTrust.trust || reasons != shownTrust.reasons else { return }
    shownTrust = (current, reasons)
    line.trust(current, reasons)
    add(.trust)
  }

  /// The receiver was lost: its next epochs may be anywhere.
  mutating func interrupt() { trust.interrupt() }

  private mutating func count(_ frame: borrowing Frame, at now: Instant) {
    let key = MessageKey(frame)
    if messages[key] == nil {
      guard messages.count < Self.mostMessages else { return }
      messages[key] = MessageCount(name: Self.name(key))
    }
    messages[key]!.add(frame, at: now)
    guard !opened.isEmpty, let message = messages[key], opened.contains(message.name) else { return }
    if let shown = message.shown, now.milliseconds(since: shown) < Self.messageInterval { return }
    messages[key]!.shown = now
    line.opened(frame, name: message.name)
    add(.message, name: message.name)
  }

  /// `UBX-NAV-PVT`, `NMEA-GNGGA`, `RTCM-1077`.
  private static func name(_ key: MessageKey) -> String {
    let name = key.name
    guard let space = name.firstIndex(of: " ") else { return name }
    return name[..<space] + "-" + name[name.index(after: space)...]
  }

  mutating func receive(
    _ report: borrowing EpochAssembler.Report, _ sky: borrowing Sky, clock: UTCTime?, at now: Instant
  ) {
    let isNew = !report.isUpdate
    if isNew {
      trust.receive(report.fix, sky, at: now)
      showTrust(at: now)
    }
    if report.fixChanged || isNew {
      let geometry = report.fix.hasAllDilutions ? nil : Dilutions(of: sky.satellites)
      line.fix(report.fix, geometry: geometry, visible: sky.count, clock: clock)
      let json = line.takeBytes()
      events.add(LiveEvent(.fix, json: json, row: line.historyRow(report.fix, geometry: geometry)))
    }
    if report.skyChanged {
      let signals = signals.current(at: now)
      line.sky(sky, report.fix.time, signals)
      let json = line.takeBytes()
      events.add(LiveEvent(.sky, json: json, row: line.historyRow(sky, report.fix.time, signals)))
    }
  }

  mutating func showLine(
    _ counters: StreamCounters, bytes: UInt64, bytesPerSecond: Double, baud: UInt32?, rejected: Int, at now: Instant
  ) {
    for key in messages.keys { messages[key]!.recent.endSecond() }
    let list = messages.values.sorted { $0.name < $1.name }
    line.messages(list, bytesPerSecond: bytesPerSecond, total: counters.frames, at: now)
    add(.messages)
    line.line(counters, bytes: bytes, bytesPerSecond: bytesPerSecond, baud: baud, rejected: rejected)
    add(.line)
  }

  mutating func discardRates() {
    for key in messages.keys { messages[key]!.recent = RecentCounts() }
  }

  mutating func takeEvents() -> [LiveEvent] {
    defer { events = PageEventQueue() }
    return events.waiting
  }

  private mutating func add(_ kind: LiveEvent.Kind, name: String? = nil) {
    events.add(LiveEvent(kind, name: name, json: line.takeBytes()))
  }
}

/// The number of messages of a kind, and its rate.
struct MessageCount {
  let name: String
  private(set) var count = 0
  private(set) var bytes = 0
  private(set) var last = Instant.zero
  /// The first bytes of the last frame.
  private var beginning: [UInt8] = []
  var recent = RecentCounts()
  /// The last `message` event.
  var shown: Instant?

  init(name: String) { self.name = name }

  mutating func add(_ frame: borrowing Frame, at now: Instant) {
    count += 1
    bytes += frame.bytes.byteCount
    last = now
    recent.add(1)
    beginning.removeAll(keepingCapacity: true)
    // Without the checksum of UBX.
    let end = frame.ubx == nil ? frame.bytes.byteCount : frame.bytes.byteCount - 2
    for index in 0..<min(end, 96) { beginning.append(frame.bytes.u1(index)) }
  }

  /// The beginning of the last frame: a sentence unchanged, other frames in hexadecimal digits, without the header of
  /// UBX.
  var lastValue: String {
    if beginning.first == UInt8(ascii: "$") || beginning.first == UInt8(ascii: "!") {
      return String(decoding: beginning.filter { 0x20..<0x7F ~= $0 }, as: UTF8.self)
    }
    let payload = beginning.first == 0xB5 ? beginning.dropFirst(6) : beginning[...]
    return payload.prefix(32).map(\.hexadecimalDigits).joined(separator: " ")
  }
}

/// A count over the last ten seconds.
struct RecentCounts {
  private static var seconds: Int { 10 }
  private var counts: [Int] = []
  private var present = 0

  mutating func add(_ number: Int) { present += number }

  mutating func endSecond() {
    if counts.count == Self.seconds { counts.removeFirst() }
    counts.append(present)
    present = 0
  }

  var perSecond: Double {
    counts.isEmpty ? 0 : Double(counts.reduce(0, +)) / Double(counts.count)
  }
}

/// The signals of the last NAV-SIG, by satellite.
struct SignalTable {
  struct Signal {
    var name: String
    var decibelHertz: UInt8
    var isUsed: Bool
    /// The quality of NAV-SIG; nil if there is none.
    var quality: UInt8?
  }

  private var signals: [UInt16: [Signal]] = [:]
  private var time: Instant?

  mutating func take(_ message: borrowing NavSIG, at now: Instant) {
    signals.removeAll(keepingCapacity: true)
    for index in 0..<message.signalCount {
      let signal = message.signal(index)
      // "GPS L1 C/A" becomes "L1 C/A": the satellite implies the system.
      let name = SatelliteStatistics.name(gnssId: signal.gnssId, sigId: signal.sigId)
      signals[UInt16(signal.gnssId) << 8 | UInt16(signal.svId), default: []].append(
        Signal(
          name: name.firstIndex(of: " ").map { String(name[name.index(after: $0)...]) } ?? name,
          decibelHertz: signal.cno, isUsed: signal.sigFlags_prUsed, quality: signal.qualityInd))
    }
    time = now
  }

  /// The signals by system and number of the satellite; empty if the receiver no longer sends them.
  func current(at now: Instant) -> [UInt16: [Signal]] {
    guard let time, now.milliseconds(since: time) < 5000 else { return [:] }
    return signals
  }
}
