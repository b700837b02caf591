// SPDX-License-Identifier: Apache-2.0

// Both ends of a Varlink connection with the same bytes, in pieces. Queues are bounded, a failure is the last event,
// and every value that is read can be written and read again.
import Messages

func fuzzVarlink(_ input: [UInt8]) {
  guard let first = input.first else { return }
  let size = max(1, Int(first))
  let bytes = Array(input.dropFirst())
  let limits = VarlinkServerConnection.Limits(messageBytes: 2048, outputBytes: 1024)
  var server = VarlinkServerConnection(
    service: VarlinkService(
      vendor: "", product: "", version: "", url: "", interfaces: [.location, .coreLocation]), limits: limits)
  var client = VarlinkClientConnection(maximumMessageBytes: 2048)
  for (method, kind) in [("a.B", VarlinkCall.Kind.more), ("a.C", .single), ("a.D", .upgrade)] {
    guard (try? client.call(VarlinkCall(method, .empty, kind))) != nil else { fatalError("\(method) is refused") }
  }
  var failures = 0
  for piece in stride(from: 0, to: bytes.count, by: size) {
    let piece = Array(bytes[piece..<min(piece + size, bytes.count)])
    if server.wantsInput { server.receive(piece.span) }
    client.receive(piece.span)
    while let event = server.nextEvent() {
      guard failures & 1 == 0 else { fatalError("\(event) after a failure") }
      switch event {
      case .call(let id, let call): answer(call, id, &server)
      case .message(let message): requireRoundTrip(message)
      case .failed: failures |= 1
      }
    }
    while let event = client.nextEvent() {
      guard failures & 2 == 0 else { fatalError("\(event) after a failure") }
      switch event {
      case .reply(_, .success(let parameters, _)): requireRoundTrip(parameters)
      case .reply(_, .failure(let error)): requireRoundTrip(error.parameters)
      case .message(let message): requireRoundTrip(message)
      case .failed: failures |= 2
      }
    }
    // The longest reply is the description of an interface.
    guard server.outputBytesWaiting < limits.outputBytes + 8192 else { fatalError("\(server.outputBytesWaiting) wait") }
    server.didWrite(min(server.outputBytesWaiting, size))
  }
}

/// Replies with the parameters, which were at the same depth in the call.
private func answer(_ call: VarlinkCall, _ id: VarlinkServerConnection.CallID, _ server: inout VarlinkServerConnection)
{
  requireRoundTrip(call.parameters)
  for continues in [true, false] {
    guard (try? server.reply(to: id, .success(call.parameters, continues: continues))) != nil else {
      fatalError("\(call) cannot be written")
    }
  }
}

private func requireRoundTrip(_ json: JSON) {
  guard let text = try? json.text(), (try? JSON(parsing: text)) == json, !text.contains(0) else {
    fatalError("\(json) is lost")
  }
  guard (try? JSON(encoding: Tree(json: json)))?["json"] != nil else { fatalError("\(json) cannot be encoded") }
}

/// A tree, encoded like a custom type.
private struct Tree: Encodable {
  let json: JSON

  private enum Keys: String, CodingKey { case json }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Keys.self)
    switch json {
    case .array(let elements): try container.encode(elements.map(Tree.init), forKey: .json)
    case .object(let members):
      try container.encode(members.map { [$0.name: Tree(json: $0.value)] }, forKey: .json)
    case .string(let text): try container.encode(text, forKey: .json)
    case .integer(let value): try container.encode(value, forKey: .json)
    case .double(let value): try container.encode(value, forKey: .json)
    case .bool(let value): try container.encode(value, forKey: .json)
    case .null: try container.encodeNil(forKey: .json)
    }
  }
}
