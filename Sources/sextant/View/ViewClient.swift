// SPDX-License-Identifier: Apache-2.0

import Glibc
import LinuxIO
import Messages
import MonotonicTime
import Receiver
import ReceiverRuntime
import ReceiverStream
import SystemPackage
import UBX

/// `sextant view` in one session with its source: shows epochs, bytes and events on the page.
struct ViewClient: ReceiverClient, ~Copyable {
  /// The pace of the page's rates, which also wakes this client.
  private static var uplinkInterval: Milliseconds { Milliseconds(1000) }
  /// The time without a page after which the receiver is left, and that for the first page.
  private static var idleMilliseconds: UInt64 { 10_000 }
  private static var firstMilliseconds: UInt64 { 60_000 }

  private let page: ViewPage
  private let path: String
  private let isReadOnly: Bool
  private let isRecording: Bool
  private var power: SessionPower
  private var polls = RadioPolls()
  private var uplink = UplinkStatus()
  private var uplinkDue = Instant.zero
  private var control: SettingsControl
  private var lastPage: Instant
  private var hadPage = false
  private var isAttached = false
  private var epochs = 0
  private var positions = 0
  /// Whether the source is at its end.
  private(set) var hasEnded = false

  /// - Parameter name: the name of the source in messages.
  init(_ page: ViewPage, _ choice: Source.Choice, name: String, isReadOnly: Bool) {
    self.page = page
    path = name
    self.isReadOnly = isReadOnly
    isRecording = !page.endsWithoutPage
    power = SessionPower(choice)
    control = SettingsControl(isReadOnly: isReadOnly)
    lastPage = SystemClock.monotonic
  }

  /// Why the source ended, in words.
  var endReason: String {
    if positions > 0 { return "the recording is over" }
    let noFix = NoFix(bytes: page.live.bytes, counters: page.live.counters, epochs: epochs, isReplay: true)
    return "the recording is over; \(noFix.text)"
  }

  var deadline: Instant? {
    if !isAttached { return .zero }
    var next = page.sockets.deadline
    if page.sockets.pages > 0 {
      next = .earlier(next, page.live.deadline)
      next = .earlier(next, polls.deadline)
      next = .earlier(next, power.deadline)
    } else if page.endsWithoutPage, !control.isBusy {
      next = .earlier(next, idleDeadline)
    }
    return .earlier(next, control.deadline)
  }

  private var idleDeadline: Instant {
    lastPage + Milliseconds(hadPage ? Self.idleMilliseconds : Self.firstMilliseconds)
  }

  mutating func receive(bytes: RawSpan, at now: Instant) { page.live.receive(bytes, at: now) }

  mutating func receive(_ report: borrowing EpochAssembler.Report, _ sky: borrowing Sky, at now: Instant) {
    page.live.receive(report, sky, clock: page.isLive ? systemTime() : nil, at: now)
    epochs += 1
    if report.fix.hasPosition { positions += 1 }
    power.hasPosition = report.fix.hasPosition
  }

  mutating func receive(
    _ event: ReceiverConnection.Event, _ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant
  ) {
    switch event {
    case .ended: hasEnded = true
    case .opened:
      page.live.restart()
      if !isRecording { showReceiver(connection) }
    case .session(.identified): showReceiver(connection)
    case .session(.rateFound), .rate: if !isRecording { showReceiver(connection) }
    case .finished(let ticket, let outcome):
      polls.finished(ticket, outcome)
      control.finished(ticket, outcome, connection, &poller, at: now)
    default: break
    }
    power.receive(event, connection, page, at: now)
    if let text = event.notice(path: path, baud: nil) {
      printNotice(text)
      page.sockets.publish(.notice(text))
    }
    if case .lost(let path) = event { page.sockets.publish(.notice("\(path): the receiver is disconnected")) }
  }

  private func showReceiver(_ connection: ReceiverConnection) {
    let description = connection.description
    page.sockets.publish(
      .receiver(
        model: description?.model, firmware: description?.firmware, protocolVersion: description?.protocolVersionText,
        extensions: description.map { Array($0.strings.dropFirst(2)) } ?? [], device: path, baud: connection.rate))
  }

