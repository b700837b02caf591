// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Receiver
import ReceiverSimulator
import Testing
import UBX

@Suite("A line's rate that is raised for a long dialogue")
struct RaisedRateTests {
  private static func scene(_ model: ReceiverModel) -> SessionScene {
    let scene = SessionScene(model, intent: .identify) { settings in
      settings.desired = { _ in
        var desired = DesiredConfiguration.nothing
        desired.leastPortRate = 115_200
        return desired
      }
    }
    scene.run(20) { $0.isSteady }
    return scene
  }

  @Test("It goes back at the end", arguments: [ReceiverModel.m6, .m8, .m10])
  func back(_ model: ReceiverModel) {
    let scene = Self.scene(model)
    let found: UInt32 = 9600
    #expect(scene.line.receiver.baudRate == 115_200)
    _ = scene.finish()
    scene.run(2)
    #expect(scene.line.receiver.baudRate == found)
    #expect(scene.line.hostRate == found)
  }

  @Test(
    "Settings that the receiver refused are reported after the rate is raised",
    arguments: [ReceiverModel.m6, .m8, .m9, .m10], [SessionSettings.Intent.identify, .serve])
  func refusedSetting(_ model: ReceiverModel, _ intent: SessionSettings.Intent) {
    let scene = SessionScene(model, intent: intent) { settings in
      settings.desired = { _ in
        var desired = DesiredConfiguration.nothing
        desired.leastPortRate = 115_200
        desired.dynamicModel = .portable
        desired.measurementPeriodMilliseconds = 1
        return desired
      }
    }
    #expect(scene.run(30) { $0.reported(.configured(refused: 1)) == 1 }, "\(scene.reports)")
    #expect(scene.line.hostRate == 115_200 && scene.reported(.configured(refused: 0)) == 0)
    _ = scene.finish()
    #expect(scene.reported(.notRestored) == 0)
  }

  @Test("A refused power save mode is not switched on after the rate is raised", arguments: [ReceiverModel.f9p, .x20])
  func refusedMode(_ model: ReceiverModel) {
    let scene = SessionScene(model, intent: .identify) { settings in
      settings.desired = { _ in
        var desired = DesiredConfiguration.nothing
        desired.leastPortRate = 460_800
        desired.powerSave = .onOff(periodSeconds: 30)
        return desired
      }
    }
    scene.run(30) { $0.isSteady && $0.line.hostRate == 460_800 }
    let refused = scene.reports.compactMap { if case .configured(let refused) = $0.report { refused } else { nil } }
    #expect(refused.count == 1 && refused.allSatisfy { $0 > 0 }, "\(scene.reports)")
    _ = scene.finish()
    #expect(scene.reported(.notRestored) == 0)
  }

  @Test("The size of a batch is reported after the rate is raised")
  func batch() {
    let scene = SessionScene(.m10, intent: .identify) { settings in
      settings.desired = { _ in
        var desired = DesiredConfiguration.nothing
        desired.leastPortRate = 115_200
        desired.batch = BatchConfiguration(epochs: 100, isExtended: false)
        return desired
      }
    }
    #expect(scene.run(30) { $0.reported(.batching(epochs: 100)) == 1 }, "\(scene.reports)")
    #expect(scene.line.hostRate == 115_200 && scene.reported(.configured(refused: 0)) == 1)
    _ = scene.finish()
  }

  /// An adapter is pulled out of the computer; the receiver behind it has a supply of its own, and keeps the raised rate.
  @Test("It goes back after an unplug as well", arguments: [ReceiverModel.m6, .m8, .m10])
  func backAfterUnplug(_ model: ReceiverModel) {
    let scene = Self.scene(model)
    scene.unplug()
    #expect(scene.run(20) { $0.isSteady }, "\(scene.reports)")
    #expect(scene.line.receiver.baudRate == 115_200 && scene.line.hostRate == 115_200)
    _ = scene.finish()
    scene.run(2)
    #expect(scene.line.receiver.baudRate == 9600 && scene.line.hostRate == 9600)
    #expect(scene.reported(.notRestored) == 0)
  }

