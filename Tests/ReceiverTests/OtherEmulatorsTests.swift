// SPDX-License-Identifier: Apache-2.0
import HostSimulator
import MonotonicTime
import ReceiverStream
import TestSupport
import Testing
import UBX

@testable import Receiver

/// Lines that answer otherwise than ours, as other makers' emulators, bridges and half-duplex wires do: the session on each,
/// in virtual time.
@Suite("Receivers that answer otherwise")
struct OtherEmulatorsTests {
  private typealias Reply = ScriptedLine.Reply
  private typealias Scene = VirtualHost<SessionLog, ScriptedLine>

  // MARK: Output

  private static func version(
    _ rest: [String], software: String = "EXT CORE 3.01 (107900)", hardware: String = "00080000"
  ) -> [UInt8] {
    func padded(_ text: String, _ count: Int) -> [UInt8] {
      Array((Array(text.utf8) + [UInt8](repeating: 0, count: count)).prefix(count))
    }
    return padded(software, 30) + padded(hardware, 10) + rest.flatMap { padded($0, 30) }
  }
  private static let m8 = frameBytes(.monVER, version(["ROM BASE 3.01 (107888)", "FWVER=SPG 3.01", "PROTVER=18.00"]))

  /// NAV-PVT with a fix, and NAV-EOE.
  private static func pvt(_ second: Int) -> [UInt8] {
    var pvt = [UInt8](repeating: 0, count: 92)
    pvt.set(u4: UInt32(100_000 + 1000 * second), at: 0)
    pvt.replaceSubrange(4..<12, with: [0xEA, 0x07, 6, 1, 12, UInt8(second / 60 % 60), UInt8(second % 60), 0x07])
    pvt[20] = 3
    pvt[21] = 1
    pvt[23] = 9
    return frameBytes(.navPVT, pvt)
  }

  private static func sentences(_ second: Int, end: String = "\r\n", talker: String = "GN") -> [UInt8] {
    func sentence(_ text: String) -> [UInt8] {
      let sum = text.utf8.reduce(UInt8(0)) { $0 ^ $1 }
      return Array("$".utf8) + Array(text.utf8) + Array("*".utf8) + Self.hexadecimal(sum) + Array(end.utf8)
    }
    let clock = "12" + Self.twoDigits(second / 60 % 60) + Self.twoDigits(second % 60) + ".00"
    let place = "4809.8520,N,01136.3360,E"
    return sentence("\(talker)RMC,\(clock),A,\(place),1.9,239.6,010626,,,A")
      + sentence("\(talker)GGA,\(clock),\(place),1,12,0.9,520.0,M,47.8,M,,")
  }

