// SPDX-License-Identifier: Apache-2.0

/// A request of a client about the line, of RFC 2217, section 3. A value of nil reads the setting.
package enum ComPortRequest: Equatable, Sendable {
  /// SET-BAUDRATE, in baud.
  case baudRate(UInt32?)
  /// SET-DATASIZE: 5 to 8 bits.
  case dataSize(UInt8?)
  case parity(ComPortParity?)
  case stopSize(ComPortStopSize?)
  /// SET-CONTROL 7 to 9: DTR is on.
  case dataTerminalReady(Bool?)
  /// SET-CONTROL 10 to 12: RTS is on.
  case requestToSend(Bool?)
  /// NOTIFY-MODEMSTATE of a client, which polls it.
  case modemState
  /// PURGE-DATA: discard bytes from the line, to the line, or both.
  case purge(received: Bool, unsent: Bool)

  /// The request without its value, which only reads the setting. A client that reads only has nothing to purge.
  package var reading: ComPortRequest {
    switch self {
    case .baudRate: .baudRate(nil)
    case .dataSize: .dataSize(nil)
    case .parity: .parity(nil)
    case .stopSize: .stopSize(nil)
    case .dataTerminalReady: .dataTerminalReady(nil)
    case .requestToSend: .requestToSend(nil)
    case .modemState, .purge: self
    }
  }

  /// Reads a subnegotiation of a client; nil for one that is not a request about the line. A value that no line has reads the
  /// setting, so that the reply has the value in force.
  ///
  /// - Parameters:
  ///   - code: the command.
  ///   - value: its value.
  init?(code: UInt8, value: ArraySlice<UInt8>) {
    let first = value.first ?? 0
    switch code {
    case Code.setBaudRate:
      guard value.count == 4 else { return nil }
      let rate = value.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
      self = .baudRate(rate == 0 ? nil : rate)
    case Code.setDataSize: self = .dataSize(5...8 ~= first ? first : nil)
    case Code.setParity: self = .parity(ComPortParity(rawValue: first))
    case Code.setStopSize: self = .stopSize(ComPortStopSize(rawValue: first))
    case Code.setControl where 7...9 ~= first: self = .dataTerminalReady(first == 7 ? nil : first == 8)
    case Code.setControl where 10...12 ~= first: self = .requestToSend(first == 10 ? nil : first == 11)
    case Code.notifyModemState: self = .modemState
    case Code.purgeData where 1...3 ~= first: self = .purge(received: first != 2, unsent: first != 1)
    default: return nil
    }
  }

  /// The commands of a client. The server's replies are these plus 100.
  enum Code {
    static let signature: UInt8 = 0
    static let setBaudRate: UInt8 = 1
    static let setDataSize: UInt8 = 2
    static let setParity: UInt8 = 3
    static let setStopSize: UInt8 = 4
    static let setControl: UInt8 = 5
    static let notifyModemState: UInt8 = 7
    static let suspend: UInt8 = 8
    static let resume: UInt8 = 9
    static let setLineStateMask: UInt8 = 10
    static let setModemStateMask: UInt8 = 11
    static let purgeData: UInt8 = 12
    static let reply: UInt8 = 100
  }
}

/// The parity of a line, with the number of RFC 2217.
package enum ComPortParity: UInt8, Sendable { case none = 1, odd, even, mark, space }

/// The stop bits of a line, with the number of RFC 2217.
package enum ComPortStopSize: UInt8, Sendable { case one = 1, two, oneAndHalf }

/// The reply to a request about the line: the value in force.
package enum ComPortReply: Equatable, Sendable {
  case baudRate(UInt32)
  case dataSize(UInt8)
  case parity(ComPortParity)
  case stopSize(ComPortStopSize)
  case dataTerminalReady(Bool)
  case requestToSend(Bool)
  case purged(received: Bool, unsent: Bool)

  /// The command and its value.
  var bytes: [UInt8] {
    typealias Code = ComPortRequest.Code
    return switch self {
    case .baudRate(let rate):
      [Code.setBaudRate] + [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: rate >> UInt32($0)) }
    case .dataSize(let bits): [Code.setDataSize, bits]
    case .parity(let parity): [Code.setParity, parity.rawValue]
    case .stopSize(let size): [Code.setStopSize, size.rawValue]
    case .dataTerminalReady(let isOn): [Code.setControl, isOn ? 8 : 9]
    case .requestToSend(let isOn): [Code.setControl, isOn ? 11 : 12]
    case .purged(let received, let unsent): [Code.purgeData, (received ? 1 : 0) | (unsent ? 2 : 0)]
    }
  }
}

/// The modem lines of NOTIFY-MODEMSTATE; the lower half of its byte has their changes.
package struct ComPortModemState: OptionSet, Sendable, Hashable {
  package let rawValue: UInt8
  package init(rawValue: UInt8) { self.rawValue = rawValue }

  package static let clearToSend = ComPortModemState(rawValue: 0x10)
  package static let dataSetReady = ComPortModemState(rawValue: 0x20)
  package static let ring = ComPortModemState(rawValue: 0x40)
  package static let carrierDetect = ComPortModemState(rawValue: 0x80)
}