  @Test("After one that took its supply it is raised again, and goes back", arguments: [ReceiverModel.m8, .m10])
  func raisedAgain(_ model: ReceiverModel) {
    let scene = Self.scene(model)
    scene.inject(.unplug(for: Milliseconds(4000)))
    scene.run(5)
    #expect(scene.run(20) { $0.isSteady && $0.line.hostRate == 115_200 }, "\(scene.reports)")
    _ = scene.finish()
    scene.run(2)
    #expect(scene.line.receiver.baudRate == 9600 && scene.line.hostRate == 9600)
  }

  @Test("An end that could not restore everything is reported once", arguments: [ReceiverModel.m6, .m8, .m10])
  func notRestored(_ model: ReceiverModel) {
    let scene = Self.scene(model)
    scene.line.inject(.refuseEverything(for: Milliseconds(60_000)), at: scene.now)
    _ = scene.finish()
    #expect(!scene.isOpen && scene.reported(.notRestored) == 1)
  }

  @Test("It goes back within two seconds on a line that is full", arguments: [ReceiverModel.m9, .f9p, .x20])
  func backOnFullLine(_ model: ReceiverModel) {
    let scene = SessionScene(model, baud: 9600, intent: .identify) { settings in
      settings.desired = { _ in
        var desired = DesiredConfiguration.nothing
        desired.leastPortRate = 115_200
        return desired
      }
    }
    #expect(scene.run(25) { $0.isSteady && $0.line.hostRate == 115_200 })
    #expect(scene.finish() < 2000)
    #expect(scene.line.receiver.baudRate == 9600)
  }

  @Test(
    "The rate is restored although the replies are lost", arguments: [ReceiverModel.m6, .m8, .m9, .m10],
    [300, 900, 1800])
  func backAfterLoss(_ model: ReceiverModel, _ milliseconds: UInt64) {
    let scene = Self.scene(model)
    scene.line.inject(.drop(share: 1, for: Milliseconds(milliseconds)), at: scene.now)
    #expect(scene.finish() < 8000)
    scene.run(2)
    #expect(scene.line.receiver.baudRate == model.foundRate)
    #expect(scene.line.hostRate == model.foundRate)
  }

  @Test("It goes back although no reply came while it was raised", arguments: [ReceiverModel.m6, .m9, .m10])
  func backAfterSilentRaise(_ model: ReceiverModel) {
    let scene = Self.sceneOfSilentRaise(model)
    #expect(scene.run(30) { $0.reported(.rateFound(115_200)) == 1 && $0.isSteady }, "\(scene.reports)")
    _ = scene.finish()
    scene.run(2)
    #expect(scene.line.receiver.baudRate == model.foundRate)
    #expect(scene.line.hostRate == model.foundRate)
    #expect(scene.reported(.notRestored) == 0)
  }

  @Test("Ended before the receiver is found again, it is recorded", arguments: [ReceiverModel.m6, .m9, .m10])
  func recordedAfterSilentRaise(_ model: ReceiverModel) {
    let scene = Self.sceneOfSilentRaise(model)
    _ = scene.finish()
    #expect(scene.reported(.notRestored) == 1)
    #expect(scene.recovery == CrashRecoveryRecord(rate: 115_200, foundRate: model.foundRate))
  }

  @Test(
    "The rate goes back although the line is lost between the receiver's change and the line's change",
    arguments: [ReceiverModel.m6, .m8, .m9, .m10], [SessionSettings.Intent.identify, .serve])
  func backAfterLossBetweenTheChanges(_ model: ReceiverModel, _ intent: SessionSettings.Intent) {
    let scene = Self.sceneOfLostLine(model, intent)
    #expect(scene.run(30) { $0.isSteady && $0.line.hostRate == 115_200 }, "\(scene.reports)")
    _ = scene.finish()
    scene.run(2)
    #expect(scene.line.receiver.baudRate == model.foundRate)
    #expect(scene.line.hostRate == model.foundRate)
  }

  @Test(
    "Ended before the receiver is found again, it is recorded after several losses of the line",
    arguments: [ReceiverModel.m6, .m8, .m9, .m10])
  func recordedAfterLosses(_ model: ReceiverModel) {
    let scene = Self.sceneOfLostLine(model, .identify)
    for _ in 0..<3 {
      scene.run(1)
      scene.line.hostRate = model.foundRate
      scene.unplug()
    }
    scene.run(1)
    #expect(scene.recovery == CrashRecoveryRecord(rate: 115_200, foundRate: model.foundRate))
    _ = scene.finish()
    #expect(scene.recovery == CrashRecoveryRecord(rate: 115_200, foundRate: model.foundRate))
  }

