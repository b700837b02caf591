// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import RTCM3
import UBX
import WireBytes

/// One command on its way: sent, repeated without a reply, and given up.
///
///     waiting ──▶ sent ── reply ──▶ over (pause)
///                  │ ▲
///                  └─┘ no reply in time, attempts left
///
/// One command is in flight at a time: ACK-ACK has no sequence number (interface descriptions, "ACK-ACK").
struct RequestInFlight: Sendable {
  private(set) var command: Command
  private var attempt = 0
  private var sentAt: Instant?
  private var dueAt: Instant?
  private var earliest: Instant
  /// The reply to a CFG poll while its ACK-ACK is missing: that would be taken for the next command's.
  private var answer: [UInt8]?
  /// The received replies to several polls.
  private var answers: [MessageIdentity: [UInt8]] = [:]

  /// The received messages of a list, and the messages of an earlier attempt if they were more.
  private var list: [[UInt8]] = []
  private var longestList: [[UInt8]]?
  /// When the first part of a reply to this attempt came; nil before it.
  private var begunAt: Instant?
  private var busyReplies = 0
  /// Whether the receiver has sent the text that repeats the command.
  private var isRepeatedByReceiver = false
  /// Whether the receiver has acknowledged a query, whose data follow.
  private var isAcknowledged = false

  /// - Parameter earliest: when it may be sent first.
  init(_ command: Command, earliest: Instant) {
    self.command = command
    self.earliest = earliest
  }

  /// The time of all its attempts without a reply.
  func longestWait(backlog: Milliseconds, bitRate: UInt32?) -> Milliseconds {
    let each = Self.time(of: command.bytes.count, bitRate) + backlog
    return each * UInt64(command.attempts) + command.longestSilence
  }

  /// Whether nothing is sent, and the received sentences count.
  var isObservation: Bool { command.bytes.isEmpty }

  /// Whether it was repeated without a reply.
  var isOverdue: Bool { attempt > 1 }

  /// Stops repeating it; a command that was not sent yet is given up.
  mutating func stopRepeating() { command.attempts = attempt }

  /// When `wake` is due.
  var deadline: Instant { command.attempts == 0 ? .zero : sentAt == nil ? earliest : dueAt ?? earliest }

  /// Returns the bytes to send now, and the outcome without a reply.
  ///
  /// - Parameters:
  ///   - backlog: the time of what the receiver sends before a reply.
  ///   - fills: whether a repeated command follows bytes that complete a damaged frame.
  mutating func wake(
    at now: Instant, backlog: Milliseconds, bitRate: UInt32?, fills: Bool = false
  ) -> (bytes: [UInt8]?, outcome: Outcome?) {
    // Given up before it was sent.
    if command.attempts == 0 { return (nil, .silent) }
    guard now >= deadline else { return (nil, nil) }
    if let answer { return (nil, .answered(answer)) }
    if hasFirstAnswer { return (nil, .answeredAll(answers)) }
    if !list.isEmpty { return (nil, .listed(list)) }
    if sentAt != nil {
      if command.answer == .none { return (nil, .sent) }
      if attempt == command.attempts {
        // The reply that counts is missing; the others are reported all the same.
        return (nil, longestList.map { .listed($0) } ?? (answers.isEmpty ? .silent : .answeredAll(answers)))
      }
    }
    attempt += 1
    (sentAt, begunAt) = (now, nil)
    var bytes = command.bytes
    if fills, command.answer == .acknowledgement, attempt > Self.attemptsBeforeFill {
      bytes.insert(contentsOf: Self.fill, at: 0)
    }
    let onLine = Self.time(of: bytes.count, bitRate)
    dueAt = now + onLine
    if command.answer != .none {
      dueAt = now + onLine + backlog + command.timeout * UInt64(attempt)
    }
    return (bytes, nil)
  }

  /// Bytes that begin no frame. A receiver that lost a byte of a frame's head reads a wrong length, mostly 256 and more, and
  /// takes the following bytes, a repeated command too, for the rest of that frame. This many bytes complete it.
  private static let fill = [UInt8](repeating: 0xFF, count: 320)
  private static var attemptsBeforeFill: Int { 2 }

  /// The time for a second acknowledgement, and before a busy receiver is asked again.
  private static let workingTime = Milliseconds(5000)
  private static let busyTime = Milliseconds(200)
  /// The longest time between two sentences of a list: the receiver's own sentences may come in between.
  private static let lineTime = Milliseconds(4000)
  private static let mostBusyReplies = 20
  /// The most messages of a list: a logger sends a line for each record.
  private static let mostListed = 16_384
  /// The longest times from the first part of a reply: of a list, such as a logger's memory at 4800 baud; of a command on which the receiver
  /// works. A faulty receiver repeats parts without an end.
  private static let longestList = Milliseconds(600_000)
  private static let longestWork = Milliseconds(60_000)

