// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import ReceiverRuntime
import Testing

private let (iac, dont, doIt, wont, will): (UInt8, UInt8, UInt8, UInt8, UInt8) = (255, 254, 253, 252, 251)
private let (binary, echo, goAhead, comPort): (UInt8, UInt8, UInt8, UInt8) = (0, 1, 3, 44)

/// A client of RFC 2217, as the server's side sees it: its requests, and what it finds in the server's bytes.
private struct Server {
  let start = Instant(nanoseconds: 1_000_000_000)
  var connection = ComPortConnection(name: "sextant 1", at: Instant(nanoseconds: 1_000_000_000))
  /// Bytes for the line and for the client, and requests, in their order.
  var line: [UInt8] = []
  var client: [UInt8] = []
  var requests: [ComPortRequest] = []
  var isRefused = false

  mutating func receive(_ bytes: [UInt8], after milliseconds: UInt64 = 0) {
    take(connection.receive(bytes, at: start + Milliseconds(milliseconds)))
  }

  mutating func wake() { take(connection.wake()) }

  mutating func take(_ actions: [ComPortConnection.Action]) {
    for action in actions {
      switch action {
      case .send(let bytes): line += bytes
      case .deliver(let bytes): client += bytes
      case .request(let request): requests.append(request)
      case .refuse: isRefused = true
      }
    }
  }

  mutating func takeClient() -> [UInt8] {
    defer { client = [] }
    return client
  }

  /// A connection after the negotiation of pyserial's `rfc2217://`.
  static func negotiated() -> Server {
    var server = Server()
    server.receive([iac, doIt, echo, iac, will, goAhead, iac, doIt, goAhead, iac, doIt, comPort, iac, will, comPort])
    server.receive([iac, will, binary, iac, doIt, binary])
    server.client = []
    return server
  }

  static func command(_ code: UInt8, _ value: UInt8...) -> [UInt8] {
    [iac, 250, comPort, code] + value.flatMap { $0 == iac ? [iac, iac] : [$0] } + [iac, 240]
  }
}

@Suite("A client of a serial line over TCP")
struct ComPortConnectionTests {
  // MARK: Web pages

  @Test("A client that speaks HTTP is refused, and none of its bytes reach the line", arguments: 1..<40)
  func webPage(size: Int) {
    let request = Array("POST /x HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".utf8) + [0xB5, 0x62, 0x06, 0x04]
    var server = Server()
    for start in stride(from: 0, to: request.count, by: size) {
      server.receive(Array(request[start..<min(start + size, request.count)]))
    }
    server.wake()
    #expect(server.isRefused && server.line.isEmpty)
  }

  @Test("A client that speaks HTTPS is refused, and none of its bytes reach the line", arguments: 1..<8)
  func secureWebPage(size: Int) {
    // The record of a ClientHello.
    let hello: [UInt8] = [0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xFC, 0x03, 0x03, 0xB5, 0x62]
    var server = Server()
    for start in stride(from: 0, to: hello.count, by: size) {
      server.receive(Array(hello[start..<min(start + size, hello.count)]))
    }
    server.wake()
    #expect(server.isRefused && server.line.isEmpty)
  }

  @Test(
    "Bytes that begin as a method or a record and go on otherwise pass",
    arguments: ["GPGGA 1\r\n", "POSITION", "P", "GET", "\u{16}", "\u{16}\u{2}"])
  func noWebPage(text: String) {
    var server = Server()
    for byte in Array(text.utf8) { server.receive([byte]) }
    server.wake()
    #expect(!server.isRefused && server.line == Array(text.utf8))
  }

  // MARK: Plain bytes

  @Test("The bytes of a plain client pass unchanged both ways, also 255 and what looks like telnet later")
  func plain() {
    let bytes = Array(0...255) + [iac, will, comPort, iac, iac, iac, 250, 0, iac, 240] as [UInt8]
    var server = Server()
    server.receive(bytes)
    #expect(server.line == bytes && server.client.isEmpty && server.requests.isEmpty)
    #expect(server.connection.deliver(bytes) == bytes && !server.connection.isTelnet)
    #expect(server.connection.deadline == nil)
  }

  @Test(
    "A client whose first byte is 255 is plain, unless COM-PORT follows",
    arguments: [
      [iac, iac, 1], [iac, 0xB5, 0x62], [iac, will, echo, 0x24], [iac, wont, comPort, 7], [iac, dont, comPort, 7],
      [iac, 250, comPort, 1], [UInt8](repeating: iac, count: 200),
    ] as [[UInt8]])
  func first(_ bytes: [UInt8]) {
    var server = Server()
    for byte in bytes { server.receive([byte]) }
    #expect(server.line == bytes && !server.connection.isTelnet)
  }

