// SPDX-License-Identifier: Apache-2.0
import UBX

/// A port of the receiver, by its number in CFG-PRT (interface descriptions, CFG-PRT portID).
public enum ReceiverPortNumber: UInt8, Sendable, CaseIterable {
  case i2c = 0, uart1, uart2, usb, spi

  /// The port of a portId of MON-COMMS: its high byte; the low byte of UART2 differs between F9 and X20.
  package init?(communication portID: UInt16) { self.init(rawValue: UInt8(portID >> 8)) }

  /// Returns the key of an item of CFG-…INPROT: 1 UBX, 2 NMEA, 4 RTCM 3.
  package func inputProtocolKey(_ item: UInt32) -> UInt32 { 0x1071_0000 + UInt32(groupOffset) << 16 + item }
  /// Returns the key of an item of CFG-…OUTPROT.
  package func outputProtocolKey(_ item: UInt32) -> UInt32 { 0x1072_0000 + UInt32(groupOffset) << 16 + item }
  /// Returns the item that switches the port's UBX output.
  func writesUBX(_ isOn: Bool) -> ConfigurationPair {
    ConfigurationPair(id: outputProtocolKey(1), bits: isOn ? 1 : 0)
  }
  /// The setting of the port without UBX output, for receivers with items or with CFG messages. The protocols that such a
  /// port reads cannot be polled: they are those by default, UBX, NMEA and RTCM 2.
  func withoutUBXOutput(usesItems: Bool) -> Setting {
    usesItems
      ? .item(writesUBX(false))
      : .message(.cfgPRT, selector: [rawValue], .portProtocols(input: 7, output: 2))
  }

  /// Returns the command that switches the port's UBX output; nil for a port that CFG-PRT gives no rate, and needs one.
  ///
  /// - Parameters:
  ///   - isOn: whether the port writes UBX, beside NMEA.
  ///   - usesItems: whether the receiver has configuration items.
  ///   - rate: the rate of the line, in baud.
  func switchingUBXOutput(_ isOn: Bool, usesItems: Bool, rate: UInt32?) -> [UInt8]? {
    if usesItems { return Configuration.valset([writesUBX(isOn)], layers: 1).bytes }
    return protocols(input: 7, output: isOn ? 3 : 2, rate: rate).map { frameBytes(.cfgPRT, $0) }
  }

  /// Returns the payload of CFG-PRT with the masks of the protocols, where the port cannot be polled; nil for a port that CFG-PRT
  /// gives no rate, and needs one.
  func protocols(input: UInt16, output: UInt16, rate: UInt32?) -> [UInt8]? {
    guard self == .usb || self == .uart1 && rate != nil else { return nil }
    var payload = [UInt8](repeating: 0, count: 20)
    payload[0] = rawValue
    if let rate, self == .uart1 {
      // 8 bits, no parity, 1 stop bit (interface descriptions, CFG-PRT mode).
      payload.set(u4: 0x8D0, at: 4)
      payload.set(u4: rate, at: 8)
    }
    payload.set(u2: input, at: 12)
    payload.set(u2: output, at: 14)
    return payload
  }

  /// CFG-UART1-BAUDRATE or CFG-UART2-BAUDRATE; nil for ports without a rate.
  package var rateKey: UInt32? {
    switch self {
    case .uart1: 0x4052_0001
    case .uart2: 0x4053_0001
    default: nil
    }
  }

  /// Whether the port has a rate: a UART.
  var hasRate: Bool { rateKey != nil }

  /// The offset of the port's groups: I2C 0x71 and 0x72, UART1 0x73 and 0x74, and so on.
  private var groupOffset: UInt8 { rawValue * 2 }
}

/// The items of message rates: the key of the I2C port plus the number of the port (CFG-MSGOUT).
package enum MessageOutput {
  /// Returns the item for a message on a port; nil if the database has none.
  package static func key(of message: MessageIdentity, on port: ReceiverPortNumber) -> UInt32? {
    guard let name = MessageNames.itemName(message) else { return nil }
    let wanted = Array(name.utf8)
    return ConfigurationItem.named(wanted.span).map { $0.id + UInt32(port.rawValue) }
  }
}
