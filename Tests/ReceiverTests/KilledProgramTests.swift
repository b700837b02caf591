// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Receiver
import TestSupport
import Testing
import UBX

@testable import ReceiverSimulator

/// The sessions of the programs that change a receiver.
enum KilledProgram: String, CaseIterable, CustomTestStringConvertible {
  case watch
  /// A client of Core Location: fewer messages, constellations, a raised rate, sleep.
  case client
  /// `configure show`: the rate of a slow line is raised meanwhile.
  case configure
  case power
  case batch

  var testDescription: String { rawValue }

  func adapt(_ settings: inout SessionSettings) {
    settings.restoresAtEnd = true
    settings.assistance = nil
    switch self {
    case .watch:
      settings.intent = .serve
      settings.desired = { .navigation(for: $0) }
      settings.assistance = AssistanceSettings(records: [], clockAccuracySeconds: 1, readsDatabaseAtEnd: true)
    case .client:
      settings.intent = .serve
      settings.desired = { receiver in
        var desired = DesiredConfiguration.navigation(for: receiver)
        desired.leastPortRate = 115_200
        return desired
      }
    case .configure:
      settings.intent = .identify
      settings.desired = { _ in
        var desired = DesiredConfiguration.nothing
        desired.leastPortRate = 115_200
        return desired
      }
    case .power:
      settings.intent = .identify
      settings.desired = { receiver in
        var desired = DesiredConfiguration.nothing
        if PowerSave.cyclic(everySeconds: 2).isPossible(on: receiver) { desired.powerSave = .cyclic(everySeconds: 2) }
        return desired
      }
    case .batch:
      settings.intent = .identify
      settings.desired = { receiver in
        receiver.can(.batching)
          ? .batching(BatchConfiguration(epochs: 20, isExtended: false), for: receiver) : .logging(for: receiver)
      }
    }
  }

  /// Runs the program to its orderly end, unless it is killed before.
  func run(_ scene: SessionScene) {
    scene.run(40) { $0.isSteady || $0.isKilled }
    scene.run(8) { $0.isKilled }
    if self == .client, !scene.isKilled {
      scene.sleep(seconds: 6)
      scene.run(12) { $0.isKilled }
    }
    if !scene.isKilled { _ = scene.finish() }
  }
}

@Suite("A killed program's receiver is restored by the next program")
struct KilledProgramTests {
  static let models: [ReceiverModel] = [.m6, .m8, .m8Batching, .m9, .m10, .f9p, .f10, .x20]

  /// The settings in force, and the settings after a loss of power with a battery, as lines of text.
  static func state(_ scene: SessionScene) -> [String] { scene.line.receiver.settingLines }

  private static func scene(_ model: ReceiverModel, _ program: KilledProgram) -> SessionScene {
    let scene = SessionScene(model) { program.adapt(&$0) }
    scene.knowsTheTime = true
    addOwnersItems(to: scene)
    return scene
  }

  /// Sets an item in RAM, and two in battery-backed memory: one that programs change, and another.
  private static func addOwnersItems(to scene: SessionScene) {
    let payload = { (layers: UInt8, pairs: [ConfigurationPair]) in
      Array(Configuration.valset(pairs, layers: layers).bytes.dropFirst(6).dropLast(2))
    }
    _ = scene.line.receiver.configuration.items?.set(payload(0b01, [ConfigurationPair(id: Key.dynamicModel, bits: 4)]))
    _ = scene.line.receiver.configuration.items?.set(
      payload(
        0b11, [ConfigurationPair(id: 0x1074_0002, bits: 1), ConfigurationPair(id: 0x3011_00B1, bits: 200)]))
  }

  /// Another program opens the line and ends in order; `nil` is `probe`.
  private static func next(_ program: KilledProgram?, _ scene: SessionScene) {
    scene.open(after: 100) { settings in
      if let program { return program.adapt(&settings) }
      (settings.intent, settings.desired, settings.maySwitchUBXOn) = (.identify, { _ in .nothing }, false)
      settings.assistance = nil
    }
  }

  private static func expectRestored(_ scene: SessionScene, _ before: [String], _ title: String) {
    scene.run(60) { $0.isSteady }
    _ = scene.finish()
    let isCleared = scene.clearStored()
    #expect(isCleared, "\(title): the record is removed")
    scene.run(1)
    expect(scene, before, title)
  }

  private static func expect(_ scene: SessionScene, _ before: [String], _ title: String) {
    // An M8 with CFG-PMS changes CFG-PM2 with it, and keeps that when the mode is restored, after an orderly end too.
    let ignored = scene.line.receiver.traits.protocolVersion == 2301 ? "message 59 " : "none"
    let differences = Set(state(scene)).symmetricDifference(before).filter { !$0.contains(ignored) }
    #expect(differences.isEmpty, "\(title): \(differences.sorted().prefix(4))")
  }

