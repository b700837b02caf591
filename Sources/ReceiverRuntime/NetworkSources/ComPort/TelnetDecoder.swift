// SPDX-License-Identifier: Apache-2.0

/// The bytes of telnet: RFC 854.
enum Telnet {
  static let interpretAsCommand: UInt8 = 255
  static let dont: UInt8 = 254
  static let `do`: UInt8 = 253
  static let wont: UInt8 = 252
  static let will: UInt8 = 251
  static let subnegotiation: UInt8 = 250
  static let endOfSubnegotiation: UInt8 = 240
  /// WILL, WONT, DO and DONT, which an option follows.
  static let negotiations: ClosedRange<UInt8> = will...dont

  enum Option {
    /// RFC 856.
    static let binary: UInt8 = 0
    /// RFC 858.
    static let suppressGoAhead: UInt8 = 3
    /// RFC 2217.
    static let comPort: UInt8 = 44
  }

  /// Returns bytes as telnet transfers them: 255 is doubled.
  static func escaped(_ bytes: some Sequence<UInt8>) -> [UInt8] {
    var result: [UInt8] = []
    for byte in bytes {
      if byte == interpretAsCommand { result.append(byte) }
      result.append(byte)
    }
    return result
  }
}

/// Separates the data, negotiations and subnegotiations in the bytes of a telnet connection, however the network has cut them.
struct TelnetDecoder: Sendable {
  enum Event: Equatable {
    case data([UInt8])
    /// WILL, WONT, DO or DONT.
    case negotiation(UInt8, option: UInt8)
    case subnegotiation([UInt8])
  }

  private enum State {
    case data, command
    case option(UInt8)
    case subnegotiation([UInt8])
    /// After IAC in a subnegotiation.
    case subnegotiationCommand([UInt8])
  }

  /// The longest subnegotiation; the bytes of a longer one are discarded.
  static let longest = 512

  private var state = State.data

  mutating func receive(_ bytes: some Sequence<UInt8>) -> [Event] {
    var events: [Event] = []
    var data: [UInt8] = []
    func finishData() {
      if !data.isEmpty { events.append(.data(data)) }
      data = []
    }
    for byte in bytes {
      let isCommand = byte == Telnet.interpretAsCommand
      switch state {
      case .data: if isCommand { state = .command } else { data.append(byte) }
      case .command:
        switch byte {
        case Telnet.interpretAsCommand:
          data.append(byte)
          state = .data
        case Telnet.negotiations: state = .option(byte)
        case Telnet.subnegotiation: state = .subnegotiation([])
        // A command without an effect on a serial line, such as NOP.
        default: state = .data
        }
      case .option(let command):
        finishData()
        events.append(.negotiation(command, option: byte))
        state = .data
      case .subnegotiation(let content):
        state = isCommand ? .subnegotiationCommand(content) : .subnegotiation(Self.adding(byte, to: content))
      case .subnegotiationCommand(let content):
        if isCommand {
          state = .subnegotiation(Self.adding(byte, to: content))
          continue
        }
        // Another command than SE ends it too: its end was lost.
        if byte == Telnet.endOfSubnegotiation, content.count <= Self.longest {
          finishData()
          events.append(.subnegotiation(content))
        }
        state = .data
      }
    }
    finishData()
    return events
  }

  /// Content that is one byte too long stays so.
  private static func adding(_ byte: UInt8, to content: [UInt8]) -> [UInt8] {
    content.count > longest ? content : content + [byte]
  }
}