  /// The computer cannot set the rate of its line, and opens the port anew; the receiver gets the raised rate by then.
  private static func sceneOfLostLine(_ model: ReceiverModel, _ intent: SessionSettings.Intent) -> SessionScene {
    let scene = SessionScene(model, intent: intent) { settings in
      settings.desired = { description in
        var desired = DesiredConfiguration.navigation(for: description)
        desired.leastPortRate = 115_200
        return desired
      }
    }
    #expect(scene.run(20) { $0.line.hostRate == 115_200 })
    scene.line.hostRate = model.foundRate
    scene.unplug()
    return scene
  }

  /// A receiver that has the raised rate, and whose replies are lost until the session gives up raising it. That of an M8 waits for
  /// the line instead, as it misses the receiver's output.
  private static func sceneOfSilentRaise(_ model: ReceiverModel) -> SessionScene {
    let scene = SessionScene(model, intent: .identify) { settings in
      settings.desired = { _ in
        var desired = DesiredConfiguration.nothing
        desired.leastPortRate = 115_200
        return desired
      }
    }
    #expect(scene.run(20) { $0.line.receiver.baudRate == 115_200 })
    scene.line.inject(.drop(share: 1, for: Milliseconds(60_000)), at: scene.now)
    #expect(scene.run(60) { $0.reported(.rateNotChanged(115_200)) == 1 }, "\(scene.reports)")
    scene.line.inject(.drop(share: 0, for: Milliseconds(1)), at: scene.now)
    return scene
  }

  @Test("It goes back on a line that loses bytes", arguments: [ReceiverModel.m6, .m8, .m9, .m10])
  func backOnLossyLine(_ model: ReceiverModel) {
    for seed in 0..<40 {
      let scene = Self.scene(model)
      // Each time at another moment of the second.
      scene.run(Double(seed) * 0.037)
      scene.line.inject(.drop(share: 0.01, for: Milliseconds(20_000)), at: scene.now)
      _ = scene.finish()
      scene.run(2)
      #expect(scene.line.receiver.baudRate == model.foundRate, "phase \(seed)")
      #expect(scene.line.hostRate == model.foundRate, "phase \(seed)")
    }
  }

  @Test(
    "Ended at any moment, the line and the receiver are as they were found",
    arguments: [ReceiverModel.m6, .m8, .m9, .m10])
  func endedAtAnyMoment(_ model: ReceiverModel) {
    for milliseconds in stride(from: 23, to: 6000, by: 37) {
      let scene = SessionScene(model) { settings in
        settings.desired = { description in
          var desired = DesiredConfiguration.navigation(for: description)
          desired.leastPortRate = 115_200
          return desired
        }
      }
      let before = scene.line.receiver
      scene.run(Double(milliseconds) / 1000)
      _ = scene.finish()
      scene.run(2)
      #expect(scene.line.receiver.baudRate == model.foundRate, "\(milliseconds) ms")
      for message in [MessageIdentity.navPVT, .navSAT, .navPOSLLH, .navSOL, .navVELNED, .navSVINFO] {
        #expect(scene.line.receiver.rate(of: message) == before.rate(of: message), "\(message) \(milliseconds) ms")
      }
    }
  }

  @Test("A port without a rate gets none, nor does another port", arguments: [ReceiverModel.m6, .m8, .m9, .f9p, .x20])
  func portWithoutRate(_ model: ReceiverModel) {
    let scene = SessionScene(model, intent: .identify, hasRate: false) { settings in
      settings.desired = { _ in
        var desired = DesiredConfiguration.nothing
        desired.leastPortRate = 115_200
        return desired
      }
    }
    let before = KilledProgramTests.state(scene)
    #expect(scene.run(30) { $0.isSteady && $0.reported(.configured(refused: 0)) == 1 }, "\(scene.reports)")
    scene.run(5)
    #expect(KilledProgramTests.state(scene) == before && scene.line.hostRate == 9600)
    #expect(scene.recovery == nil && scene.reported(.rateNotChanged(115_200)) == 0)
    _ = scene.finish()
    #expect(KilledProgramTests.state(scene) == before && scene.reported(.notRestored) == 0)
    let rates: [[UInt8]] = [[6, 0, 20, 0], [6, 0x8A, 12, 0]]
    #expect(!scene.writes.contains { write in rates.contains { write.bytes.dropFirst(2).starts(with: $0) } })
  }

