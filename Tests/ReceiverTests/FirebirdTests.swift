// SPDX-License-Identifier: Apache-2.0
import HostSimulator
import MonotonicTime
import Testing

@testable import Receiver

@Suite("Unicore's Firebird")
struct FirebirdTests {
  private typealias Host = VirtualHost<SessionLog, FamilyLine<FirebirdDevice>>

  private static func scene(_ model: String = "UC6580I-00", _ intent: SessionSettings.Intent = .identify) -> Host {
    let scene = Host(family: FirebirdDevice(model: model), intent: intent) { $0.desired = { _ in .nothing } }
    scene.run(60) { $0.read { $0.isSteady } == true }
    return scene
  }

  @Test("Unicore's Firebird identifies itself by PDTINFO, and has commands of its own")
  func firebird() throws {
    let language = Firebird()
    let reply = Outcome.answered(Array("PDTINFO,UC6580I-00,G1B1L1E1,V00,R6.1.1.1Build9074".utf8))
    let found = try #require(language.description(from: reply, to: language.probes[0]))
    #expect(found.model == "UC6580I-00" && found.firmware == "R6.1.1.1Build9074")
    func text(_ commands: [Command]?) -> [String]? { commands?.map { String(decoding: $0.bytes, as: UTF8.self) } }
    let messages = language.commands(
      setting: .messages([SentenceRate("GSV", 5), SentenceRate("VTG", 0)]), from: nil, on: found)
    #expect(text(messages)?.map { String($0.prefix { $0 != "*" }) } == ["$CFGMSG,0,3,5", "$CFGMSG,0,5,0"])
    #expect(language.commands(setting: .messages([SentenceRate("GST", 1)]), from: nil, on: found) == nil)
    #expect(language.commands(setting: .period(200), from: nil, on: found) == nil)
    let actions = ReceiverAction.allCases.map { action in
      text(language.commands(for: action, on: found))?.first?.prefix { $0 != "*" }
    }
    #expect(actions == ["$CFGSAVE", "$RESET,0,h00", "$RESET,0,h01", "$RESET,0,h85", "$CFGCLR"])
    let answer = FamilyAnswer(nil, .firebird)
    #expect(answer.judge(.text(Array("OK".utf8))) == .over(.acknowledged))
    #expect(answer.judge(.text(Array("FAIL,0".utf8))) == .over(.refused(.failed)))
  }

