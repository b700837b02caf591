// SPDX-License-Identifier: Apache-2.0

import MonotonicTime
import WireBytes

/// One client of a caster with one mount point: the bytes of the client go in, replies come out.
///
///     head ── GET of the mount point ──▶ streaming ── the client closes ──▶ ended
///      └── source table, refusal, too long, 10 s ─────────────────────────────▲
///
/// The versions of NTRIP differ in their replies: `ICY 200 OK` and plain bytes for version 1, HTTP/1.1 and chunks for version 2 (RTCM
/// 10410.1). An unknown mount point is a source table in version 1 and 404 in version 2. Nothing is taken from a client but its
/// request. The value uses no clock and no socket.
package struct CasterConnection: Sendable {
  /// The caster of the connection.
  package struct Caster: Equatable, Sendable {
    /// The mount point, without a slash.
    package var mount: String
    /// The password of the stream; nil if none is needed. The source table needs none.
    package var password: String?
    /// The version of the program.
    package var version: String

    package init(mount: String, password: String?, version: String) {
      self.mount = mount
      self.password = password
      self.version = version
    }
  }

  package enum Action: Equatable, Sendable {
    case send([UInt8])
    /// The client gets the stream from now on; the name of its program, perhaps empty.
    case started(agent: String)
    /// The connection is closed after the bytes before are sent.
    case close
  }

  /// The longest head of a request, bytes.
  static let longestHead = 8192
  /// The time in which the head has to be complete.
  static let headTimeout = Milliseconds(10_000)

  private enum State { case head(until: Instant), streaming(inChunks: Bool), ended }

  private let caster: Caster
  private var state: State
  private var head: [UInt8] = []

  package init(to caster: Caster, at now: Instant) {
    self.caster = caster
    state = .head(until: now + Self.headTimeout)
  }

  /// Whether the client gets the stream.
  package var isStreaming: Bool { if case .streaming = state { true } else { false } }

  /// The time at which `wake` is due; nil if it never is.
  package var deadline: Instant? { if case .head(let until) = state { until } else { nil } }

  /// Ends a connection without a complete request.
  package mutating func wake(at now: Instant) -> [Action] {
    guard let deadline, now >= deadline else { return [] }
    state = .ended
    return [.send(reply("408 Request Timeout", isVersion2: true)), .close]
  }

  /// Handles bytes of the client. Those after the request, such as positions, have no effect.
  ///
  /// - Parameter station: the station, for the source table.
  package mutating func receive(_ bytes: RawSpan, _ station: CasterStation) -> [Action] {
    guard case .head = state else { return [] }
    for index in 0..<bytes.byteCount {
      head.append(bytes.u1(index))
      if head.count > Self.longestHead {
        return end(with: reply("431 Request Header Fields Too Large", isVersion2: true))
      }
      guard HTTPHead.isComplete(head) else { continue }
      // Empty lines before a request have no meaning (RFC 9112, section 2.2).
      guard head.contains(where: { $0 != 13 && $0 != 10 }) else {
        head = []
        continue
      }
      return answer(CasterRequest(Array(head.drop { $0 == 13 || $0 == 10 })), station)
    }
    return []
  }

  /// Returns bytes of the stream as the client gets them; nothing before it has the stream.
  package func deliver(_ frames: [UInt8]) -> [UInt8] {
    guard case .streaming(let inChunks) = state, !frames.isEmpty else { return [] }
    return inChunks ? NTRIPChunk.bytes(frames) : frames
  }

  // MARK: Replies

  private mutating func answer(_ request: CasterRequest?, _ station: CasterStation) -> [Action] {
    head = []
    guard let request else { return end(with: reply("400 Bad Request", isVersion2: true)) }
    switch request.method {
    case .source: return end(with: Array("ERROR - this caster accepts no sources\r\n".utf8))
    case .post, .other:
      return end(with: reply("405 Method Not Allowed", ["Allow: GET"], isVersion2: request.isVersion2))
    case .get: break
    }
    guard ExactText(request.mount) == ExactText(caster.mount) else {
      if request.isVersion2, !request.mount.isEmpty { return end(with: reply("404 Not Found", isVersion2: true)) }
      return end(with: sourceTable(station, isVersion2: request.isVersion2))
    }
    if let password = caster.password, !Self.isEqual(request.password, password) {
      return end(
        with: reply(
          "401 Unauthorized", ["WWW-Authenticate: Basic realm=\"/\(caster.mount)\""], isVersion2: request.isVersion2))
    }
    let inChunks = request.isVersion2 && request.readsChunks
    state = .streaming(inChunks: inChunks)
    let fields =
      ["Cache-Control: no-store, no-cache, max-age=0", "Pragma: no-cache", "Content-Type: gnss/data"]
      + (inChunks ? ["Transfer-Encoding: chunked"] : [])
    let header =
      request.isVersion2
      ? Array(lines("HTTP/1.1 200 OK", fields, isVersion2: true).utf8) : Array("ICY 200 OK\r\n\r\n".utf8)
    return [.send(header), .started(agent: request.agent)]
  }

  private mutating func end(with bytes: [UInt8]) -> [Action] {
    state = .ended
    head = []
    return [.send(bytes), .close]
  }

  private func sourceTable(_ station: CasterStation, isVersion2: Bool) -> [UInt8] {
    let line = station.line(mount: caster.mount, needsPassword: caster.password != nil, version: caster.version)
    let table = line + "\r\nENDSOURCETABLE\r\n"
    let length = "Content-Length: \(table.utf8.count)"
    let header =
      isVersion2
      ? lines("HTTP/1.1 200 OK", ["Content-Type: gnss/sourcetable", length], isVersion2: true)
      : lines("SOURCETABLE 200 OK", ["Content-Type: text/plain", length], isVersion2: false)
    return Array((header + table).utf8)
  }

  private func reply(_ status: String, _ fields: [String] = [], isVersion2: Bool) -> [UInt8] {
    let version = isVersion2 ? "HTTP/1.1" : "HTTP/1.0"
    return Array(lines("\(version) \(status)", fields + ["Content-Length: 0"], isVersion2: isVersion2).utf8)
  }

  private func lines(_ status: String, _ fields: [String], isVersion2: Bool) -> String {
    let own =
      (isVersion2 ? ["Ntrip-Version: Ntrip/2.0"] : []) + [
        "Server: NTRIP sextant/\(caster.version)", "Connection: close",
      ]
    return ([status] + own + fields).joined(separator: "\r\n") + "\r\n\r\n"
  }

  /// Compares in a time that depends on the lengths alone.
  private static func isEqual(_ given: String?, _ password: String) -> Bool {
    guard let given = given.map({ Array($0.utf8) }) else { return false }
    let wanted = Array(password.utf8)
    guard given.count == wanted.count else { return false }
    return zip(given, wanted).reduce(UInt8(0)) { $0 | $1.0 ^ $1.1 } == 0
  }
}

