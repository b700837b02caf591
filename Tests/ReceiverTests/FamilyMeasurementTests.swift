// SPDX-License-Identifier: Apache-2.0
import HostSimulator
import MonotonicTime
import ReceiverStream
import TestSupport
import Testing

@testable import Receiver
@testable import ReceiverSimulator

@Suite("Raw measurements of receivers of other makers")
struct FamilyMeasurementTests {
  /// A receiver with raw measurements, the RTCM 3 messages that a recording switches on, and its command that would save them.
  struct Case: Sendable, CustomTestStringConvertible {
    var model: ReceiverModel
    var quirks: Set<Quirk> = []
    var messages: Set<Int>
    var saving: String
    var testDescription: String { "\(model)" }
  }

  private static let cases = [
    Case(
      model: .lg290p, messages: [1074, 1084, 1094, 1114, 1124, 1134, 1019, 1020, 1042, 1046], saving: "PQTMSAVEPAR"),
    Case(model: .um980, messages: [1074, 1084, 1094, 1124, 1019, 1020, 1042, 1046], saving: "SAVECONFIG"),
    Case(model: .ag3352, quirks: [.corrections], messages: [1077, 1087, 1097, 1127], saving: "PAIR513"),
  ]

  private static func scene(_ one: Case) -> SessionScene {
    var scenario = Scenario(stayingAt: Place(latitudeDegrees: 48.1642, longitudeDegrees: 11.6056, altitudeMetres: 512))
    scenario.beginsHot = true
    scenario.quirks = one.quirks
    return SessionScene(one.model, intent: .serve, scenario: scenario) {
      $0.desired = { _ in .nothing }
      $0.restoresAtEnd = true
    }
  }

  /// The state that the end has to restore, in force and after the next start.
  private struct State: Equatable {
    var current: ReceiverSimulator.FamilySettings?
    var stored: ReceiverSimulator.FamilySettings?

    init(_ scene: SessionScene) {
      let family = scene.line.receiver.family
      current = family.map { Self.normal($0.current) }
      stored = family?.stored
    }

    /// Without written values that are the same as those by default.
    private static func normal(_ settings: ReceiverSimulator.FamilySettings) -> ReceiverSimulator.FamilySettings {
      var settings = settings
      settings.rates = settings.rates.filter { $0.value > 0 }
      settings.values = settings.values.filter { name, value in
        !["432", "436"].contains(name) || !["-1", "0"].contains(value)
      }
      return settings
    }
  }

  private static func messages(_ scene: SessionScene) -> Set<Int> {
    Set(scene.line.receiver.family?.current.corrections.keys.map(\.self) ?? [])
  }

  private static func measure(_ scene: SessionScene) {
    guard let receiver = scene.description else { return }
    var desired = DesiredConfiguration.nothing
    desired.addRawMeasurements(for: receiver)
    scene.set(desired)
  }

  private static func sent(_ scene: SessionScene) -> String {
    scene.writes.map { String(decoding: $0.bytes, as: UTF8.self) }.joined()
  }

  /// Sends commands of a person, in the form of the family.
  private static func command(_ scene: SessionScene, _ lines: [String]) {
    for line in lines {
      let bytes = line.hasPrefix("P") ? Command(sentence: line).bytes : Command(line: line).bytes
      scene.line.send(bytes, at: scene.now)
      scene.run(0.5)
    }
  }

  @Test("They are switched on with a date and restored, and nothing is saved", arguments: cases)
  func measured(_ one: Case) throws {
    let scene = Self.scene(one)
    #expect(scene.run(60) { $0.isSteady })
    let before = State(scene)
    let receiver = try #require(scene.description)
    #expect(receiver.can(.rawMeasurements) && receiver.lackOfMeasurements == nil)
    Self.measure(scene)
    #expect(scene.run(30) { $0.isSteady && $0.reported(.configured(refused: 0)) > 1 })
    #expect(Self.messages(scene).isSuperset(of: one.messages), "\(Self.messages(scene))")
    #expect(scene.line.receiver.family?.current.rates["RMC"] == 1)
    let frames = scene.counters.rtcm3Frames
    scene.run(10)
    // Of each constellation with satellites, once a second.
    #expect(scene.counters.rtcm3Frames >= frames + 40)
    let sent = scene.sentBytes
    scene.run(60)
    #expect(scene.sentBytes == sent, "Nothing is sent without a reason.")
    _ = scene.finish()
    scene.run(1)
    #expect(State(scene) == before)
    #expect(scene.reported(.notRestored) == 0 && scene.reported(.wasReset) == 0)
    #expect(!Self.sent(scene).contains(one.saving))
  }