  @Test("A lone 255, which wakes a receiver, is held for a fraction of a second only")
  func wake() throws {
    var server = Server()
    server.wake()
    server.receive([iac], after: 5000)
    #expect(server.line.isEmpty)
    let due = try #require(server.connection.deadline)
    #expect(due == server.start + Milliseconds(5000) + ComPortConnection.negotiationTime)
    server.wake()
    #expect(server.line == [iac] && server.connection.deadline == nil)
  }

  @Test("Negotiations without end and without COM-PORT are plain bytes")
  func endless() {
    var server = Server()
    let bytes = Array([[UInt8]](repeating: [iac, will, echo], count: 100).joined())
    server.receive(bytes)
    #expect(server.line == bytes)
  }

  @Test("Bytes of the line are held until the first bytes of the client decide, and lost beyond a limit")
  func held() {
    var server = Server()
    #expect(server.connection.deliver([1, iac, 2]).isEmpty)
    #expect(server.connection.deliver([UInt8](repeating: 0, count: ComPortConnection.mostHeld)).isEmpty)
    #expect(server.connection.lostBytes == ComPortConnection.mostHeld)
    server.wake()
    #expect(server.client == [1, iac, 2])
    #expect(server.connection.deliver([iac]) == [iac])
    var telnet = Server()
    _ = telnet.connection.deliver([1, iac, 2])
    telnet.receive([iac, will, comPort])
    #expect(telnet.client == [iac, will, binary, iac, doIt, binary, 1, iac, iac, 2, iac, doIt, comPort])
  }

  // MARK: Negotiation

