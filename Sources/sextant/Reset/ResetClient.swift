// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import MonotonicTime
import NMEA
import Receiver
import ReceiverRuntime
import ReceiverStream
import SerialPort

/// `sextant reset`: sends CFG-RST, or the restart of another family, and waits until the receiver replies again.
struct ResetClient: ReceiverClient, ~Copyable {
  private enum Stage {
    /// Until the receiver is identified.
    case waiting
    case resetting(SessionTicket)
    /// The receiver is polled from this time on.
    case away(until: Instant)
    case polling(SessionTicket)
    case readingStatus(SessionTicket)
    case over
  }

  private static let pollInterval = Milliseconds(250)
  /// A receiver of another maker begins to restart before this time.
  private static let restartTime = Milliseconds(500)

  private(set) var failure: CommandFailure?
  private(set) var result: ResetResult
  /// The key of the receiver's stored assistance.
  private(set) var key: AssistanceRecord.Key?

  private let path: String
  private let baud: UInt32?
  private var stage = Stage.waiting
  private var sentAt: Instant?
  private var stream = FrameStream()
  private var unfinished = UnfinishedFrame()

  init(_ choice: Source.Choice, _ kind: StartKind, _ mode: ResetMode) {
    path = choice.source.name
    baud = choice.baud
    result = ResetResult(kind: kind, mode: mode)
  }

  var isOver: Bool { if case .over = stage { true } else { false } }
  /// Whether the receiver got the command.
  var isSent: Bool { sentAt != nil }
  var deadline: Instant? { if case .away(let until) = stage { until } else { nil } }

  mutating func receive(bytes: RawSpan, at now: Instant) {
    var sawText = false
    func take(_ frame: borrowing Frame) {
      // The texts are GxTXT, or the INF messages of class 0x04.
      if let sentence = frame.nmea, sentence.formatter == Formatter("TXT") { sawText = true }
      if let ubx = frame.ubx, ubx.identity.messageClass == 0x04 { sawText = true }
    }
    stream.receive(bytes, take)
    stream.skipFalseStarts(if: &unfinished, at: now.nanoseconds, take)
    if sawText, sentAt != nil, !isOver { result.sawStartText = true }
  }

  mutating func receive(
    _ event: ReceiverConnection.Event, _ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant
  ) {
    switch (stage, event) {
    case (.waiting, .session(.configured)): reset(connection, &poller, at: now)
    case (.waiting, .session(.notIdentified)): fail("the receiver does not identify itself; its resets are not known")
    case (.waiting, .lost): fail("the receiver is disconnected; check the cable")
    case (.over, _): break
    case (.resetting(let ticket), .finished(let finished, .performed(let results))) where finished == ticket:
      guard results == [.written] else { return fail("the receiver refused the restart, or did not reply") }
      sentAt = now
      stage = .away(until: now + Self.restartTime)
    case (.resetting(let ticket), .finished(let finished, let outcome)) where finished == ticket:
      guard outcome == .sent else { return fail("the reset could not be sent; check the cable") }
      sentAt = now
      stage = .away(until: now)
    case (.polling(let ticket), .finished(let finished, let outcome)) where finished == ticket:
      guard case .answered = outcome else { return stage = .away(until: now + Self.pollInterval) }
      result.repliedAfterSeconds = sentAt.map { now.seconds(since: $0) } ?? 0
      result.baud = connection.rate
      if result.isOfFamily { return stage = .over }
      guard let status = connection.submit(Uptime.poll, &poller, at: now) else {
        return stage = .away(until: now + Self.pollInterval)
      }
      stage = .readingStatus(status)
    case (.readingStatus(let ticket), .finished(let finished, let outcome)) where finished == ticket:
      result.receive(status: outcome)
      stage = .over
    case (_, .lost):
      result.wasDisconnected = true
      stage = .away(until: now + Self.pollInterval)
    case (_, .ended): fail("a file accepts no commands; name the device of a receiver")
    default: break
    }
    switch event {
    case .session(.adviseOnSilence), .notice:
      if sentAt == nil, let notice = event.notice(path: path, baud: baud) { printNotice(notice) }
    default: break
    }
  }

  mutating func finishRound(
    _ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant
  ) throws -> Bool {
    if case .away(let until) = stage, now >= until {
      // A repetition is the next poll's: replies to both would come after the reset.
      var poll = connection.description?.familyPoll ?? .poll(.monVER)
      poll.attempts = 1
      poll.patience = Milliseconds(500)
      stage =
        connection.submit(poll, &poller, at: now).map { .polling($0) } ?? .away(until: now + Self.pollInterval)
    }
    return isOver
  }

  private mutating func reset(_ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant) {
    // Bytes at a wrong rate can look like the beginning of a long frame.
    stream.reset()
    key = connection.description.map { AssistanceRecord.Key($0) }
    if let description = connection.description, description.family != nil {
      return restart(description, connection, &poller, at: now)
    }
    guard let ticket = connection.submit(result.mode.command(result.kind), &poller, at: now) else {
      return fail("the receiver is disconnected; check the cable")
    }
    stage = .resetting(ticket)
  }

  private mutating func restart(
    _ description: ReceiverDescription, _ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant
  ) {
    result.isOfFamily = true
    let action = result.kind.action
    guard result.mode == .gnss, description.takes(action) else {
      return fail(
        "\(description.summary) does not have this \(result.mode == .gnss ? "\(result.kind.rawValue) start" : "mode")")
    }
    guard let ticket = connection.perform([.act(action)], &poller, at: now) else {
      return fail("the receiver is disconnected; check the cable")
    }
    stage = .resetting(ticket)
  }

  mutating func removedAssistance() { result.removedAssistance = true }

  private mutating func fail(_ reason: String) {
    failure = CommandFailure(.unavailable, "\(path): \(reason)")
    stage = .over
  }
}
