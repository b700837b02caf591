// SPDX-License-Identifier: Apache-2.0
import HostSimulator
import MonotonicTime
import ReceiverSimulator
import ReceiverStream
import Testing
import UBX

@testable import Receiver

@Suite("Broadcast ephemerides for the start")
struct EphemerisTests {
  /// Thursday 2026-05-28 20:26:40, GPS week 2420.
  private static let now = UTCTime(nanosecondsSince1970: 1_780_000_000_000_000_000)

  private static func later(_ seconds: Int64) -> UTCTime {
    UTCTime(nanosecondsSince1970: now.nanosecondsSince1970 + seconds * 1_000_000_000)
  }

  private static func stock(_ bytes: [UInt8], at utc: UTCTime = now) -> EphemerisStock {
    var stock = EphemerisStock()
    var stream = FrameStream()
    unsafe stream.receive(bytes.span.bytes) { if let frame = $0.rtcm3 { stock.receive(frame, at: utc) } }
    return stock
  }

  private static func payload(_ bytes: [UInt8]) -> [UInt8]? { stock(bytes).messages(at: now).first?.payload }

  // MARK: RTCM 3 to MGA

  @Test("MGA-GPS-EPH has the numbers of message 1019")
  func gps() throws {
    let payload = try #require(Self.payload(BroadcastSource.gps(5, at: Self.now)))
    #expect(payload.count == 68 && payload[0] == 1 && payload[2] == 5)
    // User range accuracy, health, group delay and issue.
    #expect(payload[5] == 1 && payload[6] == 0 && payload[7] == 0xFF && payload[8] == 7)
    #expect(Array(payload[13...19]) == [0, 0xFE, 0xFF, 0, 0, 16, 0])
    #expect(Array(payload[20...23]) == [0xC0, 0xFF, 5, 0])
    #expect(Array(payload[32...39]) == [0, 0, 0, 2, 0, 0, 0x08, 0xA1])
    // 22:00 on the fourth day after Sunday.
    let second = (4 * 86_400 + 22 * 3600) / 16
    let expected = [UInt8(second & 0xFF), UInt8(second >> 8)]
    #expect(Array(payload[40...41]) == expected)
    #expect(Array(payload[10...11]) == expected)
    #expect(Array(payload[60...65]) == [0xF9, 0xFF, 0xFF, 0xFF, 0xFD, 0xFF])
  }

