// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Positioning
import Receiver
import ReceiverStream
import Testing

@testable import Power
@testable import ReceiverSimulator

@Suite("The policy and a receiver's session together, in virtual time")
struct CoordinatorTests {
  private static let moving = Demand(updates: .init(accuracy: .best))

  private static func paused(_ isPaused: Bool) -> Demand {
    isPaused ? Demand.paused : moving
  }

  /// The times of the fixes, whole seconds since the first.
  private static func seconds(_ scene: Scene) -> [Int] {
    guard let first = scene.fixes.first else { return [] }
    return scene.fixes.map {
      Int(($0.time.nanosecondsSince1970 - first.time.nanosecondsSince1970 + 500_000_000) / 1_000_000_000)
    }
  }

  @Test(
    "DF-10 a deferral silences the line, then every fix comes once, oldest first",
    arguments: [ReceiverModel.m10, .m8Batching, .m9])
  func deferral(model: ReceiverModel) {
    let scene = Scene(model)
    scene.demand(Self.moving)
    #expect(scene.run(120) { $0.fixes.count >= 40 })
    scene.clearFixes()
    scene.demand(.deferred(120, from: scene.now))
    #expect(scene.run(75) { $0.journal != nil }, "it does not collect")
    scene.run(1)
    let before = scene.receivedBytes
    let handed = scene.fixes.count
    scene.run(40)
    #expect(scene.receivedBytes == before, "the line is not silent")
    #expect(scene.fixes.count == handed)
    #expect(scene.run(90) { $0.fixes.count >= handed + 60 }, "it is not read")
    // Without another deferral the remaining fixes are delivered, and then live ones.
    scene.demand(Self.moving)
    scene.run(30)
    #expect(scene.fixes.last?.isBatched == false)
    let seconds = Self.seconds(scene)
    #expect(seconds == Array(0..<seconds.count), "fixes are lost, doubled or out of order")
    #expect(scene.losses.isEmpty)
  }

  @Test("Without a demand the receiver is in backup, and the host is not woken")
  func idle() {
    let scene = Scene(.m10)
    scene.demand(Self.moving)
    #expect(scene.run(120) { $0.fixes.count >= 40 })
    scene.demand(nil)
    #expect(scene.run(10) { $0.isAsleep })
    scene.run(3)
    let wakeUps = scene.hostWakeUps
    scene.run(3600)
    #expect(scene.isAsleep)
    #expect(scene.hostWakeUps == wakeUps)
    scene.demand(Self.moving)
    let from = scene.fixes.count
    #expect(scene.run(6) { $0.fixes.count > from }, "it does not come back")
  }
}

@Suite("Faults between the policy and a receiver, in virtual time")
struct CoordinatorFaultTests {
  private static let moving = Demand(updates: .init(accuracy: .best))
  private static let everyQuarter = Demand(everySeconds: 900)

  /// A scene whose receiver sleeps between position checks.
  private static func asleep(_ model: ReceiverModel = .m10) -> Scene {
    let scene = Scene(model)
    scene.demand(everyQuarter)
    #expect(scene.run(200) { $0.isAsleep }, "it does not fall asleep")
    scene.run(3)
    return scene
  }

