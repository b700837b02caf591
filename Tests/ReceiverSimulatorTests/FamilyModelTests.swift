// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import ReceiverSimulator
import TestSupport
import Testing

/// Simulated receivers that are not u-blox ones. The commands and replies come from the makers' documents and from recordings.
@Suite("Receivers of other makers")
struct FamilyModelTests {
  /// A command and the beginning of its reply.
  struct Reply: Sendable, CustomTestStringConvertible {
    var model: ReceiverModel
    var command: String
    var reply: String
    var testDescription: String { "\(model) \(command)" }
    init(_ model: ReceiverModel, _ command: String, _ reply: String) {
      (self.model, self.command, self.reply) = (model, command, reply)
    }
  }

  static let table: [Reply] = [
    Reply(.mt3339, "PMTK605", "PMTK705,AXN_2.31_3339_13101700,5632,PA6H,1.0"),
    Reply(.mt3333, "PMTK605", "PMTK705,AXN_5.1.7_3333_19020118,0027,PA1010D,1.0"),
    Reply(.mt3339, "PMTK220,500", "PMTK001,220,3"), Reply(.mt3339, "PMTK220,50", "PMTK001,220,0"),
    Reply(.mt3339, "PMTK400", "PMTK500,1000"), Reply(.mt3339, "PMTK999", "PMTK001,999,1"),
    Reply(.mt3339, "PMTK353,1,1", "PMTK001,353,1"), Reply(.mt3333, "PMTK353,1,0", "PMTK001,353,3"),
    Reply(.mt3339, "PMTK414", "PMTK514,0,1,1,1,1,5,0,0,0,0,0,0,0,0,0,0,0,0,0"),
    Reply(.mt3339, "PMTK161,0", "PMTK001,161,3"), Reply(.mt3339, "PMTK225,0", "PMTK001,225,3"),
    Reply(.mt3339, "PMTK183", "PMTKLOG,1,1,b,31,15,0,0,1,0,0"), Reply(.mt3339, "PGCMD,33,1", "PGACK,33,1"),
    Reply(.ag3352, "PQTMVERNO", "PQTMVERNO,LC76GABNR02A01S,2022/09/14,11:47:03"),
    Reply(.ag3352, "PAIR021", "PAIR001,021,0"), Reply(.ag3352, "PAIR050,500", "PAIR001,050,0"),
    Reply(.ag3352, "PAIR050,50", "PAIR001,050,4"), Reply(.ag3352, "PAIR051", "PAIR001,051,0"),
    Reply(.ag3352, "PAIR901", "PAIR001,901,3"), Reply(.ag3352, "PAIR066,0,1,0,0,0,0", "PAIR001,066,4"),
    Reply(.ag3352, "PAIR003", "PAIR001,003,0"), Reply(.ag3352, "PAIR650,5", "PAIR001,650,4"),
    Reply(.at6558, "PCAS06,0", "GPTXT,01,01,02,SW=URANUS5,V5.3.0.0"),
    Reply(.lg290p, "PQTMVERNO", "PQTMVERNO,LG290P03AANR02A01S,2025/12/12,11:21:01"),
    Reply(.lg290p, "PQTMCFGFIXRATE,R", "PQTMCFGFIXRATE,OK,100"),
    Reply(.lg290p, "PQTMCFGELETHD,W,10.0", "PQTMCFGELETHD,OK"),
    Reply(.lg290p, "PQTMCFGMSGRATE,W,XYZ,1", "PQTMCFGMSGRATE,ERROR,1"),
    Reply(.teseo, "PSTMGETSWVER,255", "PSTMVER,GNSSLIB_8.4.8.13_ARM"), Reply(.teseo, "PSTMSAVEPAR", "PSTMSAVEPAROK"),
    Reply(.teseo, "PSTMNONSENSE", "PSTMNONSENSEERROR"), Reply(.teseo, "PSTMFORCESTANDBY,0", "PSTMFORCESTANDBYERROR"),
  ]

  @Test("Commands have the replies of the documents", arguments: table)
  func reply(_ one: Reply) {
    var host = FamilyHost(one.model)
    #expect(host.ask(one.command, for: one.reply)?.hasPrefix(one.reply) == true)
  }

