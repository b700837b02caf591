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
      // The time that a person needs.
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

  // MARK: Crash-recovery records

  private static let families: [ReceiverFamily] = [.mediaTek, .airoha, .quectel, .casic, .teseo, .unicore]

  private static func scene(
    recorded family: ReceiverFamily, _ rates: (UInt32, UInt32), _ new: ReceiverModel, isSilent: Bool = false,
    hasSettings: Bool = true
  ) -> SessionScene {
    let line = line(new, until: .zero + Milliseconds(16_000), isSilent: isSilent)
    var settings = SessionSettings(intent: .serve, line: .serial)
    settings.recovery = CrashRecoveryRecord(rate: rates.0, foundRate: rates.1, family: family)
    if hasSettings {
      settings.recoverySettings = CrashRecoverySettings("\nof \(family.rawValue)-X1\nvalue rate 200")
      #expect(settings.recoverySettings != nil)
    }
    return SessionScene(SessionLog(), line, settings: settings, at: .zero + Milliseconds(16_000))
  }

  @Test("Each at the line of a killed program's receiver", arguments: families, models)
  func recorded(family: ReceiverFamily, new: ReceiverModel) {
    guard Self.family(of: new) != family else { return }
    let rate = new.traits.defaultBaudRate
    for (found, hasSettings) in [(rate, false), (38_400, false), (38_400, true)] {
      Self.check(Self.scene(recorded: family, (rate, found), new, hasSettings: hasSettings), new, new, within: 120)
    }
  }

  @Test("One whose output is off, at the line of a killed program's receiver", arguments: families, silenced)
  func recordedSilent(family: ReceiverFamily, new: ReceiverModel) {
    let scene = Self.scene(recorded: family, (9600, 9600), new, isSilent: true)
    let isFound = scene.run(90) { $0.description.map { Self.isOf($0, new) } == true }
    #expect(isFound, "\(family), then \(new): \(scene.reports)")
  }

  @Test("The record is kept while the receiver replies to nothing", arguments: families)
  func recordedUnanswering(family: ReceiverFamily) {
    let scene = Self.scene(recorded: family, (9600, 38_400), .nmea)
    scene.run(120)
    #expect(scene.reported(.notIdentified(isOtherVendor: false)) == 1)
    #expect(scene.recovery?.family == family && scene.recoverySettings?.receiver == "\(family.rawValue)-X1")
  }
}
