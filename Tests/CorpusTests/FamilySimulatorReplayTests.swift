// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import ReceiverSimulator
import TestSupport
import Testing

/// Recorded dialogues of receivers that are not u-blox ones, sent to their simulated models: the same replies come.
@Suite(
  "Simulated receivers of other makers", .tags(.corpus), .enabled(if: Corpus.isWanted, "needs the recorded dialogues"))
struct FamilySimulatorReplayTests {
  static let recordings = Corpus.dialogues.filter { Self.model(of: $0) != nil }

  private static func model(of name: String) -> ReceiverModel? {
    let models: [(String, ReceiverModel)] = [
      ("casic-AT632/", .at6668), ("casic-ATGM332D-5N71/", .at6558), ("quectel-LG290P/", .lg290p),
      ("unicore-UM980/", .um980), ("allystar-", .tau1201), ("septentrio-mosaic-G5/", .mosaic),
    ]
    return models.first { name.hasPrefix($0.0) }?.1
  }

  @Test("The simulator replies as the recorded receiver", arguments: recordings)
  func replies(name: String) throws {
    let dialogue = try Dialogue(name)
    let model = try #require(Self.model(of: name))
    let (recorded, simulated) = Self.run(dialogue, model)
    #expect(!recorded.isEmpty || name.hasSuffix("/restart"))
    var missing = recorded
    var extra: [String] = []
    // The recorded hosts followed a change of the rate late, and read its acknowledgement at the old rate.
    var damaged = dialogue.lines.dropFirst().count { $0.rate != nil }
    for reply in simulated {
      if let index = missing.firstIndex(of: reply.token) {
        missing.remove(at: index)
      } else if reply.isInTime {
        if damaged > 0, reply.token.contains("0600") || reply.token.contains("CFGUART") {
          damaged -= 1
        } else {
          extra.append(reply.token)
        }
      }
    }
    print("\(name): \(recorded.count - missing.count) of \(recorded.count) replies")
    #expect(missing.isEmpty, "\(missing)")
    #expect(extra.isEmpty, "\(extra)")
  }

  private static func run(
    _ dialogue: Dialogue, _ model: ReceiverModel
  ) -> (recorded: [String], simulated: [(token: String, isInTime: Bool)]) {
    var scenario = Scenario(stayingAt: Place(latitudeDegrees: 48.1642, longitudeDegrees: 11.6056, altitudeMetres: 512))
    scenario.beginsHot = true
    let isFull = dialogue.name.hasSuffix("full-line")
    if isFull { scenario.quirks = [.threeSystems] }
    let isUSB = dialogue.lines.first?.rate == 0
    var line = VirtualLine(model: model, scenario: scenario, startUTCSeconds: 1_780_000_000, hasRate: !isUSB)
    var now = Instant.zero
    var bytes: [UInt8] = []
    func run(to end: Instant) {
      while let due = line.deadline, due <= end {
        line.advance(to: max(now, due))
        now = max(now, due)
        bytes += line.takeReceived()
      }
      now = max(now, end)
      line.advance(to: now)
      bytes += line.takeReceived()
    }
    run(to: .zero + Milliseconds(isFull ? 120_000 : 25_000))
    // The recorded receivers sent few messages or none.
    if model == .at6668 { line.send(Wire.nmea("PCAS03,0,0,0,0,0,0,0,0"), at: now) }
    if model == .tau1201, !dialogue.name.hasSuffix("restart") {
      for id in [0, 1, 2, 4, 5, 6, 7, 0x20] as [UInt8] { line.send(allystar(0x0601, [0xF0, id, 0]), at: now) }
    }
    // Its own messages that the query lists.
    for one in dialogue.lines {
      let fields = String(decoding: one.bytes, as: UTF8.self).split(separator: ",")
      guard fields.count > 5, fields[0] == "$PQTMLSTMSG" else { continue }
      line.send(Wire.nmea("PQTMCFGMSGRATE,W,1,1,\(fields[4]),1"), at: now)
      run(to: now + Milliseconds(200))
    }
    run(to: now + Milliseconds(3000))
    if let rate = dialogue.lines.first?.rate, !isUSB, rate != line.receiver.baudRate {
      line.inject(.baudRateChange(to: rate), at: now)
      run(to: now + Milliseconds(1000))
    }
    if let rate = dialogue.lines.first?.rate, !isUSB { line.hostRate = rate }
    let second = Instant(nanoseconds: (now.nanoseconds / 1_000_000_000 + 1) * 1_000_000_000)
    run(to: second)
    bytes = []
    let first = dialogue.lines.firstIndex { $0.isSent } ?? 0
    for (index, one) in dialogue.lines.enumerated() where one.isSent {
      run(to: second + Milliseconds(seconds: max(0, one.seconds)))
      line.send(one.bytes, at: now)
      guard let rate = one.rate, index > 0 else { continue }
      run(
        to: Instant(nanoseconds: now.nanoseconds + UInt64(one.bytes.count + 1) * 10_000_000_000 / UInt64(line.hostRate))
      )
      line.hostRate = rate
    }
    run(to: second + Milliseconds(seconds: max(0, dialogue.lines.last?.seconds ?? 0)))
    var simulated = tokens(bytes).map { (token: $0, isInTime: true) }
    let inTime = bytes.count
    run(to: now + Milliseconds(1000))
    simulated += tokens(Array(bytes)).dropFirst(tokens(Array(bytes[..<inTime])).count).map { ($0, false) }
    let recorded = dialogue.lines[first...].filter { !$0.isSent }.flatMap(\.bytes)
    return (tokens(recorded), simulated)
  }

