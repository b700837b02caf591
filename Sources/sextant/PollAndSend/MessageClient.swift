// SPDX-License-Identifier: Apache-2.0

import GPSD
import LinuxIO
import MonotonicTime
import NMEA
import Receiver
import ReceiverRuntime
import ReceiverStream
import SerialPort
import UBX
import WireBytes

/// `sextant send` and `sextant poll`: sends messages one after the other, and prints the replies.
struct MessageClient: ReceiverClient, ~Copyable {
  private enum Stage {
    /// Until the receiver is identified.
    case waiting
    case sent(SessionTicket)
    /// The message has no reply that ends the wait.
    case listening(until: Instant)
    case over
  }

  private(set) var failure: CommandFailure?

  private let path: String
  private let baud: UInt32?
  private let json: Bool
  private let wait: Milliseconds
  private var messages: [OutgoingMessage]
  private var next = 0
  private var stage = Stage.waiting
  private var stream = FrameStream()
  private var unfinished = UnfinishedFrame()
  private var output = JSONLine()
  private var text = ""
  private var replies = 0
  private var refused: [String] = []

  /// - Parameter wait: the time for replies to a message that receivers do not acknowledge.
  init(_ choice: Source.Choice, _ messages: [OutgoingMessage], json: Bool, wait: Milliseconds) {
    path = choice.source.name
    baud = choice.baud
    self.messages = messages
    self.json = json
    self.wait = wait
  }

  /// Whether all messages were sent.
  var isOver: Bool { if case .over = stage { true } else { false } }

  /// Whether the receiver was identified and the first message sent.
  var hasSent: Bool { if case .waiting = stage { false } else { true } }

  var deadline: Instant? { if case .listening(let until) = stage { until } else { nil } }

  mutating func receive(bytes: RawSpan, at now: Instant) {
    // The stream also counts the bytes before the first message, as the offset of a reply does.
    let current = messages.indices.contains(next) ? messages[next] : nil
    let isSent = hasSent && !isOver
    var found = 0
    let limit = current?.hasManyReplies == true ? Int.max : 1
    let before = replies
    func take(_ frame: borrowing Frame) {
      guard isSent, let current, before + found < limit, current.isReply(frame) else { return }
      found += 1
      if json { output.message(frame) } else { text += MessageText.text(frame) }
    }
    stream.receive(bytes, take)
    stream.skipFalseStarts(if: &unfinished, at: now.nanoseconds, take)
    replies += found
  }

  mutating func receive(
    _ event: ReceiverConnection.Event, _ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant
  ) {
    switch (stage, event) {
    case (.waiting, .session(.configured)):
      // Bytes at a wrong rate can look like the beginning of a long frame.
      stream.reset()
      if let description = connection.description, let family = description.family {
        guard messages.allSatisfy(\.isSentence) else {
          return fail("\(description.summary) takes sentences, and no UBX messages; nothing was sent")
        }
        for index in messages.indices { messages[index].expectReply(of: family) }
      }
      send(connection, &poller, at: now)
    case (.waiting, .session(.notIdentified)):
      // Every receiver can get a sentence; what it replies is not known.
      guard messages.allSatisfy(\.isSentence) else {
        return fail("no u-blox receiver replied; only u-blox receivers take these messages")
      }
      stream.reset()
      send(connection, &poller, at: now)
    case (.sent(let ticket), .finished(let finished, let outcome)) where finished == ticket:
      take(outcome, connection, &poller, at: now)
    case (.over, _): break
    case (_, .lost): fail(Reason.disconnected)
    case (_, .ended): fail(Reason.file)
    default: break
    }
    event.printAdvice(path: path, baud: baud)
  }

  mutating func finishRound(
    _ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant
  ) throws -> Bool {
    if case .listening(let until) = stage, now >= until { proceed(connection, &poller, at: now) }
    if output.bytes.byteCount > 0 { try Output.write(output.bytes) }
    if !text.isEmpty { try Output.write(text) }
    output.removeAll()
    text = ""
    return isOver
  }

  // MARK: Messages

  private mutating func send(_ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant) {
    replies = 0
    guard let ticket = connection.submit(messages[next].command, &poller, at: now) else {
      return fail(Reason.disconnected)
    }
    stage = .sent(ticket)
  }

  private mutating func take(
    _ outcome: Outcome, _ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant
  ) {
    let message = messages[next]
    switch outcome {
    case .refused: refused.append(message.name)
    case .silent where message.command.answer == .assistance:
      printNotice(
        "\(path): \(message.name) is sent; no MGA-ACK, which receivers send if CFG-NAVSPG-ACKAIDING or CFG-NAVX5.ackAid is set"
      )
    case .silent:
      let rest = messages.count - next - 1
      return fail(
        "no reply to \(message.name); the receiver does not have the message, or its line is full"
          + (rest > 0 ? "; \(rest) further messages were not sent" : ""))
    case .sent:
      if !json { text += "\(message.name) sent\n" }
      return stage = .listening(until: now + wait)
    default: break
    }
    proceed(connection, &poller, at: now)
  }

  private mutating func proceed(_ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant) {
    next += 1
    if next < messages.count { return send(connection, &poller, at: now) }
    stage = .over
    guard let first = refused.first else { return }
    let others = refused.count > 1 ? " and \(refused.count - 1) other messages" : ""
    failure = CommandFailure(
      .unavailable,
      "\(path): the receiver refused \(first)\(others)\(messages[0].isSentence ? "" : " (ACK-NAK)"); "
        + "check the values, and whether it has the message")
  }

  private mutating func fail(_ reason: String) {
    failure = CommandFailure(.unavailable, "\(path): \(reason)")
    stage = .over
  }
}

/// The text of a received message for the user: the name, and a line for each field with its value and unit; a
/// sentence as it is.
enum MessageText {
  static func text(_ frame: borrowing Frame) -> String {
    guard let ubx = frame.ubx else { return characters(frame.bytes) }
    let payload = [UInt8](copying: ubx.payload)
    guard let layout = MessageLayout.of(ubx) else {
      let identity = ubx.identity
      return "0x\(identity.messageClass.hexadecimalDigits)-0x\(identity.messageID.hexadecimalDigits)\n"
        + "  payload  \(payload.hexadecimalDigits)\n"
    }
    if let acknowledged = acknowledged(ubx, payload) { return acknowledged }
    let fields = PayloadFields.list(layout, payload)
    let width = fields.map(\.path.utf8.count).max() ?? 0
    return fields.reduce("\(layout.name)\n") { text, field in
      let gap = String(repeating: " ", count: width + 2 - field.path.utf8.count)
      let unit = field.layout.unit.description
      return text + "  \(field.path)\(gap)\(PayloadFields.text(field, payload))\(unit.isEmpty ? "" : " " + unit)\n"
    }
  }

  private static func acknowledged(_ frame: borrowing UBXFrame, _ payload: [UInt8]) -> String? {
    guard [.ackACK, .ackNAK].contains(frame.identity), payload.count >= 2 else { return nil }
    let identity = MessageIdentity(payload[0], payload[1])
    let name =
      MessageLayout.candidates(for: identity).first?.name.description
      ?? "0x\(identity.messageClass.hexadecimalDigits)-0x\(identity.messageID.hexadecimalDigits)"
    return "\(name) \(frame.identity == .ackACK ? "acknowledged (ACK-ACK)" : "refused (ACK-NAK)")\n"
  }

  private static func characters(_ bytes: RawSpan) -> String {
    var line = JSONLine()
    line.plainText(String(decoding: [UInt8](copying: bytes), as: UTF8.self))
    return line.text + "\n"
  }
}
