// SPDX-License-Identifier: Apache-2.0

import MonotonicTime
import WireBytes

/// The server's side of a TCP connection to a serial line: plain bytes, or telnet with the COM-PORT option (RFC 2217).
///
///     undecided ─ a byte that does not belong to a negotiation, or no more bytes ─▶ plain
///         ├────── WILL or DO COM-PORT ─▶ telnet
///         └────── a method of HTTP ─▶ refused
///
/// Only the first bytes of the client decide, so that a byte 255 in the data of a plain client is never a command. Until then the
/// bytes of both directions are held, for a fraction of a second.
package struct ComPortConnection: Sendable {
  package enum Action: Equatable, Sendable {
    /// Bytes for the line.
    case send([UInt8])
    /// Bytes for the client.
    case deliver([UInt8])
    /// A request about the line, to be answered by `reply` or `modemState`.
    case request(ComPortRequest)
    /// The client is a browser, in which a web page sends bytes to this port.
    case refuse
  }

  private enum State {
    case undecided([UInt8])
    case plain
    case refused
    case telnet(TelnetOptions)
  }

  /// The time in which a client begins to negotiate, and in which the rest of a negotiation arrives.
  package static let negotiationTime = Milliseconds(300)
  /// The most bytes that are held for the client; further ones are lost.
  package static let mostHeld = 65_536
  /// The most bytes of negotiations without COM-PORT.
  private static let longestNegotiation = 96

  private let name: String
  private var state = State.undecided([])
  /// When the held bytes are passed on.
  package private(set) var deadline: Instant?
  private var isSuspended = false
  /// Bytes for the client, not encoded.
  private var held: [UInt8] = []
  /// The number of bytes that the client has lost because too many were held.
  package private(set) var lostBytes = 0
  private var modemMask: UInt8 = 0xFF
  private var notified: ComPortModemState?

  /// - Parameters:
  ///   - name: the server's name, for a client that reads the signature.
  ///   - now: when the client connected.
  package init(name: String, at now: Instant) {
    self.name = name
    deadline = now + Self.negotiationTime
  }

  /// Whether the client has negotiated COM-PORT.
  package var isTelnet: Bool { if case .telnet = state { true } else { false } }

  // MARK: From the client

  package mutating func receive(_ bytes: [UInt8], at now: Instant) -> [Action] {
    switch state {
    case .plain: return bytes.isEmpty ? [] : [.send(bytes)]
    case .refused: return []
    case .telnet(let options): return receiveTelnet(bytes, options)
    case .undecided(let first):
      if first.isEmpty { deadline = now + Self.negotiationTime }
      return decide(by: first + bytes)
    }
  }

  /// Passes the held bytes on; due at `deadline`, and when the client has closed.
  package mutating func wake() -> [Action] {
    deadline = nil
    guard case .undecided(let first) = state else { return [] }
    // A client that has not sent anything yet may still negotiate, but gets its bytes.
    if first.isEmpty { return release() }
    return becomePlain(first)
  }

  private mutating func decide(by first: [UInt8]) -> [Action] {
    switch HTTPStart(first) {
    case .http:
      state = .refused
      deadline = nil
      return [.refuse]
    case .undecided:
      state = .undecided(first)
      return []
    case .other: break
    }
    var position = 0
    while position < first.count {
      guard first[position] == Telnet.interpretAsCommand, position < Self.longestNegotiation else {
        return becomePlain(first)
      }
      if position + 1 < first.count, !Telnet.negotiations.contains(first[position + 1]) { return becomePlain(first) }
      guard position + 2 < first.count else { break }
      let isOffer = first[position + 1] == Telnet.will || first[position + 1] == Telnet.do
      if first[position + 2] == Telnet.Option.comPort, isOffer {
        deadline = nil
        var options = TelnetOptions()
        let begin = options.begin()
        state = .telnet(options)
        return [.deliver(begin)] + release() + receiveTelnet(first, options)
      }
      position += 3
    }
    state = .undecided(first)
    return []
  }

  private mutating func becomePlain(_ first: [UInt8]) -> [Action] {
    state = .plain
    deadline = nil
    return release() + [.send(first)]
  }

  private mutating func receiveTelnet(_ bytes: [UInt8], _ options: TelnetOptions) -> [Action] {
    var options = options
    var actions: [Action] = []
    for event in options.decoder.receive(bytes) {
      switch event {
      case .data(let data): actions.append(.send(data))
      case .negotiation(let command, let option):
        let reply = options.negotiate(command, option)
        if !reply.isEmpty { actions.append(.deliver(reply)) }
      case .subnegotiation(let content): actions += receive(subnegotiation: content)
      }
    }
    state = .telnet(options)
    return actions
  }

  private mutating func receive(subnegotiation content: [UInt8]) -> [Action] {
    typealias Code = ComPortRequest.Code
    guard content.count >= 2, content[0] == Telnet.Option.comPort else { return [] }
    let (code, value) = (content[1], content[2...])
    if let request = ComPortRequest(code: code, value: value) { return [.request(request)] }
    switch code {
    // A client that sends its own signature expects no reply.
    case Code.signature: return value.isEmpty ? [.deliver(Self.encoded([code] + Array(name.utf8)))] : []
    case Code.setControl: return value.first.flatMap(Self.control).map { [.deliver(Self.encoded([code, $0]))] } ?? []
    case Code.suspend:
      isSuspended = true
      return []
    case Code.resume:
      isSuspended = false
      return release()
    case Code.setLineStateMask:
      // Line states are not reported.
      return [.deliver(Self.encoded([code, 0]))]
    case Code.setModemStateMask:
      modemMask = value.first ?? 0xFF
      return [.deliver(Self.encoded([code, modemMask]))]
    default: return []
    }
  }

  /// The reply to SET-CONTROL of what a receiver's line does not have: flow control (none) and a break (off).
  private static func control(_ value: UInt8) -> UInt8? {
    switch value {
    case 0...3, 17, 19: 1
    case 4...6: 6
    case 13...16, 18: 14
    default: nil
    }
  }

  // MARK: To the client

  /// Returns bytes of the line as they are to be sent to the client; empty while they are held.
  package mutating func deliver(_ bytes: some Collection<UInt8>) -> [UInt8] {
    if isHolding {
      guard held.count + bytes.count <= Self.mostHeld else {
        lostBytes += bytes.count
        return []
      }
      held += bytes
      return []
    }
    return isTelnet ? Telnet.escaped(bytes) : Array(bytes)
  }

  private var isHolding: Bool {
    if case .undecided = state { return deadline != nil }
    return isSuspended
  }

  private mutating func release() -> [Action] {
    guard !held.isEmpty, !isHolding else { return [] }
    let bytes = isTelnet ? Telnet.escaped(held) : held
    held = []
    return [.deliver(bytes)]
  }

  /// Returns the bytes of a reply to a request.
  package func reply(_ reply: ComPortReply) -> [UInt8] { isTelnet ? Self.encoded(reply.bytes) : [] }

  /// Takes the state of the modem lines. Returns the bytes of its notification; empty if it has not changed and was not polled.
  package mutating func modemState(_ state: ComPortModemState, isPolled: Bool = false) -> [UInt8] {
    guard isTelnet else { return [] }
    let changes = notified.map { state.symmetricDifference($0) } ?? []
    let isFirst = notified == nil
    notified = state
    guard isPolled || isFirst || changes.rawValue & modemMask != 0 else { return [] }
    // RI has a bit for its trailing edge only.
    let edges = state.contains(.ring) ? changes.subtracting(.ring) : changes
    return Self.encoded([ComPortRequest.Code.notifyModemState, state.rawValue | edges.rawValue >> 4])
  }

  private static func encoded(_ command: [UInt8]) -> [UInt8] {
    let code = (command.first ?? 0) + ComPortRequest.Code.reply
    return [Telnet.interpretAsCommand, Telnet.subnegotiation, Telnet.Option.comPort, code]
      + Telnet.escaped(command.dropFirst()) + [Telnet.interpretAsCommand, Telnet.endOfSubnegotiation]
  }
}

