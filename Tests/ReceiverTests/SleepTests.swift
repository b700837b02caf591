// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Receiver
import ReceiverSimulator
import Testing
import UBX

@Suite("A receiver that is put to sleep")
struct SleepTests {
  static let uBlox = ReceiverModel.ofUBlox.filter { $0 != .nmea }

  /// Returns a session with a receiver that has a fix.
  private static func steady(_ model: ReceiverModel, _ adapt: (inout SessionSettings) -> Void = { _ in })
    -> SessionScene
  {
    let scene = SessionScene(model, adapt)
    scene.run(30) { $0.isSteady }
    scene.run(45)
    scene.clearReports()
    return scene
  }

  private static func isAsleep(_ scene: SessionScene) -> Bool {
    scene.reports.contains { if case .asleep = $0.report { true } else { false } }
  }

  @Test("It sleeps for its time, silent and without a wake-up of the host, and goes on as configured", arguments: uBlox)
  func sleeps(_ model: ReceiverModel) {
    let scene = Self.steady(model)
    scene.sleep(seconds: 600)
    scene.run(3) { Self.isAsleep($0) }
    #expect(Self.isAsleep(scene), "\(scene.reports)")
    scene.run(4)
    #expect(scene.line.receiver.powerState == .standby)
    let (bytes, sent, wakeUps, sentences) = (
      scene.receivedBytes, scene.sentBytes, scene.wakeUps, scene.counters.nmeaFrames
    )
    scene.run(580)
    #expect(scene.receivedBytes == bytes)
    #expect(scene.sentBytes == sent)
    #expect(scene.wakeUps == wakeUps)
    scene.run(40) { $0.reported(.awake(.time)) == 1 }
    #expect(scene.reported(.awake(.time)) == 1, "\(scene.reports)")
    _ = scene.takeFixes()
    scene.run(40)
    #expect(scene.positions.count > 25)
    #expect(scene.reported(.wasReset) == 0 && scene.reported(.silent) == 0, "\(scene.reports)")
    // Where settings outlive sleep, not one sentence comes.
    let text = UInt64(8)
    if model != .clone { #expect(scene.counters.nmeaFrames <= sentences + text) }
    _ = scene.finish()
    // Its battery-backed memory is as it was: a power cycle brings its own settings back.
    Self.expectFound(scene)
  }

  @Test("At an I2C bus, whose traffic wakes nothing, a wake-up waits for the timer")
  func wokenByTimer() {
    let scene = Self.steady(.m10) { $0.line = .withoutRate(.i2c) }
    scene.sleep(seconds: 60)
    scene.run(10)
    let sent = scene.sentBytes
    for _ in 0..<3 {
      scene.wakeUp()
      scene.run(5)
    }
    #expect(scene.isAsleep && scene.sentBytes == sent, "\(scene.reports)")
    #expect(scene.reports.count { if case .wakesByTimer = $0.report { true } else { false } } == 1)
    #expect(scene.run(60) { $0.isSteady } && scene.reported(.awake(.time)) == 1)
  }

  @Test("It is woken, and its first bytes are lost", arguments: uBlox)
  func wakes(_ model: ReceiverModel) {
    let scene = Self.steady(model)
    scene.sleep(seconds: nil)
    scene.run(100)
    #expect(scene.line.receiver.powerState == .standby)
    scene.wakeUp()
    let from = scene.now
    scene.run(20) { $0.reported(.awake(.requested)) == 1 }
    #expect(scene.reported(.awake(.requested)) == 1, "\(scene.reports)")
    #expect(scene.now.milliseconds(since: from) < 2500)
    scene.run(10) { $0.isSteady }
    scene.run(60)
    #expect(scene.reported(.silent) == 0 && scene.reported(.wasReset) == 0)
    #expect(scene.positions.count > 40)
  }

  @Test("An ignored request is noticed, and reported once", arguments: uBlox)
  func ignoresRequest(_ model: ReceiverModel) {
    let scene = Self.steady(model)
    scene.line.inject(.ignoreSleepRequests(for: Milliseconds(60_000)), at: scene.now)
    scene.sleep(seconds: 600)
    scene.run(50)
    #expect(scene.reported(.doesNotSleep) == 1, "\(scene.reports)")
    #expect(scene.isSteady)
    scene.run(60)
    #expect(scene.reported(.doesNotSleep) == 1 && scene.reported(.silent) == 0)
  }

  @Test("A receiver that does not wake is woken again, reset, reported once, and tried again later", arguments: uBlox)
  func ignoresWaking(_ model: ReceiverModel) {
    let scene = Self.steady(model)
    scene.sleep(seconds: nil)
    scene.run(60)
    scene.line.inject(.ignoreWakeUps(for: Milliseconds(100_000)), at: scene.now)
    scene.wakeUp()
    scene.run(60)
    #expect(scene.reported(.resetToWake) == 1 && scene.reported(.doesNotWake) == 1, "\(scene.reports)")
    scene.run(300) { $0.reported(.back) == 1 }
    #expect(scene.reported(.back) == 1, "\(scene.reports)")
    #expect(scene.reported(.doesNotWake) == 1 && scene.reported(.silent) == 0)
    scene.run(60)
    #expect(scene.isSteady)
  }

  @Test("One that is deaf once is woken by the next try", arguments: uBlox)
  func deafOnce(_ model: ReceiverModel) {
    let scene = Self.steady(model)
    scene.sleep(seconds: nil)
    scene.run(60)
    scene.line.inject(.ignoreWakeUps(for: Milliseconds(300)), at: scene.now)
    scene.wakeUp()
    scene.run(20) { $0.reported(.awake(.requested)) == 1 }
    #expect(scene.reported(.awake(.requested)) == 1 && scene.reported(.resetToWake) == 0, "\(scene.reports)")
  }

  @Test("One that wakes by itself is noticed", arguments: uBlox)
  func wakesByItself(_ model: ReceiverModel) {
    let scene = Self.steady(model)
    scene.sleep(seconds: 600)
    scene.run(10)
    scene.line.inject(.wakeByItself(after: Milliseconds(50_000)), at: scene.now)
    scene.run(70)
    #expect(scene.reported(.awake(.unrequested)) == 1, "\(scene.reports)")
    scene.run(20)
    #expect(scene.isSteady && scene.reported(.silent) == 0)
  }

  @Test("Settings outlive sleep where they can, and are written again where they were lost")
  func power() {
    let scene = Self.steady(.m10)
    scene.sleep(seconds: 60)
    scene.run(20)
    scene.line.inject(.powerCycle(for: Milliseconds(1000), losingBackup: true), at: scene.now)
    scene.run(30)
    #expect(scene.reported(.awake(.unrequested)) == 1, "\(scene.reports)")
    let sentences = scene.counters.nmeaFrames
    scene.run(60)
    #expect(scene.counters.nmeaFrames == sentences && scene.isSteady)
  }

  @Test("A raised rate of the port outlives sleep", arguments: [ReceiverModel.m6, .m8, .m9, .m10, .f9p])
  func rate(_ model: ReceiverModel) {
    let scene = Self.steady(model) { settings in
      settings.desired = { description in
        var desired = DesiredConfiguration.navigation(for: description)
        desired.portRate = 115_200
        return desired
      }
    }
    scene.sleep(seconds: 60)
    scene.run(70)
    #expect(scene.reported(.awake(.time)) == 1 && scene.line.receiver.baudRate == 115_200, "\(scene.reports)")
    #expect(scene.isSteady)
  }

  private static let dynamicModel: UInt32 = 0x2011_0021
  private static let withItems: [ReceiverModel] = [.m9, .m10, .f9p, .f10, .x20]

  /// Returns the command that sets the dynamic model in memory layers.
  private static func setModel(_ value: UInt64, layers: UInt8 = 1) -> Command {
    Configuration.valset([ConfigurationPair(id: dynamicModel, bits: value)], layers: layers)
  }

  private static func restartWithBattery(_ scene: SessionScene) {
    scene.line.inject(.powerCycle(for: Milliseconds(500), losingBackup: false), at: scene.now)
    scene.line.advance(to: scene.now + Milliseconds(5000))
  }

  @Test("A setting in RAM of another program, or of a command of this session, outlives sleep", arguments: withItems)
  func otherSettings(_ model: ReceiverModel) {
    let scene = Self.steady(model)
    scene.line.send(Self.setModel(4).bytes, at: scene.now)
    scene.run(2)
    for value in [4, 3, 0, 2] as [UInt64] {
      if value != 4 { #expect(scene.send(Self.setModel(value)) == .acknowledged) }
      scene.sleep(seconds: 20)
      scene.run(40)
      #expect(scene.reported(.awake(.time)) == 1, "\(scene.reports)")
      #expect(scene.line.receiver.value(ofItem: Self.dynamicModel) == value)
      scene.clearReports()
    }
    _ = scene.finish()
    #expect(scene.line.receiver.value(ofItem: Self.dynamicModel) == 2)
    Self.restartWithBattery(scene)
    #expect(scene.line.receiver.value(ofItem: Self.dynamicModel) == 0)
  }

  @Test(
    "Settings of CFG messages of every section outlive sleep: texts, model, antenna, log",
    arguments: uBlox.filter { !withItems.contains($0) && $0 != .clone })
  func sections(_ model: ReceiverModel) {
    let scene = Self.steady(model)
    // The message, its selector and the changed byte.
    let messages: [(UInt8, [UInt8], Int)] = [(0x02, [1], 5), (0x24, [], 12), (0x13, [], 0), (0x47, [], 1)]
    var changed: [(Command, [UInt8])] = []
    for (id, selector, place) in messages {
      let poll = Command.poll(MessageIdentity(6, id), selector)
      guard case .answered(var payload)? = scene.send(poll) else { continue }
      payload[place] ^= 1
      #expect(scene.send(Command(MessageIdentity(6, id), payload, answer: .acknowledgement)) == .acknowledged)
      changed.append((poll, payload))
    }
    #expect(changed.count >= 3)
    scene.sleep(seconds: 20)
    scene.run(40)
    #expect(scene.reported(.awake(.time)) == 1, "\(scene.reports)")
    for (poll, payload) in changed { #expect(scene.send(poll) == .answered(payload)) }
  }

  @Test("Settings that a command stores in battery-backed memory during the session stay there", arguments: withItems)
  func storedMeanwhile(_ model: ReceiverModel) {
    let scene = Self.steady(model)
    scene.sleep(seconds: 20)
    scene.run(40)
    #expect(scene.send(Self.setModel(4, layers: 0b11)) == .acknowledged)
    scene.sleep(seconds: 20)
    scene.run(40)
    _ = scene.finish()
    #expect(scene.line.receiver.value(ofItem: Self.dynamicModel) == 4)
    Self.expectFound(scene)
    #expect(scene.line.receiver.value(ofItem: Self.dynamicModel) == 4)
  }

  /// Writes items to memory layers before the session begins.
  private static func write(_ pairs: [ConfigurationPair], layers: UInt8, to scene: SessionScene) {
    scene.line.hostRate = scene.line.receiver.baudRate
    scene.line.send(Configuration.valset(pairs, layers: layers).bytes, at: scene.now)
    scene.run(0.2)
  }

  private static let lock = ConfigurationPair(id: 0x10F6_0009, bits: 1)

  @Test(
    "A receiver whose configuration is locked in battery-backed memory has nothing to be restored", arguments: withItems
  )
  func locked(_ model: ReceiverModel) {
    let scene = SessionScene(model)
    Self.write([Self.lock], layers: 0b11, to: scene)
    scene.run(30) { $0.isSteady }
    scene.run(45)
    // All items of all memories are read, at 9600 baud between the sentences.
    scene.sleep(seconds: 20)
    scene.run(120) { $0.reported(.awake(.time)) == 1 }
    #expect(scene.reported(.awake(.time)) == 1, "\(scene.reports)")
    scene.sleep(seconds: nil)
    scene.run(10)
    #expect(scene.line.receiver.powerState == .standby && scene.recoverySettings == nil)
    _ = scene.finish()
    #expect(scene.reported(.notRestored) == 0 && scene.line.receiver.powerState.isAwake, "\(scene.reports)")
    #expect(scene.line.receiver.value(ofItem: Self.lock.id) == 1)
  }

  @Test(
    "A receiver with settings in RAM alone that refuses to save them is not put to sleep", arguments: withItems + [.m8])
  func refusesSaving(_ model: ReceiverModel) {
    let scene: SessionScene
    if Self.withItems.contains(model) {
      scene = SessionScene(model)
      Self.write([ConfigurationPair(id: Self.dynamicModel, bits: 4), Self.lock], layers: 0b01, to: scene)
      scene.run(30) { $0.isSteady }
      scene.run(45)
    } else {
      scene = Self.steady(model)
      scene.line.inject(.refuseEverything(for: Milliseconds(300_000)), at: scene.now)
    }
    let before = scene.line.receiver.settingLines
    scene.sleep(seconds: 20)
    scene.run(60)
    #expect(scene.reported(.refusesSaving) == 1, "\(scene.reports)")
    #expect(scene.isSteady && scene.line.receiver.settingLines == before)
    // It is asked again, as by a policy that tries again after an hour.
    scene.sleep(seconds: nil)
    scene.run(60)
    #expect(scene.reported(.refusesSaving) == 2, "\(scene.reports)")
    // A wake-up that comes meanwhile does not make the refusal a success.
    scene.sleep(seconds: nil)
    scene.run(0.1)
    scene.wakeUp()
    scene.run(60)
    scene.sleep(seconds: nil)
    scene.run(60)
    let isAsleep = Self.isAsleep(scene)
    #expect(!isAsleep, "\(scene.reports)")
    scene.run(100)
    _ = scene.finish()
    #expect(scene.reported(.notRestored) == 0, "\(scene.reports)")
  }

  @Test("A save without a reply counts as a receiver that does not sleep")
  func silentSave() {
    let scene = Self.steady(.m8)
    scene.line.inject(.silence(for: Milliseconds(10_000)), at: scene.now)
    scene.sleep(seconds: 20)
    scene.run(9)
    #expect(scene.reported(.doesNotSleep) == 1 && !Self.isAsleep(scene), "\(scene.reports)")
    scene.run(30) { $0.isSteady }
    scene.sleep(seconds: 20)
    scene.run(10)
    #expect(Self.isAsleep(scene), "\(scene.reports)")
  }

  @Test("A setting that the receiver refuses does not keep the others from battery-backed memory")
  func refusedSetting() {
    let scene = Self.steady(.m10) { settings in
      settings.desired = { description in
        var desired = DesiredConfiguration.navigation(for: description)
        // NAV-RELPOSNED of high-precision receivers.
        desired.messages.append(.init(MessageIdentity(0x01, 0x3C), 1))
        return desired
      }
    }
    let sentences = scene.counters.nmeaFrames
    scene.sleep(seconds: 20)
    scene.run(40)
    #expect(scene.reported(.awake(.time)) == 1, "\(scene.reports)")
    #expect(scene.counters.nmeaFrames <= sentences + 8)
  }

  @Test("A rate of the port in RAM outlives sleep, and the end", arguments: [ReceiverModel.m9, .m10, .f9p])
  func foundRate(_ model: ReceiverModel) {
    let scene = SessionScene(model, baud: 115_200)
    scene.run(30) { $0.isSteady }
    // The rate was changed without its item.
    let rate = ConfigurationPair(id: 0x4052_0001, bits: 115_200)
    scene.line.send(Configuration.valset([rate], layers: 1).bytes, at: scene.now)
    scene.run(45)
    scene.sleep(seconds: 20)
    scene.run(40)
    #expect(scene.line.receiver.baudRate == 115_200)
    scene.sleep(seconds: nil)
    scene.run(60)
    #expect(scene.finish() < 4000)
    #expect(scene.reported(.notRestored) == 0 && scene.line.receiver.baudRate == 115_200, "\(scene.reports)")
    #expect(scene.reported(.silent) == 0 && scene.reported(.notUnderstood) == 0, "\(scene.reports)")
  }

  @Test("One that wakes at another rate at the end is found, and restored", arguments: [ReceiverModel.m8, .m10, .f9p])
  func endsAtOtherRate(_ model: ReceiverModel) {
    let scene = SessionScene(model, baud: 115_200)
    scene.run(30) { $0.isSteady }
    scene.run(45)
    scene.sleep(seconds: nil)
    scene.run(60)
    scene.line.inject(.powerCycle(for: Milliseconds(100), losingBackup: true), at: scene.now)
    #expect(scene.finish() < 8000)
    #expect(scene.reported(.notRestored) == 0 && scene.reported(.resetToWake) == 0, "\(scene.reports)")
    Self.expectFound(scene)
  }

  @Test("A host that ends while it sleeps leaves it as it was found")
  func endsAsleep() {
    let scene = Self.steady(.m10)
    scene.sleep(seconds: nil)
    scene.run(60)
    #expect(scene.finish() < 3500)
    scene.line.advance(to: scene.now + Milliseconds(3000))
    #expect(scene.line.takeReceived().contains(UInt8(ascii: "$")))
  }

  @Test(
    "A host that ends while it is being woken leaves it as it was found",
    arguments: [ReceiverModel.m8, .m10], [50, 250, 600, 900] as [UInt64])
  func endsWaking(_ model: ReceiverModel, _ milliseconds: UInt64) {
    let scene = Self.steady(model)
    scene.sleep(seconds: nil)
    scene.run(60)
    scene.wakeUp()
    scene.run(Double(milliseconds) / 1000)
    #expect(scene.finish() < 5500)
    #expect(scene.reported(.notRestored) == 0, "\(scene.reports)")
    Self.expectFound(scene)
  }

  @Test("One that is deaf to the first wake-up of the end is woken again", arguments: [ReceiverModel.m8, .m10])
  func endsDeaf(_ model: ReceiverModel) {
    let scene = Self.steady(model)
    scene.sleep(seconds: nil)
    scene.run(60)
    scene.line.inject(.ignoreWakeUps(for: Milliseconds(1200)), at: scene.now)
    #expect(scene.finish() < 5500)
    #expect(scene.reported(.notRestored) == 0, "\(scene.reports)")
    Self.expectFound(scene)
  }

  @Test(
    "A session that changed nothing wakes it at the end, whatever time was planned", arguments: uBlox,
    [nil, 600] as [Double?])
  func endsUnchanged(_ model: ReceiverModel, _ seconds: Double?) {
    let scene = SessionScene(model) { $0.desired = { _ in .nothing } }
    scene.run(30) { $0.isSteady }
    scene.sleep(seconds: seconds)
    scene.run(60)
    #expect(scene.line.receiver.powerState == .standby && scene.recoverySettings == nil)
    #expect(scene.finish() < 5500)
    #expect(scene.line.receiver.powerState.isAwake && scene.reported(.notRestored) == 0, "\(scene.reports)")
    Self.expectFound(scene)
  }

  @Test(
    "It stays asleep at the end where that cannot wake it, and where a user wants it asleep", arguments: [false, true])
  func leftAsleep(isWanted: Bool) {
    let scene = SessionScene(.m10) { settings in
      settings.desired = { _ in .nothing }
      if !isWanted { settings.line = .withoutRate(.i2c) }
    }
    scene.run(30) { $0.isSteady }
    if isWanted { scene.restoreAtEnd(false) }
    scene.sleep(seconds: 600)
    scene.run(60)
    scene.requestEnd()
    #expect(!scene.isOpen && scene.line.receiver.powerState == .standby, "\(scene.reports)")
    #expect(scene.reported(.notRestored) == 0, "\(scene.reports)")
  }

  @Test("A receiver that cannot be woken at the end is reported")
  func endsDead() {
    let scene = Self.steady(.m10)
    scene.sleep(seconds: nil)
    scene.run(60)
    scene.line.inject(.ignoreWakeUps(for: Milliseconds(100_000)), at: scene.now)
    #expect(scene.finish() < 10_000)
    #expect(scene.reported(.notRestored) == 1, "\(scene.reports)")
  }

  /// It writes sentences again, now and after its power was away.
  private static func expectFound(_ scene: SessionScene) {
    scene.line.advance(to: scene.now + Milliseconds(3000))
    #expect(scene.line.takeReceived().contains(UInt8(ascii: "$")))
    let now = scene.now + Milliseconds(3000)
    scene.line.inject(.powerCycle(for: Milliseconds(500), losingBackup: false), at: now)
    scene.line.advance(to: now + Milliseconds(5000))
    #expect(scene.line.takeReceived().contains(UInt8(ascii: "$")))
  }

  @Test("Another make is not put to sleep, and neither is any receiver in a read-only session")
  func cannot() {
    let plain = SessionScene(.nmea)
    plain.run(60)
    let sent = plain.sentBytes
    plain.sleep(seconds: 60)
    plain.run(30)
    #expect(plain.sentBytes == sent)
    let scene = SessionScene(.m10, intent: .readOnly)
    scene.run(30)
    scene.sleep(seconds: 60)
    #expect(scene.reported(.cannotSleep) == 1 && scene.sentBytes == 0)
  }

  @Test(
    "Cyclic tracking and on/off operation are set, used and put back", arguments: [ReceiverModel.m6, .m8, .m9, .m10])
  func powerSave(_ model: ReceiverModel) {
    for mode in [PowerSave.cyclic(everySeconds: 2), .onOff(periodSeconds: 60)] {
      let scene = SessionScene(model) { settings in
        settings.desired = { description in
          var desired = DesiredConfiguration.navigation(for: description)
          // Combined with GLONASS older firmware refuses it (CFG-RXM).
          desired.powerSave = mode
          return desired
        }
      }
      scene.run(30) { $0.isSteady }
      scene.run(300)
      let before = scene.line.receiver.chargeMilliampereSeconds
      _ = scene.takeFixes()
      scene.run(600)
      let current = (scene.line.receiver.chargeMilliampereSeconds - before) / 600
      let positions = scene.positions.count
      switch mode {
      case .cyclic: #expect(290...302 ~= positions, "\(model) \(mode) \(positions) \(scene.reports)")
      default: #expect(9...60 ~= positions, "\(model) \(mode) \(positions) \(scene.reports)")
      }
      #expect(current < 22, "\(model) \(mode) \(current) mA")
      #expect(scene.reported(.silent) == 0 && scene.reported(.wasReset) == 0, "\(scene.reports)")
      _ = scene.finish()
      scene.line.advance(to: scene.now + Milliseconds(60_000))
      _ = scene.line.takeReceived()
      scene.line.advance(to: scene.now + Milliseconds(70_000))
      #expect(scene.line.takeReceived().count > 1000, "\(model) \(mode)")
    }
  }
}