  /// The number of commands that a program sends from its start to its end.
  private static func commands(_ program: KilledProgram, _ model: ReceiverModel) -> Int {
    let scene = scene(model, program)
    program.run(scene)
    return scene.sent
  }

  @Test("Killed after each of its commands: `probe` restores the receiver", arguments: models, KilledProgram.allCases)
  func each(model: ReceiverModel, program: KilledProgram) {
    let before = Self.state(Self.scene(model, program))
    for kill in numbers(to: Self.commands(program, model)) {
      let scene = Self.scene(model, program)
      scene.kill(afterSending: kill)
      program.run(scene)
      #expect(scene.isKilled)
      scene.run(1)
      Self.next(nil, scene)
      Self.expectRestored(scene, before, "\(model) \(program) killed after command \(kill)")
    }
  }

  private static let withItems: [ReceiverModel] = [.m9, .m10, .f9p, .x20]

  /// - Parameter layers: the memories in which the configuration is locked.
  private static func scene(_ model: ReceiverModel, _ program: KilledProgram, lockedIn layers: UInt8) -> SessionScene {
    let scene = scene(model, program)
    if layers == 0 { return scene }
    let lock = Configuration.valset([ConfigurationPair(id: Key.configurationLock, bits: 1)], layers: layers)
    _ = scene.line.receiver.configuration.items?.set(Array(lock.bytes.dropFirst(6).dropLast(2)))
    return scene
  }

  @Test(
    "A receiver whose configuration is locked has nothing to be restored, after an end or a kill at any command",
    arguments: withItems, KilledProgram.allCases)
  func locked(model: ReceiverModel, program: KilledProgram) {
    let whole = Self.scene(model, program, lockedIn: 0b01)
    let before = Self.state(whole)
    program.run(whole)
    for isKilled in [false, true] {
      for count in numbers(to: whole.sent) {
        let scene = Self.scene(model, program, lockedIn: 0b01)
        let title = "\(model) \(program) \(isKilled ? "killed" : "ended") after command \(count)"
        if isKilled {
          scene.kill(afterSending: count)
          program.run(scene)
          scene.run(1)
          Self.next(nil, scene)
        } else {
          scene.run(60) { $0.sent >= count }
        }
        Self.expectRestored(scene, before, title)
        let failures = scene.reported(.notRestored)
        #expect(failures == 0, "\(title): \(scene.reports)")
      }
    }
  }

  @Test(
    "Killed after the save before a sleep: the next program restores what was saved, or sees that it was refused",
    arguments: models.map { ($0, 0) } + withItems.flatMap { [($0, 0b01), ($0, 0b11)] as [(ReceiverModel, UInt8)] })
  func saving(model: ReceiverModel, lockedIn layers: UInt8) {
    for milliseconds in stride(from: 0, through: 12_000, by: 500) {
      let scene = Self.scene(model, .client, lockedIn: layers)
      let before = Self.state(scene)
      scene.run(40) { $0.isSteady }
      scene.run(8)
      scene.sleep(seconds: 6)
      let isSaved = scene.run(12) { $0.recoverySettings?.text.hasSuffix("whole") == true }
      #expect(isSaved)
      scene.run(Double(milliseconds) / 1000)
      Self.next(nil, scene)
      Self.expectRestored(scene, before, "\(model), killed after \(milliseconds) ms")
      #expect(scene.reported(.notRestored) == 0, "\(scene.reports)")
    }
  }

  @Test("A program that ends before it has identified the receiver restores it too", arguments: models)
  func short(model: ReceiverModel) {
    let before = Self.state(Self.scene(model, .watch))
    let last = Self.commands(.watch, model) - 3
    for milliseconds in stride(from: 10, through: 1500, by: 1490 / repetitions(24)) {
      let scene = Self.scene(model, .watch)
      scene.kill(afterSending: max(last - milliseconds / 3 % 4, 1))
      KilledProgram.watch.run(scene)
      scene.run(1)
      // A poll alone has changed nothing.
      let hasRecord = scene.stored.recovery != nil
      Self.next(.watch, scene)
      scene.run(0.1 + Double(milliseconds) / 1000)
      let title = "\(model) ended after \(milliseconds) ms"
      let (time, isCleared) = (scene.finish(), scene.clearStored())
      #expect(time < 12_000 && (isCleared || !hasRecord), "\(title): \(scene.reports)")
      Self.expect(scene, before, title)
    }
  }

  @Test("Without a record a program does not wait for the identity", arguments: models)
  func withoutRecord(model: ReceiverModel) {
    for milliseconds in stride(from: 10, through: 1500, by: 149) {
      let scene = Self.scene(model, .watch)
      scene.run(Double(milliseconds) / 1000)
      if scene.description != nil { break }
      scene.requestEnd()
      let isOpen = scene.isOpen
      #expect(!isOpen, "\(model) ended after \(milliseconds) ms")
    }
  }

