// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Positioning
import Receiver
import ReceiverSimulator
import ReceiverStream
import Testing

@testable import Power

/// Deferral in the logger of a receiver of another maker: the line is silent, and every fix comes once, oldest first.
@Suite("Deferral in a receiver's logger, in virtual time")
struct LoggerDeferralTests {
  private static let moving = Demand(updates: .init(accuracy: .best))
  private static let models: [ReceiverModel] = [.mt3339, .mt3333, .ag3352]

  private static func scene(_ model: ReceiverModel, _ quirks: Set<Quirk> = []) -> Scene {
    var scenario = Scenario(stayingAt: Place(latitudeDegrees: 48.1642, longitudeDegrees: 11.6056, altitudeMetres: 512))
    scenario.beginsHot = true
    scenario.quirks = quirks
    if model == .ag3352 { scenario.quirks.insert(.logger) }
    return Scene(model, scenario: scenario)
  }

  /// A scene in which the receiver collects in silence.
  private static func collecting(_ scene: Scene, seconds: Double = 150) {
    scene.demand(Self.moving)
    #expect(scene.run(120) { $0.fixes.count >= 40 })
    scene.demand(.deferred(seconds, from: scene.now))
    #expect(scene.run(75) { $0.journal != nil }, "it does not collect")
    scene.run(2)
  }

  private static func send(_ scene: Scene, _ sentence: String) {
    guard let command = Command.sentence(sentence, for: nil) else { return }
    scene.line.send(command.bytes, at: scene.now)
    scene.run(0.5)
  }

  /// The times of the fixes, whole seconds since the first.
  private static func seconds(_ scene: Scene) -> [Int] {
    guard let first = scene.fixes.first else { return [] }
    return scene.fixes.map {
      Int(($0.time.nanosecondsSince1970 - first.time.nanosecondsSince1970 + 500_000_000) / 1_000_000_000)
    }
  }

  @Test("A receiver whose logger runs for its owner is not put to sleep", arguments: models)
  func logOfOwner(_ model: ReceiverModel) {
    let scene = Self.scene(model)
    scene.line.hostRate = model == .ag3352 ? 115_200 : 9600
    let start = model == .ag3352 ? "$PAIR900,1" : "$PMTK185,0"
    if let command = Command.sentence(start, for: nil) { scene.line.send(command.bytes, at: scene.now) }
    scene.demand(Demand(everySeconds: 900))
    scene.run(1200) { _ in false }
    #expect(scene.positions > 0 && scene.line.receiver.logger.isOn)
    #expect(scene.line.receiver.powerState == .tracking)
  }

  @Test(
    "The line is silent, then every fix comes once, oldest first, and the logger is as it was found", arguments: models)
  func deferral(_ model: ReceiverModel) {
    let scene = Self.scene(model)
    Self.collecting(scene)
    #expect(scene.line.receiver.logger.isOn)
    scene.run(1)
    let (received, handed) = (scene.receivedBytes, scene.fixes.count)
    scene.run(40)
    #expect(scene.receivedBytes == received && scene.fixes.count == handed, "the line is not silent")
    #expect(scene.run(150) { $0.fixes.count >= handed + 80 }, "it is not read")
    scene.demand(Self.moving)
    scene.run(60)
    #expect(scene.fixes.last?.isBatched == false)
    let seconds = Self.seconds(scene)
    #expect(seconds == Array(0..<seconds.count), "fixes are lost, doubled or out of order")
    #expect(scene.losses.isEmpty)
    #expect(!scene.line.receiver.logger.isOn && scene.line.receiver.logger.records == 0)
    #expect(!scene.sessionReports.contains(.silent), "the desired silence is reported as a fault")
  }

  @Test(
    "A read that is cut in the middle of the memory is repeated, and the logger is as it was found", arguments: models)
  func cut(_ model: ReceiverModel) {
    for milliseconds in stride(from: 100.0, through: 1500, by: 200) {
      let scene = Self.scene(model)
      Self.collecting(scene)
      let handed = scene.fixes.count
      let isRead = scene.run(200) { scene in
        scene.machine.commands.contains { if case .retrieveBatch = $0.command { true } else { false } }
      }
      #expect(isRead)
      scene.run(milliseconds / 1000)
      scene.apply(.cutRetrieval)
      #expect(scene.run(60) { $0.fixes.count >= handed + 20 }, "it is not read")
      scene.demand(Self.moving)
      scene.run(60)
      let seconds = Self.seconds(scene)
      #expect(seconds == Array(0..<seconds.count), "\(milliseconds) ms: fixes are lost, doubled or out of order")
      #expect(!scene.line.receiver.logger.isOn && scene.losses.isEmpty)
    }
  }

