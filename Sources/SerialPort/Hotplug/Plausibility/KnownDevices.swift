// SPDX-License-Identifier: Apache-2.0

// The table of USB devices: receivers, bridges to which a receiver may be connected, and others. The first row that
// matches decides; a single product precedes its vendor.

/// The result of a row of the table.
enum KnownVerdict: Sendable, Equatable {
  case receiver
  /// The receiver is on this USB interface, and on no other of the device.
  case receiverOnInterface(UInt8)
  case bridge
  /// A modem: its receiver sends NMEA on one USB interface, and AT commands are accepted on another.
  case modem(positions: UInt8, commands: UInt8)
  case other(ReceiverPort.Reason)
}

/// A row: a vendor, a range of its products, and the verdict.
struct KnownDevice: Sendable {
  let vendorID: UInt16
  let productIDs: ClosedRange<UInt16>
  let verdict: KnownVerdict
  let name: String

  private init(_ vendorID: UInt16, _ productIDs: ClosedRange<UInt16>, _ verdict: KnownVerdict, _ name: String) {
    self.vendorID = vendorID
    self.productIDs = productIDs
    self.verdict = verdict
    self.name = name
  }

  private init(_ vendorID: UInt16, _ productID: UInt16, _ verdict: KnownVerdict, _ name: String) {
    self.init(vendorID, productID...productID, verdict, name)
  }

  private static let everyProduct: ClosedRange<UInt16> = 0...UInt16.max

  /// Returns the first row that matches the device.
  static func row(vendorID: UInt16, productID: UInt16) -> KnownDevice? {
    table.first { $0.vendorID == vendorID && $0.productIDs.contains(productID) }
  }

  static let table: [KnownDevice] = receivers + bridges + modems + others

  private static let receivers: [KnownDevice] = [
    // u-blox receivers with their own USB. Sources: usb.ids (01a4 to 01a8); gpsd 3.22, 60-gpsd.rules, and ModemManager,
    // 77-mm-ublox-port-types.rules (01a5 to 01a9). 01ab: one source. The rest of 01ax is inferred from these.
    KnownDevice(0x1546, 0x01a4, .receiver, "u-blox Antaris 4"),
    KnownDevice(0x1546, 0x01a5, .receiver, "u-blox 5"),
    KnownDevice(0x1546, 0x01a6, .receiver, "u-blox 6"),
    KnownDevice(0x1546, 0x01a7, .receiver, "u-blox 7"),
    KnownDevice(0x1546, 0x01a8, .receiver, "u-blox 8 or M8"),
    KnownDevice(0x1546, 0x01a9, .receiver, "u-blox 9"),
    KnownDevice(0x1546, 0x01ab, .receiver, "u-blox X20"),
    KnownDevice(0x1546, 0x01a0...0x01af, .receiver, "u-blox receiver"),
    // u-blox boards with a UART bridge that has u-blox' vendor id: the baud rate matters on these. 0507, 0508, 050c and
    // 050d: one source. 0504 and 0505: unverified, therefore a bridge.
    KnownDevice(0x1546, 0x0502, .receiver, "u-blox C099-F9P"),
    KnownDevice(0x1546, 0x0503, .other(.knownOther("the ODIN-W2 radio module of a C099-F9P board")), "u-blox C099-F9P"),
    KnownDevice(0x1546, 0x0504...0x0505, .bridge, "u-blox evaluation kit"),
    KnownDevice(0x1546, 0x0506, .receiverOnInterface(2), "u-blox EVK-M101"),
    KnownDevice(0x1546, 0x0507...0x0508, .receiver, "u-blox evaluation kit"),
    KnownDevice(0x1546, 0x050c, .receiver, "u-blox X20 kit, UART1"),
    KnownDevice(0x1546, 0x050d, .receiver, "u-blox X20 kit, UART2"),
    // u-blox cellular modules: 1010, 1102, 1104, 1107, 110a, 1141, 1143 and 1146 in ModemManager's rules; the rest of
    // the range is inferred. A receiver with a configured id (CFG-USB) is recognised from its name.
    KnownDevice(0x1546, 0x1000...0x1fff, .other(.modem), "u-blox cellular module"),

    // Receivers of other vendors. Sources: usb.ids and gpsd's 60-gpsd.rules for each row, unless noted.
    KnownDevice(0x0e8d, 0x3329, .receiver, "MediaTek MT3329"),
    KnownDevice(0x1163, 0x0100, .receiver, "DeLorme Earthmate"),
    KnownDevice(0x1163, 0x0200, .receiver, "DeLorme Earthmate LT-20 or LT-40"),
    KnownDevice(0x067b, 0xaaa0, .receiver, "Pharos GPS-360"),
    // usb.ids only.
    KnownDevice(0x09d7, 0x0100, .receiver, "NovAtel receiver"),
    KnownDevice(0x1d50, 0x60c7, .receiver, "Zubax GNSS"),
    // Linux garmin_gps driver: Garmin's own packets, no NMEA. Newer Garmin devices are mass storage.
    KnownDevice(0x091e, everyProduct, .other(.knownOther("a Garmin device with a protocol of its own")), "Garmin"),
  ]