  @Test("Killed after each command, the next program restores the receiver", arguments: cases)
  func killed(_ one: Case) {
    let whole = Self.scene(one)
    #expect(whole.run(60) { $0.isSteady })
    let before = State(whole)
    Self.measure(whole)
    whole.run(30) { $0.isSteady && $0.reported(.configured(refused: 0)) > 1 }
    _ = whole.finish()
    for kill in numbers(to: whole.sent) {
      let scene = Self.scene(one)
      scene.kill(afterSending: kill)
      scene.run(60) { $0.isSteady || $0.isKilled }
      if !scene.isKilled {
        Self.measure(scene)
        scene.run(30) { $0.isSteady && $0.reported(.configured(refused: 0)) > 1 || $0.isKilled }
      }
      if !scene.isKilled { _ = scene.finish() }
      scene.run(1)
      scene.open(after: 100) { $0.desired = { _ in .nothing } }
      scene.run(60) { $0.isSteady }
      _ = scene.finish()
      scene.run(1)
      #expect(State(scene) == before, "\(one.model) killed after command \(kill)")
      #expect(scene.clearStored(), "\(one.model) killed after command \(kill): the record is removed")
    }
  }

  @Test("A receiver that lost its power gets them again", arguments: cases)
  func reboot(_ one: Case) {
    let scene = Self.scene(one)
    #expect(scene.run(60) { $0.isSteady })
    Self.measure(scene)
    #expect(scene.run(30) { $0.isSteady && $0.reported(.configured(refused: 0)) > 1 })
    // A line without an epoch so far may be silent.
    scene.run(10)
    scene.line.inject(.reboot, at: scene.now + Milliseconds(500))
    scene.run(10)
    #expect(scene.run(90) { Self.messages($0).isSuperset(of: one.messages) && $0.isSteady })
    _ = scene.finish()
    #expect(scene.reported(.notRestored) == 0)
  }

  // MARK: What a person has switched on

  @Test("MSM of a person on an LG290P, whose messages have one rate, is as it was found afterwards")
  func rateOfPerson() {
    let scene = Self.scene(Self.cases[0])
    #expect(scene.run(60) { $0.isSteady })
    Self.command(scene, ["PQTMCFGMSGRATE,W,RTCM3-107X,10,0", "PQTMCFGMSGRATE,W,RTCM3-1019,1"])
    let before = State(scene)
    Self.measure(scene)
    #expect(scene.run(30) { $0.isSteady && $0.reported(.configured(refused: 0)) > 1 })
    #expect(scene.line.receiver.family?.current.corrections[1074] == 100)
    _ = scene.finish()
    scene.run(1)
    #expect(State(scene) == before && Self.messages(scene) == [1074, 1019])
  }

  @Test("Rates that could not be restored are not changed: above 255, or with a time offset")
  func unrestorable() {
    for command in ["PQTMCFGMSGRATE,OK,RTCM3-107X,300,0", "PQTMCFGMSGRATE,OK,RTCM3-107X,10,2"] {
      #expect(Quectel().value(.measurements, from: [Array(command.utf8)]) == nil)
    }
    // Firmware without a message refuses its query.
    let some = Quectel().value(.measurements, from: [Array("PQTMCFGMSGRATE,OK,RTCM3-107X,1,0".utf8), nil])
    #expect(some == .measurements([SentenceRate("RTCM3-107X", 1)]))
    #expect(Quectel().value(.measurements, from: [nil, nil]) == nil)
  }

