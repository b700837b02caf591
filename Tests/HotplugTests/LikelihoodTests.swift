// SPDX-License-Identifier: Apache-2.0
import Testing
import WireBytes

@testable import SerialPort

@Suite("The likelihood of a receiver")
struct LikelihoodTests {
  private func likelihood(_ attributes: DeviceAttributes) -> ReceiverPort.Likelihood {
    ReceiverPort(attributes).likelihood
  }

  private func usb(
    _ vendorID: UInt16, _ productID: UInt16, product: String? = nil, interface: UInt8? = nil, driver: String? = nil
  ) -> DeviceAttributes {
    var attributes = DeviceAttributes(node: "/dev/ttyUSB0", subsystem: .tty)
    attributes.vendorID = vendorID
    attributes.productID = productID
    attributes.product = product
    attributes.interface = interface
    attributes.driver = driver
    return attributes
  }

  @Test(
    "Every u-blox receiver id is a receiver",
    arguments: [
      0x01a4, 0x01a5, 0x01a6, 0x01a7, 0x01a8, 0x01a9, 0x01ab, 0x0502, 0x0507, 0x0508, 0x050c, 0x050d,
    ] as [UInt16])
  func ublox(productID: UInt16) {
    #expect(likelihood(usb(0x1546, productID)) == .receiver)
  }

  @Test("u-blox cellular modules are modems", arguments: [0x1102, 0x1104, 0x1107, 0x110a, 0x1141, 0x1146] as [UInt16])
  func ubloxCellular(productID: UInt16) {
    #expect(likelihood(usb(0x1546, productID)) == .other(.modem))
  }

  @Test("Only interface 2 of an EVK-M101's four ports is the receiver", arguments: [0, 1, 2, 3] as [UInt8])
  func evaluationKit(interface: UInt8) {
    let likelihood = likelihood(usb(0x1546, 0x0506, interface: interface))
    #expect(likelihood == (interface == 2 ? .receiver : .other(.secondaryInterface)))
  }

  @Test("An id of u-blox that no source confirms counts as a bridge")
  func unverified() {
    #expect(likelihood(usb(0x1546, 0x0504)) == .bridge)
  }

  @Test("A u-blox receiver with a configured id is recognised by its name")
  func configuredID() {
    #expect(likelihood(usb(0x1546, 0x0042, product: "u-blox GNSS receiver")) == .receiver)
  }

  @Test("The radio module of a C099-F9P is not a receiver")
  func odin() {
    guard case .other(.knownOther) = likelihood(usb(0x1546, 0x0503)) else {
      Issue.record("1546:0503 is the board's ODIN-W2")
      return
    }
  }

  @Test("The kernel's GNSS class is a receiver without any ids")
  func gnssClass() {
    #expect(likelihood(DeviceAttributes(node: "/dev/gnss0", subsystem: .gnss)) == .receiver)
  }

  @Test(
    "UART bridges may have a receiver behind them",
    arguments: [
      (0x0403, 0x6001), (0x0403, 0x6015), (0x10c4, 0xea60), (0x1a86, 0x7523), (0x1a86, 0x55d4), (0x067b, 0x2303),
    ] as [(UInt16, UInt16)])
  func bridges(ids: (UInt16, UInt16)) {
    #expect(likelihood(usb(ids.0, ids.1)) == .bridge)
  }

  @Test("A bridge with unknown ids is recognised by its driver")
  func bridgeDriver() {
    #expect(likelihood(usb(0xffff, 0x0001, driver: "cp210x")) == .bridge)
    #expect(likelihood(usb(0xffff, 0x0001, driver: "cdc_acm")) == .other(.unknownUSBDevice))
  }

  @Test("A device with a receiver's product name is a receiver, also behind a bridge")
  func namedAsReceiver() {
    #expect(likelihood(usb(0x10c4, 0xea60, product: "GPS mouse")) == .receiver)
    #expect(likelihood(usb(0xffff, 0x0001, product: "u-blox GNSS receiver")) == .receiver)
  }

  @Test("A modem with GPS in its name is a modem: its port is silent until it gets AT commands")
  func modemWithGPS() {
    #expect(likelihood(usb(0x2c7c, 0x0125, product: "LTE and GNSS module")) == .other(.modem))
  }

  @Test(
    "Boards and modems are not receivers",
    arguments: [
      (0x2341, 0x0043, .developmentBoard), (0x303a, 0x1001, .developmentBoard), (0x12d1, 0x1573, .modem),
      (0x1199, 0x9071, .modem),
    ] as [(UInt16, UInt16, ReceiverPort.Reason)])
  func others(ids: (UInt16, UInt16, ReceiverPort.Reason)) {
    #expect(likelihood(usb(ids.0, ids.1)) == .other(ids.2))
  }

  @Test("A device with unknown ids and a modem's function is a modem, whatever its name")
  func modemByInterface() {
    var attributes = usb(0xffff, 0x0001, product: "LTE and GPS stick")
    attributes.interfaceClasses = [0x020201, 0x0a0000]
    #expect(likelihood(attributes) == .receiver)
    attributes.interfaceClasses.append(0x020e00)
    #expect(likelihood(attributes) == .other(.modem))
  }

  @Test("A port in a rule of ModemManager is a modem, but a receiver by its ids stays a receiver")
  func modemByRule() {
    var attributes = usb(0x10c4, 0xea60)
    attributes.isModemPort = true
    #expect(likelihood(attributes) == .other(.modem))
    attributes = usb(0x1546, 0x01a8)
    attributes.isModemPort = true
    #expect(likelihood(attributes) == .receiver)
  }

  @Test("A UART of the board is distinguished from the console on it")
  func onBoard() {
    var attributes = DeviceAttributes(node: "/dev/ttyS0", subsystem: .tty)
    #expect(likelihood(attributes) == .other(.onBoardUART))
    attributes.isConsole = true
    #expect(likelihood(attributes) == .other(.systemConsole))
  }

  @Test("No row of the table is hidden by an earlier one")
  func everyRowIsReachable() {
    for row in KnownDevice.table {
      let reachable = row.productIDs.contains { productID in
        KnownDevice.row(vendorID: row.vendorID, productID: productID).map { $0.name == row.name } ?? false
      }
      #expect(reachable, "\(row.name) (\(row.vendorID.hexadecimalDigits)) is never found")
    }
  }
}
