// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import SerialPort

@Suite("The identity of a device")
struct IdentityTests {
  private let receiver = {
    var attributes = DeviceAttributes(node: "/dev/ttyACM0", subsystem: .tty)
    attributes.vendorID = 0x1546
    attributes.productID = 0x01a8
    attributes.path = "pci-0000:00:14.0-usb-0:1:1.0"
    return attributes
  }()

  @Test("The serial number is the identity, also at another node and socket")
  func serialNumber() {
    var before = receiver
    before.serialNumber = "RIG0001"
    var after = before
    after.node = "/dev/ttyACM1"
    after.path = "pci-0000:00:14.0-usb-0:2:1.0"
    #expect(DeviceIdentity(before) == DeviceIdentity(after))
    #expect("\(DeviceIdentity(before))" == "usb:1546:01a8:RIG0001:0")
  }

  @Test("Two functions of one device have two identities")
  func interfaces() {
    var first = receiver
    first.serialNumber = "RIG0001"
    first.interface = 0
    var second = first
    second.interface = 2
    #expect(DeviceIdentity(first) != DeviceIdentity(second))
  }

  @Test("Without a serial number the socket is the identity")
  func path() {
    var again = receiver
    again.node = "/dev/ttyACM7"
    #expect(DeviceIdentity(receiver) == DeviceIdentity(again))
    #expect(DeviceIdentity(receiver) == .usbPath("pci-0000:00:14.0-usb-0:1:1.0", interface: 0))
  }

  @Test("A placeholder serial number is ignored", arguments: ["0001", "0", "00000000"])
  func placeholder(serialNumber: String) {
    var attributes = receiver
    attributes.serialNumber = serialNumber
    #expect(DeviceIdentity(attributes) == .usbPath("pci-0000:00:14.0-usb-0:1:1.0", interface: 0))
  }

  @Test("Next come a persistent link, by-id before by-path, and the node")
  func links() {
    var attributes = DeviceAttributes(node: "/dev/ttyS1", subsystem: .tty)
    #expect(DeviceIdentity(attributes) == .node("/dev/ttyS1"))
    attributes.links = ["/dev/char/4:65", "/dev/serial/by-path/platform-uart"]
    #expect(DeviceIdentity(attributes) == .persistentLink("/dev/serial/by-path/platform-uart"))
    attributes.links.append("/dev/serial/by-id/board-uart")
    #expect(DeviceIdentity(attributes) == .persistentLink("/dev/serial/by-id/board-uart"))
  }

  @Test("A device is recognised by its attributes, and one with a link by any of its links")
  func matches() {
    var again = receiver
    again.node = "/dev/ttyACM7"
    #expect(DeviceIdentity(receiver).matches(again))
    again.path = "pci-0000:00:14.0-usb-0:2:1.0"
    #expect(!DeviceIdentity(receiver).matches(again))
    var line = DeviceAttributes(node: "/dev/ttyS1", subsystem: .tty)
    line.links = ["/dev/serial/by-path/platform-uart", "/dev/serial/by-id/board-uart"]
    #expect(DeviceIdentity.persistentLink("/dev/serial/by-path/platform-uart").matches(line))
  }

  @Test("An identity is one word")
  func oneWord() {
    var attributes = receiver
    attributes.serialNumber = "RIG 0001"
    #expect("\(DeviceIdentity(attributes))" == "usb:1546:01a8:RIG_0001:0")
  }
}
