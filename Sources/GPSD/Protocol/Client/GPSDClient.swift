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

  /// The time for which a client may leave its reports unread before it counts as gone.
  package static let patience = Milliseconds(60_000)

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
  private var reader = RequestReader()
  private var control = ControlReader()
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
  package var wantsInput: Bool { queue.count < OutputQueue.limit / 2 }

  /// The time at which a client that does not read counts as gone; nil for a client that reads.
  package var endsAt: Instant? { stalledSince.map { $0 + Self.patience } }

  /// The time at which `wake` or a request is due.
  package var deadline: Instant? {
    var next = Instant.earlier(endsAt, unreadDeadline)
    if staysOnForPolls { next = .earlier(next, rhythm.staysOnUntil) }
    return .earlier(next, searchDeadline)
  }

  /// Handles bytes of the client, and queues the replies.
  package mutating func receive(_ bytes: Span<UInt8>, _ state: GPSDState, at now: UTCTime) -> [Event] {
    if kind == .control { return receiveCommands(bytes, state) }
    guard kind == .gpsd, !isForeign else { return [] }
    var events: [Event] = []
    for item in reader.receive(bytes) {
      switch item {
      case .request(let request): answer(request, state, &events, at: now)
      case .foreign:
        queue = OutputQueue()
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
      reply(state.poll(at: now))
      if watch.isEnabled { events.append(.polled) }
    case .invalid(let reason): reply(state.error(reason))
    }
  }

  private mutating func answer(_ change: DeviceChange?, _ state: GPSDState, _ events: inout [Event]) {
    let device = change?.path.map { state.device(at: $0) } ?? state.devices.first
    guard let device else {
      return reply(state.error(change?.path.map { "no receiver \($0)" } ?? "there is no receiver"))
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

/// The rhythm of a client that polls: when its next poll is expected, and whether the polls are so close together that the receiver
/// stays on.
struct PollRhythm: Equatable, Sendable {
  /// Polls within this time count as one: programs repeat a poll whose reply is not complete.
  private static var burst: Milliseconds { Milliseconds(1500) }
  /// The longest interval of polls during which the receiver stays on.
  private static var dense: Milliseconds { Milliseconds(10_000) }

  private var last: Instant?
  /// The time between the last two polls; nil before the second one.
  private var interval: Milliseconds?

  /// Whether the client has polled.
  var hasBegun: Bool { last != nil }

  mutating func polled(at now: Instant) {
    if let last {
      let passed = Milliseconds(now.milliseconds(since: last))
      if passed < Self.burst { return }
      interval = passed
    }
    last = now
  }

  /// The next poll, and the time between it and the last one; nil before the second poll.
  var expected: (at: Instant, interval: Milliseconds)? {
    guard let last, let interval else { return nil }
    return (last + interval, interval)
  }

  /// The time until which the receiver stays on for the next poll; nil if it does not.
  var staysOnUntil: Instant? {
    guard let last, let interval, interval <= Self.dense else { return nil }
    return last + Self.dense
  }
}

/// Bytes that are queued until a client reads, up to a limit. A report is queued as a whole or not at all.
struct OutputQueue: Sendable {
  /// The largest number of queued bytes: about ten seconds of reports, and any reply.
  static let limit = 65_536

  private var bytes: [UInt8] = []
  private var start = 0

  var count: Int { bytes.count - start }

  /// The queued bytes, the oldest first.
  var waiting: Span<UInt8> {
    @_lifetime(borrow self) get { bytes.span.extracting(start..<bytes.count) }
  }

  /// Appends a report. Returns false if there is no room for it.
  mutating func append(_ report: Span<UInt8>) -> Bool {
    guard count + report.count <= Self.limit else { return false }
    for index in report.indices { bytes.append(report[index]) }
    return true
  }

  mutating func append(_ report: [UInt8]) -> Bool {
    guard count + report.count <= Self.limit else { return false }
    bytes += report
    return true
  }

  /// Removes bytes that were sent to the client.
  mutating func removeFirst(_ written: Int) {
    start += written
    if start == bytes.count {
      bytes.removeAll(keepingCapacity: true)
      start = 0
    } else if start > Self.limit {
      bytes.removeSubrange(..<start)
      start = 0
    }
  }
}

/// The machine administrator's limits for the demands of gpsd's clients.
package struct DemandLimit: Equatable, Sendable {
  /// The shortest time between two locations, seconds; nil if there is no limit.
  package var everySeconds: Double?
  /// The best accuracy, metres; nil if there is no limit.
  package var accuracyMetres: Double?

  package init(everySeconds: Double? = nil, accuracyMetres: Double? = nil) {
    self.everySeconds = everySeconds
    self.accuracyMetres = accuracyMetres
  }
}

// Determines a client's demand, from its requests, its reading and the administrator's limit.
//
//     watches, reads reports ──▶ continuous; with an interval: every
//     watches, no form of reports ──▶ polled; polls within 10 s of each other: continuous
//     leaves its reports unread for 10 s ──▶ none, until it reads
extension GPSDClient {
  /// A client's demand on the receiver.
  package enum Demand: Equatable, Sendable {
    case none
    /// Each epoch, with an accuracy in metres; nil for the best accuracy.
    case continuous(accuracyMetres: Double?)
    /// One location in each interval, seconds.
    case every(seconds: Double, accuracyMetres: Double?)
    /// One location for each poll, known shortly before the poll if the client polls regularly.
    case polled(accuracyMetres: Double?)

    /// Whether the receiver may sleep between two locations.
    package var isInterrupted: Bool {
      switch self {
      case .none, .every, .polled: true
      case .continuous: false
      }
    }
  }

  /// The search for the next location of a client whose demand is interrupted.
  enum Search: Equatable, Sendable {
    case idle
    case due(Instant)
    case running(since: Instant)
  }

  /// The time for which written reports may stay unread.
  private static let readingPatience = Milliseconds(10_000)
  /// The maximum age of a location that answers a poll.
  private static let pollAge = Milliseconds(10_000)
  /// The expected duration of a search before one was measured, the longest duration that is used, and the margin.
  static let usualSearch = Milliseconds(3000)
  private static let longestSearch = Milliseconds(15_000)
  private static let spare = Milliseconds(2000)

  package var demand: Demand {
    guard watch.isEnabled, unread != .ignored else { return .none }
    let accuracy = Self.larger(watch.accuracyMetres, limit.accuracyMetres)
    let polls = !watch.hasReports && watch.intervalSeconds == nil
    if let seconds = Self.larger(watch.intervalSeconds, limit.everySeconds) {
      return polls ? .polled(accuracyMetres: accuracy) : .every(seconds: seconds, accuracyMetres: accuracy)
    }
    return polls && !staysOnForPolls ? .polled(accuracyMetres: accuracy) : .continuous(accuracyMetres: accuracy)
  }

  private static func larger(_ a: Double?, _ b: Double?) -> Double? {
    guard let a, let b else { return a ?? b }
    return max(a, b)
  }

  // MARK: Reading

  /// Records that the client's end of the connection accepts no more bytes.
  package mutating func didBlock(at now: Instant) { if unread == .none { unread = .since(now) } }

  var unreadDeadline: Instant? {
    guard case .since(let start) = unread else { return nil }
    return start + Self.readingPatience
  }

  // MARK: Polls and searches

  /// Records a poll.
  package mutating func didPoll(at now: Instant) {
    rhythm.polled(at: now)
    staysOnForPolls = rhythm.staysOnUntil.map { now < $0 } ?? false
    guard case .polled = demand, !isAwaiting else { return }
    let isKnown = located.map { Milliseconds(now.milliseconds(since: $0)) <= Self.pollAge } ?? false
    search = isKnown ? nextForPolls(at: now) : .due(earliest(now))
  }

  /// Advances the time. The demand may change.
  package mutating func wake(at now: Instant) {
    if let deadline = unreadDeadline, now >= deadline { unread = .ignored }
    if staysOnForPolls, let end = rhythm.staysOnUntil, now >= end { staysOnForPolls = false }
  }

  /// Handles a new demand. A demand with interruptions starts with a search, unless the client has already polled.
  package mutating func began(_ demand: Demand, at now: Instant) {
    switch demand {
    case .polled where rhythm.hasBegun: search = nextForPolls(at: now)
    case .every, .polled: search = .due(now)
    case .none, .continuous: search = .idle
    }
  }

  /// Whether to request a location now.
  package func isSearchDue(at now: Instant) -> Bool {
    if case .due(let due) = search { now >= due } else { false }
  }

  /// Whether a client waits for a requested location.
  package var isAwaiting: Bool { if case .running = search { true } else { false } }

  /// Handles the search of another client. A location that is due within half of the interval is requested with it.
  package mutating func joinSearch(at now: Instant) {
    guard case .every(let seconds, _) = demand, case .due(let due) = search,
      due <= now + Milliseconds(seconds: seconds / 2)
    else { return }
    search = .due(now)
  }

  /// Records that a location was requested.
  package mutating func requested(at now: Instant) { search = .running(since: now) }

  /// Records the answer.
  package mutating func answered(at now: Instant) {
    guard case .running(let start) = search else { return }
    located = now
    searchTime = min(Milliseconds(now.milliseconds(since: start)), Self.longestSearch)
    switch demand {
    case .every(let seconds, _): search = .due(now + Milliseconds(seconds: seconds))
    case .polled: search = nextForPolls(at: now)
    case .none, .continuous: search = .idle
    }
  }

  /// The time of the search before the next poll; nil unless a poll is expected.
  private func nextForPolls(at now: Instant) -> Search {
    guard let next = rhythm.expected, next.at > now else { return .idle }
    let lead = min(searchTime + Self.spare, Milliseconds(next.interval.count / 2))
    let start = next.at.moved(by: -lead.seconds)
    // A location within the maximum age already answers the poll.
    return start > now ? .due(earliest(start)) : .idle
  }

  /// The earliest time of a search that the administrator allows. Polls at least as rare as the limit observe it
  /// anyway, and their searches may move to the time before a poll.
  private func earliest(_ time: Instant) -> Instant {
    guard let located, let seconds = limit.everySeconds else { return time }
    let isRare = rhythm.expected.map { $0.interval.seconds >= 0.9 * seconds } ?? false
    return max(time, located + Milliseconds(seconds: isRare ? seconds / 2 : seconds))
  }

  var searchDeadline: Instant? { if case .due(let due) = search { due } else { nil } }
}