  mutating func handle(_ event: Poller.Event, _ poller: inout Poller, at now: Instant) {
    page.sockets.handle(event, &poller, at: now)
  }

  mutating func finishRound(
    _ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant
  ) throws -> Bool {
    if !isAttached {
      isAttached = true
      try page.sockets.attach(&poller)
    }
    for request in page.sockets.takeRequests() { control.take(request, page, connection, &poller, at: now) }
    for event in control.takeEvents() { page.sockets.publish(event) }
    if page.sockets.pages > 0 {
      (lastPage, hadPage) = (now, true)
      if !isRecording, now >= uplinkDue {
        uplinkDue = now + Self.uplinkInterval
        if let event = uplink.work() { page.sockets.publish(event) }
      }
      // Also while the receiver is disconnected: no poll is due then.
      if !isReadOnly, !isRecording { polls.work(connection, &poller, at: now) }
      if connection.isOpen {
        page.live.tick(at: now, baud: connection.rate, rejected: connection.rejectedFields)
        if !isReadOnly { control.readSettings(connection, &poller, at: now) }
      } else {
        page.live.tick(at: now)
      }
    }
    power.work(page, connection, at: now)
    page.publish(at: now)
    page.sockets.finishRound(&poller, at: now)
    return page.endsWithoutPage && page.sockets.pages == 0 && now >= idleDeadline && !control.isBusy
  }
}

/// The status of `sextant uplink` for the page, by the control socket that `sextant uplink status` uses. Nothing waits for it: one
/// round connects, and a later one reads the line.
struct UplinkStatus: ~Copyable {
  /// The members of the status that the page shows.
  private static let members = [
    "connected", "queued", "oldestSeconds", "sent", "acknowledged", "thinned", "dropped", "bytesToday", "lastSuccess",
    "lastError",
  ]

  private let paths: [String]
  private var socket: UnixSocket?
  private var answer: [UInt8] = []
  private var isShown = false

  /// - Parameter paths: the control sockets, in the order of preference.
  init(paths: [String] = Self.paths) { self.paths = paths }

  /// The sockets of this user's queue and of the unit's queue, whose folder is open to root alone.
  private static var paths: [String] {
    let own = StateFolder.path(isRoot: geteuid() == 0, environment)
    return [own, "/var/lib/sextant-uplink"].compactMap { folder in folder.map { "\($0)/uplink/control" } }
  }

  /// Returns the event of a status that has come: an empty object if the program has ended.
  mutating func work() -> LiveEvent? {
    guard socket != nil else {
      for path in paths {
        socket = try? UnixSocket(connectingTo: path)
        if socket != nil { return nil }
      }
      return ended()
    }
    guard let text = read() else { return nil }
    socket = nil
    defer { answer = [] }
    guard let status = try? JSON(parsing: text), status.isObject, let json = try? Self.shown(status).text() else {
      return ended()
    }
    isShown = true
    return LiveEvent(.uplink, json: json)
  }

  private mutating func ended() -> LiveEvent? {
    guard isShown else { return nil }
    isShown = false
    return LiveEvent(.uplink, json: Array("{}".utf8))
  }

  /// Returns the line when it is complete, also if it is empty; nil before.
  private mutating func read() -> [UInt8]? {
    var buffer = [UInt8](repeating: 0, count: 4096)
    while let transfer = socket?.read(into: &buffer) {
      guard case .bytes(let count) = transfer else {
        if case .wouldWait = transfer { return nil }
        return answer
      }
      answer += buffer[..<count]
      if let end = answer.firstIndex(of: UInt8(ascii: "\n")) { return Array(answer[..<end]) }
      if answer.count > buffer.count { return [] }
    }
    return answer
  }

  private static func shown(_ status: JSON) -> JSON {
    .object(members.compactMap { name in status[name].map { JSON.Member(name, $0) } })
  }
}

