// SPDX-License-Identifier: Apache-2.0

import MonotonicTime
import ReceiverStream

/// A client of gpsd's protocol, of only its NMEA, or of its control socket. The inputs are the received bytes and
/// reports, the output is the bytes to send.
package struct GPSDClient: Sendable {
  package enum Kind: Sendable {
    /// Requests and reports of gpsd_json(5).
    case gpsd
    /// Sentences without a request. Bytes from the client are ignored.
    case nmea
    /// Commands of the control socket; gpsd(8), section "GPS DEVICE MANAGEMENT".
    case control
  }

  package enum Event: Equatable, Sendable {
    /// The client's demand may have changed.
    case watchChanged
    /// The client has polled, which may affect its demand.
    case polled
    /// The client requests a change of a receiver.
    case change(DeviceChange)
    /// A command of the control socket, which awaits `replyToCommand`.
    case command(ControlCommand)
  }

  package let kind: Kind
  package private(set) var watch = WatchPolicy()
  /// The number of reports that were not sent, because the client does not read.
  package private(set) var dropped = 0
  package private(set) var delivered = 0
  /// Whether to disconnect the client, because it uses another protocol.
  package private(set) var isForeign = false
  /// The administrator's limit.
  package var limit = DemandLimit()
  /// The unread reports of the client, of which a part is still to be written.
  enum Unread: Equatable, Sendable {
    case none
    case since(Instant)
    /// Long enough to count as a client that does not read.
    case ignored
  }
  var unread = Unread.none
  var rhythm = PollRhythm()
  /// Whether the receiver stays on between two polls.
  var staysOnForPolls = false
  var search = Search.idle
  /// The time of the last answer.
  var located: Instant?
  /// The duration of the last search.
  var searchTime = GPSDClient.usualSearch
  private var reader = RequestSplitter()
  private var control = ControlReader()
  /// The requests that wait for room in the queue, the next one last.
  private var pending: [RequestSplitter.Item] = []
  private var queue = OutputQueue()
  private var stalledSince: Instant?

  package init(_ kind: Kind, _ state: GPSDState) {
    self.kind = kind
    switch kind {
    case .gpsd: _ = queue.append(state.version)
    case .nmea:
      watch.isEnabled = true
      watch.nmea = true
    case .control: break
    }
  }

  // MARK: Bytes

  package var output: Span<UInt8> {
    @_lifetime(borrow self) get { queue.waiting }
  }

  package mutating func didWrite(_ count: Int) {
    queue.removeFirst(count)
    guard count > 0 else { return }
    stalledSince = nil
    unread = .none
  }

  /// Whether its requests are read. They wait while it does not read the replies.
  package var wantsInput: Bool { pending.isEmpty && hasRoom }
  private var hasRoom: Bool { queue.count < OutputQueue.limit / 2 }
  /// Whether requests were read that `proceed` answers now.
  package var canProceed: Bool { !pending.isEmpty && hasRoom }

  /// The time at which a client that does not read counts as gone; nil for a client that reads.
  package var endsAt: Instant? { stalledSince.map { $0 + OutputQueue.longestUnread } }

  /// The time at which `wake` or a request is due.
  package var deadline: Instant? {
    var next = Instant.earlier(endsAt, unreadDeadline)
    if staysOnForPolls { next = .earlier(next, rhythm.staysOnUntil) }
    return .earlier(next, searchDeadline)
  }

  /// Handles bytes of the client, and queues the replies. Requests beyond the room for replies wait for `proceed`.
  package mutating func receive(_ bytes: Span<UInt8>, _ state: GPSDState, at now: UTCTime) -> [Event] {
    if kind == .control { return receiveCommands(bytes, state) }
    guard kind == .gpsd, !isForeign else { return [] }
    pending = reader.receive(bytes).reversed() + pending
    return proceed(state, at: now)
  }

  /// Answers the requests that were read, as far as there is room for replies.
  package mutating func proceed(_ state: GPSDState, at now: UTCTime) -> [Event] {
    var events: [Event] = []
    while canProceed, let item = pending.popLast() {
      switch item {
      case .request(let request): answer(request, state, &events, at: now)
      case .foreign:
        queue = OutputQueue()
        pending = []
        isForeign = true
      }
    }
    return events
  }

  private mutating func answer(_ request: Request, _ state: GPSDState, _ events: inout [Event], at now: UTCTime) {
    switch request {
    case .version: reply(state.version)
    case .devices: reply(state.deviceList)
    case .device(let change): answer(change, state, &events)
    case .watch(let change):
      if let change {
        if let path = change.device, !path.isEmpty, state.device(at: path) == nil {
          return reply(state.error("no receiver \(path)"))
        }
        watch.apply(change)
        events.append(.watchChanged)
      }
      reply(state.deviceList)
      reply(state.text(of: watch))
    case .poll:
      reply(state.poll(watch, isAwaited: isAwaiting, at: now))
      if watch.isEnabled { events.append(.polled) }
    case .invalid(let reason): reply(state.error(reason))
    }
  }

  private mutating func answer(_ change: DeviceChange?, _ state: GPSDState, _ events: inout [Event]) {
    // An empty path means none, as in gpsd.
    let path = change?.path.flatMap { $0.isEmpty ? nil : $0 }
    let device = path.map { state.device(at: $0) } ?? state.devices.first
    guard let device else {
      return reply(state.error(path.map { "no receiver \($0)" } ?? "there is no receiver"))
    }
    if var change, change.changes {
      change.path = device.path
      return events.append(.change(change))
    }
    reply(state.text(of: device))
  }

  // MARK: Control

  private mutating func receiveCommands(_ bytes: Span<UInt8>, _ state: GPSDState) -> [Event] {
    var events: [Event] = []
    for command in control.receive(bytes) {
      switch command {
      case .devices:
        reply(Array(state.devices.map { "\($0.path)\n" }.joined().utf8))
        replyToCommand(refusal: nil)
      case .invalid(let reason): replyToCommand(refusal: reason)
      case .add, .remove, .sendText, .sendBytes: events.append(.command(command))
      }
    }
    return events
  }

  /// Queues the reply to a command: a line that begins with OK, or with ERROR and the reason.
  package mutating func replyToCommand(refusal: String?) {
    reply(Array((refusal.map { "ERROR \($0)\n" } ?? "OK\n").utf8))
  }

  // MARK: Reports

  /// A client with an interval gets the reports of its searches.
  private func wants(_ path: String) -> Bool {
    watch.covers(path) && (watch.intervalSeconds == nil && limit.everySeconds == nil || isAwaiting)
  }

  /// Queues a reply, or text for the client. A text that does not fit is dropped.
  package mutating func reply(_ text: [UInt8]) { if !queue.append(text) { dropped += 1 } }

  /// Queues the reports of an epoch.
  package mutating func deliver(_ epoch: EpochReports, at now: Instant) {
    guard wants(epoch.device) else { return }
    if watch.json {
      deliver(epoch.json, at: now)
      if watch.pps { deliver(epoch.timeOffset, at: now) }
    }
    if watch.nmea { deliver(epoch.nmea, at: now) }
  }

  /// Queues TOFF or PPS.
  package mutating func deliver(timing report: [UInt8], of path: String, at now: Instant) {
    if watch.json, watch.pps, wants(path) { deliver(report, at: now) }
  }

  /// Queues a report of a receiver other than its epochs: it was connected, was removed, or sent a correction.
  package mutating func deliver(_ change: DeviceReport, at now: Instant) {
    if watch.json, watch.covers(change.device) { deliver(change.json, at: now) }
  }

  /// Queues a sentence of a receiver.
  ///
  /// - Parameter isOwn: whether clients of NMEA get the sentences of the receiver.
  package mutating func deliver(sentence: [UInt8], of path: String, isOwn: Bool, at now: Instant) {
    if wants(path), watch.raw == .hexadecimal || (isOwn && watch.nmea && watch.raw == .off) {
      deliver(sentence, at: now)
    }
  }

  /// Queues a frame in hexadecimal digits.
  package mutating func deliver(hexadecimal line: [UInt8], of path: String, at now: Instant) {
    if watch.raw == .hexadecimal, wants(path) { deliver(line, at: now) }
  }

  /// Queues bytes as they were read.
  package mutating func deliver(verbatim bytes: [UInt8], of path: String, at now: Instant) {
    if watch.raw == .verbatim, wants(path) { deliver(bytes, at: now) }
  }

  private mutating func deliver(_ report: [UInt8], at now: Instant) {
    if report.isEmpty { return }
    if queue.append(report) {
      delivered += 1
    } else {
      dropped += 1
      stalledSince = stalledSince ?? now
    }
  }
}