/// A chunk of HTTP/1.1 (RFC 9112, section 7.1).
enum NTRIPChunk {
  static func bytes(_ data: [UInt8]) -> [UInt8] {
    Array(String(data.count, radix: 16).utf8) + [13, 10] + data + [13, 10]
  }
}

/// The head of a request to a caster: of NTRIP 2.0, which is HTTP/1.1, or of version 1 (RTCM 10410.0 and 10410.1).
struct CasterRequest: Equatable, Sendable {
  enum Method: Equatable, Sendable {
    case get
    /// A source: POST of version 2, SOURCE of version 1.
    case post, source
    case other
  }

  var method: Method
  /// The path without the leading slash and without a query; empty for the source table.
  var mount = ""
  /// Whether the client asks for version 2.
  var isVersion2 = false
  /// Whether the client reads chunks: HTTP/1.1.
  var readsChunks = false
  /// The program of the client, printable characters alone.
  var agent = ""
  /// The password, if there is one.
  var password: String?

  private static let longestAgent = 80

  /// Reads a head that ends with an empty line; nil if it is malformed.
  init?(_ head: [UInt8]) {
    guard head.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x0D || $0 == 0x0A || $0 == 0x09 }) else { return nil }
    var lines = head.split(separator: 0x0A, omittingEmptySubsequences: false).map { line in
      line.last == 0x0D ? line.dropLast() : line
    }
    let words = lines.removeFirst().split(separator: 0x20, omittingEmptySubsequences: false)
      .map { String(decoding: $0, as: UTF8.self) }
    if words.count == 3, words[0] == "SOURCE" {
      method = .source
      return
    }
    guard words.count == 3, !words[0].isEmpty, let path = Self.path(words[1]),
      words[2] == "HTTP/1.0" || words[2] == "HTTP/1.1"
    else { return nil }
    method = words[0] == "GET" ? .get : words[0] == "POST" ? .post : .other
    readsChunks = words[2] == "HTTP/1.1"
    mount = path
    var hasHost = false
    for line in lines where !line.isEmpty {
      // A line that continues another one is obsolete (RFC 9112, section 5.2).
      guard let field = HTTPField(line) else { return nil }
      switch field.name {
      case "host": hasHost = true
      case "ntrip-version": isVersion2 = field.value.lowercased().begins(with: "ntrip/2")
      case "user-agent": agent = String(field.value.filter { $0.isASCII && $0 >= " " }.prefix(Self.longestAgent))
      case "authorization": password = Self.password(field.value) ?? password
      default: break
      }
    }
    // RFC 9112, section 3.2. Clients of version 1 may state HTTP/1.1 and omit it.
    if readsChunks, isVersion2, !hasHost { return nil }
  }

  /// The path of a target in one of its two forms, `/PATH` and `http://HOST/PATH`.
  private static func path(_ target: String) -> String? {
    var rest = target[...]
    for scheme in ["http://", "https://", "ntrip://"] where target.lowercased().begins(with: scheme) {
      let address = rest[rest.utf8.index(rest.startIndex, offsetBy: scheme.utf8.count)...]
      rest = address.position(of: "/").map { address[$0...] } ?? "/"
    }
    return rest.after("/").map { String($0.before("?").before("#")) }
  }

  /// The password of Basic authentication (RFC 7617); the user has no meaning.
  private static func password(_ value: String) -> String? {
    let words = value.parts(at: " ")
    // Some clients leave out the padding.
    guard words.count == 2, words[0].lowercased() == "basic",
      let bytes = Base64.bytes(of: String(words[1]), isPadded: false)
    else { return nil }
    let text = String(decoding: bytes, as: UTF8.self)
    guard let colon = text.position(of: ":") else { return nil }
    return String(text[text.utf8.index(after: colon)...])
  }
}
