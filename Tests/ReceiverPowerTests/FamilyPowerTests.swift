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

  @Test("A timed standby is not longer than a demand allows, whose fixes come in time", arguments: [20.0, 100])
  func shortTimed(filter: Double) throws {
    var scenario = Scenario(stayingAt: Place(latitudeDegrees: 48.1642, longitudeDegrees: 11.6056, altitudeMetres: 512))
    scenario.beginsHot = true
    scenario.move(northMetres: 20_000, eastMetres: 0, seconds: 2000)
    let scene = Scene(.teseo, scenario: scenario)
    scene.demand(Demand(updates: .init(accuracy: .metres(10), distanceFilterMetres: filter)))
    scene.run(1800)
    let times = scene.machine.fixes.map { Double($0.time.nanosecondsSince1970) / 1e9 }
    let gap = try #require(zip(times, times.dropFirst()).map { $1 - $0 }.max())
    let sleeps = scene.machine.commands.compactMap {
      if case .sleep(let time?) = $0.command { time.count } else { nil }
    }
    #expect(sleeps.allSatisfy { $0 >= 5000 }, "\(sleeps)")
    // Ten metres a second; a fix may be five seconds and a start late at any speed.
    #expect(gap * 10 <= filter + 70, "\(gap)")
  }

  @Test(
    "The shortest timed sleep is the session's, and none where the line wakes the receiver",
    arguments: [
      (
        ["family=STMicroelectronics", "", "Teseo-LIV3F", "4.6", "timedSleep"], ReceiverPortNumber?.none, Double?.some(5)
      ),
      (["family=Airoha", "", "LC86G", "1", "timedSleep"], nil, 10),
      (["family=Airoha", "", "LC76G", "1", "standby", "timedSleep"], nil, 0),
      (["family=Airoha", "", "LC76G", "1", "standby", "timedSleep"], .i2c, nil),
      (["ROM SPG 5.10", "000A0000", "FWVER=SPG 5.10", "PROTVER=34.10"], nil, 0),
      (["ROM SPG 5.10", "000A0000", "FWVER=SPG 5.10", "PROTVER=34.10"], .i2c, 5),
    ])
  func shortestSleep(strings: [String], port: ReceiverPortNumber?, seconds: Double?) throws {
    let receiver = try #require(ReceiverDescription(strings: strings))
    #expect(ReceiverCapabilities(receiver, port: port).backup?.shortestSeconds == seconds)
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
