// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import SerialPort

@Suite("Ports of a modem with a receiver")
struct ModemPortTests {
  private static func port(
    _ node: String, _ interface: UInt8, _ ids: (UInt16, UInt16) = (0x2c7c, 0x0125), socket: String = "1-1.2",
    tagged: ModemPort.Purpose? = nil
  ) -> ReceiverPort {
    var attributes = DeviceAttributes(node: node, subsystem: .tty)
    (attributes.vendorID, attributes.productID, attributes.interface) = (ids.0, ids.1, interface)
    attributes.path = "pci-0000:00:14.0-usb-0:1.2:1.\(interface)"
    attributes.devicePath =
      "/devices/pci0000:00/0000:00:14.0/usb1/1-1/\(socket)/\(socket):1.\(interface)/\(node.dropFirst(5))/tty/\(node.dropFirst(5))"
    attributes.isModemPort = tagged != nil
    attributes.taggedPurpose = tagged
    return ReceiverPort(attributes)
  }

  private static func modem(_ ids: (UInt16, UInt16) = (0x2c7c, 0x0125)) -> [ReceiverPort] {
    (0...3).map { port("/dev/ttyUSB\($0)", $0, ids) }
  }

  @Test(
    "Interface 1 of known modems is a receiver, and no other",
    arguments: [(0x2c7c, 0x0125), (0x2c7c, 0x0296), (0x1e0e, 0x9001), (0x1e0e, 0x9206)] as [(UInt16, UInt16)])
  func byInterface(_ ids: (UInt16, UInt16)) {
    let likelihoods = Self.modem(ids).map(\.likelihood)
    #expect(likelihoods == [.other(.modem), .receiver, .other(.modem), .other(.modem)])
    #expect(Self.modem(ids).map(\.isInModem) == [false, true, false, false])
  }

  @Test(
    "A modem that no source describes has no receiver",
    arguments: [(0x2c7c, 0x0700), (0x1e0e, 0x9011)] as [(UInt16, UInt16)])
  func unknownModem(_ ids: (UInt16, UInt16)) {
    #expect(Self.modem(ids).allSatisfy { $0.likelihood == .other(.modem) && !$0.isInModem })
  }

  @Test("A rule of ModemManager decides before the table, for modems of any maker")
  func byRule() {
    let ports = [
      Self.port("/dev/ttyUSB0", 1, tagged: .commands), Self.port("/dev/ttyUSB1", 2, tagged: .positions),
      Self.port("/dev/ttyUSB2", 3, (0x1bc7, 0x1201), socket: "1-3", tagged: .positions),
      Self.port("/dev/ttyUSB3", 4, (0x1bc7, 0x1201), socket: "1-3", tagged: .secondaryCommands),
    ]
    #expect(ports.map(\.isInModem) == [false, true, true, false])
    #expect(ports.map(\.likelihood.isPlausible) == [false, true, true, false])
    let telit = ModemPort(ports) { $0.node == "/dev/ttyUSB2" }
    #expect(telit?.commandNodes == ["/dev/ttyUSB3"] && telit?.maker == nil)
  }

  @Test("A u-blox receiver in ModemManager's rules is not in a modem")
  func receiverInRule() {
    let port = Self.port("/dev/ttyACM0", 0, (0x1546, 0x01a8), tagged: .positions)
    #expect(port.likelihood == .receiver && !port.isInModem)
    #expect(ModemPort([port]) { _ in true } == nil)
  }

  @Test("The AT port is of the same device, the first one before the second")
  func commandNodes() throws {
    let other = (0...3).map { Self.port("/dev/ttyUSB\($0 + 4)", $0, socket: "1-1.3") }
    var ports = other.reversed() + Self.modem()
    ports.append(Self.port("/dev/ttyUSB9", 3, tagged: .secondaryCommands))
    let modem = try #require(ModemPort(ports) { $0.node == "/dev/ttyUSB1" })
    #expect(modem.commandNodes == ["/dev/ttyUSB2", "/dev/ttyUSB9"])
    #expect(modem.maker == .quectel && !modem.identity.isEmpty)
    #expect(ModemPort(Self.modem((0x1e0e, 0x9001))) { $0.isInModem }?.maker == .simCom)
    #expect(ModemPort(Self.modem()) { $0.node == "/dev/ttyUSB2" } == nil)
  }

  @Test("A receiver of its own and a bridge are preferred to the one in a modem")
  func order() {
    let bridge = Self.port("/dev/ttyUSB7", 0, (0x10c4, 0xea60))
    let receiver = ReceiverPort(.receiver("/dev/ttyACM0"))
    let sorted = ReceiverPorts.sortedByLikelihood(Self.modem() + [bridge, receiver])
    #expect(sorted.prefix(3).map(\.node) == ["/dev/ttyACM0", "/dev/ttyUSB7", "/dev/ttyUSB1"])
  }
}