  private static func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }

  private static func hexadecimal(_ byte: UInt8) -> [UInt8] {
    let digits = Array("0123456789ABCDEF".utf8)
    return [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
  }

  private static func acknowledged(_ identity: MessageIdentity, _ isTaken: Bool = true) -> [UInt8] {
    frameBytes(isTaken ? .ackACK : .ackNAK, [identity.messageClass, identity.messageID])
  }

  // MARK: Tests

  @Test("A receiver with a late MON-VER reply is identified", arguments: [300, 900, 2000, 5000] as [UInt64])
  func late(_ milliseconds: UInt64) {
    let scene = Scene(speech: Self.pvt) { identity, _ in
      identity == .monVER ? [Reply(milliseconds, Self.m8)] : []
    }
    scene.run(25)
    let description = scene.session.description
    #expect(description?.firmware == "SPG 3.01")
    #expect(scene.positions.count >= 23)
  }

  @Test(
    "A receiver that is identified by a reply to another program is polled for the id of its chip",
    arguments: [true, false])
  func answerToAnother(comesUnasked: Bool) {
    let scene = Scene(speech: { ($0 == 0 && comesUnasked ? Self.m8 : []) + Self.pvt($0) }) { identity, _ in
      switch identity {
      case .monVER: [Reply(comesUnasked ? 20 : 2000, Self.m8)]
      case .secUNIQID: [Reply(30, frameBytes(.secUNIQID, [1, 0, 0, 0, 1, 2, 3, 4, 5]))]
      default: []
      }
    }
    scene.run(25)
    #expect(scene.session.description?.firmware == "SPG 3.01")
    #expect(scene.session.description?.uniqueID == [1, 2, 3, 4, 5])
  }

  @Test(
    "A receiver that never replies is used without replies, and polled more and more rarely", arguments: [true, false])
  func never(speaksUBX: Bool) {
    let scene = Scene(speech: { speaksUBX ? Self.pvt($0) : Self.sentences($0) })
    scene.run(600)
    #expect(scene.positions.count >= 597)
    #expect(scene.reports.count <= 2, "\(scene.reports)")
    #expect(scene.sentBytes < 1000, "\(scene.sentBytes)")
    // Sentences that show no maker: all families are probed once.
    let sent = scene.sentBytes
    scene.run(3600)
    #expect(speaksUBX || scene.sentBytes == sent)
  }

  @Test("A receiver that acknowledges everything and reports nothing is used, reported once, and not flooded")
  func onlyAcknowledgements() {
    let scene = Scene(speech: Self.pvt) { identity, _ in
      identity == .monVER ? [Reply(20, Self.m8)] : [Reply(20, Self.acknowledged(identity))]
    }
    scene.run(300)
    #expect(scene.positions.count >= 297)
    #expect(scene.reported(.configurationFailed(isRefused: false)) == 1, "\(scene.reports)")
    #expect(scene.sentBytes < 20_000, "\(scene.sentBytes)")
    #expect(scene.wakeUps < 4000, "\(scene.wakeUps)")
  }

  @Test("A receiver that refuses everything is used", arguments: [18, 34])
  func refusals(version: Int) {
    let who = frameBytes(
      .monVER, Self.version(["FWVER=SPG \(version == 18 ? "3.01" : "5.10")", "PROTVER=\(version).00"]))
    let scene = Scene(speech: Self.pvt) { identity, _ in
      identity == .monVER ? [Reply(5, who)] : [Reply(5, Self.acknowledged(identity, false))]
    }
    scene.run(120)
    #expect(scene.positions.count >= 117)
    #expect(scene.reported(.configurationFailed(isRefused: true)) == 1, "\(scene.reports)")
    #expect(scene.sentBytes < 20_000, "\(scene.sentBytes)")
  }

  @Test("A receiver that replies to no setting does not refuse to be configured", arguments: [18, 34])
  func unanswered(version: Int) {
    let who = frameBytes(
      .monVER, Self.version(["FWVER=SPG \(version == 18 ? "3.01" : "5.10")", "PROTVER=\(version).00"]))
    let scene = Scene(speech: Self.pvt) { identity, _ in identity == .monVER ? [Reply(5, who)] : [] }
    scene.run(120)
    #expect(scene.reported(.configurationFailed(isRefused: false)) == 1, "\(scene.reports)")
    #expect(scene.reported(.configurationFailed(isRefused: true)) == 0)
  }

  @Test("A line that sends back what is written is not a receiver", arguments: [true, false])
  func echo(answersToo: Bool) {
    let scene = Scene(isKnown: true, echoes: true, speech: { Self.sentences($0) }) { identity, _ in
      answersToo && identity == .monVER ? [Reply(40, Self.m8)] : []
    }
    scene.run(120)
    let description = scene.session.description
    #expect(description?.firmware == (answersToo ? "SPG 3.01" : nil))
    #expect(scene.positions.count >= 117)
    #expect(scene.sentBytes < 30_000, "\(scene.sentBytes)")
  }

  @Test("An echo is not a receiver, and UBX is not switched on")
  func onlyEcho() {
    let scene = Scene(intent: .identify, echoes: true, speech: { _ in [] })
    scene.run(30)
    #expect(!scene.session.isReceiving && scene.sentBytes > 0)
    #expect(!scene.line.sent.contains("PUBX"))
  }

  @Test("UBX is switched on at a u-blox receiver without replies, unless nothing may be changed")
  func switchedOn() {
    for may in [true, false] {
      let scene = Scene(
        intent: .identify, maySwitchUBXOn: may,
        speech: { Wire.nmea("GNTXT,01,01,02,u-blox AG - www.u-blox.com") + Self.sentences($0) })
      scene.run(30)
      #expect(scene.line.sent.contains("PUBX,41") == may)
    }
  }

  @Test("Answers out of order are understood")
  func outOfOrder() {
    let unique = frameBytes(.secUNIQID, [1, 0, 0, 0, 1, 2, 3, 4, 5])
    let scene = Scene(speech: Self.pvt) { identity, _ in
      switch identity {
      case .secUNIQID: [Reply(10, unique)]
      case .monVER: [Reply(60, Self.m8)]
      default: []
      }
    }
    scene.run(10)
    let description = scene.session.description
    #expect(description?.firmware == "SPG 3.01")
    #expect(description?.uniqueID == [1, 2, 3, 4, 5])
  }

  @Test("A receiver that reads only the first frame of a write still reports its chip's id")
  func bursts() {
    let unique = frameBytes(.secUNIQID, [1, 0, 0, 0, 1, 2, 3, 4, 5])
    let scene = Scene(losesBursts: true, speech: Self.pvt) { identity, _ in
      switch identity {
      case .secUNIQID: [Reply(10, unique)]
      case .monVER: [Reply(20, Self.m8)]
      default: []
      }
    }
    scene.run(10)
    let description = scene.session.description
    #expect(description?.uniqueID == [1, 2, 3, 4, 5])
  }

  @Test("A receiver without NAV-PVT among its items falls back to sentences")
  func withoutPVT() {
    let who = frameBytes(.monVER, Self.version(["FWVER=HPG 1.32", "PROTVER=27.31"], hardware: "00190000"))
    let items = Items(unknown: [0x2091_0007])
    let scene = Scene(isKnown: true, speech: { items[0x1074_0002] == 1 ? Self.sentences($0) : [] }) {
      identity, payload in
      switch identity {
      case .monVER: [Reply(20, who)]
      case .cfgVALGET: items.get(payload).map { Reply(20, $0) }
      case .cfgVALSET: [Reply(20, Self.acknowledged(identity, items.set(payload)))]
      default: []
      }
    }
    scene.run(60)
    #expect(scene.positions.count >= 50, "\(scene.positions.count)")
    #expect(items[0x1074_0002] == 1)
  }

  /// Configuration items that are 0 before they are set, but for the protocols, which are on.
  private final class Items {
    private var values: [UInt32: UInt64] = [0x1074_0001: 1, 0x1074_0002: 1]
    private let unknown: [UInt32]

    init(unknown: [UInt32]) { self.unknown = unknown }

    subscript(key: UInt32) -> UInt64 { values[key] ?? 0 }

    func get(_ payload: [UInt8]) -> [[UInt8]] {
      var answer: [UInt8] = [1] + payload[1..<4]
      for at in stride(from: 4, to: payload.count, by: 4) {
        let key = payload.u4(at)
        if unknown.contains(key) { return [OtherEmulatorsTests.acknowledged(.cfgVALGET, false)] }
        answer += payload[at..<at + 4]
        answer += (0..<(configurationValueSize(key) ?? 0)).map { UInt8(truncatingIfNeeded: self[key] >> ($0 * 8)) }
      }
      return [frameBytes(.cfgVALGET, answer), OtherEmulatorsTests.acknowledged(.cfgVALGET)]
    }

    func set(_ payload: [UInt8]) -> Bool {
      let pairs = Configuration.pairs(payload)
      if pairs.contains(where: { unknown.contains($0.id) }) { return false }
      for pair in pairs { values[pair.id] = pair.bits }
      return true
    }
  }

  @Test(
    "A receiver that continues to send sentences is reported once, and polled less and less often",
    arguments: [true, false])
  func sentencesForEver(isAcknowledged: Bool) {
    var port = [UInt8](repeating: 0, count: 20)
    port[0] = 1
    port.set(u4: 0x8D0, at: 4)
    port.set(u4: 115_200, at: 8)
    (port[12], port[14]) = (7, 3)
    let scene = Scene(speech: { Self.pvt($0) + Self.sentences($0) }) { [port] identity, payload in
      switch (identity, payload.count) {
      case (.monVER, _): [Reply(20, Self.m8)]
      case (.cfgPRT, 0...1): [Reply(20, frameBytes(.cfgPRT, port) + Self.acknowledged(.cfgPRT))]
      case (.cfgPRT, _): [Reply(20, Self.acknowledged(.cfgPRT, isAcknowledged))]
      case (.cfgMSG, 2):
        [Reply(20, frameBytes(.cfgMSG, payload + [0, 1, 0, 0, 0, 0]) + Self.acknowledged(.cfgMSG))]
      default: [Reply(20, Self.acknowledged(identity))]
      }
    }
    scene.run(30)
    let sent = scene.sentBytes
    let reports = scene.reports.count
    scene.run(300)
    #expect(scene.reports.count == reports, "\(scene.reports)")
    #expect(scene.reports.count { if case .configured = $0.report { true } else { false } } <= 1, "\(scene.reports)")
    #expect(scene.sentBytes - sent < 1500, "\(scene.sentBytes - sent)")
    #expect(scene.positions.count >= 320)
  }

  @Test("Five seconds of boot text come before the first fix")
  func bootText() {
    let text = Array(
      "$GNTXT,01,01,02,u-blox AG - www.u-blox.com*4E\r\n$GNTXT,01,01,02,HW UBX-M8030 00080000*60\r\n".utf8)
    let scene = Scene(
      speech: { $0 < 5 ? text : Self.sentences($0) },
      answers: { identity, _ in identity == .monVER ? [Reply(20, Self.m8)] : [] })
    scene.run(30)
    #expect(scene.positions.count >= 24)
    let description = scene.session.description
    #expect(description?.firmware == "SPG 3.01")
  }

  @Test(
    "Sentences end in CR LF or in LF, and come from any talker", arguments: ["\r\n", "\n"], ["GN", "GP", "BD", "GA"])
  func lineEnds(end: String, talker: String) {
    let scene = Scene(speech: { Self.sentences($0, end: end, talker: talker) })
    scene.run(30)
    #expect(scene.positions.count >= 27)
    // The probes of identification.
    #expect(scene.sentBytes < 1000, "\(scene.sentBytes)")
  }

  @Test(
    "Firmware of all kinds is distinguished",
    arguments: [
      (["ROM SPG 5.10 (7b202e)", "000A0000", "FWVER=SPG 5.10", "PROTVER=34.10"], "SPG 5.10", "M10"),
      (["EXT CORE 1.00 (3fda8e)", "00190000", "FWVER=HPG 1.32", "PROTVER=27.31", "MOD=ZED-F9P"], "HPG 1.32", "F9"),
      (["EXT CORE 1.00 (a59682)", "00190000", "FWVER=HPS 1.30", "PROTVER=33.30", "MOD=ZED-F9R"], "HPS 1.30", "F9"),
      (["EXT CORE 4.04 (da5c3f)", "00190000", "FWVER=MDR 2.16", "PROTVER=32.20", "MOD=NEO-M9V"], "MDR 2.16", "M9"),
      (["EXT CORE 1.00 (94e56e)", "00190000", "FWVER=TIM 2.20", "PROTVER=29.20", "MOD=ZED-F9T"], "TIM 2.20", "F9"),
      (["EXT CORE 3.01 (111141)", "00080000", "FWVER=ADR 4.21", "PROTVER=19.20", "MOD=NEO-M8L-0"], "ADR 4.21", "M8"),
      (["EXT CORE 3.01 (d189ff)", "00080000", "FWVER=UDR 1.50", "PROTVER=19.20", "MOD=NEO-M8U-0"], "UDR 1.50", "M8"),
      (["EXT CORE 3.01 (1ec93f)", "00080000", "FWVER=TIM 1.10", "PROTVER=22.00", "MOD=NEO-M8T-0"], "TIM 1.10", "M8"),
      (["ROM SPG 6.00 (e8a0ab)", "000A0000", "FWVER=SPG 6.00", "PROTVER=40.00", "MOD=NEO-F10N"], "SPG 6.00", "F10"),
      (["EXT HPG 2.00 (5b2b8a)", "000B0000", "FWVER=HPG 2.00", "PROTVER=50.01", "MOD=ZED-X20P"], "HPG 2.00", "X20"),
      (["EXT CORE 1.00 (12ac05)", "00190000", "FWVER=PMP 1.04", "PROTVER=24.00", "MOD=NEO-D9S"], "PMP 1.04", "D9"),
      (["EXT CORE 1.00 (12ac05)", "00190000", "FWVER=PMP 1.06", "PROTVER=24.00"], "PMP 1.06", "D9"),
      (["EXT CORE 1.00 (cd6322)", "00190000", "FWVER=QZS 1.01", "PROTVER=28.11"], "QZS 1.01", "D9"),
      (["7.03 (45969)", "00040007"], "7.03", "M6"),
      (["1.00 (59842)", "00070000", "PROTVER 14.00"], "1.00", "M7"),
    ] as [([String], String, String)])
  func firmware(_ strings: [String], _ firmware: String, _ generation: String) throws {
    let payload = Self.version(Array(strings.dropFirst(2)), software: strings[0], hardware: strings[1])
    let description = try #require(ReceiverDescription(monVER: payload))
    #expect(description.firmware == firmware)
    #expect(description.generation?.rawValue == generation)
  }

  @Test(
    "A receiver of corrections has no position, and is neither put to sleep nor a base",
    arguments: ["PMP 1.04", "QZS 1.01"])
  func correctionReceiver(firmware: String) throws {
    let strings = ["EXT CORE 1.00", "00190000", "FWVER=" + firmware, "PROTVER=24.00", "MOD=NEO-D9S"]
    let description = try #require(ReceiverDescription(strings: strings))
    #expect(description.capabilities == [.valset] && !description.canBeBase)
    #expect(SleepRequest.command(nil, for: description, port: .uart1) == nil)
  }

  @Test(
    "An M10 has the older CFG messages by a protocol version before 34.10 alone",
    arguments: [
      ("34.00", true), ("34.10", false), ("34.30-b1", false), ("34.00-b1", true), ("34.", false), ("x", false),
      (nil, false),
    ] as [(String?, Bool)])
  func olderMessages(_ version: String?, _ has: Bool) throws {
    let strings = ["ROM SPG 5.30", "000A0000", "MOD=MAX-M10S"] + [version.map { "PROTVER=" + $0 }].compactMap(\.self)
    let description = try #require(ReceiverDescription(strings: strings))
    #expect(description.generation == .m10 && description.can(.legacyConfig) == has)
    #expect(description.protocolVersionText == version)
  }

  @Test("Control characters of MON-VER end no line of the output and of a backup file")
  func controlCharacters() throws {
    let payload = Self.version(
      ["MOD=NEO\nholds everything", "FWVER=SPG\r\u{1B}[2J"], software: "ROM\u{7}", hardware: "000A\t000")
    let description = try #require(ReceiverDescription(monVER: payload))
    #expect(description.strings == ["ROM?", "000A?000", "MOD=NEO?holds everything", "FWVER=SPG??[2J"])
    let lines = ConfigurationFile.text([], of: description, .everything).split(separator: "\n")
    #expect(lines.count { $0 == "holds everything" } == 1)
  }
}
