// SPDX-License-Identifier: Apache-2.0

/// Keys of the configuration items with an effect in the simulator (interface descriptions, "configuration
/// reference").
enum Key {
  static let measurement: UInt32 = 0x3021_0001
  static let cycles: UInt32 = 0x3021_0002
  static let timeReference: UInt32 = 0x2021_0003
  static let uart1BaudRate: UInt32 = 0x4052_0001
  static let uart2BaudRate: UInt32 = 0x4053_0001
  static let acknowledgeAiding: UInt32 = 0x1011_0025
  static let dynamicModel: UInt32 = 0x2011_0021
  static let nmeaVersion: UInt32 = 0x2093_0001
  static let useOdometer: UInt32 = 0x1022_0001
  static let configurationLock: UInt32 = 0x10F6_0009

  static let gps: UInt32 = 0x1031_001F
  static let galileo: UInt32 = 0x1031_0021
  static let beiDou: UInt32 = 0x1031_0022
  static let glonass: UInt32 = 0x1031_0025
  static let qzss: UInt32 = 0x1031_0024

  static let spartnSource: UInt32 = 0x20A7_0001

  static let timeMode: UInt32 = 0x2003_0001
  static let positionType: UInt32 = 0x2003_0002
  static let surveyDuration: UInt32 = 0x4003_0010
  static let surveyLimit: UInt32 = 0x4003_0011

  static let powerMode: UInt32 = 0x20D0_0001
  static let updatePeriod: UInt32 = 0x40D0_0002
  static let searchPeriod: UInt32 = 0x40D0_0003
  static let gridOffset: UInt32 = 0x40D0_0004
  static let onTime: UInt32 = 0x30D0_0005
  static let minimumAcquisition: UInt32 = 0x20D0_0006
  static let maximumAcquisition: UInt32 = 0x20D0_0007
  static let doNotEnterOff: UInt32 = 0x10D0_0008
  static let waitForTime: UInt32 = 0x10D0_0009
  static let updateEphemeris: UInt32 = 0x10D0_000A

  static let batchEnable: UInt32 = 0x1026_0013
  static let batchEntries: UInt32 = 0x3026_0015
  static let batchWarning: UInt32 = 0x3026_0016
  static let batchPVT: UInt32 = 0x1026_001A
  static let batchOdometer: UInt32 = 0x1026_001B

  static let logRecord: UInt32 = 0x10DE_0002
  static let logApplyFilters: UInt32 = 0x10DE_0004
  static let logMinimum: UInt32 = 0x30DE_0005
  static let logTime: UInt32 = 0x30DE_0006
  static let logSpeed: UInt32 = 0x30DE_0007
  static let logDistance: UInt32 = 0x40DE_0008

  /// Input protocols of a port by its number (0 I2C, 1 UART1, 2 UART2, 3 USB, 4 SPI): item 1 UBX, 2 NMEA, 4 RTCM 3,
  /// 5 SPARTN.
  static func input(_ port: Int, _ item: UInt32) -> UInt32 { 0x1071_0000 + UInt32(port) * 0x2_0000 + item }
  /// Output protocols of a port.
  static func output(_ port: Int, _ item: UInt32) -> UInt32 { 0x1072_0000 + UInt32(port) * 0x2_0000 + item }
  /// Information messages of a port.
  static func textUBX(_ port: Int) -> UInt32 { 0x2092_0001 + UInt32(port) }
  static func textNMEA(_ port: Int) -> UInt32 { 0x2092_0006 + UInt32(port) }
}