  @Test("A rate that is set meanwhile stays instead of it", arguments: [ReceiverModel.m6, .m8, .m10])
  func kept(_ model: ReceiverModel) {
    let scene = Self.scene(model)
    var desired = DesiredConfiguration()
    desired.portRate = 57_600
    desired.keepsPortRate = true
    scene.set(desired)
    #expect(scene.run(10) { $0.reported(.rateFound(57_600)) == 1 && $0.isSteady })
    _ = scene.finish()
    scene.run(2)
    #expect(scene.line.receiver.baudRate == 57_600)
    #expect(scene.line.hostRate == 57_600)
  }

  @Test("The raised rate stays if it is wanted permanently", arguments: [ReceiverModel.m6, .m8, .m9, .m10])
  func wantedForGood(_ model: ReceiverModel) {
    let scene = Self.scene(model)
    scene.clearReports()
    var desired = DesiredConfiguration()
    desired.portRate = 115_200
    desired.keepsPortRate = true
    scene.set(desired)
    #expect(scene.run(10) { $0.isSteady && $0.reported(.configured(refused: 0)) == 1 }, "\(scene.reports)")
    _ = scene.finish()
    scene.run(2)
    #expect(scene.line.receiver.baudRate == 115_200 && scene.line.hostRate == 115_200)
    #expect(scene.recovery == nil)
  }

  @Test("A line that is full gets room", arguments: [ReceiverModel.m6, .m8])
  func fullLine(_ model: ReceiverModel) throws {
    let scene = SessionScene.configuring(model)
    _ = try scene.set(["rate=4Hz"])
    #expect(scene.line.receiver.epochMilliseconds == 250)
    _ = scene.finish()
    scene.line.inject(.baudRateChange(to: 9600), at: scene.now)
    scene.kill(for: 1000) { settings in
      settings.desired = { _ in
        var desired = DesiredConfiguration.nothing
        desired.leastPortRate = 115_200
        return desired
      }
    }
    #expect(scene.run(30) { $0.isSteady && $0.line.hostRate == 115_200 })
    #expect(scene.line.receiver.epochMilliseconds == 250, "\(scene.reports)")
    let edit = try scene.set(["rate=1Hz"])
    #expect(edit.results == [.changed])
  }
}

@Suite("A line that is full of the receiver's own messages")
struct FullLineTests {
  /// A receiver that was set to five fixes a second at 9600 baud.
  private static func scene(_ model: ReceiverModel, seed: UInt64 = 1) throws -> SessionScene {
    let scene = SessionScene(model, baud: 115_200, intent: .identify, seed: seed) { $0.desired = { _ in .nothing } }
    #expect(scene.run(20) { $0.isSteady })
    _ = try scene.set(["rate=5Hz"])
    _ = scene.finish()
    scene.line.inject(.baudRateChange(to: 9600), at: scene.now)
    scene.clearReports()
    return scene
  }

  @Test("Who it is gets through", arguments: [ReceiverModel.m6, .m8, .m10], [1, 2, 3])
  func identified(_ model: ReceiverModel, _ seed: UInt64) throws {
    let scene = try Self.scene(model, seed: seed)
    scene.kill(for: Milliseconds(5000 + seed * 37))
    #expect(scene.run(60) { $0.isSteady }, "\(scene.reports)")
    #expect(scene.description?.generation != nil)
    #expect(scene.reported(.notIdentified(isOtherVendor: false)) == 0)
    // The changes that were made to receive it are undone.
    #expect(scene.finish() < 15_000)
    scene.run(2)
    #expect(scene.line.receiver.baudRate == 9600 && scene.line.hostRate == 9600)
  }

