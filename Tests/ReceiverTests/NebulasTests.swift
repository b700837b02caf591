// SPDX-License-Identifier: Apache-2.0
import HostSimulator
import MonotonicTime
import RTCM3
import Testing

@testable import Receiver

@Suite("Unicore's Nebulas")
struct NebulasTests {
  private typealias Host = VirtualHost<SessionLog, FamilyLine<NebulasDevice>>

  private static func scene(_ logs: [String], refuses: [String] = []) -> Host {
    let device = NebulasDevice(logs, refuses: refuses)
    let scene = Host(family: device, intent: .identify) { $0.desired = { _ in .nothing } }
    scene.run(60) { $0.read { $0.isSteady } == true }
    return scene
  }

  private static func perform(_ scene: Host, _ value: ReceiverValue) throws -> ReceiverTask.Result? {
    let ticket = try #require(scene.withSession { $0.perform([.set(value)], at: scene.now) })
    scene.run(120) { $0.machine.outcomes[ticket] != nil }
    guard case .performed(let results)? = scene.machine.outcomes[ticket] else { return nil }
    return results.first
  }

  // MARK: Identification

  @Test(
    "The text of VERSIONA identifies it, with its checksum of eight digits, and damage does not",
    arguments: [("f87a", "UM980", "R4.10Build11833")])
  func text(_ damaged: String, _ model: String, _ firmware: String) throws {
    let content =
      "VERSIONA,97,GPS,FINE,2190,375570000,0,0,18,576;\"\(model)\",\"\(firmware)\",\"HRPT00-S10C-P\",\"-\",\"ff3ba396\",\"2021/11/26\""
    func found(_ checksum: String) -> ReceiverDescription? {
      var scanner = ReplyScanner()
      var found: ReceiverDescription?
      let bytes = Array("$command,VERSIONA,response: OK*45\r\n#\(content)*\(checksum)\r\n".utf8)
      unsafe scanner.receive(bytes.span.bytes) { frame, _ in
        if case .over(let outcome)? = Self.versionA.judge(frame) {
          found = Unicore().description(from: outcome, to: Unicore().probes[1])
        }
      }
      return found
    }
    let sum = String(FrameLayout.crc32(Array(content.utf8)[...]), radix: 16)
    let whole = String(repeating: "0", count: 8 - sum.count) + sum
    #expect(found(whole)?.model == model && found(whole)?.firmware == "Build11833")
    #expect(found(String(whole.dropLast(4)) + (whole.hasSuffix(damaged) ? "0000" : damaged)) == nil)
    let other = Array("VERSIONA,COM1,0,55.0;1,GPSCARD,\"L2LRR\",\"DMGW\"".utf8)
    #expect(Unicore().description(from: .answered(other), to: Unicore().probes[1]) == nil)
  }

  @Test("A receiver that refuses the poll is there: after a restart, at another rate, and awake")
  func refusedPoll() throws {
    let scene = Self.scene(["GNGGA"])
    let poll = try #require(scene.read { $0.description }?.familyPoll)
    let ticket = try #require(scene.withSession { $0.submit(poll, at: scene.now) })
    scene.run(10) { $0.machine.outcomes[ticket] != nil }
    let outcome = try #require(scene.machine.outcomes[ticket])
    #expect(outcome == .refused(.failed) && outcome.isReply)
    var wakeUp = WakeUp(.requested, family: .unicore)
    _ = wakeUp.receive(.sent)
    let isAwake = wakeUp.receive(outcome)
    #expect(isAwake)
    #expect(!Outcome.silent.isReply && !Outcome.sent.isReply)
  }