  @Test("The messages of all systems have their sizes, and the satellites their numbers")
  func systems() {
    let stock = Self.stock(BroadcastSource.frames(at: Self.now))
    #expect(stock.refused.total == 0, "\(stock.refused)")
    let messages = stock.messages(at: Self.now)
    #expect(messages.count == 30 + 3 * 24)
    let sizes: [UInt8: Int] = [0x00: 68, 0x02: 76, 0x03: 88, 0x06: 48]
    for message in messages { #expect(message.payload.count == sizes[message.identity.messageID]) }
  }

  /// The first satellite's message of a system.
  private func payload(_ id: UInt8) throws -> [UInt8] {
    let messages = Self.stock(BroadcastSource.frames(at: Self.now)).messages(at: Self.now)
    let message = try #require(messages.first { $0.identity.messageID == id })
    return message.payload
  }

  @Test("MGA-GLO-EPH has the signs of the satellite")
  func glonass() throws {
    let payload = try payload(0x06)
    #expect(payload[7] == 1)
    #expect(Array(payload[8...11]) == [0, 0x30, 0x1D, 3])
    #expect(Array(payload[32...34]) == [1, 0xFF, 0])
    #expect(payload[35] == 93)
    #expect(Array(payload[36...37]) == [0xFB, 0xFF])
    #expect(Array(payload[40...43]) == [0x18, 0xFC, 0xFF, 0xFF])
  }

  @Test("MGA-BDS-EPH and MGA-GAL-EPH have group delays, issues and accuracy")
  func beiDouAndGalileo() throws {
    let beiDou = try payload(0x03)
    #expect(Array(beiDou[20...21]) == [12, 0])
    #expect(beiDou[5] == 3 && beiDou[23] == 4)
    let galileo = try payload(0x02)
    #expect(Array(galileo[64...65]) == [6, 0])
    #expect(galileo[61] == 107 && galileo[4] == 33)
  }

  @Test("I/NAV of a Galileo satellite replaces F/NAV of the same time, and not the reverse")
  func iNAV() {
    let (fNAV, iNAV) = (
      BroadcastSource.galileo(3, at: Self.now, isFNAV: true), BroadcastSource.galileo(3, at: Self.now)
    )
    for bytes in [fNAV + iNAV, iNAV + fNAV] { #expect(Self.payload(bytes)?[64] == 6) }
    #expect(Self.payload(fNAV)?[64] == 5)
  }

  // MARK: Refusals

  @Test("Last week's ephemerides, malformed ones and those of unhealthy satellites are refused and counted")
  func refusals() {
    let week: Int64 = 604_800
    let today = 1_780_000_000 - 315_964_800 as Int64
    let old = Self.stock(BroadcastSource.gps(5, at: Self.now, reference: (today - week) / 7200 * 7200))
    #expect(old.isEmpty && old.refused == EphemerisStock.Refused(expired: 1))
    let ahead = Self.stock(BroadcastSource.gps(5, at: Self.now, reference: today / 7200 * 7200 + 6 * 3600))
    #expect(ahead.isEmpty && ahead.refused.expired == 1)
    for (number, root) in [(0, 5153 << 19), (63, 5153 << 19), (5, 100 << 19), (5, 8000 << 19)] as [(Int, Int64)] {
      let stock = Self.stock(BroadcastSource.gps(number, at: Self.now, root: root))
      #expect(stock.isEmpty && stock.refused.implausible == 1, "\(number)")
    }
    let ill = Self.stock(
      BroadcastSource.gps(5, at: Self.now) + BroadcastSource.gps(5, at: Self.now, issue: 8, health: 63))
    #expect(ill.isEmpty && ill.refused.unhealthy == 1)
    // A wrong checksum is not a frame.
    var damaged = BroadcastSource.gps(5, at: Self.now)
    damaged[20] ^= 1
    #expect(Self.stock(damaged).isEmpty)
  }

  @Test(
    "Each system has its time of use",
    arguments: [
      // GPS: two hours around 22:00. Galileo: four hours after 20:20. BeiDou: two after 20:00. GLONASS: half an hour after 20:15.
      (0x00, 3 * 3600 + 33 * 60 + 2), (0x02, 3 * 3600 + 53 * 60 + 2), (0x03, 3600 + 33 * 60 + 16), (0x06, 18 * 60 + 20),
    ] as [(UInt8, Int64)])
  func expiry(_ id: UInt8, _ seconds: Int64) {
    let stock = Self.stock(BroadcastSource.frames(at: Self.now))
    func has(_ utc: UTCTime) -> Bool { stock.messages(at: utc).contains { $0.identity.messageID == id } }
    #expect(has(Self.now) && has(Self.later(seconds - 1)) && !has(Self.later(seconds)))
  }

  @Test("Eight ephemerides are enough for a start, until the eighth expires")
  func enough() {
    let seven = (1...7).flatMap { BroadcastSource.gps($0, at: Self.now) }
    #expect(Self.stock(seven).usableSeconds(at: Self.now) == 0)
    let eight = Self.stock(seven + BroadcastSource.gps(8, at: Self.now))
    #expect((3 * 3600...4 * 3600).contains(Int64(eight.usableSeconds(at: Self.now))))
    #expect(eight.usableSeconds(at: Self.later(4 * 3600)) == 0)
  }

  // MARK: File

  @Test("A file is read as it was written; a cut or damaged one is not used")
  func file() throws {
    let stock = Self.stock(BroadcastSource.frames(at: Self.now))
    let text = stock.text(at: Self.now)
    #expect(EphemerisStock(text) == stock)
    #expect(EphemerisStock(text)?.messages(at: Self.now) == stock.messages(at: Self.now))
    for length in stride(from: 0, to: text.utf8.count - 1, by: 37) {
      #expect(EphemerisStock(String(text.prefix(length))) == nil)
    }
    #expect(EphemerisStock(text.replacing("\nG5 ", with: "\nG6 ")) == nil)
    #expect(EphemerisStock(text.replacing("\nG5 ", with: "\nX5 ")) == nil)
    // Expired ephemerides are not stored.
    #expect(EphemerisStock(stock.text(at: Self.later(86_400)))?.isEmpty == true)
  }

  // MARK: RINEX

  private static let header2 =
    "     2.11           N: GPS NAV DATA                         RINEX VERSION / TYPE\n"
    + String(repeating: " ", count: 60) + "END OF HEADER\n"
  private static let header3 =
    "     3.05           N: GNSS NAV DATA    M: MIXED            RINEX VERSION / TYPE\n"
    + String(repeating: " ", count: 60) + "END OF HEADER\n"
  private static let header4 = header3.replacing("3.05", with: "4.00")

  /// A record of GPS with the head of a version and its indent.
  private static func record(_ head: String, indent: Int, root: String = " 5.153000000000D+03") -> String {
    let (zero, one) = (" 0.000000000000D+00", " 1.000000000000D+00")
    let start = String(repeating: " ", count: indent)
    let second = " 4.248000000000D+05"
    let lines = [
      [" 7.000000000000D+00", "-2.000000000000D+00", zero, one], [zero, " 3.906250000000D-03", zero, root],
      [second, zero, one, zero], [" 7.853981633975D-01", zero, one, zero], [zero, zero, " 2.420000000000D+03", zero],
      [" 2.800000000000D+00", zero, "-4.656612873077D-10", " 7.000000000000D+00"],
      [" 9.999000000000D+08", " 4.000000000000D+00"],
    ]
    return head + " 4.882812500000D-04-2.273736754432D-13 0.000000000000D+00\n"
      + lines.map { start + $0.joined() + "\n" }.joined()
  }

  private static func read(_ text: String, at utc: UTCTime = now) -> EphemerisStock? {
    var stock = EphemerisStock()
    let bytes = Array(text.utf8)
    return unsafe stock.read(rinex: bytes.span.bytes, at: utc) == nil ? nil : stock
  }

  @Test("Records of RINEX 2, 3 and 4 give the same message")
  func rinex() throws {
    let second = record(" 5 26  5 28 22  0  0.0", 3, Self.header2)
    let third = record("G05 2026 05 28 22 00 00", 4, Self.header3)
    let fourth = record("> EPH G05 LNAV\nG05 2026 05 28 22 00 00", 4, Self.header4)
    let messages = [second, third, fourth].map { $0?.messages(at: Self.now) ?? [] }
    #expect(messages[0].count == 1 && messages[0] == messages[1] && messages[1] == messages[2])
    let payload = try #require(messages[0].first?.payload)
    #expect(payload[2] == 5 && payload[5] == 1)
    #expect(Array(payload[16...21]) == [0, 0, 16, 0, 0xC0, 0xFF])
    func record(_ head: String, _ indent: Int, _ header: String) -> EphemerisStock? {
      Self.read(header + Self.record(head, indent: indent))
    }
  }

  @Test("A file is not one without its first line and the end of its header, and wrong records are counted")
  func hostile() {
    for text in [
      "", "<html>", Self.header3.replacing("END OF", with: "START "), Self.header3.replacing("N:", with: "O:"),
    ] {
      #expect(Self.read(text) == nil)
    }
    let head = "G05 2026 05 28 22 00 00"
    for (bad, reason) in [
      (Self.record("G05 2026 13 28 22 00 00", indent: 4), "month"),
      (Self.record("G0X 2026 05 28 22 00 00", indent: 4), "number"),
      (Self.record(head, indent: 4, root: "                nan"), "nan"),
      (Self.record(head, indent: 4, root: " 9.153000000000D+99"), "root"),
      (String(Self.record(head, indent: 4).prefix(300)), "cut"),
    ] {
      let stock = Self.read(Self.header3 + bad)
      #expect(stock?.isEmpty == true && stock?.refused.implausible == 1, "\(reason)")
    }
    // An older file.
    #expect(Self.read(Self.header3 + Self.record("G05 2026 05 21 22 00 00", indent: 4))?.refused.expired == 1)
    // CNAV has other values, and is not counted.
    let other = Self.read(Self.header4 + "> EPH G05 CNAV\n" + Self.record(head, indent: 4))
    #expect(other?.isEmpty == true && other?.refused.total == 0)
  }

  // MARK: Starts

  /// The time to the first fix after three days in backup with an intact memory, seconds.
  private func start(_ model: ReceiverModel, _ adapt: (inout AssistanceSettings, UTCTime) -> Void) throws -> (
    seconds: Double, assisted: (given: Int, refused: Int)?
  ) {
    let settings = AssistanceSettings(records: [], clockAccuracySeconds: 0.1, readsDatabaseAtEnd: false)
    let scene = SessionScene(model, baud: 115_200) { $0.assistance = settings }
    scene.knowsTheTime = true
    scene.run(90) { $0.isSteady && $0.positions.count > 40 }
    scene.sleep(seconds: nil)
    scene.run(10)
    #expect(scene.line.receiver.powerState == .standby)
    scene.run(3 * 86_400)
    let utc = UTCTime(nanosecondsSince1970: scene.line.receiver.utcMilliseconds(at: scene.now) * 1_000_000)
    var next = settings
    adapt(&next, utc)
    scene.withSession { $0.set(next, time: utc, at: scene.now) }
    scene.clearReports()
    _ = scene.takeFixes()
    let from = scene.now
    scene.wakeUp()
    let hasFix = scene.run(120) { !$0.positions.isEmpty }
    #expect(hasFix, "\(scene.reports)")
    let first = try #require(scene.positions.first)
    // The rest of the ephemerides is delivered, and the receiver is restored.
    scene.run(30)
    let reported = scene.reports.compactMap {
      if case .assisted(let given, let refused) = $0.report { (given, refused) } else { nil }
    }
    scene.finish()
    #expect(scene.reported(.notRestored) == 0)
    return (first.at.seconds(since: from), reported.first)
  }

  private static let models: [ReceiverModel] = [.m8, .m9, .m10, .f9p, .x20]

  @Test("After three days in backup ephemerides of a caster give a fix in seconds", arguments: models)
  func afterDays(_ model: ReceiverModel) throws {
    let without = try start(model) { _, _ in }
    let with = try start(model) { $0.ephemerides = Self.stock(BroadcastSource.frames(at: $1), at: $1) }
    #expect(without.assisted == nil && without.seconds > 20, "\(without)")
    #expect(with.seconds < 10 && with.assisted?.refused == 0 && with.assisted?.given ?? 0 > 20, "\(with)")
    // Ephemerides of the day before are not sent.
    let old = try start(model) { settings, utc in
      let before = UTCTime(nanosecondsSince1970: utc.nanosecondsSince1970 - 86_400_000_000_000)
      settings.ephemerides = Self.stock(BroadcastSource.frames(at: before), at: before)
    }
    #expect(old.assisted == nil && old.seconds > 20)
  }
}
