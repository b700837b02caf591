// SPDX-License-Identifier: Apache-2.0
import Foundation
import GPSD
import Receiver
import ReceiverStream
import Testing
import UBX

@Suite("Messages by name")
struct NamedMessageTests {
  private func payload(_ name: String, _ words: [String], _ use: NamedMessage.Use = .command) throws -> [UInt8] {
    try NamedMessage(name, fields: words, for: use).payload
  }

  private func problem(_ name: String, _ words: [String], _ use: NamedMessage.Use = .command) -> String? {
    do throws(SettingProblem) {
      _ = try NamedMessage(name, fields: words, for: use)
      return nil
    } catch { return error.description }
  }

  @Test("Fields stand at their places, in the scale of the layout, and others are zero")
  func fields() throws {
    #expect(try payload("CFG-RATE", ["measRate=200", "navRate=1", "timeRef=1"]) == [200, 0, 1, 0, 1, 0])
    #expect(try payload("ubx-cfg-rate", ["MEASRATE=0x100"]) == [0, 1, 0, 0, 0, 0])
    #expect(try NamedMessage("CFG-RST", fields: ["navBbrMask=0xffff"], for: .command).unset == ["resetMode"])
    let place = try payload("MGA-INI-POS_LLH", ["lat=-48.1642558", "lon=11.605", "alt=5", "posAcc=100"])
    #expect(place.prefix(4) == [1, 0, 0, 0])
    #expect(place.u4(4) == UInt32(bitPattern: -481_642_558) && place.u4(8) == 116_050_000)
    #expect(try payload("CFG-ANT", []) == [0, 0, 0, 0])
  }

  @Test("The fields decide between the forms of a message")
  func forms() throws {
    #expect(try payload("CFG-MSG", ["msgClass=1", "msgID=7", "rate=1"]) == [1, 7, 1])
    #expect(try payload("CFG-MSG", ["msgClass=1", "msgID=7", "rate=[0,1,0,2,0,0]"]) == [1, 7, 0, 1, 0, 2, 0, 0])
    #expect(try payload("CFG-MSG", ["msgClass=1", "msgID=7", "rate[3]=2"]) == [1, 7, 0, 0, 0, 2, 0, 0])
    #expect(try payload("CFG-PRT", ["portID=3", "inProtoMask=7"]).count == 20)
    #expect(try payload("CFG-CFG", ["saveMask=0x1f1f"]).count == 12)
    #expect(try payload("CFG-CFG", ["saveMask=0x1f1f", "deviceMask=1"]).count == 13)
  }

  @Test("Groups are counted")
  func groups() throws {
    let bytes = try payload(
      "CFG-GNSS", ["numTrkChUse=32", "groups[0].gnssId=0", "groups[0].maxTrkCh=16", "groups[1].gnssId=2"])
    #expect(bytes.count == 4 + 2 * 8 && bytes[3] == 2 && bytes[6] == 16 && bytes[12] == 2)
    #expect(problem("CFG-GNSS", ["numConfigBlocks=3", "groups[0].gnssId=0"])?.contains("counts 3 groups") == true)
  }

  @Test("A poll has no payload, or the fields that select a part of the message")
  func polls() throws {
    #expect(try payload("MON-VER", [], .poll) == [])
    #expect(try payload("CFG-PRT", ["portID=1"], .poll) == [1])
    #expect(try payload("CFG-MSG", ["msgClass=1", "msgID=7"], .poll) == [1, 7])
    #expect(try payload("0x0a-0x04", [], .poll) == [])
    #expect(problem("MON-VER", ["swVersion=1"], .poll)?.contains("takes no fields") == true)
    #expect(problem("CFG-RST", [], .poll)?.contains("sextant send") == true)
  }

  @Test("Configuration items are written with their keys")
  func items() throws {
    let pair: [UInt8] = [0x01, 0x00, 0x21, 0x30, 200, 0]
    #expect(try payload("CFG-VALSET", ["layers=1", "CFG-RATE-MEAS=0.2"]) == [0, 1, 0, 0] + pair)
    #expect(try payload("CFG-VALGET", ["layer=0", "CFG-RATE-MEAS"], .poll) == [0, 0, 0, 0] + pair.prefix(4))
    #expect(try payload("CFG-VALDEL", ["layers=4", "0x30210001"]) == [0, 4, 0, 0] + pair.prefix(4))
    #expect(problem("CFG-VALSET", ["CFG-RATE-MEES=1"])?.contains("no such field") == true)
  }