  /// Whether it reads a list of sentences of which some have arrived, which the receiver sends to its end.
  var isReadingSentences: Bool { isOfFamily && !list.isEmpty }

  /// Whether a frame of another maker can be the reply.
  var isOfFamily: Bool { if case .family = command.answer { true } else { false } }

  /// Handles a frame of a receiver of another maker. Returns the outcome if it is the reply.
  mutating func receive(_ frame: FamilyFrame, at now: Instant) -> Outcome? {
    guard sentAt != nil, case .family(let answer) = command.answer, isAcknowledged || !isEcho(frame) else { return nil }
    if case .text(let body) = frame, Self.repeatingText(body).map({ isCommand($0) }) ?? false {
      isRepeatedByReceiver = true
    }
    guard isRepeatedByReceiver || !answer.needsRepetition(frame), let verdict = answer.judge(frame) else { return nil }
    switch verdict {
    case .over(.listed): return list.isEmpty && answer.alwaysHasLines ? nil : .listed(list)
    case .over(let outcome): return outcome
    case .line(let body):
      list.append(body)
      awaitPart(Self.lineTime, within: Self.longestList, at: now)
    case .wait:
      isAcknowledged = true
      awaitPart(Self.workingTime, within: Self.longestWork, at: now)
    case .again:
      busyReplies += 1
      guard busyReplies <= Self.mostBusyReplies else { return .refused(.failed) }
      attempt = max(attempt - 1, 0)
      dueAt = now + Self.busyTime
    }
    return nil
  }

  /// Handles a received frame. Returns the outcome if the frame is the reply.
  mutating func receive(_ frame: borrowing UBXFrame, at now: Instant, bitRate: UInt32?) -> Outcome? {
    if case .messages(let wanted) = command.answer { return collect(frame, wanted, at: now, bitRate) }
    guard sentAt != nil, let identity = command.identity else { return nil }
    if case .list(let wanted, let end) = command.answer {
      return collect(frame, wanted, until: end, identity, at: now, bitRate)
    }
    let payload = frame.payload
    switch frame.identity {
    case .ackNAK where refuses(payload): return .refused(.unspecified)
    case .ackACK, .ackNAK:
      guard payload.byteCount >= 2, payload.u1(0) == identity.messageClass, payload.u1(1) == identity.messageID else {
        return nil
      }
      if let answer { return .answered(answer) }
      if frame.identity == .ackNAK { return command.answer == .none ? nil : .refused(.unspecified) }
      return command.answer == .acknowledgement ? .acknowledged : nil
    case .mgaACK:
      guard command.answer == .assistance, payload.byteCount >= 8, payload.u1(3) == identity.messageID else {
        return nil
      }
      for index in 0..<4 where 6 + index < command.bytes.count - 2 {
        if payload.u1(4 + index) != command.bytes[6 + index] { return nil }
      }
      return payload.u1(0) == 1 ? .acknowledged : .refused(Outcome.Refusal(payload.u1(2)))
    case let other:
      guard case .message(let wanted) = command.answer, wanted == other, !isEcho(frame), isAnswer(payload) else {
        return nil
      }
      let whole = [UInt8](copying: payload)
      guard identity.messageClass == 0x06 else { return .answered(whole) }
      answer = whole
      awaitPart(Self.time(of: 10, bitRate) + Milliseconds(30), within: Self.workingTime, at: now)
      return nil
    }
  }

  /// Waits for the next part of the reply, up to a time after the first one.
  private mutating func awaitPart(_ time: Milliseconds, within longest: Milliseconds, at now: Instant) {
    let begun = begunAt ?? now
    begunAt = begun
    dueAt = list.count < Self.mostListed ? min(now + time, begun + longest) : now
  }

  /// Whether an ACK-NAK is about a companion.
  private func refuses(_ payload: RawSpan) -> Bool {
    payload.byteCount >= 2 && command.companions.contains(MessageIdentity(payload.u1(0), payload.u1(1)))
  }

  private mutating func collect(
    _ frame: borrowing UBXFrame, _ wanted: [MessageIdentity], at now: Instant, _ bitRate: UInt32?
  ) -> Outcome? {
    if frame.identity == .ackNAK, sentAt != nil, refuses(frame.payload) { return .refused(.unspecified) }
    // Polls have no payload: on a line with an echo they are not replies.
    guard sentAt != nil, wanted.contains(frame.identity), frame.payload.byteCount > 0 else { return nil }
    answers[frame.identity] = [UInt8](copying: frame.payload)
    if answers.count == wanted.count { return .answeredAll(answers) }
    // The other replies follow the first immediately, if there are any.
    if hasFirstAnswer {
      awaitPart(Self.time(of: 160, bitRate) + Milliseconds(80), within: Self.workingTime, at: now)
    }
    return nil
  }

