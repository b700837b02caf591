// SPDX-License-Identifier: Apache-2.0
import HostSimulator
import MonotonicTime
import RTCM3
import TestSupport
import Testing

@testable import Receiver
@testable import ReceiverSimulator

/// The sentences of a receiver whose command names all of them, or whose streams other ports share.
@Suite("Sentences are restored exactly as they were found")
struct RestoredSentencesTests {
  private typealias SkyTraqHost = VirtualHost<SessionLog, SkyTraqLine>

  private static let found: [String: UInt8] = ["GGA": 1, "GSA": 1, "GSV": 3, "RMC": 1, "VTG": 1]

  private static func skyTraq(_ rates: [String: UInt8] = found, _ intent: SessionSettings.Intent = .serve)
    -> SkyTraqHost
  {
    var settings = SessionSettings(intent: intent, line: .serial)
    settings.desired = { _ in .nothing }
    settings.restoresAtEnd = true
    let scene = VirtualHost(SessionLog(), SkyTraqLine(rates), settings: settings)
    scene.run(60) { $0.read { $0.isSteady && $0.description != nil } == true }
    return scene
  }

  private static func set(_ rates: [SentenceRate], _ scene: SkyTraqHost) {
    var desired = DesiredConfiguration.nothing
    desired.sentences = rates
    scene.withSession { $0.set(desired, at: scene.now) }
  }

  @Test("A SkyTraq receiver gets all its sentences back, with their rates", arguments: [false, true])
  func skyTraq(isKilled: Bool) {
    let scene = Self.skyTraq()
    #expect(scene.read { $0.description }?.family == .skyTraq)
    Self.set([SentenceRate("VTG", 0), SentenceRate("GLL", 2)], scene)
    #expect(scene.run(120) { $0.line.rates["VTG"] == 0 })
    #expect(scene.line.rates == ["GGA": 1, "GSA": 1, "GSV": 3, "GLL": 2, "RMC": 1, "VTG": 0, "ZDA": 0])
    if isKilled {
      scene.machine.stored.read(into: &scene.settings)
      scene.kill(for: Milliseconds(500))
      scene.run(60) { $0.read { $0.isSteady && $0.description != nil } == true }
    }
    scene.run(5)
    scene.finish()
    #expect(scene.line.rates.filter { $0.value > 0 } == Self.found)
  }

  @Test("An observation shows sentences of every tenth fix, whenever it begins")
  func observation() throws {
    let rates = Self.found.merging(["ZDA": SentenceRate.rarestObserved, "GLL": 5]) { $1 }
    let scene = Self.skyTraq(rates, .identify)
    for pause in [1.0, 3, 5, 7] {
      scene.run(pause)
      let ticket = try #require(scene.withSession { $0.perform([.observe(.messages)], at: scene.now) })
      scene.run(60) { $0.machine.outcomes[ticket] != nil }
      guard case .performed(let results)? = scene.machine.outcomes[ticket],
        case .value(.messages(let list))? = results.first
      else { return #expect(Bool(false), "\(String(describing: scene.machine.outcomes[ticket]))") }
      #expect(Dictionary(uniqueKeysWithValues: list.map { ($0.formatter, $0.rate) }) == rates)
    }
  }

  @Test("A person's change of a SkyTraq receiver keeps its rare sentences")
  func rare() throws {
    let rates = Self.found.merging(["ZDA": 30]) { $1 }
    let scene = Self.skyTraq(rates, .identify)
    let ticket = try #require(
      scene.withSession { $0.perform([.set(.messages([SentenceRate("RMC", 2)]))], at: scene.now) })
    scene.run(120) { $0.machine.outcomes[ticket] != nil }
    #expect(scene.machine.outcomes[ticket] == .performed([.written]))
    #expect(scene.line.rates.filter { $0.value > 0 } == rates.merging(["RMC": 2]) { $1 })
  }