  @Test("Each has its own sentences, at its own rate", arguments: ReceiverModel.ofOtherMakers)
  func sentences(model: ReceiverModel) throws {
    var host = FamilyHost(model)
    let seen = host.formatters(seconds: 6)
    let expected: Set<String> =
      switch model {
      case .um980, .mosaic: []
      case .mt3339, .mt3333: ["GGA", "GSA", "GSV", "RMC", "VTG"]
      case .at6558, .at6668: ["GGA", "GLL", "GSA", "GSV", "RMC", "VTG", "ZDA", "TXT"]
      case .tau1201: ["GGA", "GSA", "GSV", "RMC", "ZDA", "TXT"]
      default: ["GGA", "GLL", "GSA", "GSV", "RMC", "VTG"]
      }
    #expect(seen == expected)
    guard !expected.isEmpty else { return }
    let last = host.lines.last { $0.contains("GGA,") && $0.contains("*") }
    let gga = try #require(last).split(separator: ",", omittingEmptySubsequences: false)
    let decimals: [ReceiverModel: Int] = [
      .mt3339: 4, .mt3333: 4, .ag3352: 6, .at6558: 5, .at6668: 5, .lg290p: 6, .tau1201: 5, .teseo: 5,
    ]
    #expect(gga[2].split(separator: ".")[1].count == decimals[model])
    #expect(gga[6] == "1")
    let epochs = host.lines.count { $0.contains("GGA,") }
    #expect(epochs == (model == .lg290p ? 60 : model == .tau1201 ? 30 : 6))
    #expect(host.lines.contains { $0.hasPrefix("$BDGSV") } == [.at6558, .at6668, .tau1201].contains(model))
  }

  @Test(
    "The output decodes without an error",
    arguments: ReceiverModel.ofOtherMakers.filter { ![.um980, .mosaic].contains($0) })
  func decodes(model: ReceiverModel) {
    var host = FamilyHost(model, afterStart: 0)
    host.run(seconds: 60)
    var playback = Playback()
    playback.receive(host.received)
    let (rejected, counters) = (playback.rejectedFields, playback.counters)
    #expect(rejected == 0 && counters.badChecksums == 0)
    // An Allystar sends empty lines at its start.
    #expect(counters.skippedBytes <= (model == .tau1201 ? 4 : 0))
    #expect(playback.fixes.count(where: \.hasPosition) > 40)
  }

  @Test("A wrong checksum, or none, is ignored", arguments: [ReceiverModel.mt3339, .ag3352, .lg290p, .teseo])
  func checksum(model: ReceiverModel) {
    var host = FamilyHost(model)
    for text in ["$PMTK605*32", "$PAIR021*3A", "$PQTMVERNO*59", "$PSTMGETSWVER,255*00", "$PMTK605", "$PAIR021"] {
      host.send(Array("\(text)\r\n".utf8))
      #expect(host.wait(for: "P", within: 0.5) == nil, "\(text)")
    }
  }

  // MARK: MediaTek

  @Test("PMTK161 stops all output, and any byte ends it with all settings", arguments: [ReceiverModel.mt3339, .mt3333])
  func standby(model: ReceiverModel) {
    var host = FamilyHost(model)
    #expect(host.ask("PMTK220,500", for: "PMTK001,220,3") != nil)
    #expect(host.ask("PMTK161,0", for: "PMTK001,161,3") != nil)
    host.run(seconds: 1)
    #expect(host.line.receiver.powerState == .standby)
    host.received = []
    host.run(seconds: 600)
    #expect(host.received.isEmpty)
    let before = host.line.receiver.chargeMilliampereSeconds
    host.run(seconds: 100)
    let milliamperes = (host.line.receiver.chargeMilliampereSeconds - before) / 100
    #expect(abs(milliamperes - (model == .mt3339 ? 2 : 0.5)) < 0.01)
    host.send([13, 10])
    #expect(host.wait(for: model == .mt3339 ? "GPGGA" : "GNGGA") != nil)
    host.run(seconds: 4)
    #expect(host.line.receiver.hasFix)
    // The byte is part of no command, and no message says that it is awake.
    #expect(host.lines.allSatisfy { !$0.hasPrefix("$PMTK") })
    #expect(host.ask("PMTK400", for: "PMTK500") == "PMTK500,500,0,0,0.0,0.0")
  }