  /// Collects the messages of a list up to its end; an incomplete list is requested again.
  private mutating func collect(
    _ frame: borrowing UBXFrame, _ wanted: MessageIdentity, until end: Command.ListEnd, _ identity: MessageIdentity,
    at now: Instant, _ bitRate: UInt32?
  ) -> Outcome? {
    let payload = frame.payload
    if frame.identity == wanted {
      list.append([UInt8](copying: payload))
      if end == .count(list.count) { return .listed(list) }
      // The longest message of a list has 172 bytes (MGA-DBD); other messages come in between.
      awaitPart(Self.time(of: 1024, bitRate) + Milliseconds(500), within: Self.longestList, at: now)
      return nil
    }
    guard end == .assistanceAcknowledgement, frame.identity == .mgaACK, payload.byteCount >= 8,
      payload.u1(3) == identity.messageID
    else { return nil }
    guard payload.u1(0) == 1 else { return .refused(Outcome.Refusal(payload.u1(2))) }
    if list.count == Int(payload.littleEndian(4, as: UInt32.self)) { return .listed(list) }
    if list.count >= longestList?.count ?? 0 { longestList = list }
    if attempt == command.attempts { return longestList.map { .listed($0) } }
    list = []
    dueAt = now
    return nil
  }

  /// Whether a text is the command, with or without its `$` and checksum.
  func isCommand(_ text: String) -> Bool {
    String(decoding: command.bytes, as: UTF8.self).split(whereSeparator: \.isNewline).contains { line in
      line == text || line.dropFirst() == text || line.hasPrefix("$\(text)*")
    }
  }

  /// Returns the text of a TXT sentence, with which a receiver of Unicore's Firebird repeats each command; nil for another sentence.
  private static func repeatingText(_ body: [UInt8]) -> String? {
    let beginning = Array("TXT,01,01,00,".utf8)
    guard body.dropFirst(2).starts(with: beginning) else { return nil }
    return String(decoding: body.dropFirst(2 + beginning.count), as: UTF8.self)
  }

  /// Whether a frame is the request itself, on a line with an echo. Behind its acknowledgement it is a reply (PAIR905).
  private func isEcho(_ frame: FamilyFrame) -> Bool {
    switch frame {
    case .text(let body): isCommand(String(decoding: body, as: UTF8.self))
    case .binary(let layout, let identity, let payload):
      if case .frame(layout, identity, payload, _) = FrameLayout.scan(command.bytes[...]) { true } else { false }
    }
  }

  /// Whether a frame is the echo of the poll, on a line with one wire for both directions.
  private func isEcho(_ frame: borrowing UBXFrame) -> Bool {
    guard frame.identity == command.identity, frame.payload.byteCount == command.bytes.count - 8 else { return false }
    for index in 0..<frame.payload.byteCount where frame.payload.u1(index) != command.bytes[6 + index] { return false }
    return true
  }

  private var hasFirstAnswer: Bool {
    if case .messages(let wanted) = command.answer { answers[wanted[0]] != nil } else { false }
  }

  /// Whether a message of the right class and id is the reply: one about a message or a port begins with the selector;
  /// CFG-VALGET has version 1, the same layer and position, and no other keys than the polled ones.
  private func isAnswer(_ payload: RawSpan) -> Bool {
    let selector = command.bytes[6..<command.bytes.count - 2]
    switch command.identity {
    case .cfgVALGET?: return isAnswer(payload, to: Array(selector))
    case .cfgMSG?, .cfgPRT?:
      for (index, byte) in selector.enumerated() {
        if index >= payload.byteCount || payload.u1(index) != byte { return false }
      }
      return true
    default: return true
    }
  }

  /// A repeated poll has two replies, and the second one can come after the next poll.
  private func isAnswer(_ payload: RawSpan, to poll: [UInt8]) -> Bool {
    guard payload.byteCount >= 4, payload.u1(0) == 1 else { return false }
    for index in 1..<4 where payload.u1(index) != poll[index] { return false }
    let keys = stride(from: 4, through: poll.count - 4, by: 4).map { poll.u4($0) }
    var pairs = ConfigurationPairs(payload.extracting(4...))
    while let pair = pairs.next() {
      let isPolled = keys.contains { key in
        // Item 0xFFFF is a whole group, group 0xFFF all groups (interface descriptions, CFG-VALGET).
        key == pair.id || key & 0xFFFF == 0xFFFF && (key >> 16 & 0xFFF == 0xFFF || (key ^ pair.id) & 0x0FFF_0000 == 0)
      }
      if !isPolled { return false }
    }
    return true
  }

  /// Returns the time of bytes on a line: a start bit, eight bits, a stop bit.
  static func time(of count: Int, _ bitRate: UInt32?) -> Milliseconds {
    guard let bitRate, bitRate > 0 else { return Milliseconds(1) }
    return Milliseconds(1 + UInt64(count) * 10_000 / UInt64(bitRate))
  }
}
