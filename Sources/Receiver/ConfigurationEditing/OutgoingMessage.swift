// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import NMEA
import RTCM3
import ReceiverStream
import UBX
import WireBytes

/// A message for a receiver with the replies to it.
package struct OutgoingMessage: Sendable, Equatable {
  /// The name for the user.
  package var name: String
  package var command: Command
  private var replies: Replies

  /// The frames that are replies.
  private enum Replies: Sendable, Equatable {
    /// The message of this class and id, and an acknowledgement of it.
    case message(MessageIdentity)
    /// All messages of its class: the replies to AID-DATA and to requests of a log.
    case messageClass(MessageIdentity)
    /// Sentences with this formatter; proprietary ones with this first field.
    case sentence(formatter: UInt32, first: [UInt8]?)
    /// The acknowledgement or the data of a family of receivers.
    case family(FamilyAnswer)
    case none
  }

  /// A command or a poll.
  package init(_ message: NamedMessage, for use: NamedMessage.Use) {
    name = message.name
    let identity = message.identity
    let answer = use == .poll ? Self.answer(toPollOf: identity, message.payload) : Self.answer(to: identity)
    // A poll and a setting can be repeated; another command may have an effect each time.
    command = Command(identity, message.payload, answer: answer)
      .with(attempts: use == .poll || identity.messageClass == 0x06 ? 3 : 1, timeout: Milliseconds(1000))
    let isWhole = identity == Self.aidDATA || identity.messageClass == 0x21
    replies = isWhole ? .messageClass(identity) : .message(identity)
  }

  /// A sentence with its checksum and end of line.
  private init(sentence: [UInt8]) {
    name = String(decoding: sentence.dropLast(2), as: UTF8.self)
    command = .raw(sentence)
    let fields = sentence.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
    let second = fields.count > 1 ? Array(fields[1].prefix { $0 != UInt8(ascii: "*") }) : []
    if fields[0].elementsEqual("$PUBX".utf8) {
      replies = .sentence(formatter: Formatter("UBX").code, first: second)
    } else if fields[0].last == UInt8(ascii: "Q"), !second.isEmpty {
      // $xxyyQ,zzz requests the sentence zzz (NMEA 0183, query sentences).
      replies = .sentence(formatter: second.reduce(0) { $0 << 8 | UInt32($1) }, first: nil)
    } else {
      replies = .none
    }
  }

  private init(rtcm3 bytes: [UInt8], number: Int?) {
    name = "RTCM3 \(number.map(String.init) ?? "")"
    command = .raw(bytes)
    replies = .none
  }

  // MARK: The user's bytes

  /// Reads a sentence such as `$PUBX,40,GLL,0,0,0,0,0,0`. A missing checksum is added.
  package init(sentence text: String) throws(SettingProblem) {
    var body = Array(text.utf8.dropFirst())
    while let last = body.last, last == 0x0D || last == 0x0A || last == 0x20 { body.removeLast() }
    var given: UInt8?
    if let star = body.lastIndex(of: UInt8(ascii: "*")) {
      given = UInt8(String(decoding: body[(star + 1)...], as: UTF8.self), radix: 16)
      guard given != nil, body.count == star + 3 else {
        throw SettingProblem("\(text): the checksum after * must have two hexadecimal digits; without *, it is added")
      }
      body.removeLast(3)
    }
    guard text.hasPrefix("$"), body.count >= 3, body.allSatisfy({ 0x20...0x7E ~= $0 && $0 != UInt8(ascii: "$") }) else {
      throw SettingProblem("\(text): not a sentence; write it like '$PUBX,40,GLL,0,0,0,0,0,0', in quotation marks")
    }
    let sum = body.reduce(0, ^)
    guard given == nil || given == sum else {
      throw SettingProblem(
        "\(text): wrong checksum; it is \(sum.hexadecimalDigits.uppercased()), and is added without *")
    }
    let end = "*\(sum.hexadecimalDigits.uppercased())\r\n"
    self.init(sentence: [UInt8(ascii: "$")] + body + Array(end.utf8))
  }

  /// Reads frames of UBX, NMEA and RTCM 3.
  ///
  /// - Throws: a problem for bytes that are not in a frame, and for messages that only receivers send.
  package static func frames(_ bytes: [UInt8]) throws(SettingProblem) -> [OutgoingMessage] {
    var stream = FrameStream()
    var messages: [OutgoingMessage] = []
    var problem: SettingProblem?
    func take(_ frame: borrowing Frame) {
      do throws(SettingProblem) { messages.append(try OutgoingMessage(frame)) } catch { problem = problem ?? error }
    }
    stream.receive(unsafe bytes.span.bytes) { take($0) }
    stream.finish { take($0) }
    if let problem { throw problem }
    let skipped = stream.counters.skippedBytes
    guard skipped == 0, !messages.isEmpty else {
      throw SettingProblem(
        "\(skipped) of \(bytes.count) bytes are in no frame of UBX, NMEA or RTCM 3; check the checksums")
    }
    return messages
  }

  private init(_ frame: borrowing Frame) throws(SettingProblem) {
    if let ubx = frame.ubx {
      let layouts = MessageLayout.candidates(for: ubx.identity)
      let layout = MessageLayout.of(ubx)
      let isPoll =
        ubx.payload.isEmpty ? layouts.contains { $0.isPoll } : layout?.isPoll == true && layout?.isOutput == false
      if !isPoll, let layout, !layout.isInput, !layouts.contains(where: \.isInput) {
        throw SettingProblem("\(layout.name): only receivers send this message; nothing is sent")
      }
      let words = "0x\(ubx.identity.messageClass.hexadecimalDigits)-0x\(ubx.identity.messageID.hexadecimalDigits)"
      var message = try NamedMessage(words, payload: [UInt8](copying: ubx.payload))
      if let layout { message.name = layout.name.description }
      self.init(message, for: isPoll ? .poll : .command)
    } else if let rtcm3 = frame.rtcm3 {
      self.init(rtcm3: [UInt8](copying: frame.bytes), number: rtcm3.messageNumber)
    } else {
      self.init(sentence: [UInt8](copying: frame.bytes))
      // Receivers take proprietary sentences and queries. The code of a formatter ends with its last character.
      if let sentence = frame.nmea, !sentence.isProprietary,
        UInt8(truncatingIfNeeded: sentence.formatter.code) != UInt8(ascii: "Q")
      {
        throw SettingProblem("\(name.prefix { $0 != "," }): only receivers send this sentence; nothing is sent")
      }
    }
  }

  /// Whether it is a sentence, which every receiver can get.
  package var isSentence: Bool { command.bytes.first == UInt8(ascii: "$") }

  /// Expects the acknowledgement of a family for a sentence.
  package mutating func expectReply(of family: ReceiverFamily) {
    guard isSentence, let sentence = Command.sentence(name, for: family) else { return }
    command = sentence
    if case .family(let answer) = sentence.answer { replies = .family(answer) }
  }

  // MARK: Replies

  private static let aidDATA = MessageIdentity(0x0B, 0x10)
  private static let aidAOP = MessageIdentity(0x0B, 0x33)
  private static let rxmALM = MessageIdentity(0x02, 0x30)
  private static let rxmEPH = MessageIdentity(0x02, 0x31)

  /// The reply to a command (interface descriptions, "Acknowledgement" and the descriptions of the messages).
  private static func answer(to identity: MessageIdentity) -> Command.Answer {
    switch (identity.messageClass, identity.messageID) {
    case (0x06, 0x04): .none
    case (0x06, _), (0x01, 0x10), (0x21, 0x03), (0x21, 0x04), (0x21, 0x07): .acknowledgement
    case (0x09, 0x14), (0x13, 0x21), (0x21, 0x0E): .message(identity)
    case (0x13, _): .assistance
    default: .none
    }
  }

  /// The reply to a poll. Orbits are polled of all satellites at once.
  private static func answer(toPollOf identity: MessageIdentity, _ selector: [UInt8]) -> Command.Answer {
    guard selector.isEmpty else { return .message(identity) }
    return switch identity {
    case .aidEPH, .aidALM, aidAOP, rxmALM, rxmEPH: .list(identity, .count(32))
    case aidDATA: .list(.aidALM, .count(32))
    case .mgaDBD: .list(identity, .assistanceAcknowledgement)
    default: .message(identity)
    }
  }

  /// Whether there may be several messages in reply.
  package var hasManyReplies: Bool {
    switch command.answer {
    case .list, .none, .family: true
    default: false
    }
  }

  /// Whether a received frame is a reply, or its acknowledgement.
  package func isReply(_ frame: borrowing Frame) -> Bool {
    switch replies {
    case .none: return false
    case .message(let identity):
      guard let ubx = frame.ubx, !isEcho(ubx) else { return false }
      if ubx.identity == identity { return true }
      // A receiver sends ACK-ACK to a poll beside the reply.
      return Self.acknowledges(ubx, identity) && (isAcknowledged || ubx.identity == .ackNAK)
    case .messageClass(let identity):
      guard let ubx = frame.ubx, !isEcho(ubx) else { return false }
      return ubx.identity.messageClass == identity.messageClass || Self.acknowledges(ubx, identity)
    case .family(let answer):
      guard frame.nmea != nil else { return false }
      let text = [UInt8](copying: frame.bytes)
      return answer.isReply(toSentence: Array(text.dropFirst().prefix { $0 != UInt8(ascii: "*") && $0 >= 0x20 }))
    case .sentence(let formatter, let first):
      guard let sentence = frame.nmea, sentence.formatter.code == formatter else { return false }
      guard let first else { return !sentence.isProprietary }
      let start = 2 + sentence.addressLength
      guard sentence.isProprietary, frame.bytes.byteCount > start + first.count else { return false }
      return first.indices.allSatisfy { frame.bytes.u1(start + $0) == first[$0] }
    }
  }

  /// Whether an acknowledgement is the whole reply.
  private var isAcknowledged: Bool {
    switch command.answer {
    case .none, .acknowledgement, .assistance: true
    case .message, .messages, .list, .family: false
    }
  }

  /// Whether a frame is the message itself, on a line with one wire for both directions.
  private func isEcho(_ frame: borrowing UBXFrame) -> Bool {
    guard frame.bytes.byteCount == command.bytes.count else { return false }
    return command.bytes.indices.allSatisfy { frame.bytes.u1($0) == command.bytes[$0] }
  }

  /// Whether a frame is ACK-ACK, ACK-NAK or MGA-ACK for a message.
  private static func acknowledges(_ frame: borrowing UBXFrame, _ identity: MessageIdentity) -> Bool {
    let payload = frame.payload
    switch frame.identity {
    case .ackACK, .ackNAK:
      return payload.byteCount >= 2 && payload.u1(0) == identity.messageClass && payload.u1(1) == identity.messageID
    case .mgaACK: return identity.messageClass == 0x13 && payload.byteCount >= 8 && payload.u1(3) == identity.messageID
    default: return false
    }
  }
}
