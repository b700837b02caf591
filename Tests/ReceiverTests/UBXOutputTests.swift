// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import ReceiverSimulator
import TestSupport
import Testing
import UBX

@testable import Receiver

@Suite("A receiver whose UBX output is off")
struct UBXOutputTests {
  /// CFG-UART1OUTPROT-UBX (M10 SPG 5.10 interface description, "CFG-UART1OUTPROT").
  private static let key: UInt32 = 0x1074_0001

  /// CFG-PRT of UART1: UBX, NMEA and RTCM 3 are read, NMEA is written.
  private static let port = Wire.ubx(
    0x06, 0x00, [1, 0, 0, 0, 0xD0, 0x08, 0, 0, 0x80, 0x25, 0, 0, 7, 0, 2, 0, 0, 0, 0, 0])

  /// Whether it has no items.
  private static func isLegacy(_ model: ReceiverModel) -> Bool { [.m6, .m8, .m8Batching].contains(model) }

  private static func hostRate(_ model: ReceiverModel) -> UInt32 {
    isLegacy(model) || model == .m10 ? 9600 : 38_400
  }

  private static func scene(
    _ model: ReceiverModel, intent: SessionSettings.Intent = .identify, isOff: Bool = true
  ) -> SessionScene {
    let scene = SessionScene(model, hostRate: hostRate(model), intent: intent) { settings in
      if intent == .identify { settings.desired = { _ in .nothing } }
      settings.maySwitchUBXOn = false
    }
    if isOff {
      let command =
        isLegacy(model)
        ? port : Configuration.valset([ConfigurationPair(id: key, bits: 0)], layers: 1).bytes
      scene.line.send(command, at: scene.now)
      // The host opens the line after the ACK-ACK.
      scene.skip(to: scene.now + Milliseconds(5000))
    }
    return scene
  }

  @Test(
    "It is identified, and its output is off again at the end",
    arguments: [ReceiverModel.m6, .m8, .m8Batching, .m9, .m10, .f9p, .f10, .x20],
    [SessionSettings.Intent.identify, .serve])
  func identified(_ model: ReceiverModel, _ intent: SessionSettings.Intent) {
    let scene = Self.scene(model, intent: intent)
    // At 9600 baud the line of the M10 is full.
    let isIdentified = scene.run(model == .m10 ? 120 : 15) { $0.description != nil }
    #expect(isIdentified, "\(scene.reports)")
    scene.run(5)
    _ = scene.finish()
    #expect(scene.reported(.notRestored) == 0)
    // Nothing is sent in UBX any more, and NMEA is as before.
    scene.run(1)
    #expect(scene.line.receiver.sendsUBX == false)
  }

  @Test(
    "Killed at any command, it is switched off again by the next program",
    arguments: [ReceiverModel.m6, .m8, .m9, .f9p, .x20],
    [SessionSettings.Intent.identify, .serve])
  func killed(_ model: ReceiverModel, _ intent: SessionSettings.Intent) {
    var isCut = true
    var after = 1
    while isCut {
      let scene = Self.scene(model, intent: intent)
      scene.kill(afterSending: after)
      scene.run(20) { $0.isKilled || $0.isSteady }
      if !scene.isKilled { _ = scene.finish() }
      isCut = scene.isKilled
      scene.open(after: 2000, hostRate: Self.hostRate(model)) { _ in }
      scene.run(20) { $0.isSteady }
      #expect(scene.description != nil, "after \(after) commands")
      _ = scene.finish()
      scene.run(1)
      #expect(!scene.line.receiver.sendsUBX, "after \(after) commands")
      after += 1
    }
    #expect(after > 4)
  }

  @Test(
    "UBX output that was on stays on at the end, also on a full line",
    arguments: [ReceiverModel.m6, .m8, .m9, .m10], [SessionSettings.Intent.identify, .serve])
  func wasOn(_ model: ReceiverModel, _ intent: SessionSettings.Intent) {
    let scene = Self.scene(model, intent: intent, isOff: false)
    scene.run(40)
    _ = scene.finish()
    scene.run(1)
    #expect(scene.line.receiver.sendsUBX)
  }

  @Test("It is off after a sleep and a loss of power too", arguments: [ReceiverModel.m8, .m9])
  func slept(_ model: ReceiverModel) {
    let scene = Self.scene(model, intent: .serve)
    #expect(scene.run(60) { $0.isSteady })
    scene.sleep(seconds: 6)
    scene.run(12)
    _ = scene.finish()
    scene.run(1)
    #expect(!scene.line.receiver.sendsUBX && scene.reported(.notRestored) == 0)
    scene.line.inject(.powerCycle(for: Milliseconds(2000), losingBackup: false), at: scene.now)
    scene.run(5)
    // Only memory of receivers without items has the whole configuration.
    #expect(scene.line.receiver.sendsUBX == (model == .m9))
  }

  @Test("Nothing is switched at a receiver of another make")
  func otherMake() {
    let scene = SessionScene(.nmea, hostRate: 4800, intent: .identify) { $0.desired = { _ in .nothing } }
    scene.run(40)
    #expect(scene.description == nil)
    // The probes of all families alone.
    #expect(scene.sentBytes < 1000, "\(scene.sentBytes)")
  }
}