  @Test("PMTK settings stay with the backup supply, and are gone without it")
  func memory() {
    var host = FamilyHost(.mt3339)
    #expect(host.ask("PMTK314,0,1,0,1,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0", for: "PMTK001,314,3") != nil)
    host.line.inject(.powerCycle(for: Milliseconds(2000), losingBackup: false), at: host.now)
    host.received = []
    #expect(host.wait(for: "PMTK011,MTKGPS", within: 5) != nil)
    #expect(host.wait(for: "PMTK010,001", within: 5) != nil)
    host.run(seconds: 2)
    #expect(host.formatters(seconds: 6) == ["RMC", "GGA"])
    host.line.inject(.powerCycle(for: Milliseconds(2000), losingBackup: true), at: host.now)
    host.run(seconds: 5)
    #expect(host.formatters(seconds: 6) == ["GGA", "GSA", "GSV", "RMC", "VTG"])
  }

  @Test("PMTK104 resets the rate too; PMTK101 keeps all")
  func factory() {
    var host = FamilyHost(.mt3339)
    host.send("PMTK251,38400")
    host.run(seconds: 0.02)
    host.line.hostRate = 38_400
    #expect(host.wait(for: "PMTK001,251,3") != nil)
    // Input is lost while the port changes.
    host.run(seconds: 0.1)
    host.send("PMTK101")
    host.run(seconds: 3)
    #expect(host.line.receiver.baudRate == 38_400 && host.lines.contains { $0.contains("$PMTK011,MTKGPS*08") })
    host.send("PMTK104")
    host.run(seconds: 3)
    #expect(host.line.receiver.baudRate == 9600)
  }