/// Polls of the messages that the page shows and that the session does not switch on: signals, radio, spectrum, and the
/// receiver's statements about jamming and spoofing. A message that
/// the receiver refuses is polled no more in the session. The replies are in the stream.
struct RadioPolls {
  private struct Poll {
    var message: MessageIdentity
    var interval: Milliseconds
    /// The least rate of a line with a rate, baud, at which the reply leaves room for the receiver's own messages.
    var leastRate: UInt32
    var due = Instant.zero
    var isRefused = false
    var hasReply = false
  }

  // NAV-SIG, MON-RF, MON-HW of receivers without MON-RF, MON-SPAN, SEC-SIG, and NAV-STATUS of receivers without SEC-SIG.
  private var polls = [
    Poll(message: MessageIdentity(0x01, 0x43), interval: Milliseconds(1000), leastRate: 38_400),
    Poll(message: MessageIdentity(0x0A, 0x38), interval: Milliseconds(2000), leastRate: 9600),
    Poll(message: MessageIdentity(0x0A, 0x09), interval: Milliseconds(2000), leastRate: 9600),
    Poll(message: MessageIdentity(0x0A, 0x31), interval: Milliseconds(5000), leastRate: 38_400),
    Poll(message: MessageIdentity(0x27, 0x09), interval: Milliseconds(2000), leastRate: 9600),
    Poll(message: MessageIdentity(0x01, 0x03), interval: Milliseconds(2000), leastRate: 9600),
  ]
  private var sent: (ticket: SessionTicket, index: Int)?
  private(set) var deadline: Instant?

  /// Sends the next poll that is due, one at a time.
  mutating func work(_ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant) {
    guard sent == nil, connection.isSteady, connection.description != nil else {
      // The outcome of a poll, and the session, wake the loop.
      deadline = nil
      return
    }
    deadline = nil
    for index in polls.indices where isWanted(index, connection.rate) {
      guard polls[index].due <= now else {
        deadline = .earlier(deadline, polls[index].due)
        continue
      }
      polls[index].due = now + polls[index].interval
      var command = Command.poll(polls[index].message)
      command.attempts = 1
      guard let ticket = connection.submit(command, &poller, at: now) else { return }
      sent = (ticket, index)
      deadline = nil
      return
    }
  }

  private func isWanted(_ index: Int, _ rate: UInt32?) -> Bool {
    let poll = polls[index]
    // MON-HW has what MON-RF has.
    if index == 2, !polls[1].isRefused { return false }
    if index == 5, !polls[4].isRefused { return false }
    return !poll.isRefused && rate.map { $0 >= poll.leastRate } ?? true
  }

  mutating func finished(_ ticket: SessionTicket, _ outcome: Outcome) {
    guard let sent, sent.ticket == ticket else { return }
    self.sent = nil
    switch outcome {
    case .answered: polls[sent.index].hasReply = true
    // A reply can be lost on the line; a message that never came is not there.
    case .refused, .silent: polls[sent.index].isRefused = !polls[sent.index].hasReply
    default: break
    }
  }
}

/// Reads the settings of the receiver for the page, and changes them at its requests, one dialogue at a time.
struct SettingsControl {
  private enum Work {
    case none
    case reading(ScriptDialogue<SettingsReading>, SessionTicket)
    case changing(ScriptDialogue<SettingsEdit>, SessionTicket)
  }

  private let isReadOnly: Bool
  private var work = Work.none
  private var events: [LiveEvent] = []
  /// When the settings are read next; nil if they are known.
  private(set) var readsAt: Instant? = .zero

  init(isReadOnly: Bool) { self.isReadOnly = isReadOnly }

  /// Whether a change is being made.
  var isBusy: Bool { if case .changing = work { true } else { false } }
  var deadline: Instant? { nil }

  /// Returns the events since the last call.
  mutating func takeEvents() -> [LiveEvent] {
    defer { events = [] }
    return events
  }

  // MARK: Requests

