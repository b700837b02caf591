// SPDX-License-Identifier: Apache-2.0
import Positioning
import Power
import ReceiverSimulator
import Testing

@Suite("The computer suspends, in virtual time")
struct SuspendTests {
  private static let moving = Demand(updates: .init(accuracy: .best))

  @Test(
    "A receiver in use sleeps within the two seconds that a suspend is delayed, and is back after it",
    arguments: [ReceiverModel.m8, .m10, .f9p])
  func inUse(model: ReceiverModel) {
    let scene = Scene(model)
    scene.demand(Self.moving)
    #expect(scene.run(120) { $0.fixes.count >= 40 })
    // If no sleep is requested, the suspend is not delayed.
    #expect(scene.coordinator.isSilenceReached)
    scene.post(.hostSuspending)
    #expect(!scene.coordinator.isSilenceReached)
    #expect(scene.run(2) { $0.coordinator.isSilenceReached })
    #expect(scene.run(1) { $0.isAsleep })
    scene.post(.hostResumed(suspendedSeconds: 600))
    let count = scene.positions
    #expect(scene.run(10) { $0.positions > count }, "it does not come back")
  }

  @Test("A receiver that takes no commands delays nothing", arguments: [true, false])
  func unread(isReadOnly: Bool) {
    let scene = isReadOnly ? Scene(.m10, intent: .readOnly) : Scene(.nmea)
    scene.demand(Self.moving)
    scene.run(60)
    scene.post(.hostSuspending)
    #expect(scene.coordinator.isSilenceReached)
  }
}
