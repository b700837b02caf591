// SPDX-License-Identifier: Apache-2.0
import WireBytes

/// The request for a stream of a caster (RTCM 10410.1, "Ntrip version 2.0", over HTTP/1.1).
package enum NTRIPRequest {
  /// Returns the bytes of the request.
  ///
  /// - Parameters:
  ///   - host: the name or address of the caster.
  ///   - port: its port.
  ///   - mount: the mount point, without a leading slash.
  ///   - credentials: `user:password`; nil for a caster without authentication.
  ///   - version: the version of the program, for the header User-Agent.
  package static func bytes(
    host: String, port: UInt16, mount: String, credentials: String?, version: String
  ) -> [UInt8] {
    var text = "GET /\(mount) HTTP/1.1\r\nHost: \(host):\(port)\r\nNtrip-Version: Ntrip/2.0\r\n"
    text += "User-Agent: NTRIP sextant/\(version)\r\n"
    if let credentials { text += "Authorization: Basic \(Base64.text(of: credentials))\r\n" }
    text += "Connection: close\r\n\r\n"
    return Array(text.utf8)
  }
}

/// Parses the reply of a caster: its header, and the stream after it, chunked or plain.
///
/// Casters of version 1 reply `ICY 200 OK`, or a `SOURCETABLE` if the mount point is unknown.
package struct NTRIPResponse: Sendable {
  /// The reason why a caster does not send the stream, with the next step.
  package struct Refusal: Error, Equatable, Sendable {
    package var text: String
    /// The address to which the caster redirects, if any.
    package var location: String?

    init(text: String, location: String? = nil) {
      self.text = text
      self.location = location
    }
  }

  private enum State {
    case header
    case plain
    /// After the line of a caster of version 1, which an empty line may follow.
    case blankLine
    /// In the line with the length of a chunk, and after the length in that line.
    case chunkLength(Int)
    case chunkExtension(Int)
    case chunk(remaining: Int)
    /// In the line end after a chunk.
    case chunkEnd
    case ended
  }
  /// The longest accepted header, bytes.
  private static let longestHeader = 16_384

  private var state = State.header
  private var header: [UInt8] = []
  /// The start of the current reply in `header`, after interim replies.
  private var replyStart = 0

  /// Whether the source table was requested: it is returned as the stream.
  private let isTable: Bool

  /// - Parameter isTable: whether the source table was requested.
  package init(isTable: Bool = false) { self.isTable = isTable }

  /// Whether the caster has ended the stream.
  package var isEnded: Bool { if case .ended = state { true } else { false } }

  /// Whether the caster has sent anything.
  package var hasBegun: Bool { !header.isEmpty }

  /// Whether the caster has granted the stream.
  package var isGranted: Bool { if case .header = state { false } else { true } }

  /// Handles the next bytes of the reply, and returns the stream's bytes in them.
  package mutating func receive(_ piece: RawSpan) throws(Refusal) -> [UInt8] {
    var stream: [UInt8] = []
    for index in 0..<piece.byteCount {
      let byte = piece.u1(index)
      switch state {
      case .header: try receiveHeader(byte)
      case .plain: stream.append(byte)
      case .blankLine:
        if byte == 0x0D || byte == 0x0A { break }
        state = .plain
        stream.append(byte)
      case .chunkLength(let length): state = try afterLength(byte, length)
      case .chunkExtension(let length): if byte == 0x0A { state = afterLine(length) }
      case .chunk(let remaining):
        stream.append(byte)
        state = remaining > 1 ? .chunk(remaining: remaining - 1) : .chunkEnd
      case .chunkEnd: if byte == 0x0A { state = .chunkLength(0) }
      case .ended: break
      }
    }
    return stream
  }

  /// Handles the end of the connection. RTKLIB's caster ends its refusals without an empty line: the end completes the header.
  package mutating func end() throws(Refusal) {
    guard header.count > replyStart else { return }
    for byte in "\r\n\r\n".utf8 where !isGranted { try receiveHeader(byte) }
  }

  private mutating func receiveHeader(_ byte: UInt8) throws(Refusal) {
    header.append(byte)
    if header.count > Self.longestHeader { throw Refusal(text: "is not an NTRIP caster; check host and port") }
    guard byte == 0x0A else { return }
    let text = String(decoding: header[replyStart...], as: UTF8.self)
    if text.hasPrefix("ICY 200") {
      if isTable { throw Self.noTable }
      state = .blankLine
      return
    }
    if text.hasPrefix("SOURCETABLE") {
      guard isTable else { throw Refusal(text: "has no such mount point; check its name") }
      // Its header ends with an empty line, which is skipped too.
      return state = .plain
    }
    if text.hasPrefix("ERROR") { throw Refusal(text: "refuses: \(firstLine(text))") }
    guard text.hasPrefix("HTTP/") else { throw Refusal(text: "is not an NTRIP caster; check host and port") }
    // An empty line ends the header.
    guard HTTPHead.isComplete(header) else { return }
    try readStatus(text)
  }

  private mutating func readStatus(_ text: String) throws(Refusal) {
    guard let head = HTTPReplyHead(header[replyStart...]) else { throw Refusal(text: "refuses: \(firstLine(text))") }
    if head.isInterim { return replyStart = header.count }
    switch head.status {
    case 200: break
    case 301, 302, 303, 307, 308:
      guard let location = head.field("location") else {
        throw Refusal(text: "redirects without an address; ask its operator")
      }
      throw Refusal(text: "redirects", location: String(location.prefix { $0 != " " }.prefix(512)))
    case 401, 403: throw Refusal(text: "does not accept this user and password; check them")
    case 404: throw Refusal(text: "has no such mount point; check its name")
    default: throw Refusal(text: "refuses: \(firstLine(text))")
    }
    let type = head.field("content-type")?.lowercased() ?? ""
    if type.hasPrefix("text/html") {
      throw Refusal(text: "sends a web page instead of corrections; check host, port and mount point")
    }
    if isTable, type.hasPrefix("gnss/data") { throw Self.noTable }
    if !isTable, type.hasPrefix("gnss/sourcetable") {
      throw Refusal(text: "has no such mount point; check its name")
    }
    state = head.isChunked ? .chunkLength(0) : .plain
  }

  private static var noTable: Refusal { Refusal(text: "has no source table; name the mount point") }

  private func afterLength(_ byte: UInt8, _ length: Int) throws(Refusal) -> State {
    switch byte {
    case 0x0A: return afterLine(length)
    case 0x0D, 0x20, UInt8(ascii: ";"): return .chunkExtension(length)
    default:
      guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue, length < 1 << 24 else {
        throw Refusal(text: "sends an invalid chunk; check host and port")
      }
      return .chunkLength(length << 4 | digit)
    }
  }

  private func afterLine(_ length: Int) -> State { length == 0 ? .ended : .chunk(remaining: length) }

  private func firstLine(_ text: String) -> String {
    String(text.prefix { !$0.isNewline }.prefix(200))
  }
}