  private static func allystar(_ identity: UInt16, _ payload: [UInt8]) -> [UInt8] {
    let body = [UInt8(identity >> 8), UInt8(identity & 0xFF), UInt8(payload.count), 0] + payload
    var (a, b) = (UInt8(0), UInt8(0))
    for byte in body {
      a &+= byte
      b &+= a
    }
    return [0xF1, 0xD9] + body + [a, b]
  }

  /// The kinds of the replies among received bytes; messages that come by themselves are left out.
  private static func tokens(_ bytes: [UInt8]) -> [String] {
    var found: [String] = []
    var at = 0
    while at + 4 < bytes.count {
      let head = Array(bytes[at..<at + 3])
      if at + 6 < bytes.count, head.starts(with: [0xBA, 0xCE]) || head.starts(with: [0xF1, 0xD9]) {
        let isCASIC = head[0] == 0xBA
        let (name, size) = isCASIC ? (at + 4, at + 2) : (at + 2, at + 4)
        let count = Int(bytes[size]) | Int(bytes[size + 1]) << 8
        let end = at + 6 + count + (isCASIC ? 4 : 2)
        guard count < 512, end <= bytes.count else {
          at += 1
          continue
        }
        let identity = hex(bytes[name]) + hex(bytes[name + 1])
        if bytes[name] == 5 {
          found.append("\(identity) \(hex(bytes[at + 6]))\(hex(bytes[at + 7]))")
        } else if bytes[name] == 6 || bytes[name] == 0x0A {
          found.append(identity)
        }
        at = end
      } else if bytes[at...].starts(with: "USB1>".utf8) {
        found.append("prompt")
        at += 5
      } else if head == [0xAA, 0x44, 0xB5] {
        guard at + 8 < bytes.count else { break }
        found.append("binary \(bytes[at + 4])")
        at += 28 + Int(bytes[at + 6]) + Int(bytes[at + 7]) << 8
      } else if head[0] == UInt8(ascii: "$") || head[0] == UInt8(ascii: "#"),
        let end = bytes[at...].firstIndex(where: { !(0x20...0x7E).contains($0) }), bytes[end] == 13
      {
        let body = String(decoding: bytes[at..<end], as: UTF8.self).prefix { $0 != "*" }
        if let token = token(String(body)) { found.append(token) }
        at = end
      } else {
        at += 1
      }
    }
    return found
  }

  private static func hex(_ byte: UInt8) -> String {
    let digits = String(byte, radix: 16)
    return digits.count == 1 ? "0" + digits : digits
  }

  private static func token(_ body: String) -> String? {
    if body.hasPrefix("$command") || body.hasPrefix("$R") { return body }
    if body.hasPrefix("$PQTM"), !body.hasPrefix("$PQTMPVT") {
      let fields = body.split(separator: ",")
      return fields.count > 1 && fields[1] == "OK" ? "\(fields[0]),OK" : String(fields[0])
    }
    if body.hasPrefix("$CONFIG,") { return body.split(separator: ",").prefix(2).joined(separator: ",") }
    return body.hasPrefix("#MODE") ? "#MODE" : nil
  }
}
