// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Positioning
import Receiver
import ReceiverSimulator
import Testing

@testable import Power

/// The power policy with receivers of other makers.
@Suite("The policy and receivers of other makers, in virtual time")
struct FamilyPowerTests {
  private static let everyQuarter = Demand(everySeconds: 900)

  /// Whether it is in standby, or its engine is stopped.
  private static func rests(_ scene: Scene) -> Bool {
    [.standby, .stopped].contains(scene.line.receiver.powerState)
  }

  @Test("A receiver in standby is woken for each position check", arguments: [ReceiverModel.mt3339, .mt3333, .ag3352])
  func standby(_ model: ReceiverModel) {
    let scene = Scene(model)
    scene.demand(Self.everyQuarter)
    #expect(scene.run(300) { Self.rests($0) && $0.positions > 0 }, "\(model)")
    scene.run(30)
    let (charge, positions) = (scene.chargeMilliampereSeconds, scene.positions)
    #expect(Self.rests(scene))
    scene.run(3600)
    #expect(scene.positions >= positions + 4)
    // Awake for some seconds of each quarter of an hour.
    #expect(scene.chargeMilliampereSeconds - charge < 3600 * 4, "\(scene.chargeMilliampereSeconds - charge) mAs")
    scene.demand(Demand(updates: .init(accuracy: .best)))
    let before = scene.positions
    #expect(scene.run(20) { $0.positions > before + 5 }, "it does not come back")
  }

  @Test("A receiver that replaces another one at a line that stays open sleeps as its own family does")
  func replaced() {
    let scene = Scene(.at6558)
    scene.demand(Demand(updates: .init(accuracy: .best)))
    #expect(scene.run(300) { $0.positions > 5 })
    var line = VirtualLine(model: .mt3339, startUTCSeconds: Scene.start)
    line.advance(to: scene.now)
    _ = line.takeReceived()
    line.hostRate = scene.line.hostRate
    scene.line = line
    scene.inject(.power(isOn: false))
    scene.run(15)
    scene.inject(.power(isOn: true))
    let positions = scene.positions
    #expect(scene.run(200) { $0.positions > positions + 20 })
    scene.demand(Self.everyQuarter)
    #expect(scene.run(300) { Self.rests($0) })
  }

  @Test("A receiver with a timed standby sleeps for times that a demand can wait")
  func timed() {
    let scene = Scene(.teseo)
    scene.demand(Self.everyQuarter)
    #expect(scene.run(300) { Self.rests($0) && $0.positions > 0 })
    let positions = scene.positions
    scene.run(3600)
    #expect(scene.positions >= positions + 3)
  }

  @Test("A demand during a timed standby waits for its end, and the state is true meanwhile")
  func demandInTimed() {
    let scene = Scene(.teseo)
    scene.demand(Self.everyQuarter)
    #expect(scene.run(300) { Self.rests($0) && $0.positions > 0 })
    scene.run(5)
    let (sent, positions) = (scene.sentBytes, scene.positions)
    scene.demand(Demand(updates: .init(accuracy: .best)), of: 2)
    scene.run(20)
    #expect(scene.machine.coordinator.status == .asleepUntilTimer && scene.sentBytes == sent)
    #expect(scene.run(120) { $0.positions > positions + 5 })
    #expect(scene.machine.coordinator.status == .awake)
    #expect(scene.machine.reports.allSatisfy { $0.report != .doesNotWake && $0.report != .wakesByItself })
    #expect(!scene.machine.sessionReports.contains(.silent) && !scene.machine.sessionReports.contains(.doesNotWake))
  }

  @Test(
    "A receiver without sleep stays on: only the host sleeps", arguments: [ReceiverModel.at6558, .lg290p, .tau1201])
  func stays(_ model: ReceiverModel) {
    let scene = Scene(model)
    scene.demand(Self.everyQuarter)
    #expect(scene.run(300) { $0.isSilent && $0.positions > 0 })
    let sent = scene.sentBytes
    scene.run(800)
    #expect(scene.line.receiver.powerState == .tracking && scene.sentBytes == sent)
    scene.demand(Demand(updates: .init(accuracy: .best)))
    let before = scene.positions
    #expect(scene.run(20) { $0.positions > before + 5 })
  }
}