  @Test("Rare messages of a person on a UM980 are observed for a minute, and are as they were found afterwards")
  func rareMessages() {
    let scene = Self.scene(Self.cases[1])
    #expect(scene.run(60) { $0.isSteady })
    Self.command(scene, ["RTCM1074 20", "GNRMC 1"])
    let before = State(scene)
    let start = scene.now
    Self.measure(scene)
    #expect(scene.run(120) { $0.isSteady && $0.reported(.configured(refused: 0)) > 1 })
    #expect(60..<90 ~= scene.now.seconds(since: start), "\(scene.now.seconds(since: start)) s")
    #expect(scene.line.receiver.family?.current.corrections[1074] == 1000)
    _ = scene.finish()
    scene.run(1)
    #expect(State(scene).current?.corrections == before.current?.corrections)
    #expect(Self.messages(scene) == [1074] && scene.line.receiver.family?.current.corrections[1074] == 20_000)
  }

  @Test("The end does not wait for an observation")
  func interrupted() {
    let scene = Self.scene(Self.cases[1])
    #expect(scene.run(60) { $0.isSteady })
    Self.command(scene, ["RTCM1019 30"])
    let before = State(scene)
    Self.measure(scene)
    scene.run(10)
    #expect(scene.finish() < 1000)
    #expect(State(scene) == before && scene.reported(.notRestored) == 0)
  }

  @Test("Ephemerides come in bursts, and have the period of the bursts")
  func bursts() {
    var observed = ObservedOutput()
    for burst in 0..<3 {
      for satellite in 0..<9 {
        let at = Milliseconds(UInt64(burst * 30_000 + satellite * 20))
        observed.receive(correction: 1019, at: .zero + Milliseconds(1000) + at)
      }
    }
    #expect(observed.correctionRates == [SentenceRate("RTCM1019", 30)])
  }

  // MARK: Replies

  @Test("UNILOGLIST is read with blanks and tabulators; an incomplete one, and one with MSM, is not a value")
  func logList() throws {
    let poll = try #require(Unicore().polls(of: .measurements).first)
    guard case .family(let answer) = poll.answer else {
      Issue.record("no reply is expected")
      return
    }
    func value(_ text: String) -> ReceiverValue? {
      var scanner = ReplyScanner()
      var lines: [[UInt8]] = []
      var isOver = false
      let bytes = Array(text.utf8)
      unsafe scanner.receive(bytes.span.bytes) { frame, _ in
        switch answer.judge(frame) {
        case .line(let body): lines.append(body)
        case .over: isOver = true
        default: break
        }
      }
      return isOver ? Unicore().value(.measurements, from: [Array(lines.joined(separator: [10]))]) : nil
    }
    let start = "$command,UNILOGLIST,response: OK*4A\r\n#UNILOGLIST,92,GPS,FINE,2353,142915000,0,0,18,296;\r\n"
    let end = "#MODE,97,GPS,FINE,2423,108472000,17548,0,18,744;MODE ROVER SURVEY,*1A\r\n"
    let off = Unicore().measurements(observed: []).map { ReceiverValue.measurements($0) }
    #expect(off != nil && value(start + "<       1\r\n<       GPGGA COM1 1\r\n" + end) == off)
    #expect(value(start + "<\t2\r\n<\tGPGGA COM1 1\r\n<\tBESTNAVB COM2 0.1\r\n" + end) == off)
    #expect(value(start + "< 0\r\n" + end) == off)
    #expect(value(start + "< 2\r\n< GPGGA COM1 1\r\n" + end) == nil)
    #expect(value(start + "< 1\r\n< RTCM1084 COM2 1\r\n" + end) == nil)
    #expect(value(start + end) == nil)
    #expect(value("$command,UNILOGLIST,response: PARSING FAILD NO MATCHING FUNC  UNILOGLIST*2A\r\n") == nil)
  }

