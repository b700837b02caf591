// SPDX-License-Identifier: Apache-2.0
import WireBytes

/// Reads one request from bytes that arrive in pieces of any size. The result does not depend on the sizes of the pieces.
///
/// The grammar follows RFC 9112 without its concessions: lines end with CR LF, a line is not continued, a body has a
/// Content-Length. Bytes after the request are ignored, because the server closes the connection after its reply.
package struct HTTPRequestReader: Sendable {
  package enum Result: Equatable, Sendable {
    case incomplete
    case request(HTTPRequest)
    case refused(HTTPStatus)
  }

  /// The longest head in bytes, with its empty line.
  package static let longestHead = 8192
  /// The longest body in bytes.
  package static let longestBody = 8192
  static let mostFields = 64

  private enum State {
    case head
    case body(HTTPRequest, length: Int)
    case over(Result)
  }

  private var state = State.head
  /// The bytes of the head, or of the body, so far.
  private var buffer: [UInt8] = []

  package init() {}

  /// Handles the next bytes. A result other than `incomplete` is final.
  package mutating func receive(_ bytes: Span<UInt8>) -> Result {
    var index = 0
    while index < bytes.count {
      switch state {
      case .over(let result): return result
      case .head:
        take(ofHead: bytes[index])
        index += 1
      case .body(let request, let length):
        let count = min(length - buffer.count, bytes.count - index)
        for place in index..<index + count { buffer.append(bytes[place]) }
        index += count
        finishBody(request, length)
      }
    }
    if case .over(let result) = state { return result }
    return .incomplete
  }

  /// Whether no byte of a request has arrived.
  package var isEmpty: Bool { if case .head = state { buffer.isEmpty } else { false } }

  private mutating func refuse(_ status: HTTPStatus) {
    state = .over(.refused(status))
    buffer = []
  }

  private mutating func take(ofHead byte: UInt8) {
    // A carriage return must precede a line feed, and a line feed must follow a carriage return.
    let isAfterReturn = buffer.last == 0x0D
    guard isAfterReturn == (byte == 0x0A), byte >= 0x20 && byte != 0x7F || byte == 0x0D || byte == 0x0A || byte == 0x09
    else { return refuse(.badRequest) }
    // A request begins with the letters of its method: the first byte of TLS and of most other protocols is not a
    // letter.
    if buffer.isEmpty, !(0x41...0x5A).contains(byte) { return refuse(.badRequest) }
    buffer.append(byte)
    if byte == 0x0A, buffer.count >= 4, buffer[buffer.count - 3] == 0x0A { return finishHead() }
    if buffer.count >= Self.longestHead { refuse(.headTooLarge) }
  }

  private mutating func finishHead() {
    let lines = buffer.dropLast(4).split(separator: 0x0D, omittingEmptySubsequences: false)
      .map { String(decoding: $0.first == 0x0A ? $0.dropFirst() : $0, as: UTF8.self) }
    buffer = []
    guard lines.count <= Self.mostFields + 1 else { return refuse(.headTooLarge) }
    let words = lines[0].parts(at: " ", omittingEmpty: false)
    guard words.count == 3, words[0].utf8.allSatisfy({ (0x41...0x5A).contains($0) }), words[0].utf8.count <= 16,
      let (host, path) = Self.parts(ofTarget: words[1]), words[2].begins(with: "HTTP/")
    else { return refuse(.badRequest) }
    guard words[2] == "HTTP/1.1" || words[2] == "HTTP/1.0" else { return refuse(.versionNotSupported) }
    var fields: [HTTPField] = []
    for line in lines.dropFirst() {
      guard var field = HTTPField(line.utf8) else { return refuse(.badRequest) }
      if let host, field.name == "host" { field.value = host }
      fields.append(field)
    }
    let target = path.parts(at: "?", maxSplits: 1, omittingEmpty: false)
    guard let query = Self.query(target.count == 2 ? target[1] : "") else { return refuse(.badRequest) }
    let request = HTTPRequest(
      method: String(words[0]), path: String(target[0]), query: query, fields: fields, body: [])
    beginBody(request)
  }

  /// The host and the path of a target, which is `PATH` or `http://HOST/PATH`; nil for other forms (RFC 9112, section 3.2). A host
  /// replaces the value of the field Host.
  private static func parts(ofTarget target: Substring) -> (host: String?, path: String)? {
    let scheme = "http://"
    if target.begins(with: "/") { return (nil, String(target)) }
    guard target.prefix(scheme.count).lowercased() == scheme else { return nil }
    let rest = Substring(target.utf8.dropFirst(scheme.utf8.count))
    let end = rest.utf8.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? rest.endIndex
    let (host, path) = (rest[..<end], rest[end...])
    return host.isEmpty ? nil : (String(host), path.begins(with: "/") ? String(path) : "/\(path)")
  }

  private mutating func beginBody(_ request: HTTPRequest) {
    for name in ["host", "content-length", "origin", "x-sextant-token"]
    where request.fields.count(where: { $0.name == name }) > 1 {
      return refuse(.badRequest)
    }
    // Two ways to state the length would permit request smuggling (RFC 9112, section 6.1).
    if request.field("transfer-encoding") != nil { return refuse(.badRequest) }
    guard let text = request.field("content-length") else {
      state = .over(.request(request))
      return
    }
    guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), !text.isEmpty else { return refuse(.badRequest) }
    guard let length = Int(text), length <= Self.longestBody else { return refuse(.contentTooLarge) }
    state = .body(request, length: length)
    finishBody(request, length)
  }

  private mutating func finishBody(_ request: HTTPRequest, _ length: Int) {
    guard buffer.count == length else { return }
    var request = request
    request.body = buffer
    buffer = []
    state = .over(.request(request))
  }

  private static func query(_ text: Substring) -> [HTTPRequest.Field]? {
    var fields: [HTTPRequest.Field] = []
    for part in text.parts(at: "&") {
      let pieces = part.parts(at: "=", maxSplits: 1, omittingEmpty: false)
      guard let name = decoded(pieces[0]), let value = decoded(pieces.count == 2 ? pieces[1] : "") else { return nil }
      fields.append(HTTPRequest.Field(name: name, value: value))
    }
    return fields
  }

  /// Text without percent-encoding (RFC 3986, section 2.1); nil if it is malformed.
  private static func decoded(_ text: Substring) -> String? {
    let (bytes, isWellFormed) = text.utf8.map { $0 == UInt8(ascii: "+") ? 0x20 : $0 }.percentDecoded
    return isWellFormed ? String(validating: bytes, as: UTF8.self) : nil
  }
}