  @Test("A receiver with a position check every quarter of an hour sleeps between the checks, and is on time")
  func checks() {
    let scene = Self.asleep()
    let charge = scene.chargeMilliampereSeconds
    let count = scene.fixes.count
    var at: [Instant] = []
    for _ in 0..<3 {
      let before = scene.fixes.count
      #expect(scene.run(1000) { $0.fixes.count > before })
      at.append(scene.now)
      #expect(scene.run(60) { $0.isAsleep })
    }
    #expect(scene.fixes.count - count < 3 * 40)
    for (earlier, later) in zip(at, at.dropFirst()) { #expect(later.seconds(since: earlier) <= 900) }
    // Forty-five minutes at 9 mA would be 24 As.
    #expect(scene.chargeMilliampereSeconds - charge < 1500)
  }

  @Test("A receiver that ignores sleep gets three requests, is reported once, and gives fixes")
  func ignoresSleep() {
    let scene = Scene(.m10)
    scene.inject(.ignoreSleepRequests(for: Milliseconds(seconds: 600)))
    scene.demand(Self.everyQuarter)
    scene.run(300)
    #expect(scene.reported(.doesNotSleep) == 1)
    #expect(scene.commands.count { if case .sleep = $0.command { true } else { false } } <= 4)
    let count = scene.fixes.count
    #expect(scene.run(950) { $0.fixes.count > count })
  }

  @Test("A receiver that does not wake is reported once, and used when it answers")
  func ignoresWake() {
    let scene = Self.asleep()
    scene.inject(.ignoreWakeUps(for: Milliseconds(seconds: 300)))
    scene.demand(Self.moving, of: 2)
    #expect(scene.run(120) { $0.reported(.doesNotWake) == 1 })
    let count = scene.fixes.count
    #expect(scene.run(900) { $0.fixes.count > count + 5 })
    #expect(scene.reported(.doesNotWake) == 1)
    #expect(scene.reported(.answersAgain) == 1)
  }

  @Test("A receiver that sends positions while it is identified is not absent")
  func identifying() {
    let scene = Scene(.nmea)
    scene.demand(Self.moving)
    #expect(scene.machine.coordinator.status == .absent)
    #expect(scene.run(60) { $0.positions > 0 })
    #expect(scene.machine.coordinator.status == .identifying)
    #expect(scene.run(60) { $0.machine.coordinator.status == .awake })
  }

  /// A receiver that has collected for a minute.
  private static func collecting() -> Scene {
    let scene = Scene(.m10)
    scene.demand(Self.moving)
    #expect(scene.run(120) { $0.fixes.count >= 40 })
    scene.demand(.deferred(200, from: scene.now))
    #expect(scene.run(75) { $0.journal != nil })
    scene.run(60)
    return scene
  }

  @Test("A receiver that restarts while it collects: the lost fixes are reported with their number, and it continues")
  func reboots() {
    let scene = Self.collecting()
    scene.inject(.reboot)
    scene.run(10)
    let gone = scene.reports.compactMap { if case .batchGone(let atMost) = $0.report { atMost } else { nil } }
    #expect(gone.count == 1)
    #expect((50...75).contains(gone.first ?? 0), "\(gone)")
    let count = scene.fixes.count
    scene.run(300)
    #expect(scene.fixes.count > count + 100, "it does not collect again")
  }

  @Test("The same after a power cut that reset the raised rate")
  func losesPower() {
    let scene = Self.collecting()
    scene.inject(.powerCycle(for: Milliseconds(300), losingBackup: true))
    scene.run(40)
    let gone = scene.reports.compactMap { if case .batchGone(let atMost) = $0.report { atMost } else { nil } }
    #expect(gone.count == 1, "\(scene.reports)")
    let count = scene.fixes.count
    scene.run(300)
    #expect(scene.fixes.count > count + 100, "it does not collect again")
  }

  @Test("An identified receiver is not taken for a plain one, however long its configuration takes")
  func slow() throws {
    var payload = [UInt8](repeating: 0, count: 70)
    payload.replaceSubrange(0..<8, with: Array("ROM SPG ".utf8))
    payload.replaceSubrange(30..<38, with: Array("000A0000".utf8))
    payload.replaceSubrange(40..<53, with: Array("PROTVER=34.10".utf8))
    let description = try #require(ReceiverDescription(monVER: payload))
    var fix = Fix()
    (fix.latitudeDegrees, fix.longitudeDegrees, fix.kind) = (48, 11, .threeD)
    for isIdentified in [true, false] {
      var coordinator = PowerCoordinator(at: .zero)
      coordinator.handle(.demand(ClientID(1), Self.moving), at: .zero)
      if isIdentified {
        coordinator.receive(.identified(description), desired: nil, receiver: description, port: .uart1, at: .zero)
      }
      for second in 0..<60 {
        coordinator.receive(fix, sky: Sky(), isUpdate: false, at: .zero + Milliseconds(UInt64(second) * 1000))
      }
      #expect((coordinator.power.capabilities == nil) == isIdentified)
    }
  }

  @Test(
    "A receiver that refuses to save its RAM stays awake, serves, and is asked again an hour later",
    arguments: [ReceiverModel.m10, .f9p])
  func refusesSaving(model: ReceiverModel) {
    let scene = Scene(model)
    scene.demand(Self.moving)
    #expect(scene.run(120) { $0.fixes.count >= 40 })
    scene.line.receiver.configuration.items?.set(Key.configurationLock, 1)
    for (seconds, count) in [(1500.0, 1), (2500.0, 1), (600.0, 2)] {
      scene.demand(nil)
      #expect(!scene.run(seconds) { $0.isAsleep })
      #expect(scene.machine.sessionReports.count { $0 == .refusesSaving } == count)
      let fixes = scene.fixes.count
      scene.demand(Self.moving)
      #expect(scene.run(30) { $0.fixes.count > fixes + 3 })
    }
    #expect(scene.machine.reports.count { $0.report == .refused(.backup) } <= 2)
  }

  @Test("Unplugged in backup: it is found again, and serves")
  func unplugged() {
    let scene = Self.asleep()
    let count = scene.fixes.count
    scene.inject(.unplug(for: Milliseconds(seconds: 20)))
    #expect(scene.run(145) { $0.fixes.count > count })
    #expect(scene.run(200) { $0.isAsleep })
  }

  @Test("At the end a sleeping receiver is awake and as it was found", arguments: [ReceiverModel.m10, .f9p, .m8])
  func end(model: ReceiverModel) {
    let scene = Self.asleep(model)
    #expect(scene.finish() < 3500)
    #expect(!scene.isAsleep)
    #expect(scene.line.receiver.settings == Scene(model).line.receiver.settings)
  }

  private static let nearBorder = Demand(
    updates: .init(accuracy: .metres(100), distanceFilterMetres: 100))

  @Test(
    "Frequent position checks with an accuracy of a hundred metres use GPS alone, until a client needs more",
    arguments: [ReceiverModel.m10, .f9p])
  func constellations(model: ReceiverModel) {
    let scene = Scene(model)
    let found = scene.line.receiver.settings
    scene.demand(Self.nearBorder)
    scene.run(900)
    #expect(scene.line.receiver.systems == .gps)
    var count = scene.fixes.count
    scene.run(60)
    #expect(scene.fixes.count >= count + 4)
    scene.demand(Self.moving, of: 2)
    scene.run(10)
    #expect(scene.line.receiver.systems == found.systems)
    count = scene.fixes.count
    scene.run(10)
    #expect(scene.fixes.count >= count + 9)
    scene.demand(nil, of: 2)
    scene.run(900)
    #expect(scene.line.receiver.systems == .gps)
    _ = scene.finish()
    #expect(scene.line.receiver.settings == found)
    #expect(scene.reports.allSatisfy { $0.report == .noReceiver })
  }

  @Test("Unplugged with constellations off: they are on when it is back and a client needs more")
  func constellationsUnplugged() {
    let scene = Scene(.m10)
    let found = scene.line.receiver.systems
    scene.demand(Self.nearBorder)
    scene.run(900)
    #expect(scene.line.receiver.systems == .gps)
    scene.inject(.unplug(for: Milliseconds(3000)))
    scene.demand(Self.moving, of: 2)
    scene.run(20)
    #expect(scene.line.receiver.systems == found)
  }

  @Test("A receiver that changes its constellations only by a restart keeps them")
  func constellationsOfOlder() {
    let scene = Scene(.m8)
    let found = scene.line.receiver.systems
    scene.demand(Self.nearBorder)
    scene.run(900)
    #expect(scene.line.receiver.systems == found)
  }

  @Test(
    "A process that dies while the receiver collects: the next one gets every remaining fix, once",
    arguments: [ReceiverModel.m10, .m8Batching], [52.0, 60, 63.25, 70.5])
  func dies(model: ReceiverModel, after seconds: Double) {
    let scene = Scene(model)
    scene.demand(Self.moving)
    #expect(scene.run(120) { $0.fixes.count >= 40 })
    scene.clearFixes()
    scene.demand(.deferred(200, from: scene.now))
    #expect(scene.run(75) { $0.journal != nil })
    scene.run(seconds)
    scene.dieAndReturn()
    scene.demand(Self.moving)
    #expect(scene.run(120) { $0.journal == nil }, "it is not read to its end")
    scene.run(15)
    let times = scene.fixes.map { Int($0.time.nanosecondsSince1970 / 1_000_000_000) }
    // 200 s do not fit into the memory of the M8 at a fix a second: it is planned with one every two.
    let longest = model == .m8Batching ? 2 : 1
    #expect(
      zip(times, times.dropFirst()).allSatisfy { 1...longest ~= $1 - $0 }, "fixes are lost, doubled or out of order")
    // The collected fixes, and the live seconds since.
    #expect(Double(times.count) >= seconds / Double(longest) + 15)
    #expect(scene.journal == nil)
  }

  @Test(
    "No byte is sent in a read-only session, nor to a probed receiver without a reply: only the host sleeps",
    arguments: [true, false])
  func unread(isReadOnly: Bool) {
    let scene = isReadOnly ? Scene(.m10, intent: .readOnly) : Scene(.nmea)
    scene.demand(Self.everyQuarter)
    #expect(scene.run(200) { $0.isSilent })
    let wakeUps = scene.hostWakeUps
    let count = scene.positions
    let sent = scene.sentBytes
    scene.run(600)
    #expect(scene.hostWakeUps == wakeUps)
    #expect(scene.run(320) { $0.positions > count })
    #expect(scene.sentBytes == sent && (!isReadOnly || sent == 0))
  }
}
