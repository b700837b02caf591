// SPDX-License-Identifier: Apache-2.0
import GPSD
import SerialPort
import Testing

@testable import sextant

@Suite("The output of devices")
struct DevicesTests {
  private func receiver() -> DeviceAttributes {
    var attributes = DeviceAttributes(node: "/dev/ttyACM0", subsystem: .tty)
    attributes.vendorID = 0x1546
    attributes.productID = 0x01a8
    attributes.product = "u-blox GNSS receiver"
    attributes.interface = 0
    attributes.driver = "cdc_acm"
    attributes.path = "pci-0000:00:14.0-usb-0:1:1.0"
    attributes.links = ["/dev/serial/by-path/b", "/dev/gnss/by-id/a"]
    return attributes
  }

  private func listed(
    _ attributes: DeviceAttributes, list: String = "",
    state: PortState = PortState(holders: [], isPermitted: true, group: nil, cure: nil)
  ) throws -> ListedPort {
    ListedPort(port: ReceiverPort(attributes, list: try DeviceList(parsing: list, file: "devices")), state: state)
  }

  private func json(_ ports: [ListedPort]) -> String {
    var line = JSONLine()
    line.ports(ports)
    return line.text
  }

  @Test("Text: the verdict first, then the known attributes")
  func text() throws {
    #expect(
      try listed(receiver()).description == """
        /dev/ttyACM0  a receiver
          name        u-blox GNSS receiver
          usb         1546:01a8
          driver      cdc_acm
          identity    path:pci-0000:00:14.0-usb-0:1:1.0:0
          link        /dev/gnss/by-id/a
          link        /dev/serial/by-path/b
          permission  yes

        """)
  }

  @Test("JSON: an array of objects; unknown attributes are absent")
  func jsonArray() throws {
    let uart = DeviceAttributes(node: "/dev/ttyS1", subsystem: .tty)
    #expect(
      json([try listed(receiver()), try listed(uart)]) == #"""
        [{"node":"/dev/ttyACM0","kind":"tty","likelihood":"receiver","identity":"path:pci-0000:00:14.0-usb-0:1:1.0:0",\#
        "name":"u-blox GNSS receiver","usb":"1546:01a8","interface":0,"driver":"cdc_acm",\#
        "path":"pci-0000:00:14.0-usb-0:1:1.0","links":["/dev/gnss/by-id/a","/dev/serial/by-path/b"],"holders":[],\#
        "permitted":true},{"node":"/dev/ttyS1","kind":"tty","likelihood":"other",\#
        "reason":"a UART of the board, which a receiver may be wired to","identity":"node:/dev/ttyS1","links":[],\#
        "holders":[],"permitted":true}]

        """#)
  }

  @Test("No port is an empty array")
  func none() { #expect(json([]) == "[]\n") }

  @Test("A name in any script is the same in JSON")
  func unicodeName() throws {
    #expect(
      json([try listed(receiver(), list: "1546:01a8 Empfänger \"Süd\"")]).contains(#""name":"Empfänger \"Süd\"""#))
  }

  @Test("A port of another program names it")
  func held() throws {
    let device = try PseudoTerminal()
    let port = try SerialPort(opening: device.path, access: .readWrite, baud: nil)
    let state = try PortState(of: port.path)
    let text = try listed(receiver(), state: state).description
    #expect(text.contains("  held by     ") && text.contains("(pid "))
    #expect(json([try listed(receiver(), state: state)]).contains(#""holders":[{"pid":"#))
  }
}
