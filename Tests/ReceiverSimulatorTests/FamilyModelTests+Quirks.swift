// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import ReceiverSimulator
import TestSupport
import Testing

/// Simulated receivers that are not u-blox ones. The commands and replies come from the makers' documents and from recordings.

// Deviations from the documents, faults, and random bytes.
extension FamilyModelTests {
  @Test("A scenario names the receiver and its quirks")
  func scenario() throws {
    let text = "start 48.1642,11.6056\nmodel ag3352\nquirk locus\nquirk late-replies\nstay forever\n"
    let scenario = try Scenario(parsing: text)
    #expect(scenario.model == .ag3352 && scenario.quirks == [.logger, .lateReplies])
    #expect(throws: ScenarioError.self) { try Scenario(parsing: "start 1,2\nmodel nothing\n") }
  }

  @Test("Late, missing and wrong replies", arguments: [ReceiverModel.mt3339, .ag3352, .lg290p, .teseo])
  func replies(model: ReceiverModel) {
    let one = Self.table.first { $0.model == model }
    guard let command = one?.command, let reply = one?.reply else { return }
    var late = FamilyHost(model, quirks: [.lateReplies])
    #expect(late.ask(command, for: reply, within: 0.9) == nil)
    #expect(late.wait(for: reply, within: 0.5) != nil)
    var silent = FamilyHost(model, quirks: [.noReplies])
    #expect(silent.ask(command, for: reply) == nil)
    #expect(!silent.formatters(seconds: 2).isEmpty)
    // The second reply of each three is the first once more.
    var wrong = FamilyHost(model, quirks: [.wrongReplies])
    let others: [ReceiverModel: (String, String)] = [
      .mt3339: ("PMTK400", "PMTK500"), .ag3352: ("PAIR003", "PAIR001,003"), .lg290p: ("PQTMUNIQID", "PQTMUNIQID"),
      .teseo: ("PSTMSAVEPAR", "PSTMSAVEPAROK"),
    ]
    let (other, expected) = others[model] ?? ("", "")
    #expect(wrong.ask(command, for: reply) != nil)
    if model != .teseo { #expect(wrong.ask(other, for: expected, within: 1) == nil) }
    #expect(wrong.ask(other, for: expected) != nil)
  }

  @Test(
    "A quirk acknowledges a change of the rate at the old one", arguments: [ReceiverModel.mt3339, .lg290p, .mosaic])
  func oldRate(model: ReceiverModel) {
    let commands: [ReceiverModel: (String, String)] = [
      .mt3339: ("PMTK251,38400", "PMTK001,251,3"), .lg290p: ("PQTMCFGUART,W,115200", "PQTMCFGUART,OK"),
      .mosaic: ("setCOMSettings, COM1, baud38400", "R: setCOMSettings"),
    ]
    let (command, reply) = commands[model] ?? ("", "")
    for isOld in [true, false] {
      var host = FamilyHost(model, quirks: isOld ? [.oldRateAcknowledgement] : [])
      host.send(model == .mosaic ? Array("\(command)\r\n".utf8) : FamilyHost.sentence(command))
      let found = host.wait(for: reply, within: 1)
      #expect((found != nil) == isOld)
      #expect(host.line.receiver.baudRate == (model == .lg290p ? 115_200 : 38_400))
    }
  }

  @Test("A full log of LOCUS stops, or with locus-overlap loses its oldest sector", arguments: [false, true])
  func fullLog(overlaps: Bool) throws {
    let quirk = overlaps ? "quirk locus-overlap\n" : ""
    let scenario = try Scenario(parsing: "start 48.1642,11.6056\nmodel mt3339\n\(quirk)stay forever\n")
    #expect(scenario.quirks == (overlaps ? [.overlappingLog] : []))
    var host = FamilyHost(.mt3339, quirks: scenario.quirks)
    #expect(host.ask("PMTK187,1,1", for: "PMTK001,187,3") != nil)
    #expect(host.ask("PMTK185,0", for: "PMTK001,185,3") != nil)
    // 16 sectors of 252 records.
    let capacity = 16 * 252
    host.run(seconds: Double(capacity + 60))
    let reply = host.ask("PMTK183", for: "PMTKLOG")
    let status = try #require(reply).split(separator: ",")
    let count = try #require(Int(status[9]))
    // The type is 0 for overlap, 1 for full stop; the state 0 for a running log.
    #expect(status[2] == (overlaps ? "0" : "1") && status[8] == (overlaps ? "0" : "1"))
    #expect(overlaps ? capacity - 252..<capacity ~= count : count == capacity)
  }

  @Test("A standby that loses orbits, or settings")
  func standbyQuirks() {
    var cold = FamilyHost(.mt3339, quirks: [.coldStandby])
    #expect(cold.ask("PMTK161,0", for: "PMTK001,161,3") != nil)
    cold.run(seconds: 1)
    cold.send([10])
    cold.run(seconds: 15)
    #expect(!cold.line.receiver.hasFix && cold.line.receiver.startKind == .cold)
    var stopped = FamilyHost(.ag3352, quirks: [.coldStandby])
    #expect(stopped.ask("PAIR003", for: "PAIR001,003,0") != nil)
    stopped.run(seconds: 1)
    #expect(stopped.ask("PAIR002", for: "PAIR001,002,0") != nil)
    #expect(stopped.line.receiver.startKind == .cold)
    var forgetful = FamilyHost(.mt3339, quirks: [.forgetfulStandby])
    #expect(forgetful.ask("PMTK220,500", for: "PMTK001,220,3") != nil)
    #expect(forgetful.ask("PMTK161,0", for: "PMTK001,161,3") != nil)
    forgetful.run(seconds: 1)
    forgetful.send([10])
    forgetful.run(seconds: 2)
    #expect(forgetful.line.receiver.epochMilliseconds == 1000)
  }

  @Test("CASIC without acknowledgements, and its answers to u-blox's MON-VER")
  func casicQuirks() throws {
    var silent = FamilyHost(.at6668, quirks: [.unacknowledgedFrames])
    #expect(silent.ask(frame: hex("bace0000060400000604")).map(\.0) == [0x0604])
    let poll = hex("b5620a0400000e34")
    func answer(_ quirks: Set<Quirk>) -> [UInt8] {
      var host = FamilyHost(.at6558, quirks: quirks, afterStart: 24.7)
      host.send("PCAS03,0,0,0,0,0,0,0,0")
      host.run(seconds: 3)
      host.send(poll)
      host.run(seconds: 0.2)
      return host.received
    }
    #expect(answer([]).isEmpty)
    let short = answer([.shortVersion])
    #expect(short.count == 48 && short.starts(with: hex("b5620a042800")))
    #expect(answer([.cutVersion]) == Array(short.prefix(20)))
    #expect(answer([.acknowledgedVersion]) == hex("b562050102000a041643"))
  }

  @Test("LOCUS is absent in some PMTK firmware, and present in some PAIR firmware")
  func loggerQuirks() throws {
    var absent = FamilyHost(.mt3339, quirks: [.noLogger])
    #expect(absent.ask("PMTK183", for: "PMTK001") == "PMTK001,183,1")
    var host = FamilyHost(.ag3352, quirks: [.logger])
    #expect(host.ask("PAIR902,2,1", for: "PAIR001,902,0") != nil)
    #expect(host.ask("PAIR904,0,5", for: "PAIR001,904,0") != nil)
    #expect(host.ask("PAIR900,1", for: "PAIR001,900,0") != nil)
    #expect(host.ask("PAIR900,1", for: "PAIR001,900,2") != nil)
    host.run(seconds: 30)
    #expect(host.ask("PAIR908,1", for: "PAIR001,908,2") != nil, "the logger is on")
    #expect(host.ask("PAIR900,0", for: "PAIR001,900,0") != nil)
    #expect(host.ask("PAIR901", for: "PAIR901") == "PAIR901,0")
    #expect(host.ask("PAIR908,1", for: "PAIR001,908,0", within: 5) != nil)
    let records = host.lines.filter { $0.hasPrefix("$PAIR908,2,") }
    #expect(6...8 ~= records.count && host.lines.contains { $0.hasPrefix("$PAIR908,1,\(records.count),") })
    let fields = try #require(records.first).prefix { $0 != "*" }.split(separator: ",")
    #expect(fields.dropFirst(2).map(\.count) == [8, 2, 8, 8, 4, 4, 4, 4, 2])
    let latitude = try #require(UInt32(fields[4], radix: 16))
    #expect(abs(Double(latitude) / 1e7 - 48.1642) < 0.001)
    #expect(host.ask("PAIR906,1", for: "PAIR001,906,0") != nil)
    #expect(host.ask("PAIR909", for: "PAIR909") == "PAIR909,0")
    #expect(host.ask("PAIR904,0,0", for: "PAIR001,904,4") != nil)
  }

  // MARK: Faults

  @Test("Each survives random bytes, and replies afterwards", arguments: ReceiverModel.ofOtherMakers)
  func noise(model: ReceiverModel) {
    var host = FamilyHost(model)
    var random = SeededBytes(state: 7)
    for _ in 0..<20 { host.send((0..<64).map { _ in random.next() }) }
    host.run(seconds: 3)
    let (text, start) = Self.identification[model] ?? ("", "")
    host.send(Array(text.utf8) + (model == .um980 ? [13, 10] : []))
    if start.isEmpty { return }
    #expect(host.wait(for: start) != nil, "\(model)")
  }

  private static let identification: [ReceiverModel: (String, String)] = [
    .mt3339: ("\r\n$PMTK605*31\r\n", "PMTK705"), .mt3333: ("\r\n$PMTK605*31\r\n", "PMTK705"),
    .ag3352: ("\r\n$PAIR021*39\r\n", "PAIR021"), .at6558: ("\r\n$PCAS06,0*1B\r\n", "GPTXT,01,01,02,SW"),
    .lg290p: ("\r\n$PQTMVERNO*58\r\n", "PQTMVERNO"), .um980: ("\r\nVERSIONA\r\n", "command,VERSIONA"),
    .mosaic: ("\r\ngetPVTMode\r\n", "R: getPVTMode"),
  ]

  private struct SeededBytes {
    var state: UInt64
    mutating func next() -> UInt8 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return UInt8(truncatingIfNeeded: state >> 56)
    }
  }
}
