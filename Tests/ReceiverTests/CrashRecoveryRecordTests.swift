// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Receiver
import ReceiverSimulator
import Testing

@Suite("A receiver that a killed program put to sleep")
struct CrashRecoveryRecordTests {
  private static let asRaised: @Sendable (ReceiverDescription) -> DesiredConfiguration = { receiver in
    var desired = DesiredConfiguration.navigation(for: receiver)
    desired.leastPortRate = 115_200
    return desired
  }

  /// A program raised the rate, put the receiver to sleep, and is killed; another one opens the line at the usual rate.
  private static func killed(_ model: ReceiverModel, knows: Bool, rest: (SessionScene) -> Void) -> SessionScene {
    let scene = SessionScene(model) { $0.desired = asRaised }
    scene.run(30) { $0.isSteady && $0.line.hostRate == 115_200 }
    rest(scene)
    scene.run(20)
    let recovery = scene.recovery
    #expect(recovery?.rate == 115_200 && recovery?.foundRate == (model == .f9p ? 38_400 : 9600))
    scene.kill(for: 1000) { $0.recovery = knows ? recovery : nil }
    scene.line.hostRate = 9600
    scene.clearReports()
    return scene
  }

  @Test("Asleep, it answers within a second and a half", arguments: [ReceiverModel.m8, .m10, .f9p])
  func asleep(model: ReceiverModel) {
    let scene = Self.killed(model, knows: true) { $0.sleep(seconds: nil) }
    let from = scene.now + Milliseconds(1000)
    #expect(scene.run(10) { $0.description != nil })
    #expect(scene.now.milliseconds(since: from) < 1500)
    #expect(scene.run(10) { $0.isSteady })
    // The rate that the first program found is restored.
    _ = scene.finish()
    #expect(scene.line.receiver.baudRate == (model == .f9p ? 38_400 : 9600))
  }

  @Test("Collecting and silent, too", arguments: [ReceiverModel.m8Batching, .m10])
  func silent(model: ReceiverModel) {
    let scene = Self.killed(model, knows: true) { scene in
      var desired = Self.asRaised(scene.description!)
      for index in desired.messages.indices { desired.messages[index].rate = 0 }
      desired.isSilent = true
      scene.set(desired)
    }
    let from = scene.now + Milliseconds(1000)
    #expect(scene.run(10) { $0.description != nil })
    #expect(scene.now.milliseconds(since: from) < 1500)
  }