  @Test("The end of a session writes the messages of a UM980 again that a restart lost")
  func restart() throws {
    let scene = SessionScene(.um980, intent: .identify) { $0.desired = { _ in .nothing } }
    #expect(scene.run(60) { $0.isSteady && $0.description != nil })
    let found = ["GGA": 1, "GSV": 5]
    for line in ["GNGGA 1", "GNGSV 5"] { scene.line.send(Array("\(line)\r\n".utf8), at: scene.now) }
    #expect(scene.run(10) { $0.line.receiver.sentenceRates == found })
    scene.run(5)
    let restored = ReceiverValue.messages(["GGA", "GSV", "RMC"].map { SentenceRate($0, UInt8(found[$0] ?? 0)) })
    let ticket = try #require(
      scene.withSession { $0.perform([.act(.hotRestart)], restoring: [restored], at: scene.now) })
    #expect(scene.run(10) { $0.line.receiver.sentenceRates.isEmpty })
    #expect(scene.outcomes[ticket] == .performed([.written]))
    scene.run(20)
    scene.finish()
    #expect(scene.line.receiver.sentenceRates == found && scene.reported(.notRestored) == 0)
  }

  private static let versionA = FamilyAnswer(.text("VERSIONA,"), .nebulas("VERSIONA"))

  // MARK: Talkers

  @Test(
    "A sentence is switched off whatever its talker is, also where the other form is refused", arguments: ["GN", "GP"],
    [false, true])
  func switchedOff(_ talker: String, _ refusesOther: Bool) throws {
    let other = talker == "GN" ? "GP" : "GN"
    let scene = Self.scene(
      ["GGA", "RMC", "GSV"].map { talker + $0 }, refuses: refusesOther ? ["UNLOG \(other)GGA"] : [])
    #expect(try Self.perform(scene, .messages([SentenceRate("GGA", 0)])) == .written)
    #expect(Set(scene.line.device.logs.keys) == ["\(talker)RMC", "\(talker)GSV"])
  }

  @Test("Another rate keeps the talker, and no sentence is sent twice")
  func otherRate() throws {
    let scene = Self.scene(["GPGGA", "GNRMC", "GPGSV"])
    let wanted = [SentenceRate("GGA", 2), SentenceRate("RMC", 1), SentenceRate("GSV", 2), SentenceRate("VTG", 1)]
    #expect(try Self.perform(scene, .messages(wanted)) == .written)
    #expect(scene.line.device.logs == ["GPGGA": 2, "GNRMC": 1, "GNGSV": 2, "GNVTG": 1])
  }

  @Test("A sentence that goes on after an acknowledgement is reported")
  func goesOn() throws {
    let scene = Self.scene(["GPGGA", "GNRMC", "BDVTG"])
    #expect(try Self.perform(scene, .messages([SentenceRate("VTG", 0)])) == .notVerified)
  }

  @Test("The record and the end have the talker of a sentence as it was found")
  func restored() throws {
    let scene = Host(family: NebulasDevice(["GPGGA", "GNRMC"], refuses: []), intent: .serve) {
      $0.desired = { _ in
        var desired = DesiredConfiguration.nothing
        desired.sentences = [SentenceRate("GGA", 2), SentenceRate("GSV", 1)]
        return desired
      }
    }
    #expect(scene.run(60) { $0.reported(.configured(refused: 0)) > 0 })
    #expect(scene.line.device.logs == ["GPGGA": 2, "GNRMC": 1, "GNGSV": 1])
    let record = try #require(scene.read { $0.recoverySettings } ?? nil)
    #expect(CrashRecoverySettings(record.text) == record)
    _ = scene.finish()
    #expect(scene.line.device.logs == ["GPGGA": 1, "GNRMC": 1])
  }

  /// A session that wants GGA every four seconds, of a receiver that sends GGA and RMC once a period.
  private static func scene(period: Int, _ seconds: Int) -> Host {
    var device = NebulasDevice([], refuses: [])
    (device.period, device.logs) = (period, ["GPGGA": seconds, "GNRMC": seconds])
    return Host(family: device, intent: .serve) {
      $0.desired = { _ in
        var desired = DesiredConfiguration.nothing
        desired.sentences = [SentenceRate("GGA", 4)]
        return desired
      }
    }
  }

  @Test("The end has the seconds of a sentence as it was found, whatever the time between two fixes is")
  func restoredSeconds() throws {
    let scene = Self.scene(period: 2000, 2)
    #expect(scene.run(90) { $0.reported(.configured(refused: 0)) > 0 })
    #expect(scene.line.device.logs == ["GPGGA": 4, "GNRMC": 2])
    _ = scene.finish()
    #expect(scene.line.device.logs == ["GPGGA": 2, "GNRMC": 2])
  }

  @Test("A sentence that comes several times a second cannot be restored, and stays")
  func fraction() throws {
    // No whole number of seconds.
    let scene = Self.scene(period: 500, 0)
    scene.run(90)
    #expect(scene.isSteady && scene.line.device.logs == ["GPGGA": 0, "GNRMC": 0])
  }
}

/// A UM980 as the documents describe it: each sentence is a message with its talker.
struct NebulasDevice: FamilyDevice {
  var rate: UInt32 = 115_200
  var period = 1000
  var isAsleep = false
  /// The messages with their periods in seconds.
  var logs: [String: Int]
  let refuses: [String]

  init(_ logs: [String], refuses: [String]) {
    self.logs = Dictionary(uniqueKeysWithValues: logs.map { ($0, 1) })
    self.refuses = refuses
  }

  func epoch() -> [String] {
    logs.keys.sorted().flatMap { Self.sentences([String($0.dropFirst(2))], talker: String($0.prefix(2))) }
  }

  mutating func receive(_ body: String) -> [String] {
    let words = body.split(separator: " ").map { String($0) }
    let done = "command,\(body),response: OK"
    let failed = "command,\(body),response: PARSING FAILD NO MATCHING FUNC"
    if refuses.contains(body) { return [failed] }
    switch words.first {
    case "VERSIONA":
      return [done, "VERSIONA,97,GPS,FINE,2190,375570000,0,0,18,576;\"UM980\",\"R4.10Build17548\",\"HRPT00\""]
    case "UNLOG" where words.count == 2: logs[words[1]] = nil
    case let name? where words.count == 2 && (name.hasPrefix("GN") || name.hasPrefix("GP")): logs[name] = Int(words[1])
    case "VERSIONB": return [failed]
    default: return []
    }
    return [done]
  }
}