  // Sources: usb.ids; for 1a86:55d3 the Linux driver cdc_acm. Not checked against a source: 1a86:55d2, 55d4 and 55d5,
  // and of 067b the ids 23b3, 23c3 and 23d3. Other bridges are recognised from their driver.
  private static let bridges: [KnownDevice] = [
    KnownDevice(0x0403, 0x6001, .bridge, "FTDI FT232"),
    KnownDevice(0x0403, 0x6010, .bridge, "FTDI FT2232"),
    KnownDevice(0x0403, 0x6011, .bridge, "FTDI FT4232"),
    KnownDevice(0x0403, 0x6014, .bridge, "FTDI FT232H"),
    KnownDevice(0x0403, 0x6015, .bridge, "FTDI FT-X"),
    KnownDevice(0x10c4, 0xea60...0xea63, .bridge, "Silicon Labs CP210x"),
    KnownDevice(0x10c4, 0xea70, .bridge, "Silicon Labs CP2105"),
    KnownDevice(0x10c4, 0xea71, .bridge, "Silicon Labs CP2108"),
    KnownDevice(0x1a86, 0x5523, .bridge, "WCH CH341"),
    KnownDevice(0x1a86, 0x7522...0x7523, .bridge, "WCH CH340"),
    KnownDevice(0x1a86, 0x55d2...0x55d5, .bridge, "WCH CH342, CH343 or CH9102"),
    KnownDevice(0x067b, 0x2303, .bridge, "Prolific PL2303, in many SiRF and u-blox GNSS mice"),
    KnownDevice(0x067b, 0x23a3, .bridge, "Prolific PL2303GC"),
    KnownDevice(0x067b, 0x23b3, .bridge, "Prolific PL2303GB"),
    KnownDevice(0x067b, 0x23c3, .bridge, "Prolific PL2303GT"),
    KnownDevice(0x067b, 0x23d3, .bridge, "Prolific PL2303GL"),
    KnownDevice(0x0557, 0x2008, .bridge, "ATEN UC-232A"),
    KnownDevice(0x04e2, 0x1400...0x1424, .bridge, "Exar XR21 or XR22"),
    KnownDevice(0x04d8, 0x00dd, .bridge, "Microchip MCP2221"),
  ]