  @Test("The options of RFC 2217 are accepted, others refused, and no confirmation is confirmed")
  func negotiation() {
    var server = Server()
    server.receive([iac, doIt, echo, iac, will, goAhead, iac, doIt, comPort, iac, will, comPort])
    #expect(server.connection.isTelnet)
    #expect(
      server.takeClient()
        == [iac, will, binary, iac, doIt, binary, iac, wont, echo, iac, doIt, goAhead, iac, will, comPort]
        + [iac, doIt, comPort])
    server.receive([iac, will, binary, iac, doIt, binary, iac, will, comPort])
    #expect(server.takeClient().isEmpty)
    server.receive([iac, wont, goAhead, iac, wont, goAhead, iac, dont, binary])
    #expect(server.takeClient() == [iac, dont, goAhead, iac, wont, binary])
  }

  @Test("Data is escaped both ways, and commands within it are removed")
  func escaping() {
    var server = Server.negotiated()
    server.receive([1, iac, iac, 2, iac, 241, 3, iac])
    server.receive([iac, 4])
    #expect(server.line == [1, iac, 2, 3, iac, 4])
    #expect(server.connection.deliver([1, iac, iac, 2]) == [1, iac, iac, iac, iac, 2])
  }

  // MARK: Requests

  @Test("Each request of RFC 2217 is read, and its reply has the command plus 100 and the value in force")
  func requests() {
    let cases: [([UInt8], ComPortRequest, ComPortReply?, [UInt8])] = [
      (Server.command(1, 0, 0, 0x25, 0x80), .baudRate(9600), .baudRate(9600), Server.command(101, 0, 0, 0x25, 0x80)),
      (Server.command(1, 0, 0, 0, 0), .baudRate(nil), .baudRate(65_535), Server.command(101, 0, 0, iac, iac)),
      (Server.command(2, 7), .dataSize(7), .dataSize(8), Server.command(102, 8)),
      (Server.command(2, 9), .dataSize(nil), .dataSize(8), Server.command(102, 8)),
      (Server.command(3, 2), .parity(.odd), .parity(.none), Server.command(103, 1)),
      (Server.command(3, 0), .parity(nil), .parity(.space), Server.command(103, 5)),
      (Server.command(4, 2), .stopSize(.two), .stopSize(.two), Server.command(104, 2)),
      (Server.command(5, 8), .dataTerminalReady(true), .dataTerminalReady(true), Server.command(105, 8)),
      (Server.command(5, 12), .requestToSend(false), .requestToSend(false), Server.command(105, 12)),
      (Server.command(5, 7), .dataTerminalReady(nil), .dataTerminalReady(false), Server.command(105, 9)),
      (
        Server.command(12, 3), .purge(received: true, unsent: true), .purged(received: true, unsent: true),
        Server.command(112, 3)
      ),
      (Server.command(12, 1), .purge(received: true, unsent: false), nil, []),
      (Server.command(7, 0), .modemState, nil, []),
    ]
    for (bytes, request, reply, expected) in cases {
      var server = Server.negotiated()
      for byte in bytes { server.receive([byte]) }
      #expect(server.requests == [request])
      if let reply { #expect(server.connection.reply(reply) == expected) }
      #expect(request.reading.reading == request.reading)
    }
  }

  @Test("Flow control and breaks, which the line does not have, are answered so; masks and the name are answered")
  func answered() {
    let cases: [([UInt8], [UInt8])] = [
      (Server.command(5, 3), Server.command(105, 1)), (Server.command(5, 5), Server.command(105, 6)),
      (Server.command(5, 16), Server.command(105, 14)), (Server.command(11, 0x10), Server.command(111, 0x10)),
      (Server.command(10, iac), Server.command(110, 0)),
      (Server.command(0), [iac, 250, comPort, 100] + Array("sextant 1".utf8) + [iac, 240]),
      (Server.command(0, 65), []), (Server.command(99), []), (Server.command(1, 0), []), ([iac, 250, iac, 240], []),
    ]
    for (bytes, expected) in cases {
      var server = Server.negotiated()
      server.receive(bytes)
      #expect(server.client == expected)
      #expect(server.requests.isEmpty && server.line.isEmpty)
    }
  }

  @Test("The state of the modem lines is sent at first, when it is polled, and when a masked line changes")
  func modemState() {
    var server = Server.negotiated()
    #expect(server.connection.modemState([.clearToSend]) == Server.command(107, 0x10))
    #expect(server.connection.modemState([.clearToSend]).isEmpty)
    #expect(server.connection.modemState([.clearToSend], isPolled: true) == Server.command(107, 0x10))
    #expect(server.connection.modemState([.carrierDetect]) == Server.command(107, 0x89))
    server.receive(Server.command(11, 0x10))
    #expect(server.connection.modemState([]).isEmpty)
    // RI has a bit for its trailing edge.
    server.receive(Server.command(11, iac))
    #expect(server.connection.modemState([.ring]) == Server.command(107, 0x40))
    #expect(server.connection.modemState([]) == Server.command(107, 0x04))
    var plain = Server()
    plain.receive([1])
    #expect(plain.connection.modemState([.ring]).isEmpty && plain.connection.reply(.baudRate(9600)).isEmpty)
  }

  @Test("A suspended client gets its bytes when it resumes")
  func suspended() {
    var server = Server.negotiated()
    server.receive(Server.command(8))
    #expect(server.connection.deliver([1, iac]).isEmpty)
    server.receive(Server.command(9))
    #expect(server.takeClient() == [1, iac, iac])
    #expect(server.connection.deliver([2]) == [2])
  }

  @Test("A subnegotiation that is too long is discarded, and what follows is read")
  func long() {
    var server = Server.negotiated()
    server.receive([iac, 250, comPort, 0] + [UInt8](repeating: 65, count: 100_000) + [iac, 240, 7])
    server.receive(Server.command(2, 8))
    #expect(server.line == [7] && server.requests == [.dataSize(8)])
  }

  // MARK: Properties

  @Test("The result does not depend on how the network cuts the bytes", arguments: 0..<200)
  func cuts(_ seed: UInt64) {
    var random = Seeded(state: seed)
    var bytes: [UInt8] = seed % 2 == 0 ? [iac, will, comPort] : []
    for _ in 0..<Int.random(in: 0..<60, using: &random) {
      switch Int.random(in: 0..<5, using: &random) {
      case 0: bytes += [iac, .random(in: 240...255, using: &random), .random(in: 0...50, using: &random)]
      case 1: bytes += Server.command(.random(in: 0...13, using: &random), .random(in: 0...255, using: &random), 0)
      case 2: bytes += [iac, iac]
      default: bytes.append(.random(in: 0...255, using: &random))
      }
    }
    var whole = Server()
    whole.receive(bytes)
    var cut = Server()
    var rest = bytes[...]
    while !rest.isEmpty {
      let piece = rest.prefix(Int.random(in: 1...5, using: &random))
      cut.receive(Array(piece))
      rest = rest.dropFirst(piece.count)
    }
    whole.wake()
    cut.wake()
    #expect(whole.line == cut.line && whole.client == cut.client && whole.requests == cut.requests)
  }

  @Test("A client of RFC 2217 gets the line's bytes, and the line gets the client's bytes", arguments: 0..<50)
  func transparency(_ seed: UInt64) {
    var random = Seeded(state: seed)
    let bytes = (0..<200).map { _ in Bool.random(using: &random) ? iac : UInt8.random(in: 0...255, using: &random) }
    var server = Server.negotiated()
    server.receive(bytes.flatMap { $0 == iac ? [iac, iac] : [$0] })
    #expect(server.line == bytes)
    var index = 0
    let sent = server.connection.deliver(bytes)
    var read: [UInt8] = []
    while index < sent.count {
      read.append(sent[index])
      index += sent[index] == iac ? 2 : 1
    }
    #expect(read == bytes)
  }
}

/// SplitMix64 (Steele, Lea and Flood, 2014).
private struct Seeded: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
