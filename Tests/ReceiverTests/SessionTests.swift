// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Receiver
import ReceiverStream
import TestSupport
import Testing
import UBX

@testable import ReceiverSimulator

@Suite("A session with each receiver")
struct SessionTests {
  static let uBlox = ReceiverModel.ofUBlox.filter { $0 != .nmea }
  static let rates: [UInt32] = [9600, 38400, 115_200, 230_400, 460_800]

  @Test("It is found within five seconds at every rate, identified and configured", arguments: uBlox, rates)
  func found(_ model: ReceiverModel, at rate: UInt32) throws {
    for intent in [SessionSettings.Intent.identify, .serve] {
      let scene = SessionScene(model, baud: rate, intent: intent)
      let isThere = scene.run(15) { $0.isSteady }
      #expect(isThere, "\(intent): \(scene.reports)")
      let found = try #require(scene.time(of: .rateFound(rate)))
      #expect(found < 5000)
      let description = try #require(scene.description)
      let identified = try #require(scene.time(of: .identified(description)))
      #expect(identified < 5000)
      #expect(description.generation?.rawValue == Self.generation(model))
    }
  }

  @Test(
    "A receiver with an epoch in ten seconds is found in its first one, at another rate after a few",
    arguments: [UInt32(9600), 4800, 38400, 115_200], [SessionSettings.Intent.readOnly, .serve])
  func slow(at rate: UInt32, intent: SessionSettings.Intent) throws {
    var scenario = Scenario()
    scenario.beginsHot = true
    let scene = SessionScene(.nmea, baud: rate, intent: intent, scenario: scenario)
    scene.line.receiver.settings.measurementMilliseconds = 10_000
    #expect(scene.run(rate == 9600 ? 12 : 42) { $0.positions.count > 0 }, "\(scene.reports)")
    #expect(scene.run(30) { $0.positions.count > 2 }, "\(scene.reports)")
  }

  private static func generation(_ model: ReceiverModel) -> String {
    switch model {
    case .m6: "M6"
    case .m8, .m8Batching, .clone: "M8"
    case .m9: "M9"
    case .m10: "M10"
    case .f9p: "F9"
    case .f10: "F10"
    case .x20: "X20"
    default: ""
    }
  }

  @Test("A ZOE-M8B has power save modes: Super-E mode in place of cyclic tracking, and intervals")
  func superE() throws {
    let scene = SessionScene(.m8Batching)
    scene.run(15) { $0.isSteady }
    let description = try #require(scene.description)
    #expect(description.can(.powerSaveCyclic) && description.can(.powerSaveOnOff))
    #expect(PowerSave.cyclic(everySeconds: 1).isPossible(on: description))
    // CFG-PMS has its period in two bytes.
    #expect(PowerSave.onOff(periodSeconds: 65_535).isPossible(on: description))
    #expect(!PowerSave.onOff(periodSeconds: 65_536).isPossible(on: description))
  }

  @Test("Its fixes come in UBX alone, at its position", arguments: uBlox)
  func serves(_ model: ReceiverModel) throws {
    let scene = SessionScene(model)
    scene.run(60)
    let sentences = scene.counters.nmeaFrames
    let before = scene.positions.count
    scene.run(20)
    #expect(scene.counters.nmeaFrames == sentences)
    #expect(scene.positions.count >= before + 19)
    let (at, fix) = try #require(scene.positions.last)
    let truth = scene.line.receiver.truth(at: at)
    #expect(abs(try #require(fix.latitudeDegrees) - truth.latitudeDegrees) < 0.0005)
    #expect(abs(try #require(fix.longitudeDegrees) - truth.longitudeDegrees) < 0.0005)
  }

  @Test("At an orderly end it is as it was found", arguments: uBlox)
  func restores(_ model: ReceiverModel) {
    let scene = SessionScene(model) { settings in
      settings.desired = { description in
        var desired = DesiredConfiguration.navigation(for: description)
        desired.dynamicModel = .automotive
        desired.measurementPeriodMilliseconds = 500
        return desired
      }
    }
    let before = scene.line.receiver
    scene.run(30) { $0.isSteady }
    #expect(scene.line.receiver.epochMilliseconds == 500 || model == .clone)
    #expect(scene.finish() < 4000)
    for message in [MessageIdentity.navPVT, .navDOP, .navSAT, .navEOE, .navPOSLLH, .navSOL, .navVELNED, .navSVINFO] {
      #expect(scene.line.receiver.rate(of: message) == before.rate(of: message), "\(message)")
    }
    #expect(scene.line.receiver.epochMilliseconds == before.epochMilliseconds)
    let sentences = scene.line.receiver.now
    // It writes NMEA again.
    scene.line.advance(to: sentences + Milliseconds(3000))
    #expect(scene.line.takeReceived().contains(UInt8(ascii: "$")))
  }