  @Test("PMTK225 sleeps in turn: any byte ends mode 2, nothing but time ends mode 1", arguments: [1, 2])
  func cycle(mode: Int) {
    var host = FamilyHost(.mt3339)
    #expect(host.ask("PMTK225,\(mode),3000,12000,0,0", for: "PMTK001,225,3") != nil)
    host.run(seconds: 8)
    #expect(host.line.receiver.powerState == .standby)
    host.send([13, 10])
    host.run(seconds: 1)
    #expect((host.line.receiver.powerState == .standby) == (mode == 1))
    host.run(seconds: 8)
    if mode == 1 { #expect(host.line.receiver.powerState.isAwake) }
  }

  @Test("Ten solutions a second at 9600 baud overrun the line: sentences and acknowledgements are dropped")
  func overrun() {
    var host = FamilyHost(.mt3339)
    host.send("PMTK220,100")
    host.run(seconds: 20)
    #expect(host.line.receiver.droppedMessages > 50)
    let lost = (0..<8).count { _ in host.ask("PMTK400", for: "PMTK500", within: 0.5) == nil }
    #expect(lost > 0)
  }

  @Test("LOCUS keeps a record each interval, and dumps them with checksums")
  func locus() throws {
    var host = FamilyHost(.mt3339)
    #expect(host.ask("PMTK187,1,5", for: "PMTK001,187,3") != nil)
    #expect(host.ask("PMTK185,0", for: "PMTK001,185,3") != nil)
    host.run(seconds: 50)
    #expect(host.ask("PMTK185,1", for: "PMTK001,185,3") != nil)
    let reply = host.ask("PMTK183", for: "PMTKLOG")
    let status = try #require(reply).split(separator: ",")
    let count = try #require(Int(status[9]))
    #expect(10...12 ~= count && status[8] == "1")
    host.send("PMTK622,1")
    #expect(host.wait(for: "PMTK001,622,3", within: 60) != nil)
    let data = host.lines.filter { $0.hasPrefix("$PMTKLOX,1,") }
    #expect(data.count == 43 && host.lines.contains("$PMTKLOX,0,43*6E"))
    var flash: [UInt8] = []
    for line in data {
      let body = line.prefix { $0 != "*" }
      for word in body.split(separator: ",").dropFirst(3) { flash += hex(word.lowercased()) }
    }
    #expect(flash.count == 4096)
    var records: [[UInt8]] = []
    for index in 0..<252 {
      let record = Array(flash[(64 + index * 16)..<(80 + index * 16)])
      if record.contains(where: { $0 != 0xFF }) { records.append(record) }
    }
    #expect(records.count == count)
    for record in records { #expect(record.reduce(UInt8(0)) { $0 ^ $1 } == 0) }
    let latitude = Float(bitPattern: UInt32(truncatingIfNeeded: records[0].unsigned4(5)))
    #expect(abs(latitude - 48.1642) < 0.001)
  }

  // MARK: Airoha

  @Test("PAIR003 stops the engine of an LC76G, which still reads; PAIR002 starts it")
  func engine() {
    var host = FamilyHost(.ag3352)
    #expect(host.ask("PAIR050,500", for: "PAIR001,050,0") != nil)
    #expect(host.ask("PAIR003", for: "PAIR001,003,0") != nil)
    host.run(seconds: 1)
    #expect(host.formatters(seconds: 30).isEmpty)
    let before = host.line.receiver.chargeMilliampereSeconds
    host.run(seconds: 100)
    #expect(abs((host.line.receiver.chargeMilliampereSeconds - before) / 100 - 1) < 0.01)
    host.send([13, 10])
    host.run(seconds: 2)
    #expect(host.line.receiver.powerState == .stopped)
    #expect(host.ask("PAIR051", for: "PAIR051") == "PAIR051,500")
    #expect(host.ask("PAIR002", for: "PAIR001,002,0") != nil)
    host.run(seconds: 4)
    #expect(host.line.receiver.hasFix)
  }

  @Test("PAIR650 ends by its timer, and loses what was not saved", arguments: [false, true])
  func backup(saves: Bool) {
    var host = FamilyHost(.ag3352)
    #expect(host.ask("PAIR062,3,0", for: "PAIR001,062,0") != nil)
    if saves { #expect(host.ask("PAIR513", for: "PAIR001,513,0") != nil) }
    #expect(host.ask("PAIR650,60", for: "PAIR001,650,0") != nil)
    host.run(seconds: 2)
    host.send("PAIR002")
    host.run(seconds: 50)
    #expect(host.line.receiver.powerState == .standby && host.received.isEmpty)
    #expect(host.wait(for: "PAIR010,", within: 20) != nil)
    host.run(seconds: 5)
    #expect(host.formatters(seconds: 3).contains("GSV") == !saves)
  }

  @Test("PAIR864 is stored at once, and in force after a restart")
  func airohaBaud() {
    var host = FamilyHost(.ag3352)
    #expect(host.ask("PAIR864,0,0,9600", for: "PAIR001,864,0") != nil)
    #expect(host.line.receiver.baudRate == 115_200)
    #expect(host.ask("PAIR004", for: "PAIR001,004,0") != nil)
    host.run(seconds: 2)
    #expect(host.line.receiver.baudRate == 9600)
  }

  @Test("More than one solution a second switches the slow sentences off")
  func fast() {
    var host = FamilyHost(.ag3352)
    #expect(host.ask("PAIR050,200", for: "PAIR001,050,0") != nil)
    // The epoch before may still be on its way.
    host.run(seconds: 1)
    #expect(host.formatters(seconds: 5) == ["GGA", "RMC", "GSA", "GSV"])
  }

  @Test("The quirks of Airoha's firmware")
  func airohaQuirks() {
    var deaf = FamilyHost(.ag3352, quirks: [.deafAfterStop])
    #expect(deaf.ask("PAIR003", for: "PAIR001,003,0") != nil)
    deaf.run(seconds: 1)
    #expect(deaf.ask("PAIR002", for: "PAIR001") == nil)
    var locked = FamilyHost(.ag3352, quirks: [.deafAfterStop])
    #expect(locked.ask("PAIR382,1", for: "PAIR001,382,0") != nil)
    #expect(locked.ask("PAIR003", for: "PAIR001,003,0") != nil)
    locked.run(seconds: 1)
    #expect(locked.ask("PAIR002", for: "PAIR001,002,0") != nil)
    var asleep = FamilyHost(.ag3352, quirks: [.needsLock])
    #expect(asleep.ask("PAIR021", for: "PAIR001", within: 1) == nil)
    let isLocked = (0..<6).contains { _ in asleep.ask("PAIR382,1", for: "PAIR001,382,0", within: 0.04) != nil }
    #expect(isLocked)
    #expect(asleep.ask("PAIR021", for: "PAIR021") != nil)
    var busy = FamilyHost(.ag3352, quirks: [.busyAfterBoot], afterStart: 1)
    #expect(busy.ask("PAIR051", for: "PAIR001,051,5") != nil)
    busy.run(seconds: 2)
    #expect(busy.ask("PAIR051", for: "PAIR001,051,0") != nil)
    var silent = FamilyHost(.ag3352, quirks: [.unacknowledgedBackup])
    #expect(silent.ask("PAIR650,60", for: "PAIR001,650", within: 2) == nil)
    #expect(silent.line.receiver.powerState == .standby)
  }

  @Test("The quirks of MediaTek's firmware")
  func mediaTekQuirks() {
    var short = FamilyHost(.mt3339, quirks: [.shortRelease])
    #expect(short.ask("PMTK605", for: "PMTK705") == "PMTK705,AXN_2.31_3339_13101700,5632,PA6H")
    var twice = FamilyHost(.mt3339, quirks: [.baudTwice])
    twice.send("PQBAUD,W,115200")
    twice.run(seconds: 1)
    #expect(twice.line.receiver.baudRate == 9600)
    twice.send("PQBAUD,W,115200")
    twice.run(seconds: 1)
    #expect(twice.line.receiver.baudRate == 115_200)
    var woken = FamilyHost(.mt3339, quirks: [.wakeMessage])
    #expect(woken.ask("PMTK161,0", for: "PMTK001,161,3") != nil)
    woken.run(seconds: 1)
    woken.send([10])
    #expect(woken.wait(for: "PMTK010,002") != nil)
    var lossy = FamilyHost(.mt3339, quirks: [.lostAcknowledgements])
    #expect(lossy.ask("PMTK220,500", for: "PMTK001", within: 1) == nil)
    #expect(lossy.line.receiver.epochMilliseconds == 500)
    #expect(lossy.ask("PMTK220,1000", for: "PMTK001,220,3") != nil)
    var bare = FamilyHost(.mt3339, quirks: [.noBackup])
    #expect(bare.ask("PMTK220,500", for: "PMTK001,220,3") != nil)
    bare.line.inject(.powerCycle(for: Milliseconds(1000), losingBackup: false), at: bare.now)
    bare.run(seconds: 3)
    #expect(bare.line.receiver.epochMilliseconds == 1000)
  }

  // MARK: CASIC

  @Test("PCAS sentences have an effect, and no acknowledgement")
  func pcas() {
    var host = FamilyHost(.at6558)
    host.send("PCAS03,1,0,0,0,1,0,0,0,0,0,,,0,0,,,,0")
    host.run(seconds: 3)
    #expect(host.formatters(seconds: 5) == ["GGA", "RMC"])
    host.send("PCAS02,500")
    host.run(seconds: 2)
    #expect(host.line.receiver.epochMilliseconds == 500)
    host.send("PCAS12,60")
    host.run(seconds: 2)
    #expect(host.line.receiver.powerState.isAwake)
    host.send("PCAS10,0")
    host.run(seconds: 3)
    #expect(host.line.receiver.epochMilliseconds == 1000, "not saved")
    #expect(host.lines.contains { $0.contains("MA=CASIC") })
  }

  @Test("PCAS00 saves; PCAS10,3 restores the factory's settings")
  func pcasSave() {
    var host = FamilyHost(.at6558)
    host.send("PCAS02,500")
    host.run(seconds: 1)
    host.send("PCAS00")
    host.run(seconds: 1)
    host.send("PCAS10,0")
    host.run(seconds: 3)
    #expect(host.line.receiver.epochMilliseconds == 500)
    host.send("PCAS10,3")
    host.run(seconds: 3)
    #expect(host.line.receiver.epochMilliseconds == 1000)
  }

  @Test("V6 acknowledges frames, sends MON-VER with the next epoch; V5 refuses it")
  func casicFrames() throws {
    var v6 = FamilyHost(.at6668)
    let poll = v6.ask(frame: hex("bace0000060400000604"))
    #expect(poll.map(\.0) == [0x0604, 0x0501] && poll.first?.1 == [0xE8, 3, 1, 1])
    let version = v6.ask(frame: hex("bace040006010a04ffff0e040501"), within: 2.5)
    #expect(version.map(\.0) == [0x0501, 0x0A04])
    let text = try #require(version.last).1.text(0..<32)
    #expect(text == "SW=URANUS6,V6.3.0.0")
    var v5 = FamilyHost(.at6558)
    #expect(v5.ask(frame: hex("bace040006010a04ffff0e040501"), within: 8).map(\.0) == [0x0500])
  }

  /// A frame of the class CFG: its checksum is the sum of the header and of the payload's words.
  private static func casic(_ number: UInt8, _ payload: [UInt8]) -> [UInt8] {
    var sum = UInt32(number) << 24 | 0x06 << 16 | UInt32(payload.count)
    for start in stride(from: 0, to: payload.count, by: 4) {
      for offset in 0..<4 { sum &+= UInt32(payload[start + offset]) << UInt32(8 * offset) }
    }
    return [0xBA, 0xCE, UInt8(payload.count), 0, 0x06, number] + payload
      + (0..<4).map { UInt8(truncatingIfNeeded: sum >> UInt32(8 * $0)) }
  }

  @Test("V6's frames set period, sentences and rate, and save, load and restore them")
  func casicSettings() {
    var host = FamilyHost(.at6668)
    // GLL, GSA, GSV, VTG and ZDA: the others leave room for replies at twice the rate.
    for number in [0x01, 0x02, 0x03, 0x05, 0x08] as [UInt8] {
      #expect(host.ask(frame: Self.casic(0x01, [0x4E, number, 0, 0])).map(\.0) == [0x0501])
    }
    #expect(host.ask(frame: Self.casic(0x01, [0x4E, 0x7F, 0, 0])).map(\.0) == [0x0500], "no such sentence")
    #expect(host.ask(frame: Self.casic(0x04, [0xF4, 1, 0, 0])).map(\.0) == [0x0501])
    #expect(host.ask(frame: Self.casic(0x04, [50, 0, 0, 0])).map(\.0) == [0x0500], "less than 100 ms")
    #expect(host.line.receiver.epochMilliseconds == 500)
    #expect(!host.formatters(seconds: 5).contains("VTG"))
    let oddRate: [UInt8] = [0, 0x33, 0xC0, 0x08, 0x39, 0x30, 0, 0]
    #expect(host.ask(frame: Self.casic(0x00, oddRate)).map(\.0) == [0x0500], "12345 baud")
    #expect(host.ask(frame: Self.casic(0x05, [0xFF, 0xFF, 1, 0])).map(\.0) == [0x0501])
    #expect(host.ask(frame: Self.casic(0x04, [0xE8, 3, 0, 0])).map(\.0) == [0x0501])
    #expect(host.line.receiver.epochMilliseconds == 1000)
    host.send(Self.casic(0x05, [0xFF, 0xFF, 2, 0]))
    host.run(seconds: 5)
    #expect(host.line.receiver.epochMilliseconds == 500, "what was saved")
    #expect(host.ask(frame: Self.casic(0x05, [0xFF, 0xFF, 0, 0])).map(\.0) == [0x0501])
    #expect(host.line.receiver.epochMilliseconds == 1000)
  }

  @Test("PCAS04 limits the systems to its mask, as far as the hardware has them")
  func pcasSystems() {
    func talkers(_ host: inout FamilyHost) -> Set<String> {
      host.received = []
      host.run(seconds: 5)
      return Set(host.lines.filter { $0.dropFirst(3).hasPrefix("GSV") }.map { String($0.dropFirst().prefix(2)) })
    }
    var host = FamilyHost(.at6558)
    #expect(talkers(&host) == ["GP", "BD"])
    for refused in ["PCAS04,0", "PCAS04,8"] { host.send(refused) }
    host.send("PCAS04,1")
    host.run(seconds: 60)
    #expect(talkers(&host) == ["GP"])
  }

  @Test("With three systems the sentences fill a line at 9600 baud, and replies lag")
  func fullLine() {
    var host = FamilyHost(.at6558, quirks: [.threeSystems], afterStart: 120)
    #expect(host.ask(frame: hex("bace040006010a04ffff0e040501"), within: 2).isEmpty)
    host.run(seconds: 7)
    #expect(host.frames.map(\.0) == [0x0500])
  }

  // MARK: Quectel

  @Test("Queries at once are answered with the next epoch, in order; none is lost")
  func queries() {
    var host = FamilyHost(.lg290p)
    let names = ["PQTMVERNO", "PQTMCFGUART,R", "PQTMCFGCNST,R", "PQTMCFGRSID,R", "PQTMUNIQID"]
    host.received = []
    for name in names { host.line.send(FamilyHost.sentence(name), at: host.now) }
    host.run(seconds: 0.3)
    let replies = host.lines.filter { $0.hasPrefix("$PQTM") }.map { $0.dropFirst().prefix { $0 != "," } }
    #expect(replies == names.map { $0.prefix { $0 != "," } })
  }

  @Test("Fix rate and constellations are in force after PQTMSAVEPAR and PQTMSRR")
  func quectelRestart() {
    var host = FamilyHost(.lg290p)
    #expect(host.ask("PQTMCFGFIXRATE,W,1000", for: "PQTMCFGFIXRATE,OK") != nil)
    #expect(host.ask("PQTMCFGFIXRATE,R", for: "PQTMCFGFIXRATE,OK,1000") != nil)
    #expect(host.line.receiver.epochMilliseconds == 100)
    #expect(host.ask("PQTMSAVEPAR", for: "PQTMSAVEPAR,OK") != nil)
    host.send("PQTMSRR")
    host.run(seconds: 0.2)
    host.received = []
    host.run(seconds: 19)
    #expect(host.received.isEmpty)
    host.run(seconds: 3)
    #expect(!host.received.isEmpty && host.line.receiver.epochMilliseconds == 1000)
  }

  @Test("A change of the rate is acknowledged at the new rate")
  func quectelBaud() {
    var host = FamilyHost(.lg290p)
    host.send("PQTMCFGUART,W,115200")
    host.run(seconds: 0.002)
    host.line.hostRate = 115_200
    #expect(host.wait(for: "PQTMCFGUART,OK") != nil)
  }

  // MARK: Unicore

  @Test("Replies of a UM980 have a checksum over the first character too")
  func unicore() throws {
    var host = FamilyHost(.um980)
    host.send(Array("VERSIONB\r\n".utf8))
    host.run(seconds: 0.3)
    let text = String(decoding: host.received.prefix(40), as: UTF8.self)
    #expect(text.hasPrefix("$command,VERSIONB,response: OK*46\r\n"))
    let binary = try #require(host.received.firstIndex(of: 0xAA))
    #expect(host.received.count - binary == 336 && host.received[binary + 1] == 0x44)
    host.send(Array("GNGGA COM3 0.2\r\n".utf8))
    #expect(host.wait(for: "command,GNGGA COM3 0.2,response: OK") != nil)
    host.received = []
    host.run(seconds: 2)
    #expect(9...11 ~= host.lines.count { $0.hasPrefix("$GNGGA") })
    host.send(Array("UNLOG\r\n".utf8))
    host.run(seconds: 1)
    #expect(host.formatters(seconds: 3).isEmpty)
    // The probes of other makers have no reply.
    host.send(hex("b5620a0400000e34"))
    host.run(seconds: 1)
    #expect(host.received.isEmpty)
  }

  // MARK: Allystar

  @Test("Allystar answers a poll without, and a write with an acknowledgement")
  func allystar() {
    var host = FamilyHost(.tau1201)
    let version = host.ask(frame: hex("f1d90a0400000e34"), within: 0.1)
    #expect(version.map(\.0) == [0x0A04] && version[0].1.text(0..<16) == "3.018.aab95e7")
    #expect(host.ask(frame: hex("f1d906070f0040420f001202000010270000010d00065f"), within: 0.1).map(\.0) == [0x0501])
    #expect(host.ask(frame: hex("f1d9060c0000123c"), within: 0.1).map(\.0) == [0x060C])
    host.send(hex("f1d906400100004721"))
    #expect(host.wait(for: "GNTXT,02,01,01,ALLYSTAR,9529") != nil)
  }

  @Test("CFG-SIMPLERST: 0 resets, 1 is cold, 3 hot", arguments: [(0, true), (1, false), (3, true)])
  func allystarRestart(kind: UInt8, isHot: Bool) {
    var host = FamilyHost(.tau1201)
    host.send([0xF1, 0xD9, 0x06, 0x40, 1, 0, kind, 0x47 + kind, 0x21 + kind])
    host.run(seconds: 8)
    #expect(host.line.receiver.hasFix == isHot)
  }

  // MARK: Septentrio

  @Test("A mosaic-G5 repeats the command, shows the values in force and its prompt")
  func septentrio() {
    var host = FamilyHost(.mosaic)
    func text(_ command: String) -> String {
      host.send(Array("\(command)\r\n".utf8))
      host.run(seconds: 0.1)
      return String(decoding: host.received, as: UTF8.self)
    }
    #expect(text("SSSSSSSSSS") == "COM1>")
    #expect(
      text("setPPSParameters, sec1, Low2High, , GPS, 1, 10")
        == "$R: setPPSParameters, sec1, Low2High, , GPS, 1, 10\r\n  PPSParameters, sec1, Low2High, 0.00, GPS, 1, "
        + "10.000000\r\nCOM1>")
    #expect(text("getNonsense").hasPrefix("$R? getNonsense"))
    #expect(text("sno, Stream1, COM1, GGA+RMC, msec500").contains("NMEAOutput, Stream1, COM1, GGA+RMC, msec500"))
    #expect(host.formatters(seconds: 3) == ["GGA", "RMC"] && host.line.receiver.epochMilliseconds == 500)
    host.send(Array("setCOMSettings, COM1, baud230400\r\n".utf8))
    host.run(seconds: 0.004)
    host.line.hostRate = 230_400
    host.run(seconds: 0.1)
    #expect(String(decoding: host.received, as: UTF8.self).contains("COMSettings, COM1, baud230400"))
  }

  // MARK: Teseo

  @Test("PSTMFORCESTANDBY ends by its timer alone; PSTMSETPAR is in force after a restart")
  func teseo() {
    var host = FamilyHost(.teseo)
    #expect(host.ask("PSTMSETPAR,1303,0.5", for: "PSTMSETPAROK") != nil)
    #expect(host.ask("PSTMSAVEPAR", for: "PSTMSAVEPAROK") != nil)
    #expect(host.line.receiver.epochMilliseconds == 1000)
    #expect(host.ask("PSTMFORCESTANDBY,30", for: "PSTMFORCESTANDBYOK") != nil)
    host.run(seconds: 2)
    host.send("PSTMSRR")
    host.run(seconds: 20)
    #expect(host.line.receiver.powerState == .standby)
    #expect(host.wait(for: "PSTMVER,", within: 15) != nil)
    #expect(host.line.receiver.epochMilliseconds == 500)
  }

  @Test("PSTMGETPAR and PSTMSETPAR: the rate's code, the period, the sentences; what is invalid is refused")
  func teseoParameters() {
    var host = FamilyHost(.teseo)
    #expect(host.ask("PSTMGETPAR,1303", for: "PSTMSETPAR,1303,") == "PSTMSETPAR,1303,1.0")
    for parameter in ["1102", "1201"] {
      guard let found = host.ask("PSTMGETPAR,\(parameter)", for: "PSTMSETPAR,\(parameter),") else {
        Issue.record("no value of \(parameter)")
        continue
      }
      #expect(host.ask(found, for: "PSTMSETPAROK") != nil)
      #expect(host.ask("PSTMGETPAR,\(parameter)", for: "PSTMSETPAR,\(parameter),") == found)
    }
    for refused in ["PSTMSETPAR,1102,FF", "PSTMSETPAR,1201,XYZ", "PSTMSETPAR,1303,0.05", "PSTMSETPAR,1303"] {
      #expect(host.ask(refused, for: "PSTMSETPARERROR") != nil, "\(refused)")
    }
    #expect(host.ask("PSTMGETPAR,1999", for: "PSTMGETPARERROR") != nil)
    #expect(host.ask("PSTMRESTOREPAR", for: "PSTMRESTOREPAROK") != nil)
  }

  @Test("PSTMSETCONSTMASK takes systems that a radio can receive together")
  func teseoSystems() {
    var host = FamilyHost(.teseo)
    #expect(host.ask("PSTMSETCONSTMASK,9", for: "PSTMSETCONSTMASKOK") != nil)
    for refused in ["0", "130", "4"] {
      #expect(host.ask("PSTMSETCONSTMASK,\(refused)", for: "PSTMSETCONSTMASKERROR") != nil)
    }
  }

  // MARK: Quirks of all
}
