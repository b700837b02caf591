// SPDX-License-Identifier: Apache-2.0
import HostSimulator
import MonotonicTime
import TestSupport
import Testing

@testable import Receiver
@testable import ReceiverSimulator

/// A receiver of another kind at the line of a known one, in virtual time.
@Suite("A receiver that replaces another one at the line is identified, used and left as it was found")
struct ReplacedReceiverTests {
  private static let models: [ReceiverModel] = [.m10, .mt3339, .ag3352, .lg290p, .at6558, .teseo, .um980]
  private static let pairs = models.flatMap { old in models.filter { $0 != old }.map { (old, $0) } }
  /// Those with a command that switches the output off.
  private static let silenced: [ReceiverModel] = [.mt3339, .ag3352, .lg290p, .at6558, .teseo]
  private static let sleepers: [ReceiverModel] = [.m10, .mt3339, .ag3352, .teseo]

  private static var scenario: Scenario {
    var scenario = Scenario(stayingAt: Place(latitudeDegrees: 48.1642, longitudeDegrees: 11.6056, altitudeMetres: 512))
    scenario.beginsHot = true
    return scenario
  }

  private static func line(_ model: ReceiverModel, until now: Instant, isSilent: Bool) -> VirtualLine {
    var line = VirtualLine(model: model, scenario: scenario, seed: 2, startUTCSeconds: SessionScene.start)
    line.hostRate = line.receiver.baudRate
    if isSilent {
      let begin = Instant.zero + Milliseconds(4000)
      line.advance(to: begin)
      line.send(SilentFamilyTests.switchingOff(model), at: begin)
    }
    line.advance(to: now)
    _ = line.takeReceived()
    return line
  }

  /// A session at the old receiver, which is replaced by the new one. A line that is closed is opened again.
  private static func scene(
    _ old: ReceiverModel, _ new: ReceiverModel, isSilent: Bool = false, isClosed: Bool
  ) -> SessionScene {
    let scene = SessionScene(old, scenario: scenario)
    #expect(scene.run(90) { $0.isSteady && $0.description != nil })
    scene.run(10)
    #expect(scene.isSteady)
    var next = line(new, until: scene.now, isSilent: isSilent)
    next.hostRate = scene.line.hostRate
    scene.line = next
    if isClosed {
      scene.unplug()
    } else if !isSilent {
      // A person is no faster.
      scene.inject(.power(isOn: false))
      scene.run(15)
      scene.inject(.power(isOn: true))
    }
    return scene
  }

  private static func check(_ scene: SessionScene, _ old: ReceiverModel, _ new: ReceiverModel, within seconds: Double) {
    let title = "\(old), then \(new)"
    let found = FamilyFaultTests.Settings(scene.line.receiver)
    let begin = scene.now
    #expect(
      scene.run(seconds) { scene in
        scene.isSteady && scene.description.map { isOf($0, new) } == true && scene.reported(.configured(refused: 0)) > 0
      }, "\(title): \(scene.reports.suffix(6)), \(String(describing: scene.description))")
    let isUsed = scene.run(60) { $0.positions.contains { $0.at > begin } }
    #expect(isUsed, "\(title): no position")
    // Nothing of the old receiver is restored at the new one.
    if let name = scene.description.map({ CrashRecoverySettings.name($0) }), let record = scene.recoverySettings {
      #expect(record.receiver == name, "\(title)")
    }
    if sleepers.contains(new) {
      scene.sleep(seconds: 30)
      let isAsleep = scene.run(15) { $0.read { $0.isAsleep } ?? false }
      #expect(isAsleep, "\(title): it does not sleep")
    }
    _ = scene.finish()
    scene.run(2)
    let left = FamilyFaultTests.Settings(scene.line.receiver)
    #expect(left == found, "\(title): \(left), not \(found)")
    #expect(scene.reported(.notRestored) == 0, "\(title)")
  }

  /// Nil for u-blox, and for a receiver that replies to nothing.
  private static func family(of model: ReceiverModel) -> ReceiverFamily? {
    switch model {
    case .mt3339: .mediaTek
    case .ag3352: .airoha
    case .lg290p: .quectel
    case .at6558: .casic
    case .teseo: .teseo
    case .um980: .unicore
    default: nil
    }
  }

  private static func isOf(_ description: ReceiverDescription, _ model: ReceiverModel) -> Bool {
    description.family == family(of: model)
  }

  @Test("Each by each, at a line that was closed meanwhile", arguments: pairs)
  func closed(old: ReceiverModel, new: ReceiverModel) {
    Self.check(Self.scene(old, new, isClosed: true), old, new, within: 120)
  }

  @Test("Each by each, at a line that stays open", arguments: pairs)
  func open(old: ReceiverModel, new: ReceiverModel) {
    Self.check(Self.scene(old, new, isClosed: false), old, new, within: 300)
  }

  @Test("Each by one whose output is off", arguments: pairs.filter { silenced.contains($0.1) }, [false, true])
  func silent(pair: (old: ReceiverModel, new: ReceiverModel), isClosed: Bool) {
    let (old, new) = pair
    let scene = Self.scene(old, new, isSilent: true, isClosed: isClosed)
    let isFound = scene.run(300) { $0.description.map { Self.isOf($0, new) } == true }
    #expect(isFound, "\(old), then \(new): \(scene.reports.suffix(6)), \(scene.writes.suffix(12))")
  }

  @Test("A receiver that replies to nothing is used, and the record of the old one is kept", arguments: models)
  func unanswering(old: ReceiverModel) {
    let scene = Self.scene(old, .nmea, isClosed: true)
    let stored = scene.stored
    let begin = scene.now
    #expect(
      scene.run(120) {
        $0.reports.contains { $0.at > begin && $0.report == .notIdentified(isOtherVendor: false) }
      }, "\(old): \(scene.reports.suffix(6))")
    scene.run(20)
    #expect(scene.positions.contains { $0.at > begin })
    scene.finish()
    #expect(scene.stored.recovery?.family == stored.recovery?.family && scene.stored.settings == stored.settings)
  }
}