  @Test("Changes are restored on a line that loses one byte in a hundred", arguments: uBlox)
  func restoredOnLossyLine(_ model: ReceiverModel) {
    let messages: [MessageIdentity] = [.navPVT, .navDOP, .navSAT, .navEOE, .navPOSLLH, .navSOL, .navVELNED, .navSVINFO]
    var defeats = 0
    for phase in 0..<40 {
      let scene = SessionScene(model)
      let before = scene.line.receiver
      // Each time at another moment of the second.
      scene.run(8 + Double(phase) * 0.037)
      scene.line.inject(.drop(share: 0.01, for: Milliseconds(20_000)), at: scene.now)
      #expect(scene.finish() <= 8000)
      scene.run(2)
      if messages.contains(where: { scene.line.receiver.rate(of: $0) != before.rate(of: $0) }) { defeats += 1 }
    }
    // At 9600 baud nine requests of a dozen succeed; three failures in a row are rare, and take the others' time.
    #expect(defeats <= 1)
  }

  @Test("A receiver that takes a command for the rest of a frame recovers", arguments: uBlox)
  func unfinishedFrame(_ model: ReceiverModel) throws {
    let scene = SessionScene(model)
    #expect(scene.run(30) { $0.isSteady })
    // A message's head of which a byte was lost: 256 bytes of it are awaited.
    scene.line.send([0xB5, 0x62, 0x06, 0x01, 0x00, 0x01], at: scene.now)
    let outcome = scene.send(Command(MessageIdentity(0x06, 0x01), [0x01, 0x07, 1], answer: .acknowledgement))
    #expect(outcome == .acknowledged || outcome == .refused(.unspecified))
  }

  @Test("Ended in the middle of its configuration, it is as it was found too", arguments: uBlox)
  func restoresInTheMiddle(_ model: ReceiverModel) {
    for milliseconds in stride(from: 200, to: 2600, by: 200) {
      let scene = SessionScene(model)
      let before = scene.line.receiver
      scene.run(Double(milliseconds) / 1000)
      _ = scene.finish()
      for message in [MessageIdentity.navPVT, .navDOP, .navSAT, .navEOE, .navPOSLLH, .navSOL, .navVELNED, .navSVINFO] {
        #expect(scene.line.receiver.rate(of: message) == before.rate(of: message), "\(message) \(milliseconds)")
      }
      _ = scene.line.takeReceived()
      scene.line.advance(to: scene.line.receiver.now + Milliseconds(3000))
      #expect(scene.line.takeReceived().contains(UInt8(ascii: "$")), "\(milliseconds)")
    }
  }

  @Test("A receiver without periodic output replies to polls for any time", arguments: uBlox)
  func quiet(_ model: ReceiverModel) {
    let first = SessionScene(model) { settings in
      settings.restoresAtEnd = false
      settings.desired = { _ in
        var desired = DesiredConfiguration()
        desired.writesNMEA = false
        return desired
      }
    }
    first.run(20) { $0.isSteady }
    _ = first.finish()
    let scene = SessionScene(model, intent: .identify) { $0.desired = { _ in .nothing } }
    scene.line = first.line
    scene.skip(to: first.now)
    #expect(scene.run(12) { $0.isSteady }, "\(scene.reports)")
    for _ in 0..<5 {
      guard case .answered? = scene.send(.poll(MessageIdentity(0x0A, 0x04))) else {
        Issue.record("no answer: \(scene.reports)")
        return
      }
      scene.run(4)
    }
    #expect(scene.reported(.silent) == 0)
  }

  @Test(
    "A text in a steady session is not a restart; a boot text is one, and the configuration is polled",
    arguments: [
      ("Stopping GNSS", false), ("Starting GNSS", false), ("inv sig cfg", false), ("u-blox AG - www.u-blox.com", true),
    ])
  func texts(_ text: String, _ isStart: Bool) {
    let scene = SessionScene(.m10) { settings in
      settings.desired = { _ in
        var desired = DesiredConfiguration()
        desired.writesNMEA = false
        desired.messages = [DesiredConfiguration.MessageRate(.navPVT, 1)]
        return desired
      }
    }
    scene.run(90)
    #expect(scene.isSteady)
    let sent = scene.sentBytes
    scene.receive(Wire.nmea("GBTXT,01,01,02,\(text)"))
    scene.work()
    scene.run(1)
    #expect((scene.sentBytes > sent) == isStart)
  }