  @Test("An end does not wait for long for a receiver that never replies, and the record stays", arguments: models)
  func neverReplies(model: ReceiverModel) {
    let scene = Self.scene(model, .watch)
    scene.kill(afterSending: 7)
    KilledProgram.watch.run(scene)
    Self.next(.watch, scene)
    scene.line.inject(.drop(share: 1, for: Milliseconds(60_000)), at: scene.now)
    scene.run(0.5)
    let (time, isCleared) = (scene.finish(), scene.clearStored())
    #expect(time < 9000 && !isCleared)
  }

  @Test("`probe` shows the receiver as it is after the end: its rate and its output", arguments: models)
  func shown(model: ReceiverModel) {
    let scene = Self.scene(model, .client)
    scene.run(40) { $0.isSteady }
    let (found, raised) = (model.traits.defaultBaudRate, scene.line.receiver.baudRate)
    Self.next(nil, scene)
    scene.run(60) { $0.isSteady }
    #expect(scene.read { $0.rate } == raised)
    #expect(scene.read { $0.raisedRate?.found ?? $0.rate } == found, "\(model)")
    #expect(scene.read { $0.sendsNMEAAfterEnd } == true, "\(model)")
    Self.expectRestored(scene, Self.state(Self.scene(model, .client)), "\(model)")
    #expect(scene.read { $0.rate } == found)
  }

  @Test(
    "Two programs killed in a row: the third one restores what the first one found",
    arguments: models, [KilledProgram.watch, .client])
  func twice(model: ReceiverModel, program: KilledProgram) {
    let before = Self.state(Self.scene(model, program))
    for (first, second) in [(5, 1), (5, 2), (7, 3), (7, 6), (1000, 1)] {
      let scene = Self.scene(model, program)
      scene.kill(afterSending: min(first, Self.commands(program, model) - 1))
      program.run(scene)
      Self.next(.watch, scene)
      scene.kill(afterSending: second)
      KilledProgram.watch.run(scene)
      #expect(scene.isKilled)
      Self.next(.watch, scene)
      Self.expectRestored(scene, before, "\(model) \(program) killed after \(first), then watch after \(second)")
    }
  }

  /// Commands for another rate and no output: NMEA is off, and no message of UBX is on.
  private static func silencing(_ model: ReceiverModel, rate: UInt32) -> [UInt8] {
    let bytes = { (value: UInt32, count: Int) in (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
    if model.traits.hasItems {
      let items: [(UInt32, UInt32, Int)] = [(0x1074_0002, 0, 1), (0x4052_0001, rate, 4)]
      return Wire.ubx(0x06, 0x8A, [0, 1, 0, 0] + items.flatMap { bytes($0.0, 4) + bytes($0.1, $0.2) })
    }
    return Wire.ubx(0x06, 0x00, [1, 0, 0, 0] + bytes(0x8D0, 4) + bytes(rate, 4) + [7, 0, 1, 0, 0, 0, 0, 0])
  }

  @Test(
    "Commands that take effect after the next program has heard the receiver: it is found, with and without a record",
    arguments: models, [false, true])
  func late(model: ReceiverModel, hasRecord: Bool) {
    let rate = model.traits.defaultBaudRate
    let scene = SessionScene(model) { settings in
      KilledProgram.watch.adapt(&settings)
      if hasRecord { settings.recovery = CrashRecoveryRecord(rate: rate, foundRate: rate) }
    }
    scene.run(10) { $0.read { $0.isReceiving } == true }
    #expect(scene.description == nil)
    scene.line.send(Self.silencing(model, rate: 115_200), at: scene.now)
    scene.run(4)
    _ = scene.takeFixes()
    #expect(scene.run(60) { !$0.machine.positions.isEmpty }, "\(model): \(scene.reports)")
  }

  @Test("A receiver that lost its power after the kill has its own settings", arguments: models)
  func powerLoss(model: ReceiverModel) {
    let before = Self.state(SessionScene(model))
    let scene = Self.scene(model, .watch)
    scene.kill(afterSending: Self.commands(.watch, model) - 3)
    KilledProgram.watch.run(scene)
    scene.line.inject(.powerCycle(for: Milliseconds(2000), losingBackup: true), at: scene.now)
    scene.run(5)
    Self.next(nil, scene)
    Self.expectRestored(scene, before, "\(model)")
  }

  @Test("The record is written once for each change of the set of settings, not while epochs arrive", arguments: models)
  func writes(model: ReceiverModel) {
    let scene = Self.scene(model, .watch)
    scene.run(40) { $0.isSteady }
    let writes = scene.stored.writes
    scene.run(600)
    #expect(writes <= 8 && scene.stored.writes == writes, "\(writes)")
  }

  @Test("docs/reference/faults.md has the number of kills")
  func page() throws {
    let rows = KilledProgram.allCases.map { program in
      [program.rawValue] + Self.models.map { "\(Self.commands(program, $0))" }
    }
    let header = ["program"] + Self.models.map(\.rawValue)
    try Page("docs/reference/faults.md").check(section: "kills", is: Page.table(header, rows))
  }
}