  @Test("The load of a line with one burst a second counts whole bursts, at any instant of the measurement")
  func loadOfBursts() {
    for delay in [0, 150, 300] {
      for end in stride(from: 2200, through: 3200, by: 100) {
        var load = LineLoad()
        for second in 0..<3 {
          // The first burst is read late, as on a busy computer.
          let start = 1000 * second + (second == 0 ? delay : 0)
          for part in 0..<5 {
            load.receive(bytes: 100, at: Instant.zero + Milliseconds(UInt64(1000 + start + 20 * part)))
          }
        }
        load.measure(at: Instant.zero + Milliseconds(UInt64(1000 + end)))
        let expected = 1000 / (2 - Double(delay) / 1000)
        #expect(load.bytesPerSecond.map { abs($0 - expected) < 1 } ?? true, "\(delay) \(end) \(load)")
        #expect(end < 2000 + delay || load.bytesPerSecond != nil)
      }
    }
  }

  @Test("A measurement for a comparison counts whole bursts, whenever it begins")
  func loadAtAnyStart() {
    for start: UInt64 in stride(from: 0, to: 1000, by: 50) {
      var load = LineLoad()
      for tenth: UInt64 in 0..<60 {
        let now = Instant.zero + Milliseconds(1000 + tenth * 100)
        if 1000 + tenth * 100 >= 2000 + start, 1000 + tenth * 100 < 2100 + start { load.restartAtBurst() }
        // 700 ms of each second.
        if tenth % 10 < 7 {
          for part: UInt64 in 0..<2 { load.receive(bytes: 50, at: now + Milliseconds(part * 50)) }
        }
      }
      #expect(load.bytesPerSecond.map { abs($0 - 700) < 1 } == true, "\(start) \(load)")
    }
    // A line without pauses.
    var load = LineLoad()
    load.restartAtBurst()
    for tenth: UInt64 in 0..<30 { load.receive(bytes: 96, at: Instant.zero + Milliseconds(1000 + tenth * 90)) }
    #expect(load.bytesPerSecond != nil)
  }

  @Test("The load of a line is measured, and a full line is found")
  func load() {
    var load = LineLoad()
    for (rate, bytes, isFull) in [
      (9600 as UInt32, 480, false), (9600, 960, true), (9600, 920, true), (9600, 2400, false), (115_200, 960, false),
    ] {
      load.restart()
      for tenth in 0..<45 as Range<UInt64> { load.receive(bytes: bytes / 10, at: .zero + Milliseconds(tenth * 100)) }
      #expect(load.isFull(at: rate) == isFull, "\(rate) \(bytes)")
    }
    #expect(!LineLoad().isFull(at: 9600) && !load.isFull(at: nil))
  }

  @Test(
    "More fixes than it has room for are refused before anything is written, with the rate that has",
    arguments: [ReceiverModel.m6, .m8, .m9, .m10, .f9p])
  func refused(_ model: ReceiverModel) throws {
    let scene = SessionScene.configuring(model)
    func edit(_ words: [String], _ bytesPerSecond: Double) throws -> SettingsEdit {
      try scene.carryOut(
        SettingsEdit(
          words.map { try SettingWord($0) }, of: #require(scene.description), port: scene.port, hasRate: true,
          line: MeasuredLine(rate: 9600, bytesPerSecond: bytesPerSecond)))
    }
    let refused = try edit(["model=automotive", "rate=5Hz"], 480)
    #expect(refused.results == [.withdrawn, .withdrawn])
    #expect(
      refused.problem?.description.hasPrefix(
        "rate: this rate needs 2400 bytes a second, and a line of 9600 baud carries 960") == true)
    #expect(refused.problem?.description.contains("(baud=38400)") == true)
    #expect(scene.line.receiver.epochMilliseconds == 1000)
    #expect(try edit(["rate=5Hz"], 170).results == [.changed])
    // The line has its own rate again afterwards, or the one that is set with the fixes.
    for (word, isRefused) in [("model=sea", true), ("baud=38400", false)] {
      let raised = try scene.carryOut(
        SettingsEdit(
          [SettingWord("rate=10Hz"), SettingWord(word)], of: #require(scene.description), port: scene.port,
          hasRate: true, line: MeasuredLine(rate: 115_200, restoredRate: 9600, bytesPerSecond: 1200)))
      #expect((raised.problem != nil) == isRefused, "\(word)")
    }
    // Fewer fixes are the cure of a line that is full.
    #expect(try edit(["rate=1Hz"], 960).results == [.changed])
    #expect(try edit(["model=automotive"], 960).results == [.changed])
  }
}

extension ReceiverModel {
  /// The rate that its line has from the start.
  fileprivate var foundRate: UInt32 { self == .m9 ? 38_400 : 9600 }
}
