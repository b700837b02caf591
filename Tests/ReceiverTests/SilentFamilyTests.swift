// SPDX-License-Identifier: Apache-2.0
import HostSimulator
import MonotonicTime
import RTCM3
import TestSupport
import Testing

@testable import Receiver
@testable import ReceiverSimulator

/// Receivers of other makers without output, at an unknown rate.
@Suite("Receivers of other makers without output are found by their probes")
struct SilentFamilyTests {
  /// Between two polls of different families there is time for a reply.
  private static let leastPause: UInt64 = 60

  private static let places: [(ReceiverModel, UInt32)] = [
    (.mt3339, 9600), (.mt3339, 57_600), (.mt3333, 4800), (.ag3352, 115_200), (.ag3352, 9600), (.at6558, 9600),
    (.at6558, 38_400), (.at6668, 115_200), (.lg290p, 460_800), (.lg290p, 115_200), (.um980, 115_200), (.um980, 921_600),
    (.tau1201, 115_200), (.tau1201, 19_200), (.teseo, 9600), (.teseo, 115_200), (.mosaic, 115_200),
  ]

  /// The commands of a person that switch the output off.
  static func switchingOff(_ model: ReceiverModel) -> [UInt8] {
    let sentences: [String]
    switch model {
    case .mt3339, .mt3333: sentences = ["PMTK314" + String(repeating: ",0", count: 19)]
    case .ag3352: sentences = (0...8).map { "PAIR062,\($0),0" }
    case .at6558, .at6668: sentences = ["PCAS03,0,0,0,0,0,0,0,0,0,0,,,0,0,,,,0"]
    case .lg290p: sentences = ["GGA", "RMC", "GLL", "VTG", "GSA", "GSV"].map { "PQTMCFGMSGRATE,W,\($0),0" }
    case .teseo: sentences = ["PSTMCFGMSGL,0,1,0,0"]
    case .tau1201:
      return [0, 1, 2, 4, 5, 6, 7, 0x20].flatMap { FrameLayout.allystar.frame(0x0601, [0xF0, $0, 0]) }
    default: return []
    }
    return sentences.flatMap { Command(sentence: $0).bytes }
  }

  private static func scene(_ model: ReceiverModel, _ baud: UInt32, _ intent: SessionSettings.Intent) -> SessionScene {
    let scene = SessionScene(model, baud: baud, intent: intent) { $0.desired = { _ in .nothing } }
    scene.line.hostRate = baud
    scene.line.send(switchingOff(model), at: scene.now)
    // A full line has seconds in its buffer.
    scene.kill(for: 12_000) { _ in }
    scene.line.hostRate = 9600
    return scene
  }

