// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Positioning
import Power
import Receiver
import ReceiverSimulator
import Testing

@Suite("A switch in the supply of a receiver that takes no commands")
struct SupplyTests {
  @Test("It is off between position checks, and on again in time for each")
  func checks() {
    let scene = Scene(.nmea, supply: .keepsMemory)
    scene.demand(Demand(everySeconds: 900))
    scene.run(300)
    let (positions, charge, sent) = (scene.positions, scene.chargeMilliampereSeconds, scene.sentBytes)
    scene.run(7200)
    let supply = scene.commands.filter { if case .supply = $0.command { true } else { false } }
    let off = supply.filter { $0.command == .supply(isOn: false) }.count
    #expect(off >= 7 && supply.count - off >= 7, "\(supply)")
    #expect(scene.positions >= positions + 7, "\(scene.positions - positions) fixes in two hours")
    #expect(scene.chargeMilliampereSeconds - charge < 7200 * 5, "\(scene.chargeMilliampereSeconds - charge) mAs")
    #expect(scene.sentBytes == sent, "it takes no commands")
  }

  @Test("The engine of a modem is such a switch, also where nothing may be sent over its NMEA port")
  func modem() {
    let scene = Scene(.nmea, intent: .readOnly, isInModem: true)
    scene.demand(Demand(everySeconds: 900))
    scene.run(7500)
    let off = scene.commands.count { $0.command == .supply(isOn: false) }
    #expect(off >= 7 && scene.positions >= 7, "\(off) times off, \(scene.positions) fixes")
    #expect(scene.sentBytes == 0)
    scene.post(.refused(.powerSwitch))
    scene.run(1000)
    #expect(scene.commands.count { $0.command == .supply(isOn: false) } == off)
  }
}