  /// Takes a request, and answers it. The result of the change follows as a notice.
  mutating func take(
    _ request: ControlRequest, _ page: ViewPage, _ connection: ReceiverConnection, _ poller: inout Poller,
    at now: Instant
  ) {
    func answer(_ status: HTTPStatus, _ text: String) { page.sockets.answer(request, status, text, at: now) }
    if isReadOnly { return answer(.conflict, "nothing is sent to this source; show a receiver without --read-only") }
    guard let description = connection.description, connection.isSteady else {
      return answer(.conflict, "the receiver is not ready; try again when the page shows its model")
    }
    do {
      let words = try ControlBody(request.body).words.map { word throws(SettingProblem) in try SettingWord(word) }
      if words.contains(where: { $0.lineRate != nil }) {
        return answer(.badRequest, "baud: the rate of the line is not changed here; use `sextant configure set baud=`")
      }
      if isBusy { return answer(.conflict, "another change is being made; try again in a second") }
      let line = words.contains(where: \.changesEpochPeriod) ? page.measuredLine(connection) : nil
      let edit = try SettingsEdit(
        words, of: description, port: connection.port, hasRate: connection.rate != nil, line: line)
      var dialogue = ScriptDialogue(edit, at: now)
      switch dialogue.next(at: now) {
      case .send(let command):
        guard let ticket = connection.submit(command, &poller, at: now) else {
          return answer(.conflict, Reason.disconnected)
        }
        work = .changing(dialogue, ticket)
      case .over, .noReply, .endless: break
      }
      answer(.accepted, "sent to the receiver; the result is shown on the page")
    } catch {
      answer(.badRequest, "\(error)")
    }
  }

  /// Reads the settings if they are not known.
  mutating func readSettings(_ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant) {
    guard case .none = work, let due = readsAt, now >= due, connection.isSteady,
      let description = connection.description
    else { return }
    readsAt = nil
    var dialogue = ScriptDialogue(SettingsReading(pattern: nil, of: description, readsStandards: false), at: now)
    guard case .send(let command) = dialogue.next(at: now),
      let ticket = connection.submit(command, &poller, at: now)
    else { return }
    work = .reading(dialogue, ticket)
  }

  // MARK: Dialogue

  mutating func finished(
    _ ticket: SessionTicket, _ outcome: Outcome, _ connection: ReceiverConnection, _ poller: inout Poller,
    at now: Instant
  ) {
    switch work {
    case .reading(var dialogue, ticket):
      dialogue.receive(outcome)
      work = .none
      if case .send(let command) = dialogue.next(at: now), let next = connection.submit(command, &poller, at: now) {
        work = .reading(dialogue, next)
      } else {
        let values = dialogue.script.values
        if !values.isEmpty {
          events.append(.settings(values.map { (name: $0.name, value: $0.text, unit: $0.unit) }))
        }
      }
    case .changing(var dialogue, ticket):
      dialogue.receive(outcome)
      work = .none
      switch dialogue.next(at: now) {
      case .send(let command):
        if let next = connection.submit(command, &poller, at: now) {
          work = .changing(dialogue, next)
          return
        }
        events.append(.notice("the receiver was disconnected during a change of settings; check them"))
      case .over: events += Self.results(of: dialogue.script)
      case .noReply, .endless:
        events.append(.notice("the receiver did not reply to a change of settings; check them"))
      }
      // The page shows the values that the receiver has now.
      readsAt = now
    case .none, .reading, .changing: break
    }
  }

  private static func results(of edit: SettingsEdit) -> [LiveEvent] {
    let texts: [(SettingsEdit.Result, String)] = [
      (.changed, "set"), (.unchanged, "had this value before"), (.missing, "the receiver does not have the setting"),
      (.refused, "the receiver refuses the value"), (.notVerified, "another value was read back"),
      (.silent, "no reply; the value is unknown"), (.withdrawn, "not set, because another setting was not"),
      (.notRestored, "set and not restored, although another setting was refused"),
    ]
    let parts = texts.compactMap { result, text in
      let names = edit.names(of: result)
      return names.isEmpty ? nil : "\(names.joined(separator: ", ")): \(text)"
    }
    return [
      .notice(parts.isEmpty ? (edit.problem?.description ?? "nothing was changed") : parts.joined(separator: "; "))
    ]
  }
}