  @Test("Replies that come a second late do not end a deferral", arguments: models)
  func late(_ model: ReceiverModel) {
    let scene = Self.scene(model, [.lateReplies])
    Self.collecting(scene)
    let handed = scene.fixes.count
    #expect(scene.run(200) { $0.fixes.count >= handed + 60 }, "it is not read")
    scene.demand(Self.moving)
    scene.run(90)
    let seconds = Self.seconds(scene)
    #expect(seconds == seconds.sorted() && Set(seconds).count == seconds.count)
    let missing = (seconds.last ?? 0) + 1 - seconds.count
    #expect(missing <= scene.losses.values.reduce(0, +), "\(missing) fixes are lost, \(scene.losses) are said")
    #expect(!scene.line.receiver.logger.isOn && !scene.sessionReports.contains(.silent))
  }

  @Test("Records of a person are neither delivered nor erased", arguments: models)
  func person(_ model: ReceiverModel) {
    let scene = Self.scene(model)
    scene.demand(Self.moving)
    #expect(scene.run(120) { $0.fixes.count >= 10 })
    for sentence in model == .ag3352
      ? ["$PAIR904,0,1", "$PAIR900,1"] : ["$PMTK187,1,1", "$PMTK185,0"]
    { Self.send(scene, sentence) }
    scene.run(20)
    Self.send(scene, model == .ag3352 ? "$PAIR900,0" : "$PMTK185,1")
    let records = scene.line.receiver.logger.records
    #expect(records >= 18 && !scene.line.receiver.logger.isOn)
    Self.collecting(scene, seconds: 100)
    #expect(scene.run(140) { $0.fixes.contains { $0.isBatched } })
    scene.demand(Self.moving)
    scene.run(60)
    let seconds = Self.seconds(scene)
    #expect(seconds == Array(0..<seconds.count))
    #expect(scene.line.receiver.logger.records > records, "the records are gone")
    #expect(!scene.line.receiver.logger.isOn)
  }

  @Test("The log of a user that runs goes on: the host keeps the fixes", arguments: models)
  func running(_ model: ReceiverModel) {
    let scene = Self.scene(model)
    scene.demand(Self.moving)
    #expect(scene.run(120) { $0.fixes.count >= 40 })
    Self.send(scene, model == .ag3352 ? "$PAIR900,1" : "$PMTK185,0")
    #expect(scene.line.receiver.logger.isOn)
    scene.demand(.deferred(120, from: scene.now))
    scene.run(200)
    #expect(scene.line.receiver.logger.isOn)
    #expect(scene.sessionReports.contains(.batching(epochs: 0)))
    let seconds = Self.seconds(scene)
    #expect(seconds == Array(0..<seconds.count))
  }

  @Test("After the process was killed the next one reads what is left", arguments: models)
  func killed(_ model: ReceiverModel) {
    let scene = Self.scene(model)
    Self.collecting(scene, seconds: 600)
    scene.run(60)
    let before = scene.fixes.count
    // The file that the next process finds.
    scene.settings.recovery = scene.read { $0.recovery }
    scene.settings.recoverySettings = scene.read { $0.recoverySettings } ?? nil
    #expect(scene.settings.recoverySettings != nil)
    scene.dieAndReturn()
    scene.demand(Self.moving)
    #expect(scene.run(120) { $0.fixes.count >= before + 50 && $0.fixes.last?.isBatched == false })
    let seconds = Self.seconds(scene)
    #expect(seconds == seconds.sorted() && Set(seconds).count == seconds.count)
    #expect(seconds.filter { $0 < before + 50 }.count == before + 50, "fixes of the memory are lost")
  }

  @Test(
    "A restart in the middle costs no record of a memory that outlives it", arguments: [ReceiverModel.mt3339, .mt3333])
  func restart(_ model: ReceiverModel) {
    let scene = Self.scene(model)
    Self.collecting(scene, seconds: 300)
    scene.run(60)
    let records = scene.line.receiver.logger.records
    scene.line.inject(.reboot, at: scene.now + Milliseconds(100))
    scene.run(20)
    #expect(scene.line.receiver.logger.isOn && scene.line.receiver.logger.records >= records)
    let handed = scene.fixes.count
    #expect(scene.run(400) { $0.fixes.count > handed + records })
    let seconds = Self.seconds(scene)
    #expect(seconds == seconds.sorted() && Set(seconds).count == seconds.count)
  }

  @Test("A read with missing lines is repeated, and costs no fix")
  func damaged() {
    let scene = Self.scene(.mt3339)
    Self.collecting(scene)
    scene.run(60)
    scene.line.inject(.corrupt(share: 0.0003, for: Milliseconds(600_000)), at: scene.now + Milliseconds(1))
    let handed = scene.fixes.count
    #expect(scene.run(300) { $0.fixes.count > handed + 80 })
    let seconds = Self.seconds(scene)
    #expect(seconds == seconds.sorted() && Set(seconds).count == seconds.count)
    let missing = (seconds.last ?? 0) + 1 - seconds.count
    #expect(missing <= scene.losses.values.reduce(0, +), "\(missing) fixes are lost, \(scene.losses) are said")
  }
}