  @Test(
    "A mistake is named with the next step",
    arguments: [
      ("CFG-RAET", [], "did you mean CFG-RATE"), ("CFG-RATE", ["measRat=200"], "did you mean measRate"),
      ("CFG-RATE", ["xyz=200"], "its fields are measRate, navRate, timeRef"),
      ("CFG-RATE", ["measRate"], "NAME=VALUE, such as measRate=1"), ("CFG-RATE", ["measRate=70000"], "0 to 65535 ms"),
      ("CFG-RATE", ["measRate=fast"], "a number in ms"), ("CFG-RATE", ["measRate=1.5"], "steps of 1 ms"),
      ("CFG-RATE", ["measRate=1", "measrate=2"], "occurs twice"), ("CFG-MSG", ["rate=[1,2]"], "brackets"),
      ("CFG-MSG", ["rate[6]=1"], "has 6 values"), ("NAV-PVT", ["iTOW=1"], "sextant poll NAV-PVT"),
      ("CFG-MSG", ["msgClass=256"], "0 to 255"), ("MGA-INI-POS_LLH", ["lat=300"], "-214.7483648 to 214.7483647 deg"),
      ("CFG-GNSS", ["groups[9999].gnssId=1"], "no such field"), ("CFG-GNSS", ["groups[300].gnssId=1"], "at most 255"),
      (
        "LOG-STRING", ["bytes[9223372036854775807]=1"],
        "bytes[9223372036854775807]: too long; a payload has at most 8192"
      ),
      ("LOG-STRING", ["bytes[2305843009213693951]=1"], "at most 8192 bytes"),
      ("LOG-STRING", ["bytes[8192]=1"], "at most 8192 bytes"),
      ("CFG-PWR", ["groups[8191].gnssId=1"], "no such field"),
      ("CFG-MSG", ["rate[9223372036854775807]=1"], "at most 8192"),
      ("CFG-VALSET", ["cfgData[9223372036854775807]=1"], "at most 8192 bytes"),
      ("0x99-0x01", ["a=1"], "--hex"), ("nonsense", [], "ubx-messages.md"),
    ] as [(String, [String], String)])
  func mistakes(name: String, words: [String], cure: String) throws {
    let text = try #require(problem(name, words), "\(name) \(words) was accepted")
    #expect(text.contains(cure), "\(text)")
  }

