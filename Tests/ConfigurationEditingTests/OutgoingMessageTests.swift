// SPDX-License-Identifier: Apache-2.0
import Receiver
import ReceiverStream
import Testing
import UBX

@Suite("Messages for a receiver")
struct OutgoingMessageTests {
  private func problem(_ body: () throws(SettingProblem) -> Void) -> String? {
    do throws(SettingProblem) {
      try body()
      return nil
    } catch { return error.description }
  }

  @Test("A sentence gets its checksum and end of line; a right one is kept and a wrong one refused")
  func sentences() throws {
    for text in ["$PUBX,00", "$PUBX,00*33", "$PUBX,00*33\r\n"] {
      #expect(try OutgoingMessage(sentence: text).command.bytes == Array("$PUBX,00*33\r\n".utf8))
    }
    for (text, cure) in [
      ("$PUBX,00*34", "it is 33"), ("$PUBX,00*3", "two hexadecimal digits"), ("PUBX,00", "quotation marks"),
      ("$", "quotation marks"), ("$PUBX,\u{7F}", "quotation marks"),
    ] {
      #expect(problem { () throws(SettingProblem) in _ = try OutgoingMessage(sentence: text) }?.contains(cure) == true)
    }
  }

  @Test("The frames of a file are sent in their order; other bytes and messages of receivers are refused")
  func frames() throws {
    let rate = Command(MessageIdentity(0x06, 0x08), [200, 0, 1, 0, 1, 0], answer: .none).bytes
    let poll = Command(MessageIdentity(0x0A, 0x04), [], answer: .none).bytes
    let messages = try OutgoingMessage.frames(rate + Array("$PUBX,00*33\r\n".utf8) + poll)
    #expect(messages.map(\.name) == ["CFG-RATE", "$PUBX,00*33", "MON-VER"])
    let query = try OutgoingMessage.frames(Array("$EIGNQ,RMC*24\r\n".utf8))
    #expect(query.map(\.name) == ["$EIGNQ,RMC*24"])
    #expect(messages.map(\.command.answer) == [.acknowledgement, .none, .message(MessageIdentity(0x0A, 0x04))])
    let output = Command(MessageIdentity(0x01, 0x07), [UInt8](repeating: 0, count: 92), answer: .none).bytes
    for (bytes, cure) in [
      (rate + [1, 2, 3], "3 of 17 bytes"), ([], "0 of 0 bytes"), (rate.dropLast() + [0], "checksums"),
      (output, "only receivers send"),
      (Array("$GNRMC,120000.00,V,,,,,,,,,,N,V*1A\r\n".utf8), "GNRMC: only receivers send"),
    ] as [([UInt8], String)] {
      let text = problem { () throws(SettingProblem) in _ = try OutgoingMessage.frames(bytes) }
      #expect(text?.contains(cure) == true, "\(text ?? "accepted")")
    }
  }

  @Test("A reply is the message itself or its acknowledgement")
  func replies() throws {
    let rate = OutgoingMessage(try NamedMessage("CFG-RATE", fields: ["measRate=200"], for: .command), for: .command)
    let position = try OutgoingMessage(sentence: "$PUBX,00")
    let query = try OutgoingMessage(sentence: "$EIGNQ,RMC")
    let bytes =
      Command(MessageIdentity(0x05, 0x01), [6, 8], answer: .none).bytes
      + Command(MessageIdentity(0x05, 0x00), [6, 1], answer: .none).bytes
      + Array("$PUBX,00,120000.00*32\r\n$GNRMC,120000.00,V,,,,,,,,,,N,V*1A\r\n".utf8)
    var found: [[Bool]] = []
    var stream = FrameStream()
    stream.receive(unsafe bytes.span.bytes) { frame in
      found.append([rate.isReply(frame), position.isReply(frame), query.isReply(frame)])
    }
    #expect(
      found == [[true, false, false], [false, false, false], [false, true, false], [false, false, true]])
  }

  @Test("The echo of a message is not a reply, nor is ACK-ACK to a poll")
  func echo() throws {
    let poll = OutgoingMessage(try NamedMessage("CFG-RATE", fields: [], for: .poll), for: .poll)
    let bytes =
      poll.command.bytes + Command(MessageIdentity(0x05, 0x01), [6, 8], answer: .none).bytes
      + Command(MessageIdentity(0x06, 0x08), [232, 3, 1, 0, 1, 0], answer: .none).bytes
      + Command(MessageIdentity(0x05, 0x00), [6, 8], answer: .none).bytes
    var found: [Bool] = []
    var stream = FrameStream()
    stream.receive(unsafe bytes.span.bytes) { found.append(poll.isReply($0)) }
    #expect(found == [false, false, true, true])
  }
}