  @Test("A rare sentence is as it was found after a session, too", arguments: [40, 60] as [UInt8])
  func veryRare(_ rate: UInt8) {
    let rates = Self.found.merging(["ZDA": rate]) { $1 }
    let scene = Self.skyTraq(rates)
    Self.set([SentenceRate("VTG", 0)], scene)
    scene.run(120)
    #expect(scene.line.rates["ZDA"] == rate)
    scene.finish()
    #expect(scene.line.rates.filter { $0.value > 0 } == rates)
  }

  @Test("The observed rate of a sentence is exact", arguments: [2, 3, 4] as [UInt8])
  func observed(_ rate: UInt8) throws {
    let rates = Self.found.merging(["GSV": rate]) { $1 }
    let scene = Self.skyTraq(rates, .identify)
    let ticket = try #require(scene.withSession { $0.perform([.read(.messages)], at: scene.now) })
    scene.run(60) { $0.machine.outcomes[ticket] != nil }
    guard case .performed(let results)? = scene.machine.outcomes[ticket],
      case .value(.messages(let list))? = results.first
    else {
      return #expect(Bool(false), "\(String(describing: scene.machine.outcomes[ticket]))")
    }
    #expect(list.first { $0.formatter == "GSV" }?.rate == rate)
  }

  @Test("A person's sentences end the binary messages of a SkyTraq receiver; a session leaves them")
  func binary() throws {
    var settings = SessionSettings(intent: .identify, line: .serial)
    settings.desired = { _ in .nothing }
    var line = SkyTraqLine(Self.found)
    line.isBinary = true
    let scene = VirtualHost(SessionLog(), line, settings: settings)
    #expect(scene.run(60) { $0.read { $0.isSteady && $0.description != nil } == true })
    #expect(scene.reports.count { $0.report == .adviseOnSilence } == 0)
    Self.set([SentenceRate("VTG", 0), SentenceRate("GLL", 2)], scene)
    scene.run(120)
    #expect(scene.line.isBinary && scene.line.rates == Self.found)
    let ticket = try #require(
      scene.withSession {
        $0.perform([.set(.messages([SentenceRate("GGA", 1), SentenceRate("RMC", 1)]))], at: scene.now)
      })
    scene.run(150) { $0.machine.outcomes[ticket] != nil }
    #expect(scene.machine.outcomes[ticket] == .performed([.written]))
    scene.finish()
    #expect(!scene.line.isBinary && scene.line.rates.filter { $0.value > 0 } == ["GGA": 1, "RMC": 1])
  }

  @Test("A SkyTraq receiver in its binary mode sends sentences while a program wants fixes", arguments: [false, true])
  func binaryForFixes(isKilled: Bool) {
    var settings = SessionSettings(intent: .serve, line: .serial)
    settings.desired = { .navigation(for: $0) }
    var line = SkyTraqLine(Self.found)
    line.isBinary = true
    let scene = VirtualHost(SessionLog(), line, settings: settings)
    #expect(scene.run(90) { !$0.machine.positions.isEmpty }, "\(scene.reports)")
    if isKilled {
      scene.machine.stored.read(into: &scene.settings)
      scene.kill(for: Milliseconds(500))
    }
    #expect(scene.run(60) { $0.read { $0.isSteady && $0.description != nil } == true })
    scene.run(5)
    scene.withSession { $0.set(.nothing, at: scene.now) }
    scene.run(15)
    #expect(!scene.line.isBinary)
    // A receiver whose flash has the binary mode loses power.
    scene.withSession { $0.set(settings.desired($0.description!), at: scene.now) }
    scene.run(15)
    scene.line.isBinary = true
    #expect(scene.run(120) { !$0.line.isBinary }, "\(scene.reports)")
    scene.run(20)
    scene.finish()
    #expect(scene.line.isBinary && scene.line.rates == Self.found && scene.reported(.notRestored) == 0)
    #expect(scene.reported(.withoutPositions) == 0)
  }

  @Test(
    "Without a sentence in its settings the reason is reported, and the receiver is as it was",
    arguments: [false, true])
  func binaryWithoutSentences(isBinary: Bool) {
    var settings = SessionSettings(intent: .serve, line: .serial)
    settings.desired = { .navigation(for: $0) }
    var line = SkyTraqLine(["GSV": 1])
    line.isBinary = isBinary
    let scene = VirtualHost(SessionLog(), line, settings: settings)
    #expect(scene.run(240) { _ in scene.reported(.withoutPositions) > 0 }, "\(scene.reports)")
    scene.run(5)
    scene.finish()
    #expect(scene.line.isBinary == isBinary && scene.line.rates.filter { $0.value > 0 } == ["GSV": 1])
  }

  // MARK: Septentrio

  private static func mosaic(_ streams: [String]) -> SessionScene {
    let scene = SessionScene(.mosaic, intent: .serve) {
      $0.desired = { _ in .nothing }
      $0.restoresAtEnd = true
    }
    #expect(scene.run(60) { $0.isSteady && $0.description != nil })
    for one in streams { scene.line.send(Command(line: "setNMEAOutput, \(one)").bytes, at: scene.now) }
    scene.run(5)
    return scene
  }

  private static func streams(_ scene: SessionScene) -> [String] {
    (1...10).compactMap { scene.line.receiver.family?.current.values["NMEAOutput Stream\($0)"] }
      .filter { !$0.hasSuffix("none, none, off") }
  }

  @Test("The end leaves a stream that another port took meanwhile", arguments: [false, true])
  func takenStream(isKilled: Bool) {
    let scene = Self.mosaic([])
    scene.set(scene.description.map { .navigation(for: $0) } ?? .nothing)
    #expect(scene.run(60) { !$0.positions.isEmpty })
    if isKilled {
      scene.open(after: 500, hostRate: scene.line.hostRate) { $0.desired = { _ in .nothing } }
      #expect(scene.run(60) { $0.isSteady && $0.description != nil })
    }
    let taken = "Stream5, USB1, GGA, sec1"
    scene.line.send(Command(line: "setNMEAOutput, \(taken)").bytes, at: scene.now)
    scene.run(5)
    scene.finish()
    #expect(Self.streams(scene) == [taken] && scene.reported(.notRestored) == 0)
  }

  @Test("A sentence goes back to a stream of its interval, if another port has its own by now")
  func lostStream() {
    let other = "Stream4, COM1, ZDA, sec1"
    let scene = Self.mosaic(["Stream2, COM1, GGA+GSV, msec500", other])
    var desired = DesiredConfiguration.nothing
    desired.sentences = [SentenceRate("GSV", 0), SentenceRate("GGA", 0)]
    scene.set(desired)
    #expect(scene.run(60) { Self.streams($0) == [other] })
    scene.run(2)
    let taken = "Stream2, USB1, RMC, sec1"
    scene.line.send(Command(line: "setNMEAOutput, \(taken)").bytes, at: scene.now)
    scene.run(5)
    scene.finish()
    #expect(Set(Self.streams(scene)) == ["Stream1, COM1, GGA+GSV, msec500", taken, other])
    #expect(scene.reported(.notRestored) == 0)
  }

  private static let doubledStreams = [
    ["Stream1, COM1, GSV, sec5", "Stream3, COM1, GSV+GSA, sec1"],
    ["Stream1, COM1, GGA+RMC, sec1", "Stream3, COM1, GGA+GSV, sec5"],
    ["Stream1, COM1, GSV, sec1", "Stream2, COM1, GSV, msec500", "Stream3, COM1, GSV+GSA, sec10"],
  ]

  @Test("A sentence in two streams of the port is in both after a session", arguments: doubledStreams, [false, true])
  func doubled(_ streams: [String], isKilled: Bool) {
    let scene = Self.mosaic(streams)
    var desired = scene.description.map { DesiredConfiguration.navigation(for: $0) } ?? .nothing
    scene.set(desired)
    #expect(scene.run(60) { !$0.positions.isEmpty })
    desired.sentences = [SentenceRate("GSV", 2), SentenceRate("GSA", 0), SentenceRate("GGA", 1)]
    scene.set(desired)
    #expect(scene.run(60) { $0.line.receiver.sentenceRates["GSA"] == nil })
    scene.run(5)
    if isKilled {
      scene.open(after: 500, hostRate: scene.line.hostRate) { $0.desired = { _ in .nothing } }
      #expect(scene.run(60) { $0.isSteady && $0.description != nil })
    }
    scene.finish()
    #expect(Self.streams(scene).map(Self.parts) == streams.map(Self.parts) && scene.reported(.notRestored) == 0)
  }

  /// The words of a stream, whatever the order of its sentences.
  private static func parts(_ stream: String) -> Set<Substring> { Set(stream.split { ", +".contains($0) }) }

  @Test("A person's change of one sentence leaves another one in both of its streams")
  func otherDoubled() throws {
    let scene = Self.mosaic(["Stream1, COM1, GGA+RMC, sec1", "Stream3, COM1, GGA+GSV, sec5"])
    func set(_ rates: [SentenceRate]) {
      let ticket = scene.withSession { $0.perform([.set(.messages(rates))], at: scene.now) }
      guard let ticket else { return }
      scene.run(30) { $0.outcomes[ticket] != nil }
      #expect(scene.outcomes[ticket] == .performed([.written]))
    }
    set([SentenceRate("GSA", 5), SentenceRate("GGA", 1)])
    #expect(Self.streams(scene) == ["Stream1, COM1, GGA+RMC, sec1", "Stream3, COM1, GGA+GSV+GSA, sec5"])
    set([SentenceRate("GGA", 0)])
    #expect(Self.streams(scene) == ["Stream1, COM1, RMC, sec1", "Stream3, COM1, GSV+GSA, sec5"])
  }

  @Test("A file names what it does not have of the streams, and claims none of it to be off")
  func unstored() throws {
    let language = Septentrio()
    let found = ReceiverDescription(
      family: .septentrio, model: nil, firmware: nil, hardware: "", capabilities: [.configure])
    var receiver = found
    language.complete(&receiver, from: .answered(Array(">COM1".utf8)))
    let lines = [
      "NMEAOutput, Stream1, COM1, GGA+GNS+HDT, sec1", "NMEAOutput, Stream2, none, none, off",
      "NMEAOutput, Stream3, COM1, GSV+GRS, OnChange", "NMEAOutput, Stream4, COM1, GGA, sec5",
      "NMEAOutput, Stream5, COM1, ZDA, msec500",
    ]
    let value = try #require(
      language.value(.messages, from: [Array(lines.joined(separator: "\n").utf8)], on: receiver))
    let lost = FamilySettings.unstored(value, of: receiver)
    #expect(Set(lost) == ["HDT sec1", "GSV OnChange", "GRS OnChange", "GGA sec5", "ZDA msec500"])
    let text = FamilySettings.stored(value, of: receiver).text
    #expect(!text.contains("GSV@0") && !text.contains("GRS@0"), "\(text)")
    // A session that adds a sentence a second leaves the streams as they are.
    let commands = language.commands(setting: .messages([SentenceRate("RMC", 1)]), from: value, on: receiver)
    let sent = (commands ?? []).map { String(decoding: $0.bytes, as: UTF8.self) }
    #expect(sent == ["setNMEAOutput, Stream1, COM1, GGA+GNS+HDT+RMC, sec1\r\n"])
  }

  @Test("A receiver whose streams are all in use by other ports is left as it is, and the reason is reported")
  func withoutStream() {
    let taken = (1...10).map { "Stream\($0), USB1, GGA, sec1" }
    let scene = Self.mosaic(taken)
    scene.set(scene.description.map { .navigation(for: $0) } ?? .nothing)
    scene.run(60)
    #expect(scene.reported(.withoutPositions) == 1 && Self.streams(scene) == taken)
    scene.finish()
    #expect(Self.streams(scene) == taken && scene.reported(.notRestored) == 0)
  }

  @Test("A receiver that is silent as found gets positions for fixes beside a person's other sentences")
  func withoutPositions() {
    let own = "Stream1, COM1, GSV, sec5"
    let scene = Self.mosaic([own])
    scene.set(scene.description.map { .navigation(for: $0) } ?? .nothing)
    #expect(scene.run(60) { !$0.positions.isEmpty })
    #expect(Self.streams(scene).contains(own))
    scene.finish()
    #expect(Self.streams(scene) == [own])
  }
}