/// A request of HTTP/1.1 or 1.0 (RFC 9112).
package struct HTTPRequest: Equatable, Sendable {
  /// A field of the head, or a parameter.
  package typealias Field = HTTPField

  package var method: String
  /// The path as it was sent, up to the question mark.
  package var path: String
  /// The parameters after the question mark, with percent-encoding removed.
  package var query: [Field]
  package var fields: [Field]
  package var body: [UInt8]

  /// The value of the only field with this name, in lower case; nil if there is none.
  package func field(_ name: String) -> String? { fields.first { $0.name == name }?.value }

  /// The first parameter with this name; nil if there is none.
  package func parameter(_ name: String) -> String? { query.first { $0.name == name }?.value }
}

/// The status codes of the replies (RFC 9110, section 15; RFC 6585 for 431).
package enum HTTPStatus: Int, Sendable {
  case ok = 200
  case accepted = 202
  case badRequest = 400
  case unauthorized = 401
  case forbidden = 403
  case notFound = 404
  case methodNotAllowed = 405
  case requestTimeout = 408
  case conflict = 409
  case contentTooLarge = 413
  case misdirected = 421
  case headTooLarge = 431
  case unavailable = 503
  case versionNotSupported = 505

  var reason: String {
    switch self {
    case .ok: "OK"
    case .accepted: "Accepted"
    case .badRequest: "Bad Request"
    case .unauthorized: "Unauthorized"
    case .forbidden: "Forbidden"
    case .notFound: "Not Found"
    case .methodNotAllowed: "Method Not Allowed"
    case .requestTimeout: "Request Timeout"
    case .conflict: "Conflict"
    case .contentTooLarge: "Content Too Large"
    case .misdirected: "Misdirected Request"
    case .headTooLarge: "Request Header Fields Too Large"
    case .unavailable: "Service Unavailable"
    case .versionNotSupported: "HTTP Version Not Supported"
    }
  }
}