  @Test("A person's restart has no acknowledgement, and the reply to a query is data")
  func sentences() throws {
    #expect(Command.sentence("RESET,0,h00", for: .firebird)?.answer == Command.Answer.none)
    let query = Firebird().acknowledgement(ofSentence: "PDTINFO")
    #expect(query?.judge(.text(Array("OK".utf8))) == .wait)
    let reply = Array("PDTINFO,UC6580I".utf8)
    #expect(query?.judge(.text(reply)) == .over(.answered(reply)))
    #expect(
      Firebird().acknowledgement(ofSentence: "CFGSAVE")?.judge(.text(Array("OK".utf8))) == .over(.acknowledged))
  }

  @Test("Its reply decides, whatever its name is", arguments: ["UC6580I-00", "UM620N", "UM621A", "CM121"])
  func names(_ model: String) throws {
    let scene = Self.scene(model)
    let found = try #require(scene.read { $0.description })
    #expect(found.family == .firebird && found.vendor == "Unicore" && found.model == model)
    #expect(ReceiverDescription(strings: found.strings) == found)
    let messages = ReceiverValue.messages([SentenceRate("GSV", 0), SentenceRate("ZDA", 1)])
    let ticket = try #require(
      scene.withSession { $0.perform([.set(messages), .act(.warmRestart), .act(.save)], at: scene.now) })
    scene.run(60) { $0.machine.outcomes[ticket] != nil }
    #expect(scene.machine.outcomes[ticket] == .performed([.written, .written, .written]))
    #expect(scene.line.sent.contains("$RESET,0,h01*") && !scene.line.sent.contains("UNLOG"))
  }

  @Test(
    "Its echo of another maker's probe shows it: its own probe is next",
    arguments: [SessionSettings.Intent.serve, .identify])
  func echoOfProbe(_ intent: SessionSettings.Intent) {
    let scene = Self.scene("UM620N", intent)
    #expect(scene.read { $0.description }?.family == .firebird)
    let others = ["PQTM", "PAIR", "PMTK", "PCAS", "PSTM", "VERSION"].filter { scene.line.sent.contains($0) }
    #expect(others.count <= 1, "\(others)")
  }

  @Test("It replies to the polls that wait for a receiver, and wake one")
  func polls() throws {
    let scene = Self.scene()
    let poll = try #require(scene.read { $0.description }?.familyPoll)
    #expect(poll.bytes == Firebird().wakeUp.bytes)
    let ticket = try #require(scene.withSession { $0.submit(poll, at: scene.now) })
    scene.run(10) { $0.machine.outcomes[ticket] != nil }
    guard case .answered? = scene.machine.outcomes[ticket] else {
      return #expect(Bool(false), "\(String(describing: scene.machine.outcomes[ticket]))")
    }
  }

  @Test(
    "An OK of the query of its identity, which comes after the reply, is not the acknowledgement of the next command",
    arguments: [(0, true), (30, true), (150, true), (30, false), (150, false)] as [(UInt64, Bool)])
  func lateAcknowledgement(_ gap: UInt64, isRefused: Bool) throws {
    var device = FirebirdDevice(model: "UC6580I-00")
    (device.gap, device.refusesSave) = (gap, isRefused)
    let scene = Host(family: device, intent: .identify) { $0.desired = { _ in .nothing } }
    scene.run(60) { $0.read { $0.isSteady } == true }
    let ticket = try #require(scene.withSession { $0.perform([.act(.save)], at: scene.now) })
    scene.run(60) { $0.machine.outcomes[ticket] != nil }
    #expect(scene.machine.outcomes[ticket] == .performed([isRefused ? .refused : .written]))
  }

  @Test("The text that repeats a request is not a warning, and another error is one")
  func echoes() throws {
    let scene = Self.scene("UC6580I-00", .serve)
    let ticket = try #require(
      scene.withSession { $0.perform([.set(.messages([SentenceRate("GSV", 0)])), .act(.save)], at: scene.now) })
    scene.run(60) { $0.machine.outcomes[ticket] != nil }
    #expect(scene.line.sent.contains("CFGSAVE") && Self.warnings(scene) == [])
    let command = try #require(Command.sentence("CFGBAD", for: .firebird))
    _ = scene.withSession { $0.submit(command, at: scene.now) }
    scene.run(5)
    #expect(Self.warnings(scene) == ["unknown command"])
  }

  private static func warnings(_ scene: Host) -> [String] {
    scene.reports.compactMap { if case .warned(let text) = $0.report { text } else { nil } }
  }

  @Test(
    "The sentences as found, of which a restart loses those that are not saved, are written again at the end, and after a kill",
    arguments: [false, true])
  func lostInRestart(isKilled: Bool) throws {
    let scene = Self.scene()
    let found = [2, 0, 0, 5, 1, 0, 0]
    scene.line.device.rates = found
    let observing = try #require(scene.withSession { $0.perform([.observe(.messages)], at: scene.now) })
    scene.run(60) { $0.machine.outcomes[observing] != nil }
    let seen = ReceiverValue.messages([SentenceRate("GGA", 2), SentenceRate("GSV", 5), SentenceRate("RMC", 1)])
    #expect(scene.machine.outcomes[observing] == .performed([.value(seen)]))
    let receiver = try #require(scene.read { $0.description })
    let restored = FamilySettings.whole(seen, of: receiver)
    #expect(scene.read { $0.recoverySettings } == .some(nil))
    let ticket = try #require(
      scene.withSession { $0.perform([.act(.hotRestart)], restoring: [restored], at: scene.now) })
    #expect(scene.read { $0.recoverySettings?.values } == [restored])
    scene.run(60) { $0.machine.outcomes[ticket] != nil }
    #expect(scene.machine.outcomes[ticket] == .performed([.written]) && scene.line.device.rates != found)
    if isKilled {
      scene.machine.stored.read(into: &scene.settings)
      scene.kill(for: Milliseconds(500))
      scene.run(60) { $0.read { $0.isSteady && $0.description != nil } == true }
    }
    scene.finish()
    #expect(scene.line.device.rates == found && scene.reported(.notRestored) == 0)
  }

  @Test("An observation is as long as slow fixes need, and the file names the sentences that it does not show")
  func slowFixes() throws {
    let scene = Self.scene()
    scene.line.device.period = 5000
    scene.line.device.rates = [1, 0, 0, 10, 1, 0, 0]
    scene.run(20)
    let ticket = try #require(scene.withSession { $0.perform([.observe(.messages)], at: scene.now) })
    scene.run(180) { $0.machine.outcomes[ticket] != nil }
    let seen = ReceiverValue.messages([SentenceRate("GGA", 1), SentenceRate("GSV", 10), SentenceRate("RMC", 1)])
    #expect(scene.machine.outcomes[ticket] == .performed([.value(seen)]))
    let receiver = try #require(scene.read { $0.description })
    #expect(FamilySettings.stored(seen, of: receiver).unit.hasSuffix("every 10 fixes"))
    let casic = ReceiverDescription(
      family: .casic, model: nil, firmware: nil, hardware: "", capabilities: [.configure, .restart])
    #expect(FamilySettings.stored(seen, of: casic).unit.isEmpty)
    #expect(
      FamilySettings.reading([], isForFile: true).tasks == [
        .read(.period), .read(.constellations), .observe(.messages), .read(.output),
      ])
  }

  @Test("Its port is not known: the baud rate is refused, and stays")
  func baud() throws {
    let scene = Self.scene()
    let found = try #require(scene.read { $0.description })
    #expect(!found.takesRate(9600) && !found.takesRate(230_400))
    let sent = scene.line.writes.count
    var desired = DesiredConfiguration()
    (desired.portRate, desired.keepsPortRate) = (9600, true)
    scene.withSession { $0.set(desired, at: scene.now) }
    scene.run(20)
    #expect(scene.reported(.rateNotChanged(9600)) == 1 && scene.line.hostRate == 115_200)
    #expect(scene.line.writes.count == sent)
  }
}