  @Test("`probe` finds each at its usual rate and at another one, with nothing but probes", arguments: places)
  func probe(_ model: ReceiverModel, _ baud: UInt32) throws {
    let scene = Self.scene(model, baud, .identify)
    scene.run(12)
    let begin = scene.now
    let isFound = scene.run(24) { $0.description != nil }
    #expect(isFound, "\(model) at \(baud): \(scene.reports)")
    #expect(scene.description?.family != nil && scene.read { $0.rate } == baud)
    #expect(scene.fixes.isEmpty, "the output was not off")
    let found = try #require(scene.reports.first { $0.report == .rateFound(baud) }?.at)
    let polls = scene.writes.filter { $0.at < found }
    for (_, bytes) in polls { #expect(IdentificationProbes.contains(bytes), "\(bytes)") }
    for (one, next) in zip(polls, polls.dropFirst()) {
      #expect(next.at.milliseconds(since: one.at) >= Self.leastPause)
    }
    let seconds = scene.now.seconds(since: begin)
    #expect(seconds < 22, "\(model) at \(baud): \(seconds) s")
  }

  @Test(
    "A program that serves fixes finds them too",
    arguments: [(.at6558, 38_400), (.teseo, 115_200)] as [(ReceiverModel, UInt32)])
  func serve(_ model: ReceiverModel, _ baud: UInt32) {
    let scene = Self.scene(model, baud, .serve)
    #expect(scene.run(60) { $0.description != nil }, "\(model) at \(baud)")
  }

  private static let withoutOutput: [(ReceiverModel, UInt32)] = [
    (.mt3339, 9600), (.mt3333, 9600), (.ag3352, 115_200), (.at6558, 9600), (.at6668, 115_200), (.lg290p, 460_800),
    (.tau1201, 115_200), (.teseo, 9600), (.um980, 115_200), (.mosaic, 115_200),
  ]

  @Test(
    "Programs that want fixes get sentences with a position from a receiver without any; the end switches them off",
    arguments: withoutOutput, [false, true])
  func switchedOn(_ receiver: (ReceiverModel, UInt32), isKilled: Bool) {
    let (model, baud) = receiver
    let scene = Self.scene(model, baud, .serve)
    scene.run(11)
    let found = scene.line.receiver.sentenceRates
    scene.kill(for: 500) { $0.desired = { .navigation(for: $0) } }
    #expect(scene.run(150) { !$0.positions.isEmpty }, "\(model): \(scene.reports)")
    if isKilled {
      scene.open(after: 500, hostRate: scene.line.hostRate) { $0.desired = { .navigation(for: $0) } }
      #expect(scene.run(60) { $0.isSteady && $0.description != nil })
    }
    scene.run(10)
    scene.finish()
    #expect(scene.line.receiver.sentenceRates == found && scene.reported(.notRestored) == 0, "\(model)")
    #expect(scene.reported(.withoutPositions) == 0)
  }

  @Test(
    "A receiver that sends only the state of its antenna counts as one without output",
    arguments: [ReceiverModel.at6558, .at6668, .tau1201])
  func antennaTextAlone(_ model: ReceiverModel) throws {
    let scene = FamilySessionTests.scene(model)
    #expect(scene.run(25) { $0.isSteady })
    let off = scene.line.receiver.sentenceRates.keys.filter { $0 != "TXT" }.map { SentenceRate($0, 0) }
    #expect(FamilySessionTests.perform(scene, [.set(.messages(off))]) == [.written])
    #expect(Array(scene.line.receiver.sentenceRates.keys) == ["TXT"])
    #expect(
      FamilySessionTests.perform(scene, [.read(.output), .read(.messages)]) == [
        .value(.output(false)), .value(.messages([])),
      ])
    #expect(
      FamilySessionTests.perform(scene, [.set(.messages([SentenceRate("GGA", 1), SentenceRate("RMC", 1)]))]) == [
        .written
      ])
    #expect(
      FamilySessionTests.perform(scene, [.set(.messages([SentenceRate("GGA", 0), SentenceRate("RMC", 0)]))]) == [
        .written
      ])
    #expect(FamilySessionTests.perform(scene, [.set(.output(true))]) == [.written])
    #expect(scene.line.receiver.sentenceRates["RMC"] == 1)
    #expect(FamilySessionTests.perform(scene, [.read(.output)]) == [.value(.output(true))])
  }

  @Test("RTCM 3 messages are not output of sentences: they stay when that is switched off")
  func corrections() {
    let scene = FamilySessionTests.scene(.um980)
    #expect(scene.run(60) { $0.isSteady && $0.description != nil })
    scene.line.send(Array("RTCM1074 1\r\nGNGGA 1\r\nGNRMC 1\r\n".utf8), at: scene.now)
    scene.run(10)
    let periods = scene.line.receiver.correctionPeriods
    #expect(periods == [1074: 1000] && scene.line.receiver.sentenceRates.count == 2)
    #expect(FamilySessionTests.perform(scene, [.read(.output)]) == [.value(.output(true))])
    #expect(FamilySessionTests.perform(scene, [.set(.output(false))]) == [.written])
    #expect(scene.line.receiver.correctionPeriods == periods && scene.line.receiver.sentenceRates.isEmpty)
    #expect(
      FamilySessionTests.perform(scene, [.read(.output), .set(.output(false))]) == [.value(.output(false)), .wasThere])
    #expect(FamilySessionTests.perform(scene, [.set(.output(true))]) == [.written])
    #expect(scene.line.receiver.correctionPeriods == periods && scene.line.receiver.sentenceRates["RMC"] == 1)
  }

  @Test("One that was identified is found again after an unplug by its reply", arguments: withoutOutput)
  func replugged(_ receiver: (ReceiverModel, UInt32)) {
    let (model, baud) = receiver
    let scene = Self.scene(model, baud, .serve)
    #expect(scene.run(60) { $0.isSteady && $0.description != nil })
    scene.unplug()
    scene.run(1)
    #expect(!scene.isSteady)
    let isFound = scene.run(15) { $0.isSteady }
    #expect(isFound && scene.read { $0.rate } == baud, "\(model): \(scene.reports.suffix(4))")
    #expect(scene.fixes.isEmpty, "the output was not off")
  }

  @Test(
    "A user's sentences without a position stay beside them",
    arguments: [ReceiverModel.mt3339, .ag3352, .at6668, .tau1201])
  func withoutPosition(_ model: ReceiverModel) {
    let scene = SessionScene(model) { $0.desired = { _ in .nothing } }
    #expect(scene.run(60) { $0.isSteady && $0.description != nil })
    let rates = ["GGA", "RMC", "GLL", "GNS"].filter { scene.line.receiver.sentenceRates[$0] != nil }
    let ticket = scene.withSession {
      $0.perform([.set(.messages(rates.map { SentenceRate($0, 0) }))], at: scene.now)
    }
    scene.run(60) { host in ticket.map { host.outcomes[$0] != nil } ?? true }
    let found = scene.line.receiver.sentenceRates
    #expect(found["GSV"] != nil && found["GGA"] == nil && found["RMC"] == nil)
    let positions = scene.positions.count
    scene.kill(for: 2000) { ($0.desired, $0.memory) = ({ .navigation(for: $0) }, nil) }
    #expect(scene.run(120) { $0.positions.count > positions + 3 }, "\(model): \(scene.reports)")
    scene.finish()
    #expect(scene.line.receiver.sentenceRates == found, "\(model)")
  }

  @Test("A receiver with an epoch in ten seconds keeps its sentences")
  func slow() {
    let scene = SessionScene(.at6668) { $0.desired = { _ in .nothing } }
    #expect(scene.run(60) { $0.isSteady && $0.description != nil })
    let found = scene.line.receiver.sentenceRates
    scene.line.receiver.family?.current.periodMilliseconds = 10_000
    scene.kill(for: 2000) { $0.desired = { .navigation(for: $0) } }
    scene.run(120)
    scene.finish()
    #expect(scene.line.receiver.sentenceRates == found)
  }

  @Test(
    "So is one at a line whose rate is not searched, after a time to listen",
    arguments: [ReceiverModel.um980, .mosaic, .at6558], [.withoutRate(nil), .bound] as [SessionSettings.Line])
  func withoutSearch(_ model: ReceiverModel, _ line: SessionSettings.Line) throws {
    let scene = Self.scene(model, 115_200, .serve)
    scene.kill(for: 12_000) { $0.line = line }
    scene.line.hostRate = 115_200
    let (begin, sent) = (scene.now, scene.sent)
    scene.run(19)
    #expect(scene.sent == sent, "it listens first")
    #expect(scene.run(30) { $0.description != nil }, "\(scene.reports)")
    #expect(scene.description?.family != nil && scene.now.seconds(since: begin) < 40)
  }

  @Test("A receiver that sends at such a line gets no poll of a silent one")
  func sending() {
    let scene = SessionScene(.mt3339) { ($0.line, $0.desired) = (.withoutRate(nil), { _ in .nothing }) }
    scene.run(60) { $0.description != nil }
    #expect(scene.description?.family == .mediaTek)
    #expect(!scene.writes.contains { $0.bytes.starts(with: [0xFF]) })
  }

  @Test("A line without a receiver gets few polls, and is then listened to")
  func nothing() {
    let scene = VirtualHost(SessionLog(), RepliesLine(rate: 0, replies: []), settings: Self.settings(.serve))
    scene.run(60)
    let first = scene.writes.count
    scene.run(60)
    let later = scene.writes.count - first
    for (_, bytes) in scene.writes { #expect(IdentificationProbes.contains(bytes)) }
    #expect(first < 140 && later < first, "\(first), then \(later)")
    #expect(Double(scene.wakeUps) / 120 < 4)
  }

  private static func settings(_ intent: SessionSettings.Intent) -> SessionSettings {
    var settings = SessionSettings(intent: intent, line: .serial)
    settings.desired = { _ in .nothing }
    return settings
  }

  /// SkyTraq's reply to the query of the version: Kernel 1.8.15, ODM 1.7.31, revision 2010-03-31 (AN0003).
  private static let skyTraq =
    FrameLayout.skyTraq.frame(0x83, [0x02])
    + FrameLayout.skyTraq.frame(0x80, [1, 0, 1, 8, 15, 0, 1, 7, 31, 0, 10, 3, 31])

  @Test(
    "Receivers without a simulated model: SkyTraq, Unicore's Firebird",
    arguments: [
      (ReceiverFamily.skyTraq, 9600, skyTraq), (.skyTraq, 38_400, skyTraq),
      (.firebird, 115_200, Wire.nmea("PDTINFO,UC6228CI,G1B1R1,,R3.4.0.0Build7258")),
      (.firebird, 9600, Wire.nmea("PDTINFO,UC6228CI,G1B1R1,,R3.4.0.0Build7258")),
    ] as [(ReceiverFamily, UInt32, [UInt8])])
  func scripted(_ family: ReceiverFamily, _ rate: UInt32, _ reply: [UInt8]) throws {
    let probe = try #require(family.language?.silentPolls.last)
    let line = RepliesLine(rate: rate, replies: [(probe.bytes, reply)])
    let scene = VirtualHost(SessionLog(), line, settings: Self.settings(.identify))
    scene.run(24) { $0.read { $0.description } != nil }
    #expect(
      scene.read { $0.description }?.family == family && scene.read { $0.rate } == rate,
      "\(scene.reports)")
    for (_, bytes) in scene.writes { #expect(IdentificationProbes.contains(bytes), "\(bytes)") }
  }

  @Test(
    "A Septentrio receiver whose port sends SBF alone is found by it", arguments: [UInt32(115_200), 38_400],
    [SessionSettings.Intent.identify, .serve])
  func sbf(_ rate: UInt32, _ intent: SessionSettings.Intent) throws {
    let probe = try #require(ReceiverFamily.septentrio.language?.probes.first)
    var line = RepliesLine(
      rate: rate,
      replies: [
        (probe.bytes, Array("$R: getReceiverCapabilities\r\n  ReceiverCapabilities, GPSL1CA\r\nCOM1>".utf8)),
        (Array("SSSSSSSSSS".utf8), Array("COM1>".utf8)),
      ])
    line.output = [(4007, 88), (4001, 24), (5914, 16)].flatMap { id, count in
      FrameLayout.sbf.frame(id, [UInt8](repeating: 0x24, count: count))
    }
    let scene = VirtualHost(SessionLog(), line, settings: Self.settings(intent))
    scene.run(40) { $0.read { $0.description?.port } != nil }
    #expect(scene.read { $0.description }?.family == .septentrio, "\(scene.reports)")
    #expect(scene.read { $0.rate } == rate)
    #expect(
      !scene.writes.contains { String(decoding: $0.bytes, as: UTF8.self).contains("$P") }, "no poll of another family")
    scene.run(30)
    #expect(scene.read { $0.isSteady } == true && scene.reports.count { $0.report == .notUnderstood } == 0)
  }

  @Test("A frame of SBF with a wrong CRC proves nothing")
  func damagedSBF() {
    var frame = FrameLayout.sbf.frame(4007, [1, 2, 3, 4])
    #expect(frame.count == 12 && Array(frame.prefix(2)) == Array("$@".utf8) && frame[6] == 12)
    guard case .frame(.sbf, 4007, [1, 2, 3, 4], length: 12) = FrameLayout.scan(frame[...]) else {
      return #expect(Bool(false))
    }
    frame[9] ^= 1
    #expect(FrameLayout.scan(frame[...]) == .none)
  }

  @Test("`probe` finds one that starts for seven seconds, as a mosaic does, when the line is opened")
  func starting() throws {
    let reply = Wire.nmea("PDTINFO,UC6228CI,G1B1R1,,R3.4.0.0Build7258")
    let probe = try #require(ReceiverFamily.firebird.language?.silentPolls.last)
    var line = RepliesLine(rate: 115_200, replies: [(probe.bytes, reply)])
    line.start = Instant.zero + Milliseconds(7000)
    let scene = VirtualHost(SessionLog(), line, settings: Self.settings(.identify))
    #expect(scene.run(22) { $0.read { $0.description } != nil }, "\(scene.reports)")
  }

  @Test("Every family has rates that the search tries, and probes for them", arguments: ReceiverFamily.allCases)
  func rates(_ family: ReceiverFamily) {
    guard let language = family.language else { return }
    let rates = language.rates.usual + language.rates.others
    #expect(Set(rates).isSubset(of: BaudRateSearch.rates) && Set(rates).count == rates.count)
    #expect(!language.rates.usual.isEmpty && !language.silentPolls.isEmpty)
    let probes = language.probes.map(\.bytes)
    #expect(language.silentPolls.allSatisfy { probes.contains($0.bytes) })
    for rate in rates {
      let both = [true, false].map { ReceiverFamily.silentPolls(at: rate, isUsual: $0) }
      #expect(both.count { $0.contains(language.silentPolls[0].bytes) } == 1)
    }
  }
}

