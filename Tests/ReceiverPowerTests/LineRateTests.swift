// SPDX-License-Identifier: Apache-2.0
import Positioning
import Receiver
import ReceiverSimulator
import Testing

@testable import Power

@Suite("The rate of a serial line while its receiver sleeps and wakes")
struct LineRateTests {
  private static let checks = Demand(everySeconds: 60)

  @Test(
    "A slow line is raised once, stays raised over sleeps, and is restored at the end",
    arguments: [ReceiverModel.m6, .m8, .m8Batching, .m9, .m10, .f9p, .f10, .x20])
  func raised(model: ReceiverModel) {
    let scene = Scene(model)
    let found = scene.line.receiver.baudRate
    scene.demand(Self.checks)
    scene.run(900)
    #expect(scene.line.receiver.baudRate == 115_200 && scene.line.hostRate == 115_200)
    #expect(scene.sessionReports.count { $0 == .rateFound(115_200) } == 1, "\(scene.sessionReports)")
    #expect(scene.reported(.doesNotWake) == 0)
    let before = scene.fixes.count
    scene.run(600)
    #expect(scene.fixes.count >= before + 10)
    _ = scene.finish()
    #expect(scene.line.receiver.baudRate == found)
  }

  @Test("A receiver that loses the rate by sleeping keeps its own from then on, and serves")
  func lost() {
    let scene = Scene(.clone)
    scene.demand(Self.checks)
    scene.run(900)
    let before = (scene.fixes.count, scene.sessionReports.count { $0 == .rateFound(115_200) })
    scene.run(1200)
    #expect(scene.fixes.count >= before.0 + 19, "\(scene.fixes.count - before.0)")
    #expect(scene.sessionReports.count { $0 == .rateFound(115_200) } <= 2, "it is raised repeatedly")
    #expect(scene.line.receiver.baudRate == 9600)
    _ = scene.finish()
    #expect(scene.line.receiver.baudRate == 9600)
  }
}