  @Test("An LC29H has one of two modes, and ephemerides apart")
  func modes() throws {
    let airoha = Airoha()
    let receiver = try #require(
      airoha.description(from: .answered(Array("PQTMVERNO,LC29HDANR11A07S,2024/07/16".utf8)), to: airoha.probes[0]))
    let wanted = airoha.measurements(of: receiver)
    func sentences(_ list: [SentenceRate], from found: ReceiverValue? = nil) -> [String]? {
      airoha.commands(setting: .measurements(list), from: found, on: receiver)?.map {
        String(String(decoding: $0.bytes, as: UTF8.self).dropFirst().prefix { $0 != "*" })
      }
    }
    #expect(sentences(wanted) == ["PAIR432,1", "PAIR436,1"])
    let found = airoha.value(.measurements, from: [Array("PAIR433,0".utf8), Array("PAIR437,0".utf8)])
    let before = try #require(found?.undoing(.measurements(wanted), isWhole: true))
    guard case .measurements(let list) = before else {
      Issue.record("no measurements")
      return
    }
    #expect(sentences(list) == ["PAIR432,0", "PAIR436,0"])
    let none = airoha.value(.measurements, from: [Array("PAIR433,-1".utf8), nil])
    #expect(none.map { sentences(wanted, from: $0) } == ["PAIR432,1"])
    #expect(none?.covers(.measurements(wanted)) == false)
    for reply in ["PAIR433,2", "PAIR433,x", "PAIR433"] {
      #expect(airoha.value(.measurements, from: [Array(reply.utf8), nil]) == nil)
    }
  }

  @Test("A message that is refused after others leaves those to be restored")
  func partlyRefused() throws {
    let receiver = ReceiverDescription(
      family: .quectel, model: "LG290P", firmware: nil, hardware: "", capabilities: [.rawMeasurements])
    let wanted = Quectel().measurements(of: receiver)
    var work = try #require(FamilyWork([.set(.measurements(wanted))], on: receiver, .session))
    for name in wanted.map(\.formatter) {
      work.receive(.answered(Array("PQTMCFGMSGRATE,OK,\(name),0".utf8)), observed: ObservedOutput())
    }
    work.receive(.acknowledged, observed: ObservedOutput())
    work.receive(.refused(.failed), observed: ObservedOutput())
    #expect(work.results == [.refused])
    #expect(work.found == [.measurements(wanted.map { SentenceRate($0.formatter, 0) })])
  }

  @Test("The record of measurements is read as it was written")
  func record() {
    let value = ReceiverValue.measurements([SentenceRate("RTCM3-107X", 10), SentenceRate("EPH", 0)])
    let words = value.text.split(separator: " ").map(String.init)
    #expect(words.count == 2 && ReceiverValue(words[0], words[1]) == value)
    // Other names in a record make no command.
    for family in ReceiverFamily.allCases {
      let receiver = ReceiverDescription(family: family, model: nil, firmware: nil, hardware: "", capabilities: [])
      #expect(!receiver.takes(.measurements([SentenceRate("FRESET", 1)])), "\(family)")
    }
  }

  // MARK: Refusals

  @Test(
    "A receiver without them is refused by name, and a firmware that does not know the commands",
    arguments: ReceiverModel.ofOtherMakers)
  func refused(_ model: ReceiverModel) throws {
    let scene = Self.scene(Case(model: model, messages: [], saving: ""))
    #expect(scene.run(60) { $0.isSteady })
    let receiver = try #require(scene.description)
    guard ![.lg290p, .um980].contains(model) else { return }
    #expect(receiver.lackOfMeasurements != nil)
    let sent = scene.sentBytes
    Self.measure(scene)
    scene.run(5)
    #expect(scene.sentBytes == sent)
  }

  @Test("A firmware that does not know the commands is said to refuse them, within seconds")
  func unknownCommands() throws {
    let receiver = ReceiverDescription(
      family: .airoha, model: "LC29H", firmware: nil, hardware: "", capabilities: [.rawMeasurements])
    var work = try #require(
      FamilyWork([.set(.measurements(Airoha().measurements(of: receiver)))], on: receiver, .session))
    work.receive(.refused(.unsupported), observed: ObservedOutput())
    work.receive(.refused(.unsupported), observed: ObservedOutput())
    #expect(work.results == [.silent] && work.next() == nil && work.found.isEmpty)
  }
}

extension FamilyLanguage {
  /// The value by replies that do not depend on the receiver.
  fileprivate func value(_ kind: ReceiverValue.Kind, from replies: [[UInt8]?]) -> ReceiverValue? {
    let receiver = ReceiverDescription(family: .quectel, model: nil, firmware: nil, hardware: "", capabilities: [])
    return value(kind, from: replies, on: receiver)
  }
}