/// A receiver with Firebird firmware as the documents describe it: each command is echoed as a text.
struct FirebirdDevice: FamilyDevice {
  var rate: UInt32 = 115_200
  var period = 1000
  var isAsleep = false
  var model: String
  private static let names = ["GGA", "GLL", "GSA", "GSV", "RMC", "VTG"]
  private static let stored = [1, 1, 1, 1, 1, 1, 0]
  var rates = stored
  private var epochs = 0
  var gap: UInt64 = 0
  var refusesSave = false

  init(model: String) { self.model = model }

  mutating func epoch() -> [String] {
    epochs += 1
    let due = Self.names.enumerated().filter { rates[$0.offset] > 0 && epochs % rates[$0.offset] == 0 }
    return Self.sentences(due.map(\.element), talker: "GN")
  }

  mutating func receive(_ body: String) -> [String] {
    let fields = body.split(separator: ",").map { String($0) }
    let echo = "GNTXT,01,01,00,\(body)"
    switch fields.first {
    case "PDTINFO": return [echo, "PDTINFO,\(model),G1B1L1E1,V00,R6.1.1.1Build9074,004102,-", "OK"]
    case "CFGMSG" where fields.count == 4:
      guard let number = Int(fields[2]), let every = Int(fields[3]), rates.indices.contains(number) else {
        return [echo, "FAIL,0"]
      }
      rates[number] = every
      return [echo, "OK"]
    case "CFGSAVE": return [echo, refusesSave ? "FAIL,0" : "OK"]
    case "RESET":
      rates = Self.stored
      return [echo]
    case "CFGBAD": return [echo, "GNTXT,01,01,00,unknown command", "FAIL,0"]
    default: return [echo, "FAIL,0"]
    }
  }
}
