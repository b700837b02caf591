// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import SerialPort

@Suite("Changes of the ports")
struct PortTableTests {
  private func words(_ changes: [(DeviceEvent.Change, DeviceAttributes)]) -> [String] {
    changes.map { "\($0.0) \($0.1.node)" }
  }

  @Test("Messages become events, in their order")
  func messages() {
    var table = PortTable()
    let receiver = DeviceAttributes.receiver("/dev/ttyACM0")
    #expect(words(table.receive(.added, receiver)) == ["added /dev/ttyACM0"])
    #expect(words(table.receive(.changed, receiver)) == [])
    #expect(words(table.receive(.removed, receiver)) == ["removed /dev/ttyACM0"])
  }

  @Test("All ports of the first list are added, of the next only new ones")
  func lists() {
    var table = PortTable()
    let one = DeviceAttributes.receiver("/dev/ttyACM0")
    let other = DeviceAttributes.receiver("/dev/ttyACM1", socket: "2")
    #expect(words(table.replace(with: [one])) == ["added /dev/ttyACM0"])
    #expect(words(table.replace(with: [one, other])) == ["added /dev/ttyACM1"])
    #expect(words(table.replace(with: [other])) == ["removed /dev/ttyACM0"])
    #expect(words(table.replace(with: [])) == ["removed /dev/ttyACM1"])
  }

  @Test("Another device under a node whose removal message was lost")
  func replaced() {
    var table = PortTable()
    _ = table.receive(.added, .receiver("/dev/ttyACM0"))
    let changes = table.receive(.added, .arduino("/dev/ttyACM0"))
    #expect(words(changes) == ["removed /dev/ttyACM0", "added /dev/ttyACM0"])
    #expect(changes.first?.1.vendorID == 0x1546)
  }

  @Test("A removal has the stored attributes, which are more than its message has")
  func removal() {
    var table = PortTable()
    _ = table.receive(.added, .receiver("/dev/ttyACM0", serialNumber: "A1"))
    let changes = table.receive(.removed, DeviceAttributes(node: "/dev/ttyACM0", subsystem: .tty))
    #expect(changes.first?.1.serialNumber == "A1")
  }

  @Test("Attributes that udev adds to a listed device are a change")
  func moreAttributes() {
    var table = PortTable()
    var early = DeviceAttributes.receiver("/dev/ttyACM0")
    early.links = []
    early.path = nil
    _ = table.replace(with: [early])
    #expect(words(table.receive(.added, .receiver("/dev/ttyACM0"))) == ["changed /dev/ttyACM0"])
  }
}