  // Source: ModemManager, 77-mm-quectel-port-types.rules and 77-mm-simtech-port-types.rules: interface 1 has NMEA,
  // interface 2 the first AT port. Products that these rules do not list, such as BG95, are only modems.
  private static let modems: [KnownDevice] = [
    KnownDevice(0x2c7c, 0x0121, .modem(positions: 1, commands: 2), "Quectel EC21"),
    KnownDevice(0x2c7c, 0x0125, .modem(positions: 1, commands: 2), "Quectel EC25 or EG25"),
    KnownDevice(0x2c7c, 0x0191, .modem(positions: 1, commands: 2), "Quectel EG91"),
    KnownDevice(0x2c7c, 0x0195, .modem(positions: 1, commands: 2), "Quectel EG95"),
    KnownDevice(0x2c7c, 0x0296, .modem(positions: 1, commands: 2), "Quectel BG96"),
    KnownDevice(0x2c7c, 0x0306, .modem(positions: 1, commands: 2), "Quectel EG06"),
    KnownDevice(0x2c7c, 0x0512, .modem(positions: 1, commands: 2), "Quectel EG12"),
    KnownDevice(0x2c7c, 0x0800, .modem(positions: 1, commands: 2), "Quectel RM500"),
    KnownDevice(0x1e0e, 0x9001, .modem(positions: 1, commands: 2), "SIMCom SIM7000, SIM7100 or SIM7600"),
    KnownDevice(0x1e0e, 0x9205...0x9206, .modem(positions: 1, commands: 2), "SIMCom SIM7070, SIM7080 or SIM7090"),
  ]

  // Source: usb.ids, except for 2e8a, 303a and 16c0:0483, which are not checked against a source.
  private static let others: [KnownDevice] = [
    KnownDevice(0x05c6, everyProduct, .other(.modem), "Qualcomm"),
    KnownDevice(0x0bdb, everyProduct, .other(.modem), "Ericsson"),
    KnownDevice(0x1199, everyProduct, .other(.modem), "Sierra Wireless"),
    KnownDevice(0x12d1, everyProduct, .other(.modem), "Huawei"),
    KnownDevice(0x19d2, everyProduct, .other(.modem), "ZTE"),
    KnownDevice(0x1bc7, everyProduct, .other(.modem), "Telit"),
    KnownDevice(0x1e0e, everyProduct, .other(.modem), "SIMCom"),
    KnownDevice(0x1e2d, everyProduct, .other(.modem), "Cinterion"),
    KnownDevice(0x2c7c, everyProduct, .other(.modem), "Quectel"),
    KnownDevice(0x2cb7, everyProduct, .other(.modem), "Fibocom"),
    KnownDevice(0x2341, everyProduct, .other(.developmentBoard), "Arduino"),
    KnownDevice(0x2a03, everyProduct, .other(.developmentBoard), "Arduino"),
    KnownDevice(0x239a, everyProduct, .other(.developmentBoard), "Adafruit"),
    KnownDevice(0x2e8a, everyProduct, .other(.developmentBoard), "Raspberry Pi Pico"),
    KnownDevice(0x303a, everyProduct, .other(.developmentBoard), "Espressif"),
    KnownDevice(0x16c0, 0x0483, .other(.developmentBoard), "Teensy"),
    KnownDevice(0x0483, 0x3744...0x3757, .other(.knownOther("an ST-LINK debug probe")), "ST-LINK"),
    KnownDevice(0x0d28, 0x0204, .other(.knownOther("a DAPLink debug probe")), "DAPLink"),
    KnownDevice(0x1366, everyProduct, .other(.knownOther("a J-Link debug probe")), "SEGGER"),
    KnownDevice(0x0658, 0x0200, .other(.knownOther("a Z-Wave radio")), "Sigma Designs"),
    KnownDevice(0x1cf1, 0x0030, .other(.knownOther("a Zigbee radio")), "dresden elektronik ConBee"),
  ]

  /// The drivers of UART bridges, for ids that are not in the table.
  static let bridgeDrivers: Set<String> = [
    "ark3116", "ch341", "cp210x", "cypress_m8", "f81232", "ftdi_sio", "io_ti", "mcs7830", "mct_u232", "mos7720",
    "mos7840", "oti6858", "pl2303", "spcp8x5", "ti_usb_3410_5052", "xr_serial",
  ]

  /// Whether a serial number is a placeholder that the maker gives to every device. CP210x bridges have 0001.
  static func isPlaceholder(serialNumber: String) -> Bool {
    serialNumber.allSatisfy { $0 == "0" } || ["0001", "0123456789", "123456", "12345678"].contains(serialNumber)
  }
}
