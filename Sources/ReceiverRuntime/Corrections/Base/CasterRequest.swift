// SPDX-License-Identifier: Apache-2.0
import Messages

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
      String(decoding: line.last == 0x0D ? line.dropLast() : line, as: UTF8.self)
    }
    let words = lines.removeFirst().split(separator: " ", omittingEmptySubsequences: false).map(String.init)
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
      guard let colon = line.firstIndex(of: ":"), line.first != " ", line.first != "\t" else { return nil }
      let value = String(line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" })
      switch line[..<colon].lowercased() {
      case "host": hasHost = true
      case "ntrip-version": isVersion2 = value.lowercased().hasPrefix("ntrip/2")
      case "user-agent": agent = String(value.filter { $0.isASCII && $0 >= " " }.prefix(Self.longestAgent))
      case "authorization": password = Self.password(value) ?? password
      default: break
      }
    }
    // RFC 9112, section 3.2. Clients of version 1 may say HTTP/1.1 and omit it.
    if readsChunks, isVersion2, !hasHost { return nil }
  }

  /// The path of a target in one of its two forms, `/PATH` and `http://HOST/PATH`.
  private static func path(_ target: String) -> String? {
    var rest = target[...]
    for scheme in ["http://", "https://", "ntrip://"] where target.lowercased().hasPrefix(scheme) {
      rest = rest.dropFirst(scheme.count).drop { $0 != "/" }
      if rest.isEmpty { rest = "/" }
    }
    guard rest.first == "/" else { return nil }
    return String(rest.dropFirst().prefix { $0 != "?" && $0 != "#" })
  }

  /// The password of Basic authentication (RFC 7617); the user has no meaning.
  private static func password(_ value: String) -> String? {
    let words = value.split(separator: " ")
    guard words.count == 2, words[0].lowercased() == "basic", let bytes = Base64.bytes(of: padded(words[1])) else {
      return nil
    }
    let text = String(decoding: bytes, as: UTF8.self)
    guard let colon = text.firstIndex(of: ":") else { return nil }
    return String(text[text.index(after: colon)...])
  }

  /// Some clients leave out the padding.
  private static func padded(_ text: Substring) -> String {
    text + String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
  }
}