  @Test(
    "Killed in its sleep: the next program has it as it was found, also in what outlives a power cycle",
    arguments: [ReceiverModel.m8, .m10, .f9p])
  func settings(model: ReceiverModel) throws {
    let untouched = SessionScene(model, intent: .identify) { $0.desired = { _ in .nothing } }
    untouched.run(20) { $0.isSteady }
    let before = try untouched.all()
    let scene = SessionScene(model) { $0.desired = Self.asRaised }
    scene.run(30) { $0.isSteady && $0.line.hostRate == 115_200 }
    scene.sleep(seconds: nil)
    scene.run(20)
    let (recovery, changed) = (scene.recovery, try #require(scene.recoverySettings))
    // By way of the file.
    let read = try #require(CrashRecoverySettings("\n" + changed.text + "\n"))
    #expect(read == changed)
    scene.kill(for: 1000) { ($0.recovery, $0.recoverySettings) = (recovery, read) }
    scene.line.hostRate = 9600
    #expect(scene.run(15) { $0.isSteady })
    _ = scene.finish()
    scene.run(2)
    #expect(scene.line.receiver.baudRate == (model == .f9p ? 38_400 : 9600) && scene.reported(.notRestored) == 0)
    for losing in [nil, false] as [Bool?] {
      if let losing {
        scene.line.inject(.powerCycle(for: Milliseconds(2000), losingBackup: losing), at: scene.now)
        scene.run(5)
      }
      scene.kill(for: 500) { settings in
        (settings.recovery, settings.recoverySettings, settings.intent) = (nil, nil, .identify)
        settings.desired = { _ in .nothing }
      }
      #expect(scene.run(20) { $0.isSteady })
      let differences = zip(before, try scene.all()).filter { $0 != $1 }.map { "\($0.name) \($0.text) \($1.text)" }
      #expect(differences == [], "\(losing.map { "power cycle, \($0)" } ?? "at once")")
    }
  }

  @Test("Another receiver is not changed, and an incomplete record is rejected")
  func others() {
    #expect(CrashRecoverySettings("of another\nitem 1 2\nwhole")?.text == "of another\nitem 1 2\nwhole")
    for text in [
      "", "item 1 2", "of a\nitem 1", "of a\nitem x 1", "of a\nmessage 1 x0 rate 1", "of a\nmessage 1 x rate 999",
    ] {
      #expect(CrashRecoverySettings(text) == nil, "\(text)")
    }
  }

  @Test("With an outdated record the rate is searched as usual")
  func elsewhere() {
    let scene = SessionScene(.m10) { settings in
      settings.recovery = CrashRecoveryRecord(rate: 115_200, foundRate: 38_400)
    }
    #expect(scene.run(12) { $0.isSteady })
    #expect(scene.line.hostRate == 9600)
    _ = scene.finish()
    #expect(scene.line.receiver.baudRate == 9600, "A rate that it never had is not put back.")
  }

  @Test("Another make on the line is polled once at that rate")
  func other() {
    let scene = SessionScene(.nmea) { $0.recovery = CrashRecoveryRecord(rate: 115_200, foundRate: 9600) }
    #expect(scene.run(30) { !$0.fixes.isEmpty })
    let sent = scene.sentBytes
    #expect(sent < 200)
    // The probes of identification.
    scene.run(60)
    let probed = scene.sentBytes
    scene.run(60)
    #expect(scene.sentBytes == probed && scene.line.hostRate == 4800)
  }

  @Test("There is no record of an unchanged receiver that sends")
  func nothing() {
    let scene = SessionScene(.m10) { $0.desired = { _ in .nothing } }
    scene.run(10)
    #expect(scene.recovery == nil)
    scene.sleep(seconds: 60)
    scene.run(5)
    #expect(scene.recovery == CrashRecoveryRecord(rate: 9600, foundRate: 9600))
  }

  @Test(
    "Killed with constellations off: the next program has them on again, also in what outlives sleep",
    arguments: [ReceiverModel.m10, .f9p])
  func constellations(model: ReceiverModel) {
    let all = SessionScene(model).line.receiver.systems
    let scene = Self.killed(model, knows: true) { scene in
      var desired = Self.asRaised(scene.description!)
      desired.withoutConstellations = [.galileo, .beiDou, .glonass]
      scene.set(desired)
      scene.run(5)
      #expect(scene.line.receiver.systems == .gps && all != .gps)
      scene.sleep(seconds: nil)
    }
    #expect(scene.run(10) { $0.isSteady })
    scene.run(2)
    #expect(scene.line.receiver.systems == all)
    _ = scene.finish()
    #expect(scene.line.receiver.systems == all)
    // Its RAM is lost.
    scene.line.inject(.powerCycle(for: Milliseconds(2000), losingBackup: false), at: scene.now)
    scene.run(20)
    #expect(scene.line.receiver.systems == all)
  }

  @Test(
    "The line of text is read back, and nothing else is",
    arguments: ["rate 115200 found 9600", "rate 9600 without 2,3,6 found 9600"])
  func text(line: String) {
    #expect(CrashRecoveryRecord(line)?.text == line)
    #expect(CrashRecoveryRecord(line + "\n")?.text == line)
    for cut in 0..<line.count where cut < line.count - 2 {
      #expect(CrashRecoveryRecord(String(line.prefix(cut))) == nil)
    }
    #expect(
      CrashRecoveryRecord("rate 0 found 9600") == nil && CrashRecoveryRecord("rate 9600 without 2,9 found 9600") == nil)
  }

  @Test("A record has the port of a receiver whose commands name one, and no other name")
  func port() {
    let record = CrashRecoveryRecord(rate: 115_200, foundRate: 9600, family: .unicore, port: "COM2")
    #expect(record.text == "rate 115200 found 9600 family Unicore port COM2")
    #expect(CrashRecoveryRecord(record.text) == record)
    for text in [" family Unicore port COM9", " family Unicore port", " family MediaTek port COM2", " port COM2"] {
      #expect(CrashRecoveryRecord("rate 115200 found 9600" + text) == nil, "\(text)")
    }
  }
}