  @Test("Incomplete changes are restored at the end, complete ones stay", arguments: uBlox)
  func partlyRestored(_ model: ReceiverModel) {
    for isDone in [false, true] {
      let scene = SessionScene(model, intent: .identify) { settings in
        settings.restoresAtEnd = false
        settings.desired = { _ in .silent }
      }
      scene.run(20) { $0.isSteady }
      scene.set(DesiredConfiguration.logging(for: scene.description!))
      scene.run(5)
      scene.restoreAtEnd(!isDone)
      _ = scene.finish()
      _ = scene.line.takeReceived()
      scene.line.advance(to: scene.line.receiver.now + Milliseconds(3000))
      #expect(scene.line.takeReceived().contains(UInt8(ascii: "$")) != isDone, "\(isDone) \(scene.reports)")
    }
  }

  @Test("A power cycle loses the configuration, and it is back two seconds after the first byte", arguments: uBlox)
  func powerCycle(_ model: ReceiverModel) throws {
    let scene = SessionScene(model)
    scene.run(40)
    let before = scene.reports.count
    scene.line.inject(.powerCycle(for: Milliseconds(1500), losingBackup: true), at: scene.now)
    scene.run(1.4)
    let bytes = scene.receivedBytes
    scene.run(20) { $0.receivedBytes > bytes }
    let firstByte = scene.now
    let isBack = scene.run(20) { scene in
      scene.reports.dropFirst(before).contains { $0.report == .configured(refused: 0) }
    }
    #expect(isBack)
    #expect(scene.now.milliseconds(since: firstByte) <= 2000)
    // Nothing is sent to a steady receiver.
    let sent = scene.sentBytes
    scene.run(60)
    #expect(scene.sentBytes == sent)
    #expect(scene.reported(.wasReset) == 1)
  }

  @Test("A plain NMEA receiver is served; it gets the probes of identification once, and nothing more")
  func plain() {
    let scene = SessionScene(.nmea)
    scene.run(60)
    let sent = scene.sentBytes
    #expect(sent < 1000 && scene.reported(.notIdentified(isOtherVendor: false)) == 1)
    scene.run(120)
    #expect(scene.sentBytes == sent)
    #expect(scene.positions.count > 100)
  }

  @Test("A plain NMEA receiver is polled on request, and used")
  func plainIdentified() {
    let scene = SessionScene(.nmea, intent: .identify)
    scene.run(40)
    #expect(scene.reported(.notIdentified(isOtherVendor: false)) == 1)
    #expect(scene.positions.count > 5)
    let sent = scene.sentBytes
    scene.run(120)
    #expect(scene.sentBytes == sent)
  }

  @Test("A read-only session sends no byte, for any input", arguments: ReceiverModel.allCases)
  func readOnly(_ model: ReceiverModel) {
    let scene = SessionScene(model, baud: 38400, intent: .readOnly)
    scene.run(20)
    scene.line.inject(.freeze(for: Milliseconds(20_000)), at: scene.now)
    scene.run(60)
    _ = scene.finish()
    #expect(scene.sentBytes == 0)
    // These send nothing as they are found.
    #expect(!scene.fixes.isEmpty || [.um980, .mosaic].contains(model))
  }

  @Test("The port's rate is raised, used, and taken back at the end", arguments: uBlox)
  func portRate(_ model: ReceiverModel) {
    let scene = SessionScene(model) { settings in
      settings.desired = { description in
        var desired = DesiredConfiguration.navigation(for: description)
        desired.portRate = 115_200
        return desired
      }
    }
    let original = scene.line.receiver.baudRate
    scene.run(30) { $0.reported(.rateFound(115_200)) > 0 && $0.isSteady }
    #expect(scene.line.receiver.baudRate == 115_200)
    #expect(scene.line.hostRate == 115_200)
    let before = scene.fixes.count
    scene.run(10)
    #expect(scene.fixes.count >= before + 9)
    _ = scene.finish()
    #expect(scene.line.receiver.baudRate == original)
  }

  @Test("A command is sent when its turn comes, and its outcome is reported")
  func commands() {
    let scene = SessionScene(.m10)
    scene.run(20) { $0.isSteady }
    let version = MessageIdentity(0x0A, 0x04)
    guard case .answered(let payload)? = scene.send(.poll(version)) else {
      Issue.record("no answer")
      return
    }
    #expect(payload.count >= 40)
    // CFG-MSG is not there any more in this firmware.
    #expect(scene.send(Command(MessageIdentity(0x06, 0x01), [], answer: .acknowledgement)) == .refused(.unspecified))
    scene.line.inject(.silence(for: Milliseconds(60_000)), at: scene.now)
    #expect(scene.send(.poll(version)) == .silent)
  }
}