  @Test("No element of a field and no round of a group is longer than a payload; the longest payload is accepted")
  func longPayloads() throws {
    #expect(try payload("LOG-STRING", ["bytes[8191]=7"]) == [UInt8](repeating: 0, count: 8191) + [7])
    for layout in MessageLayout.all where layout.directions.contains(where: { $0 == .input }) {
      for (index, item) in layout.items.enumerated() {
        switch item {
        case .field(let field):
          for element in [UBXFrame.longestPayload, .max >> 3, .max] where !field.isReserved {
            #expect(throws: SettingProblem.self) {
              try NamedMessage("\(layout.name)", fields: ["\(field.name)[\(element)]=1"], for: .command)
            }
          }
        case .group(_, let size, let fields):
          let group = PayloadFields.groupName(layout, index)
          guard let field = fields.first(where: { !$0.isReserved }), size > 1 else { continue }
          for round in [UBXFrame.longestPayload / size + 1, UBXFrame.longestPayload - 1, .max] {
            #expect(throws: SettingProblem.self) {
              try NamedMessage("\(layout.name)", fields: ["\(group)[\(round)].\(field.name)=1"], for: .command)
            }
          }
        }
      }
    }
  }

  // MARK: The inverse of the decoder

  @Test("The decoder's output of a message, sent by name, is the message", arguments: 1...4)
  func inverse(seed: UInt64) throws {
    var random = Random(state: seed)
    var count = 0
    for layout in MessageLayout.all where layout.directions.contains(where: { $0 == .input }) {
      // CFG-VALSET and similar messages are written with items. AID-ALP of one byte is decoded as the message of the
      // receiver.
      if [0x068A, 0x068C, 0x0B50].contains(layout.identity.key) { continue }
      let payload = try random.payload(of: layout)
      let words = try Self.words(layout.identity, payload)
      let message = try NamedMessage("\(layout.name)", fields: words, for: .command)
      // Forms with the same fields differ in their reserved bytes at the end (CFG-NAVX5).
      let again = try Self.words(layout.identity, message.payload)
      #expect(message.payload == payload || Set(again) == Set(words), "\(layout.name) \(words)")
      count += 1
    }
    #expect(count > 80)
  }

  /// The fields of a message in the decoder's form, as words of a command line.
  private static func words(_ identity: MessageIdentity, _ payload: [UInt8]) throws -> [String] {
    let frame = Command(identity, payload, answer: .none).bytes
    var stream = FrameStream()
    var line = JSONLine()
    stream.receive(unsafe frame.span.bytes) { line.message($0) }
    let object = try JSONSerialization.jsonObject(with: Data(line.text.utf8)) as? [String: Any]
    let fields = try #require(object?["fields"] as? [String: Any], "\(line.text)")
    var words: [String] = []
    for (name, value) in fields {
      if let rounds = value as? [[String: Any]] {
        for (index, round) in rounds.enumerated() {
          for (inner, value) in round { words.append("\(name)[\(index)].\(inner)=\(text(value))") }
        }
      } else {
        words.append("\(name)=\(text(value))")
      }
    }
    return words
  }

  private static func text(_ value: Any) -> String {
    if let values = value as? [Any] { return "[" + values.map(text).joined(separator: ",") + "]" }
    if let string = value as? String { return "\"\(string)\"" }
    guard let number = value as? NSNumber else { return "" }
    return unsafe String(cString: number.objCType) == "d" ? "\(number.doubleValue)" : number.stringValue
  }

  private struct Random {
    var state: UInt64

    mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var value = (state ^ state >> 30) &* 0xBF58_476D_1CE4_E5B9
      value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
      return value ^ value >> 31
    }

    /// A payload with random values, and two rounds of each group.
    mutating func payload(of layout: MessageLayout) throws -> [UInt8] {
      var payload = try skeleton(of: layout)
      var cursor = FieldCursor(layout)
      let fixed = layout.conditions.compactMap { if case .byte(let offset, _) = $0 { offset } else { nil } }
      var counting: [String] = []
      for case .group(.field(let name, _, _), _, _) in layout.items { counting.append(name.description) }
      while let place = cursor.next(in: unsafe payload.span.bytes) {
        let field = place.field
        if field.isReserved || fixed.contains(place.offset) || counting.contains(field.name.description) { continue }
        for index in 0..<field.values(within: payload.count - place.offset) {
          let bits: UInt64 =
            switch field.type {
            case .l: next() & 1
            case .ch: 0x41 + next() % 26
            case .r4: UInt64(Float(Int16(truncatingIfNeeded: next())).bitPattern)
            case .r8: Double(Int32(truncatingIfNeeded: next())).bitPattern
            default: next()
            }
          for byte in 0..<field.type.size {
            payload[place.offset + index * field.type.size + byte] = UInt8(truncatingIfNeeded: bits >> (byte * 8))
          }
        }
      }
      return payload
    }

    /// Zeros, with the bytes and counts that the layout needs.
    private func skeleton(of layout: MessageLayout) throws -> [UInt8] {
      var length = 0
      var counts: [(Int, UInt64)] = []
      for item in layout.items {
        switch item {
        case .field(let field): length += field.count == 0 ? 3 * field.type.size : field.size(within: 0)
        case .group(let times, let size, _):
          switch times {
          case .fixed(let count): length += count * size
          case .rest: length += 2 * size
          case .field(let name, let shift, _):
            length += 2 * size
            var offset = 0
            for case .field(let field) in layout.items {
              if field.name.description == name.description {
                counts.append((offset, 2 << shift))
                break
              }
              offset += field.size(within: 0)
            }
          }
        }
      }
      for case .length(let needed) in layout.conditions { length = needed }
      var payload = [UInt8](repeating: 0, count: length)
      for case .byte(let offset, let value) in layout.conditions { payload[offset] = value }
      for (offset, bits) in counts {
        for byte in 0..<8 where offset + byte < length {
          payload[offset + byte] |= UInt8(truncatingIfNeeded: bits >> (byte * 8))
        }
      }
      return payload
    }
  }
}
