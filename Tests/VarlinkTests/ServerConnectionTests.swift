// SPDX-License-Identifier: Apache-2.0
import Messages
import TestSupport
import Testing

@Suite("The server's side of a connection")
struct ServerConnectionTests {
  private static let small = VarlinkServerConnection.Limits(messageBytes: 1000, outputBytes: 1000)

  @Test("A call is an event with its parameters and kind")
  func calls() {
    var connection = VarlinkServerConnection()
    connection.receive(#"{"method":"org.example.test.Get","parameters":{"a":1},"oneway":true,"com.example":{}}"#)
    connection.receive(#"{"method":"org.example.test.Put","parameters":null,"more":false,"upgrade":null}"#)
    let calls = connection.calls()
    #expect(
      calls.map(\.call) == [
        VarlinkCall("org.example.test.Get", ["a": 1], .oneway), VarlinkCall("org.example.test.Put"),
      ])
  }

  @Test("A call waits until the one before it has its reply")
  func pipelining() throws {
    var connection = VarlinkServerConnection()
    for number in 0..<5 { connection.receive(#"{"method":"org.example.test.M\#(number)"}"#) }
    for number in 0..<5 {
      let calls = connection.calls()
      try #require(calls.map(\.call.method) == ["org.example.test.M\(number)"])
      #expect(try connection.reply(to: calls[0].id, .success(["n": .integer(Int64(number))])) == .queued)
      #expect(try connection.reply(to: calls[0].id, .success(.empty)) == .notExpected)
    }
    #expect(connection.takeMessages() == (0..<5).map { #"{"parameters":{"n":\#($0)}}"# })
  }

  @Test("A waiting call is an event once the one before it has its reply, and the client reads")
  func waitingCalls() throws {
    var connection = VarlinkServerConnection(limits: Self.small)
    #expect(connection.hasEvent == false)
    #expect(!connection.isServing)
    connection.receive(#"{"method":"org.example.test.A"}"#, #"{"method":"org.example.test.B"}"#)
    #expect(connection.hasEvent == true)
    let id = try #require(connection.calls().first?.id)
    #expect(connection.hasEvent == false)
    #expect(connection.isServing)
    #expect(try connection.reply(to: id, .success(["text": .string(String(repeating: "x", count: 1000))])) == .queued)
    #expect(connection.hasEvent == false)
    #expect(!connection.isServing)
    connection.didWrite(connection.outputBytesWaiting)
    #expect(connection.hasEvent == true)
    #expect(connection.calls().map(\.call.method) == ["org.example.test.B"])
    // A part of a call is not an event; a message that is too long is one.
    var other = VarlinkServerConnection(limits: Self.small)
    other.receive(bytes: [0x7B])
    #expect(other.hasEvent == false)
    other.receive(bytes: [UInt8](repeating: 0x20, count: 1001))
    #expect(other.hasEvent == true)
  }

  @Test("A call with `more` holds the next call until its last reply")
  func more() throws {
    var connection = VarlinkServerConnection()
    connection.receive(#"{"method":"org.example.test.Watch","more":true}"#, #"{"method":"org.example.test.Get"}"#)
    let id = try #require(connection.calls().first?.id)
    for _ in 0..<2 {
      #expect(try connection.reply(to: id, .success(["n": 1], continues: true)) == .queued)
      #expect(connection.events().isEmpty)
    }
    #expect(try connection.reply(to: id, .failure(.permissionDenied)) == .queued)
    #expect(connection.calls().map(\.call.method) == ["org.example.test.Get"])
    #expect(
      connection.takeMessages() == [
        #"{"parameters":{"n":1},"continues":true}"#, #"{"parameters":{"n":1},"continues":true}"#,
        #"{"error":"org.varlink.service.PermissionDenied","parameters":{}}"#,
      ])
  }

  @Test("A call without `more` has one reply, which never continues")
  func single() throws {
    var connection = VarlinkServerConnection()
    connection.receive(#"{"method":"org.example.test.Watch"}"#)
    let id = try #require(connection.calls().first?.id)
    #expect(try connection.reply(to: id, .success(.empty, continues: true)) == .queued)
    #expect(try connection.reply(to: id, .success(.empty, continues: true)) == .notExpected)
    #expect(connection.takeMessages() == [#"{"parameters":{}}"#])
  }

  @Test("A call with `oneway` has no reply, not even an error")
  func oneway() throws {
    var connection = VarlinkServerConnection()
    connection.receive(
      #"{"method":"org.example.test.A","oneway":true}"#, #"{"method":"org.example.other.B","oneway":true}"#,
      #"{"method":"org.varlink.service.GetInfo","oneway":true}"#, #"{"method":"org.example.test.C"}"#)
    let calls = connection.calls()
    #expect(calls.map(\.call.method) == ["org.example.test.A", "org.example.test.C"])
    #expect(try connection.reply(to: calls[0].id, .success(.empty)) == .notExpected)
    #expect(connection.outputBytesWaiting == 0)
  }

  @Test("After an upgrade both sides send messages; those behind the call are messages too")
  func upgrade() throws {
    var connection = VarlinkServerConnection()
    connection.receive(#"{"method":"org.example.test.Open","upgrade":true}"#, #"{"a":1}"#)
    #expect(try connection.send(["b": 0]) == .notExpected)
    #expect(connection.send(text: [0x31]) == .notExpected)
    let id = try #require(connection.calls().first?.id)
    #expect(try connection.reply(to: id, .success(["version": 1])) == .queued)
    #expect(try connection.send(["b": 2]) == .queued)
    #expect(connection.send(text: [0x31]) == .queued)
    connection.receive("[]")
    #expect(connection.events() == [.message(["a": 1]), .message([])])
    #expect(connection.takeMessages() == [#"{"parameters":{"version":1}}"#, #"{"b":2}"#, "1"])
  }

  @Test("A refused upgrade leaves the connection as it was")
  func refusedUpgrade() throws {
    var connection = VarlinkServerConnection()
    connection.receive(#"{"method":"org.example.test.Open","upgrade":true}"#, #"{"method":"org.example.test.Get"}"#)
    let id = try #require(connection.calls().first?.id)
    #expect(try connection.reply(to: id, .failure(.invalidParameter("version"))) == .queued)
    #expect(connection.calls().map(\.call.method) == ["org.example.test.Get"])
  }

  @Test(
    "varlink.org, Service: calls that are answered inside",
    arguments: [
      (
        #"{"method":"org.varlink.service.GetInfo"}"#,
        #"{"parameters":{"vendor":"Example","product":"Test","version":"1","url":"https://example.org","interfaces":["org.varlink.service","org.example.test"]}}"#
      ),
      (
        #"{"method":"org.varlink.service.GetInterfaceDescription","parameters":{"interface":"org.example.test"}}"#,
        #"{"parameters":{"description":"interface org.example.test\n"}}"#
      ),
      (
        #"{"method":"org.varlink.service.GetInterfaceDescription","parameters":{"interface":"org.example.x"}}"#,
        #"{"error":"org.varlink.service.InterfaceNotFound","parameters":{"interface":"org.example.x"}}"#
      ),
      (
        #"{"method":"org.varlink.service.GetInterfaceDescription"}"#,
        #"{"error":"org.varlink.service.InvalidParameter","parameters":{"parameter":"interface"}}"#
      ),
      (
        #"{"method":"org.varlink.service.Get","more":true}"#,
        #"{"error":"org.varlink.service.MethodNotFound","parameters":{"method":"org.varlink.service.Get"}}"#
      ),
      (
        #"{"method":"org.example.Get"}"#,
        #"{"error":"org.varlink.service.InterfaceNotFound","parameters":{"interface":"org.example"}}"#
      ),
      (#"{"method":""}"#, #"{"error":"org.varlink.service.InterfaceNotFound","parameters":{"interface":""}}"#),
      (
        #"{"method":"org.varlink.service.GetInfo","upgrade":true}"#,
        #"{"error":"org.varlink.service.MethodNotImplemented","parameters":{"method":"org.varlink.service.GetInfo"}}"#
      ),
    ])
  func introspection(call: String, reply: String) {
    var connection = VarlinkServerConnection()
    connection.receive(call)
    #expect(connection.events().isEmpty)
    #expect(connection.takeMessages() == [reply])
  }

  @Test(
    "A message that is not a call ends the connection permanently",
    arguments: [
      ("", .invalidJSON(JSONSyntaxError(reason: .unexpectedEnd, offset: 0))), ("[]", .invalidCall),
      ("{}", .invalidCall),
      (#"{"method":1}"#, .invalidCall), (#"{"method":"a.B","parameters":[]}"#, .invalidCall),
      (#"{"method":"a.B","more":1}"#, .invalidCall), (#"{"method":"a.B","more":true,"oneway":true}"#, .invalidCall),
    ] as [(String, VarlinkProtocolError)])
  func failure(message: String, error: VarlinkProtocolError) throws {
    var connection = VarlinkServerConnection()
    connection.receive(#"{"method":"org.varlink.service.X"}"#, message, #"{"method":"org.example.test.Get"}"#)
    #expect(connection.events() == [.failed(error)])
    #expect(connection.takeMessages().count == 1)
    #expect(!connection.wantsInput)
    connection.receive(#"{"method":"org.example.test.Get"}"#)
    #expect(connection.events().isEmpty)
  }

  @Test("A message that is too long ends the connection, in each state", arguments: [true, false])
  func oversize(isUpgraded: Bool) throws {
    var connection = VarlinkServerConnection(limits: Self.small)
    if isUpgraded {
      connection.receive(#"{"method":"org.example.test.Open","upgrade":true}"#)
      _ = try connection.reply(to: #require(connection.calls().first?.id), .success(.empty))
    }
    connection.receive(bytes: [UInt8](repeating: 0x20, count: 1001))
    #expect(connection.events() == [.failed(.messageTooLong(maximumBytes: 1000))])
  }

  @Test("Calls that wait are bounded: the owner stops reading")
  func boundedInput() throws {
    var connection = VarlinkServerConnection(limits: Self.small)
    let call = #"{"method":"org.example.test.Get"}"#
    connection.receive(call)
    let id = try #require(connection.calls().first?.id)
    var waiting = 0
    while connection.wantsInput {
      connection.receive(call)
      waiting += 1
    }
    #expect(1000 / (call.utf8.count + 1)...1000 / call.utf8.count + 1 ~= waiting)
    #expect(try connection.reply(to: id, .success(.empty)) == .queued)
    for _ in 0..<waiting {
      let id = try #require(connection.calls().first?.id)
      #expect(try connection.reply(to: id, .success(.empty)) == .queued)
    }
    #expect(connection.wantsInput && connection.events().isEmpty)
  }

  @Test("More input than the connection reads ends it")
  func tooMuchInput() throws {
    var connection = VarlinkServerConnection(limits: Self.small)
    connection.receive(#"{"method":"org.example.test.Get"}"#)
    let id = try #require(connection.calls().first?.id)
    connection.receive(bytes: [UInt8](repeating: 0, count: 1001))
    connection.receive(bytes: [0])
    #expect(connection.events() == [.failed(.tooMuchInput)])
    #expect(try connection.reply(to: id, .success(.empty)) == .notExpected)
  }

  @Test("A client that does not read: replies that continue are refused, the last one is not, and calls wait")
  func slowReader() throws {
    var connection = VarlinkServerConnection(limits: Self.small)
    connection.receive(#"{"method":"org.example.test.Watch","more":true}"#, #"{"method":"org.example.test.Get"}"#)
    let id = try #require(connection.calls().first?.id)
    let message: JSON = ["text": .string(String(repeating: "a", count: 100))]
    while try connection.reply(to: id, .success(message, continues: true)) == .queued {}
    #expect(1000..<1200 ~= connection.outputBytesWaiting)
    #expect(try connection.reply(to: id, .success(message, continues: true)) == .full)
    #expect(try connection.reply(to: id, .success(.empty)) == .queued)
    #expect(connection.events().isEmpty)
    _ = connection.takeOutput(500)
    #expect(connection.calls().map(\.call.method) == ["org.example.test.Get"])
  }

  @Test("A reply that was encoded once for many connections is that which each would make; only an open call gets it")
  func sharedReply() throws {
    let reply = VarlinkReply.success(["text": "a", "number": 1.5], continues: true)
    let text = try reply.text()
    var connections = [VarlinkServerConnection(limits: Self.small), VarlinkServerConnection(limits: Self.small)]
    var outputs: [[UInt8]] = []
    for index in connections.indices {
      connections[index].receive(#"{"method":"org.example.test.Watch","more":true}"#)
      let id = try #require(connections[index].calls().first?.id)
      let accepted =
        index == 0 ? try connections[index].reply(to: id, reply) : connections[index].continueReply(to: id, text)
      #expect(accepted == .queued)
      outputs.append(connections[index].takeOutput())
      while connections[index].continueReply(to: id, text) == .queued {}
      #expect(connections[index].continueReply(to: id, text) == .full)
      _ = try connections[index].reply(to: id, .success(.empty))
      #expect(connections[index].continueReply(to: id, text) == .notExpected)
    }
    #expect(outputs[0] == outputs[1])
    var single = VarlinkServerConnection(limits: Self.small)
    single.receive(#"{"method":"org.example.test.Get"}"#)
    let id = try #require(single.calls().first?.id)
    #expect(single.continueReply(to: id, text) == .notExpected)
  }

  @Test("A client that asks and does not read gets a bounded number of answers")
  func slowAsker() {
    var connection = VarlinkServerConnection(limits: Self.small)
    while connection.wantsInput {
      connection.receive(#"{"method":"org.varlink.service.GetInfo"}"#)
      #expect(connection.events().isEmpty)
    }
    #expect(connection.outputBytesWaiting < 1200)
    var answers = 0
    while connection.outputBytesWaiting > 0 {
      answers += connection.takeMessages().count
      #expect(connection.events().isEmpty)
    }
    #expect(answers > 20)
    #expect(connection.wantsInput)
  }

  @Test(
    "After an upgrade the messages of a client that does not read wait, so that it cannot have answers without end made"
  )
  func slowUpgraded() throws {
    var connection = VarlinkServerConnection(limits: Self.small)
    connection.receive(#"{"method":"org.example.test.Open","upgrade":true}"#)
    let id = try #require(connection.calls().first?.id)
    _ = try connection.reply(to: id, .success(.empty))
    while try connection.send(["text": .string(String(repeating: "a", count: 100))]) == .queued {}
    connection.receive("[1]")
    #expect(connection.events().isEmpty)
    while connection.wantsInput { connection.receive("[2]") }
    _ = connection.takeOutput()
    #expect(connection.nextEvent() == .message([1]))
    _ = connection.events()
    #expect(connection.wantsInput)
  }

  @Test("A reply that has no JSON form leaves nothing behind")
  func unwritable() throws {
    var connection = VarlinkServerConnection()
    connection.receive(#"{"method":"org.example.test.Get"}"#)
    let id = try #require(connection.calls().first?.id)
    #expect(throws: JSONWriteError.notFinite) {
      try connection.reply(to: id, .success(["a": 1, "b": .double(.nan)]))
    }
    #expect(connection.outputBytesWaiting == 0)
    #expect(try connection.reply(to: id, .success(.empty)) == .queued)
    #expect(connection.takeMessages() == [#"{"parameters":{}}"#])
  }

  @Test("Random bytes never crash, and what is stored is bounded", arguments: 0..<40)
  func randomBytes(part: Int) throws {
    var random = SeededRandomNumberGenerator(seed: UInt64(part))
    var connection = VarlinkServerConnection(limits: Self.small)
    let templates = [
      #"{"method":"org.varlink.service.GetInfo"}"#, #"{"method":"org.example.test.A","more":true}"#,
      #"{"method":"org.example.test.B","upgrade":true}"#, #"{"method":"org.example.test.C","oneway":true}"#,
    ]
    var failures = 0
    for _ in 0..<2000 where connection.wantsInput {
      var bytes = templates.randomElement(using: &random)!.bytes + [0]
      if Int.random(in: 0..<20, using: &random) == 0 {
        bytes[Int.random(in: 0..<bytes.count, using: &random)] = random.byte()
      }
      connection.receive(bytes: Array(bytes.prefix(Int.random(in: 1...200, using: &random))))
      while let event = connection.nextEvent() {
        switch event {
        case .call(let id, _): _ = try connection.reply(to: id, .success(.empty))
        case .message(let message): _ = try connection.send(message)
        case .failed: failures += 1
        }
      }
      #expect(connection.outputBytesWaiting < 1400)
      _ = connection.takeOutput(.random(in: 0...100, using: &random))
    }
    #expect(failures <= 1)
    #expect(failures == 1 || connection.outputBytesWaiting >= 900)
  }
}
