// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import SerialPort

@Suite("The list of ports")
struct EnumerationTests {
  private func port(_ node: String, _ change: (inout DeviceAttributes) -> Void = { _ in }) -> ReceiverPort {
    var attributes = DeviceAttributes(node: node, subsystem: node.contains("gnss") ? .gnss : .tty)
    change(&attributes)
    return ReceiverPort(attributes)
  }

  @Test("The most likely port is first; equal ones are in the order of their numbers")
  func order() {
    let ports = [
      port("/dev/ttyS0") { $0.isConsole = true },
      port("/dev/ttyS1"),
      port("/dev/ttyUSB10") { ($0.vendorID, $0.productID) = (0x0403, 0x6001) },
      port("/dev/ttyUSB9") { ($0.vendorID, $0.productID) = (0x1a86, 0x7523) },
      port("/dev/ttyACM1") { ($0.vendorID, $0.productID) = (0x2341, 0x0043) },
      port("/dev/ttyACM0") { ($0.vendorID, $0.productID) = (0x1546, 0x01a9) },
      port("/dev/gnss0"),
    ]
    #expect(
      ReceiverPorts.sortedByLikelihood(ports).map(\.node) == [
        "/dev/gnss0", "/dev/ttyACM0", "/dev/ttyUSB9", "/dev/ttyUSB10", "/dev/ttyS1", "/dev/ttyACM1", "/dev/ttyS0",
      ])
  }

  @Test("A port without a product name has the name from the table")
  func name() {
    let mouse = port("/dev/ttyACM0") { ($0.vendorID, $0.productID) = (0x1546, 0x01a8) }
    #expect(mouse.name == "u-blox 8 or M8")
  }

  @Test("The ports of this machine are existing nodes, each once, and no virtual terminals")
  func thisMachine() {
    let nodes = ReceiverPorts.enumerate().map(\.node)
    #expect(Set(nodes).count == nodes.count)
    #expect(nodes.allSatisfy { $0.hasPrefix("/dev/") })
    #expect(!nodes.contains("/dev/tty0") && !nodes.contains("/dev/tty1") && !nodes.contains("/dev/ptmx"))
  }
}
