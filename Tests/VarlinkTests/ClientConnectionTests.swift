// SPDX-License-Identifier: Apache-2.0
import Messages
import TestSupport
import Testing

@Suite("The client's side of a connection")
struct ClientConnectionTests {
  @Test("Calls of each kind on the wire")
  func wire() throws {
    var connection = VarlinkClientConnection()
    for kind in [VarlinkCall.Kind.single, .oneway, .more, .upgrade] {
      #expect(try connection.call(VarlinkCall("org.example.test.A", ["b": 1], kind)) != nil)
    }
    #expect(
      connection.takeOutput().messages == [
        #"{"method":"org.example.test.A","parameters":{"b":1}}"#,
        #"{"method":"org.example.test.A","oneway":true,"parameters":{"b":1}}"#,
        #"{"method":"org.example.test.A","more":true,"parameters":{"b":1}}"#,
        #"{"method":"org.example.test.A","upgrade":true,"parameters":{"b":1}}"#,
      ])
  }

  @Test("Replies belong to the calls in their order; a oneway call has none")
  func order() throws {
    var connection = VarlinkClientConnection()
    let first = try #require(try connection.call(VarlinkCall("a.B", .empty, .more)))
    _ = try connection.call(VarlinkCall("a.C", .empty, .oneway))
    let second = try #require(try connection.call(VarlinkCall("a.D")))
    connection.receive(
      #"{"continues":true,"parameters":{"n":1}}"#, #"{}"#,
      #"{"error":"a.Bad","parameters":{"why":"x"},"continues":false}"#)
    #expect(
      connection.events() == [
        .reply(first, .success(["n": 1], continues: true)), .reply(first, .success(.empty)),
        .reply(second, .failure(VarlinkError("a.Bad", ["why": "x"]))),
      ])
  }

  @Test("An upgrade: no further call, then messages in both directions")
  func upgrade() throws {
    var connection = VarlinkClientConnection()
    let id = try #require(try connection.call(VarlinkCall("a.Open", .empty, .upgrade)))
    #expect(try connection.call(VarlinkCall("a.B")) == nil)
    #expect(try !connection.send(1))
    connection.receive(#"{"parameters":{"version":1}}"#, "5", "[]")
    #expect(connection.events() == [.reply(id, .success(["version": 1])), .message(5), .message([])])
    _ = connection.takeOutput()
    #expect(try connection.send(["a": 1]))
    #expect(try connection.call(VarlinkCall("a.B")) == nil)
    #expect(connection.takeOutput().messages == [#"{"a":1}"#])
  }

  @Test("A message that the owner reads by itself is not an event; one that it refuses is the next event")
  func ownMessages() throws {
    var connection = VarlinkClientConnection()
    let id = try #require(try connection.call(VarlinkCall("a.Open", .empty, .upgrade)))
    connection.receive("{}", "5", "[]", "6")
    func digit(_ text: Span<UInt8>) -> UInt8? { text.count == 1 ? text[0] : nil }
    #expect(connection.nextMessage(digit) == nil)
    #expect(connection.nextEvent() == .reply(id, .success(.empty)))
    #expect(connection.nextMessage(digit) == UInt8(ascii: "5"))
    #expect(connection.nextMessage(digit) == nil)
    #expect(connection.nextEvent() == .message([]))
    #expect(connection.nextMessage(digit) == UInt8(ascii: "6"))
    #expect(connection.nextMessage(digit) == nil)
    #expect(connection.nextEvent() == nil)
  }

  @Test("A refused upgrade allows further calls")
  func refusedUpgrade() throws {
    var connection = VarlinkClientConnection()
    let id = try #require(try connection.call(VarlinkCall("a.Open", .empty, .upgrade)))
    connection.receive(#"{"error":"a.Version"}"#)
    #expect(connection.events() == [.reply(id, .failure(VarlinkError("a.Version")))])
    #expect(try connection.call(VarlinkCall("a.B")) != nil)
  }

  @Test(
    "A message that is not a reply to a call ends the connection",
    arguments: [
      ("{}", 0, .unexpectedReply), (#"{"continues":true}"#, 1, .unexpectedReply), ("[]", 1, .invalidReply),
      (#"{"error":1}"#, 1, .invalidReply), (#"{"parameters":1}"#, 1, .invalidReply),
      ("x", 1, .invalidJSON(JSONSyntaxError(reason: .unexpectedByte, offset: 0))),
      (String(repeating: " ", count: 101), 1, .messageTooLong(maximumBytes: 100)),
    ] as [(String, Int, VarlinkProtocolError)])
  func failure(message: String, calls: Int, error: VarlinkProtocolError) throws {
    var connection = VarlinkClientConnection(maximumMessageBytes: 100)
    for _ in 0..<calls { _ = try connection.call(VarlinkCall("a.B")) }
    connection.receive(message, "{}")
    #expect(connection.events() == [.failed(error)])
    #expect(try connection.call(VarlinkCall("a.B")) == nil)
  }

  @Test("Client and server agree on any dialogue, however its bytes are cut", arguments: 0..<40)
  func dialogue(part: Int) throws {
    var random = SeededRandomNumberGenerator(seed: UInt64(part))
    var client = VarlinkClientConnection()
    var server = VarlinkServerConnection()
    var expected: [VarlinkClientConnection.CallID: [VarlinkReply]] = [:]
    var actual: [VarlinkClientConnection.CallID: [VarlinkReply]] = [:]
    var order: [VarlinkClientConnection.CallID] = []
    var served: [Int64] = []
    var sent = 0
    while sent < 60 || client.outputBytesWaiting + server.outputBytesWaiting > 0 {
      if sent < 60, Bool.random(using: &random) {
        let kind = [VarlinkCall.Kind.single, .oneway, .more].randomElement(using: &random)!
        let text = JSON.object(&random, depth: 2)
        let call = VarlinkCall("org.example.test.M", ["n": .integer(Int64(sent)), "v": text], kind)
        let id = try #require(try client.call(call))
        switch kind {
        case .oneway: break
        case .more: expected[id] = (0..<sent % 4).map { _ in .success(text, continues: true) } + [.success(text)]
        default: expected[id] = [sent % 3 == 0 ? .failure(VarlinkError("a.B", text)) : .success(text)]
        }
        if kind != .oneway { order.append(id) }
        sent += 1
      }
      server.receive(bytes: client.takeOutput(.random(in: 0...200, using: &random)))
      while let event = server.nextEvent() {
        guard case .call(let id, let call) = event, case .integer(let number)? = call.parameters["n"],
          let text = call.parameters["v"]
        else {
          Issue.record("\(event)")
          return
        }
        served.append(number)
        switch call.kind {
        case .more:
          for _ in 0..<number % 4 { #expect(try server.reply(to: id, .success(text, continues: true)) == .queued) }
          #expect(try server.reply(to: id, .success(text)) == .queued)
        case .single where number % 3 == 0: _ = try server.reply(to: id, .failure(VarlinkError("a.B", text)))
        default: _ = try server.reply(to: id, .success(text))
        }
      }
      client.receive(bytes: server.takeOutput(.random(in: 0...200, using: &random)))
      for event in client.events() {
        guard case .reply(let id, let reply) = event else {
          Issue.record("\(event)")
          return
        }
        if actual[id] == nil { #expect(order.removeFirst() == id) }
        actual[id, default: []].append(reply)
      }
    }
    #expect(served == Array(0..<60))
    #expect(actual == expected)
  }
}