/// A SkyTraq receiver with binary commands and a fix a second (AN0003).
struct SkyTraqLine: HostLine {
  static let sentences = ["GGA", "GSA", "GSV", "GLL", "RMC", "VTG", "ZDA"]
  var hostRate: UInt32 = 9600
  private(set) var rates: [String: UInt8]
  /// Whether it sends the binary message with the solution instead of sentences.
  var isBinary = false
  private var now = Instant.zero
  private var epoch = 0
  private var coming: [(at: Instant, bytes: [UInt8])] = []
  private var nextEpoch = Instant.zero + Milliseconds(100)

  init(_ rates: [String: UInt8]) { self.rates = rates }

  var isPresent: Bool { true }
  var deadline: Instant? { .earlier(coming.map(\.at).min(), nextEpoch) }

  mutating func advance(to now: Instant) {
    self.now = now
    while now >= nextEpoch {
      if isBinary { coming.append((nextEpoch, FrameLayout.skyTraq.frame(0xA8, [UInt8](repeating: 2, count: 58)))) }
      for name in Self.sentences where !isBinary {
        guard let rate = rates[name], rate > 0, epoch % Int(rate) == 0 else { continue }
        coming.append((nextEpoch, Wire.nmea(text(name))))
      }
      epoch += 1
      nextEpoch = nextEpoch + Milliseconds(1000)
    }
  }

