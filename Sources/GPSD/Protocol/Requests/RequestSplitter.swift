// SPDX-License-Identifier: Apache-2.0
import WireBytes

/// Splits the bytes of a client into requests, independent of the sizes of the received pieces.
///
///     between ──?──▶ name ──=──▶ attributes ──}──▶ between
///        │             └──; or line end──▶ between
///        └──any other byte──▶ ignored, until the line ends
///
/// A request without attributes ends at `;`, at a line end or at the next `?`; a request with attributes ends at their
/// closing brace. A client that starts with the first line of HTTP is a browser, and gets no reply.
struct RequestSplitter: Sendable {
  /// The longest request, bytes.
  static let longestRequest = 4096

  enum Item: Equatable, Sendable {
    case request(Request)
    /// The client uses another protocol.
    case foreign
  }

  private enum State: Sendable {
    case start([UInt8])
    case between, ignored
    case name, attributes(depth: Int, Place)
    case foreign
  }

  private enum Place: Sendable { case outside, string, escape }

  private var state = State.start([])
  private var name: [UInt8] = []
  private var attributes: [UInt8] = []

  /// Handles the next bytes. Returns the requests that they complete.
  mutating func receive(_ bytes: Span<UInt8>) -> [Item] {
    var items: [Item] = []
    for index in bytes.indices { take(bytes[index], &items) }
    return items
  }

  private mutating func take(_ byte: UInt8, _ items: inout [Item]) {
    switch state {
    case .start(let start): takeFirst(start + [byte], &items)
    case .between: begin(byte)
    case .ignored: if isLineEnd(byte) { state = .between }
    case .name: takeName(byte, &items)
    case .attributes(let depth, let place): takeAttribute(byte, depth, place, &items)
    case .foreign: break
    }
  }

  private func isLineEnd(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") }

  /// Handles the first bytes of a connection until they cannot be the beginning of an HTTP request.
  private mutating func takeFirst(_ bytes: [UInt8], _ items: inout [Item]) {
    switch HTTPStart(bytes) {
    case .http:
      state = .foreign
      items.append(.foreign)
    case .undecided: state = .start(bytes)
    case .other:
      state = .between
      for byte in bytes { take(byte, &items) }
    }
  }

  private mutating func begin(_ byte: UInt8) {
    switch byte {
    case UInt8(ascii: "?"):
      name = []
      state = .name
    case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: ";"), UInt8(ascii: "\n"), UInt8(ascii: "\r"): break
    default: state = .ignored
    }
  }

  private mutating func takeName(_ byte: UInt8, _ items: inout [Item]) {
    switch byte {
    case UInt8(ascii: ";"), UInt8(ascii: "\n"), UInt8(ascii: "\r"): finish(nil, &items)
    case UInt8(ascii: "?"):
      finish(nil, &items)
      begin(byte)
    case UInt8(ascii: "="):
      attributes = []
      state = .attributes(depth: 0, .outside)
    case UInt8(ascii: " "), UInt8(ascii: "\t"): break
    default:
      name.append(byte)
      if name.count > 64 { refuse("a request has a name of more than 64 characters", &items) }
    }
  }

  private mutating func takeAttribute(_ byte: UInt8, _ depth: Int, _ place: Place, _ items: inout [Item]) {
    guard attributes.count < Self.longestRequest else {
      return refuse("a request is longer than \(Self.longestRequest) bytes", &items)
    }
    switch (place, byte) {
    case (.string, UInt8(ascii: "\n")), (.string, UInt8(ascii: "\r")): return finish(attributes, &items)
    case (.escape, _): state = .attributes(depth: depth, .string)
    case (.string, UInt8(ascii: "\\")): state = .attributes(depth: depth, .escape)
    case (.string, UInt8(ascii: "\"")): state = .attributes(depth: depth, .outside)
    case (.string, _): break
    case (.outside, UInt8(ascii: "\"")): state = .attributes(depth: depth, .string)
    case (.outside, UInt8(ascii: "{")): state = .attributes(depth: depth + 1, .outside)
    case (.outside, UInt8(ascii: "}")):
      attributes.append(byte)
      if depth <= 1 { return finish(attributes, &items) }
      return state = .attributes(depth: depth - 1, .outside)
    case (.outside, UInt8(ascii: ";")): return finish(attributes, &items)
    // The closing brace is missing.
    case (.outside, UInt8(ascii: "?")):
      finish(attributes, &items)
      return begin(byte)
    case (.outside, UInt8(ascii: "\n")) where depth == 0: return finish(attributes, &items)
    case (.outside, _): break
    }
    attributes.append(byte)
  }

  private mutating func finish(_ attributes: [UInt8]?, _ items: inout [Item]) {
    items.append(.request(Request(name: name, arguments: attributes)))
    self.attributes = []
    state = .between
  }

  private mutating func refuse(_ reason: String, _ items: inout [Item]) {
    items.append(.request(.invalid(reason)))
    attributes = []
    state = .ignored
  }
}
