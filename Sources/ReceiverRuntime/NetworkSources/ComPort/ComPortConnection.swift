// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// The server's side of a TCP connection to a serial line: plain bytes, or telnet with the COM-PORT option (RFC 2217).
///
///     undecided ─ another byte than that of a negotiation, or no more bytes ─▶ plain
///         └────── WILL or DO COM-PORT ─▶ telnet
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
  }

  private enum State {
    case undecided([UInt8])
    case plain
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