  private func text(_ name: String) -> String {
    let time = "12\((epoch / 60 % 60 + 100).description.dropFirst())\((epoch % 60 + 100).description.dropFirst()).000"
    return switch name {
    case "GGA": "GPGGA,\(time),4800.0000,N,01100.0000,E,1,08,1.0,500.0,M,47.0,M,,"
    case "GSA": "GPGSA,A,3,05,07,08,,,,,,,,,,1.8,1.0,1.5"
    case "GSV": "GPGSV,1,1,01,05,40,083,46"
    case "GLL": "GPGLL,4800.0000,N,01100.0000,E,\(time),A,A"
    case "RMC": "GPRMC,\(time),A,4800.0000,N,01100.0000,E,0.0,0.0,010126,,,A"
    case "VTG": "GPVTG,0.0,T,,M,0.0,N,0.0,K,A"
    default: "GPZDA,\(time),01,01,2026,00,00"
    }
  }

  mutating func takeReceived() -> [UInt8] {
    let due = coming.filter { $0.at <= now }
    coming.removeAll { $0.at <= now }
    return hostRate == 9600 ? due.flatMap(\.bytes) : due.flatMap { $0.bytes.map { _ in 0xF8 } }
  }

  mutating func send(_ bytes: [UInt8], at now: Instant) {
    guard hostRate == 9600, case .frame(.skyTraq, let id, let payload, _) = FrameLayout.scan(bytes[...]) else {
      return
    }
    var reply = FrameLayout.skyTraq.frame(0x83, [UInt8(id)])
    switch id {
    case 0x02: reply += FrameLayout.skyTraq.frame(0x80, [1, 0, 1, 8, 15, 0, 1, 7, 31, 0, 10, 3, 31])
    case 0x08: for (name, rate) in zip(Self.sentences, payload) { rates[name] = rate }
    case 0x09: isBinary = payload[0] == 2
    default: reply = FrameLayout.skyTraq.frame(0x84, [UInt8(id)])
    }
    coming.append((now + Milliseconds(30), reply))
  }
}