/// A device that replies to some requests, and is silent otherwise.
struct RepliesLine: HostLine {
  var hostRate: UInt32 = 9600
  let rate: UInt32
  let replies: [(request: [UInt8], reply: [UInt8])]
  /// When it begins to reply.
  var start = Instant.zero
  /// The bytes that it sends each second.
  var output: [UInt8] = []
  private var nextOutput = Instant.zero
  private var now = Instant.zero
  private var coming: [(at: Instant, bytes: [UInt8])] = []

  init(rate: UInt32, replies: [(request: [UInt8], reply: [UInt8])]) { (self.rate, self.replies) = (rate, replies) }

  var isPresent: Bool { true }
  var deadline: Instant? { .earlier(coming.map(\.at).min(), output.isEmpty ? nil : nextOutput) }

  mutating func advance(to now: Instant) {
    self.now = now
    while !output.isEmpty, now >= nextOutput {
      // At another rate it is garbage.
      coming.append((nextOutput, hostRate == rate ? output : output.map { _ in 0xF8 }))
      nextOutput = nextOutput + Milliseconds(1000)
    }
  }

  mutating func takeReceived() -> [UInt8] {
    let due = coming.filter { $0.at <= now }
    coming.removeAll { $0.at <= now }
    return due.flatMap(\.bytes)
  }

  mutating func send(_ bytes: [UInt8], at now: Instant) {
    guard hostRate == rate, now >= start else { return }
    for one in replies where bytes.starts(with: one.request) { coming.append((now + Milliseconds(50), one.reply)) }
  }
}
