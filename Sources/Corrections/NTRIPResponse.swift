import WireBytes

/// What a caster is asked for (RTCM 10410.1, "Ntrip version 2.0", over HTTP/1.1).
///
/// - Parameters:
///   - host: the caster's name or address.
///   - port: its port.
///   - mount: the mount point, without a slash in front.
///   - credentials: `user:password`; nil for a caster that asks for none.
public func ntripRequest(host: String, port: UInt16, mount: String, credentials: String?) -> [UInt8] {
  var text = "GET /\(mount) HTTP/1.1\r\nHost: \(host):\(port)\r\nNtrip-Version: Ntrip/2.0\r\n"
  text += "User-Agent: NTRIP sextant/1\r\n"
  if let credentials { text += "Authorization: Basic \(base64(Array(credentials.utf8)))\r\n" }
  text += "Connection: close\r\n\r\n"
  return Array(text.utf8)
}

/// RFC 4648, section 4.
private func base64(_ bytes: [UInt8]) -> String {
  let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
  var text: [UInt8] = []
  for start in stride(from: 0, to: bytes.count, by: 3) {
    let group = (0..<3).reduce(0) { $0 << 8 | (start + $1 < bytes.count ? Int(bytes[start + $1]) : 0) }
    for place in 0..<4 {
      let isFill = start + place > bytes.count
      text.append(isFill ? UInt8(ascii: "=") : digits[group >> (18 - 6 * place) & 63])
    }
  }
  return String(decoding: text, as: UTF8.self)
}

/// Takes a caster's answer apart: its head, and the stream behind it, chunked or not.
///
/// Casters of the first version answer `ICY 200 OK`, or a `SOURCETABLE` where the mount point is not known.
public struct NTRIPResponse: Sendable {
  /// Why a caster gives nothing; the text names the cure.
  public struct Refusal: Error, Equatable, Sendable {
    public var text: String
  }

  private enum State {
    case head
    case plain
    /// In the line that tells a chunk's length, and behind the length in it.
    case chunkLength(Int)
    case chunkExtension(Int)
    case chunk(left: Int)
    /// In the line end behind a chunk.
    case chunkEnd
    case ended
  }
  /// A head of more bytes is none.
  private static let longestHead = 16_384

  private var state = State.head
  private var head: [UInt8] = []

  public init() {}

  /// Whether the caster grants the stream.
  public var isGranted: Bool { if case .head = state { false } else { true } }

  /// Takes the next piece of the answer; the bytes of the stream in it.
  public mutating func receive(_ piece: RawSpan) throws(Refusal) -> [UInt8] {
    var stream: [UInt8] = []
    for index in 0..<piece.byteCount {
      let byte = piece.u1(index)
      switch state {
      case .head: try takeHead(byte)
      case .plain: stream.append(byte)
      case .chunkLength(let length): state = try afterLength(byte, length)
      case .chunkExtension(let length): if byte == 0x0A { state = afterLine(length) }
      case .chunk(let left):
        stream.append(byte)
        state = left > 1 ? .chunk(left: left - 1) : .chunkEnd
      case .chunkEnd: if byte == 0x0A { state = .chunkLength(0) }
      case .ended: break
      }
    }
    return stream
  }

  private mutating func takeHead(_ byte: UInt8) throws(Refusal) {
    head.append(byte)
    if head.count > Self.longestHead { throw Refusal(text: "is no NTRIP caster; check host and port") }
    guard byte == 0x0A else { return }
    let text = String(decoding: head, as: UTF8.self)
    if text.hasPrefix("ICY 200") {
      state = .plain
      return
    }
    if text.hasPrefix("SOURCETABLE") { throw Refusal(text: "has no such mount point; check its name") }
    if text.hasPrefix("ERROR") { throw Refusal(text: "refuses: \(firstLine(text))") }
    guard text.hasPrefix("HTTP/") else { throw Refusal(text: "is no NTRIP caster; check host and port") }
    // A lone line end closes the head.
    guard text.hasSuffix("\r\n\r\n") || text.hasSuffix("\n\n") else { return }
    try judge(text)
  }

  private mutating func judge(_ text: String) throws(Refusal) {
    let words = firstLine(text).split(separator: " ")
    switch words.count > 1 ? words[1] : "" {
    case "200": break
    case "401", "403": throw Refusal(text: "does not take this user and password; check them")
    case "404": throw Refusal(text: "has no such mount point; check its name")
    default: throw Refusal(text: "refuses: \(firstLine(text))")
    }
    let fields = text.lowercased()
    if fields.contains("gnss/sourcetable") { throw Refusal(text: "has no such mount point; check its name") }
    state = fields.contains("transfer-encoding: chunked") ? .chunkLength(0) : .plain
  }

  private func afterLength(_ byte: UInt8, _ length: Int) throws(Refusal) -> State {
    switch byte {
    case 0x0A: return afterLine(length)
    case 0x0D, 0x20, UInt8(ascii: ";"): return .chunkExtension(length)
    default:
      guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue, length < 1 << 24 else {
        throw Refusal(text: "sends what is no chunk; check host and port")
      }
      return .chunkLength(length << 4 | digit)
    }
  }

  private func afterLine(_ length: Int) -> State { length == 0 ? .ended : .chunk(left: length) }

  private func firstLine(_ text: String) -> String {
    String(text.prefix { !$0.isNewline }.prefix(200))
  }
}