/// The options of a telnet connection on both sides. A reply is sent for a change alone, so that no two sides reply to each other
/// without end (RFC 1143).
private struct TelnetOptions: Sendable {
  private static let supported: Set<UInt8> = [
    Telnet.Option.binary, Telnet.Option.suppressGoAhead, Telnet.Option.comPort,
  ]

  var decoder = TelnetDecoder()
  /// The options in force, and those that were requested and not confirmed.
  private var here: Set<UInt8> = []
  private var there: Set<UInt8> = []
  private var requestedHere: Set<UInt8> = []
  private var requestedThere: Set<UInt8> = []

  /// Requests binary transfer in both directions.
  mutating func begin() -> [UInt8] {
    requestedHere = [Telnet.Option.binary]
    requestedThere = [Telnet.Option.binary]
    return [
      Telnet.interpretAsCommand, Telnet.will, Telnet.Option.binary,
      Telnet.interpretAsCommand, Telnet.do, Telnet.Option.binary,
    ]
  }

  /// Takes a negotiation of the client. Returns the reply; empty without one.
  mutating func negotiate(_ command: UInt8, _ option: UInt8) -> [UInt8] {
    let reply: UInt8? =
      switch command {
      case Telnet.will: Self.enable(option, &there, &requestedThere, accept: Telnet.do, refuse: Telnet.dont)
      case Telnet.do: Self.enable(option, &here, &requestedHere, accept: Telnet.will, refuse: Telnet.wont)
      case Telnet.wont: Self.disable(option, &there, &requestedThere, confirm: Telnet.dont)
      default: Self.disable(option, &here, &requestedHere, confirm: Telnet.wont)
      }
    return reply.map { [Telnet.interpretAsCommand, $0, option] } ?? []
  }

  private static func enable(
    _ option: UInt8, _ enabled: inout Set<UInt8>, _ requested: inout Set<UInt8>, accept: UInt8, refuse: UInt8
  ) -> UInt8? {
    guard supported.contains(option) else { return refuse }
    let isConfirmed = requested.remove(option) != nil
    return enabled.insert(option).inserted && !isConfirmed ? accept : nil
  }

  private static func disable(
    _ option: UInt8, _ enabled: inout Set<UInt8>, _ requested: inout Set<UInt8>, confirm: UInt8
  ) -> UInt8? {
    requested.remove(option)
    return enabled.remove(option) == nil ? nil : confirm
  }
}

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
