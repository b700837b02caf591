// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import ReceiverSimulator
import Testing

@testable import Receiver

@Suite("A power save mode that the receiver refuses")
struct RefusedModeTests {
  @Test(
    "A refused mode is not restored, and nothing is reported as not restored", arguments: [ReceiverModel.f9p, .x20],
    [PowerSave.onOff(periodSeconds: 30), .cyclic(everySeconds: 2)])
  func refused(_ model: ReceiverModel, _ mode: PowerSave) {
    let scene = SessionScene(model, baud: 115_200, intent: .identify) { settings in
      settings.desired = { _ in
        var desired = DesiredConfiguration.nothing
        desired.powerSave = mode
        return desired
      }
    }
    scene.run(8)
    _ = scene.finish()
    #expect(scene.reported(.notRestored) == 0, "\(scene.reports)")
  }

  @Test("On/off operation that is refused at the last step is not reported as configured")
  func refusedLast() {
    let scene = SessionScene(.clone, intent: .identify) { settings in
      settings.desired = { _ in
        var desired = DesiredConfiguration.nothing
        desired.powerSave = .onOff(periodSeconds: 30)
        return desired
      }
    }
    scene.run(60)
    #expect(scene.description?.can(.powerSaveOnOff) == true)
    #expect(scene.reported(.configured(refused: 1)) == 1, "\(scene.reports)")
    #expect(scene.reported(.configured(refused: 0)) == 0, "\(scene.reports)")
    _ = scene.finish()
    #expect(scene.reported(.notRestored) == 0, "\(scene.reports)")
  }

  @Test("On/off operation is reported once it is switched on", arguments: [ReceiverModel.m6, .m8, .m9, .m10])
  func taken(_ model: ReceiverModel) {
    let scene = SessionScene(model, intent: .identify) { settings in
      settings.desired = { _ in
        var desired = DesiredConfiguration.nothing
        desired.powerSave = .onOff(periodSeconds: 30)
        return desired
      }
    }
    scene.run(20)
    #expect(scene.reported(.configured(refused: 0)) == 1, "\(scene.reports)")
  }

  @Test("A refused setting is not restored either", arguments: [ReceiverModel.m8, .m9, .m10])
  func refusedSetting(_ model: ReceiverModel) {
    let scene = SessionScene(model, baud: 115_200, intent: .identify) { settings in
      settings.desired = { _ in
        var desired = DesiredConfiguration.nothing
        desired.dynamicModel = .portable
        desired.measurementPeriodMilliseconds = 1
        return desired
      }
    }
    scene.run(8)
    _ = scene.finish()
    #expect(scene.reported(.notRestored) == 0, "\(scene.reports)")
    #expect(scene.line.receiver.epochMilliseconds == 1000)
  }
}
