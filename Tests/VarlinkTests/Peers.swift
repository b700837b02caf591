// SPDX-License-Identifier: Apache-2.0
import Messages

extension VarlinkService {
  static let example = VarlinkService(
    vendor: "Example", product: "Test", version: "1", url: "https://example.org",
    interfaces: [.init("org.example.test", Array("interface org.example.test\n".utf8))])
}

extension VarlinkServerConnection {
  init(limits: Limits = Limits()) { self.init(service: .example, limits: limits) }

  /// Receives messages, each given as text.
  mutating func receive(_ messages: String...) {
    for message in messages { receive(bytes: message.bytes + [0]) }
  }

  mutating func receive(bytes: [UInt8]) { receive(bytes.span) }

  mutating func events() -> [Event] {
    var events: [Event] = []
    while let event = nextEvent() { events.append(event) }
    return events
  }

  /// The calls among the next events.
  mutating func calls() -> [(id: CallID, call: VarlinkCall)] {
    events().compactMap { if case .call(let id, let call) = $0 { (id, call) } else { nil } }
  }

  mutating func takeOutput(_ limit: Int = .max) -> [UInt8] {
    let count = min(limit, outputBytesWaiting)
    let taken = (0..<count).map { output[$0] }
    didWrite(count)
    return taken
  }

  /// The messages to be written, as text.
  mutating func takeMessages() -> [String] { takeOutput().messages }
}

extension VarlinkClientConnection {
  mutating func receive(_ messages: String...) {
    for message in messages { receive(bytes: message.bytes + [0]) }
  }

  mutating func receive(bytes: [UInt8]) { receive(bytes.span) }

  mutating func events() -> [Event] {
    var events: [Event] = []
    while let event = nextEvent() { events.append(event) }
    return events
  }

  mutating func takeOutput(_ limit: Int = .max) -> [UInt8] {
    let count = min(limit, outputBytesWaiting)
    let taken = (0..<count).map { output[$0] }
    didWrite(count)
    return taken
  }
}

extension [UInt8] {
  var messages: [String] { split(separator: 0).map { String(decoding: $0, as: UTF8.self) } }
}

extension VarlinkServerConnection {
  mutating func send(_ message: JSON) throws -> Acceptance { send(text: try message.text()) }
}
