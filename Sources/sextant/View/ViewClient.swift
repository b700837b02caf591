// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import MonotonicTime
import Receiver
import ReceiverRuntime
import ReceiverStream

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
    } else if page.endsWithoutPage {
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
      if connection.isOpen {
        page.live.tick(at: now, baud: connection.rate, rejected: connection.rejectedFields)
        if !isReadOnly, !isRecording { polls.work(connection, &poller, at: now) }
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
