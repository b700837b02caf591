// SPDX-License-Identifier: Apache-2.0
import WireBytes

/// The line `assistnow` of the configuration file: the account at u-blox's AssistNow service, and the data that are downloaded.
///
/// Sources: u-blox, "AssistNow API" 1.0.4 and "AssistNow service integration guide" (chip codes); UBX-13004360 and the
/// integration manuals of M9, M10 and F9, "AssistNow Online" and "AssistNow Offline" (tokens).
public struct AssistNow: Sendable, Equatable {
  /// The authorization of a request.
  public enum Account: Sendable, Equatable {
    /// A receiver that is registered at Thingstream: Base64 of its id, a colon and eight characters.
    case chipCode(String)
    /// The token of an account for the services AssistNow Online and Offline.
    case token(String)

    /// Reads a chip code or a token; nil if it is neither.
    public init?(_ text: String) {
      if Self.isChipCode(text) {
        self = .chipCode(text)
      } else if (8...64).contains(text.utf8.count), text.utf8.allSatisfy(Self.isTokenByte) {
        self = .token(text)
      } else {
        return nil
      }
    }

    private static func isTokenByte(_ byte: UInt8) -> Bool {
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"): true
      default: false
      }
    }

    private static func isChipCode(_ text: String) -> Bool {
      guard text.utf8.count <= 256, let bytes = Base64.bytes(of: text, isPadded: false),
        let colon = bytes.firstIndex(of: UInt8(ascii: ":"))
      else { return false }
      return colon >= 8 && bytes.count - colon - 1 == 8
        && bytes[..<colon].allSatisfy { Character(Unicode.Scalar($0)).isHexDigit }
    }
  }

  /// The data of a request.
  public enum Content: Sendable, Equatable {
    /// Predicted orbits for some days, MGA-ANO.
    case predictions(days: Int)
    /// The ephemerides that satellites send now, MGA-GPS-EPH and the like.
    case ephemerides
  }

  /// Nil if the account is in a file or a credential.
  public var account: Account?
  public var content: Content
  /// SEXTANT_ASSISTNOW_SERVER: `HOST:PORT` that is used instead of u-blox's hosts, for tests.
  public var server: String?

  /// The forms of the line, for messages.
  public static let forms =
    "`assistnow = CODE`, `assistnow = CODE, 1|3|7|14 days` or `assistnow = CODE, live` (CODE: a chip code "
    + "or a token; `on` for the code of SEXTANT_ASSISTNOW_FILE or the credential `assistnow`)"
  private static let periods = [1, 3, 7, 14]

  /// Reads the value of the line; nil if it has another form.
  public init?(_ text: String) {
    let parts = text.split(separator: ",", maxSplits: 1).map { $0.split(separator: " ").joined(separator: " ") }
    guard let code = parts.first else { return nil }
    if code != "on" {
      guard let account = Account(code) else { return nil }
      self.account = account
    }
    switch parts.count > 1 ? parts[1] : "7 days" {
    case "live": content = .ephemerides
    case let period:
      guard let days = Self.periods.first(where: { period == ($0 == 1 ? "1 day" : "\($0) days") }) else { return nil }
      content = .predictions(days: days)
    }
  }

  /// The hosts of the service, the preferred one first; empty without an account.
  public var hosts: [String] {
    if let server { return [server] }
    return switch (account, content) {
    case (.chipCode?, _): ["assistnow.services.u-blox.com"]
    case (.token?, .predictions): ["offline-live1.services.u-blox.com", "offline-live2.services.u-blox.com"]
    case (.token?, .ephemerides): ["online-live1.services.u-blox.com", "online-live2.services.u-blox.com"]
    case (nil, _): []
    }
  }

  /// Returns the request of HTTP/1.1.
  ///
  /// The almanac and other aiding data are not requested: orbits of a day make them superfluous, and time and position are the host's.
  ///
  /// - Parameters:
  ///   - host: the host, and its port if that is not 443.
  ///   - version: the version of the program, for the header User-Agent.
  public func request(to host: String, version: String) -> [UInt8] {
    let target: String
    switch (account, content) {
    case (.chipCode(let code)?, .predictions(let days)):
      target = "GetAssistNowData.ashx?chipcode=\(Self.escaped(code))&gnss=gps,gal,glo&data=uporb_\(days)"
    case (.chipCode(let code)?, .ephemerides):
      target = "GetAssistNowData.ashx?chipcode=\(Self.escaped(code))&gnss=gps,gal,glo,bds&data=ulorb_l1"
    // The period is a number of weeks, of which one day is a part.
    case (.token(let token)?, .predictions(let days)):
      let period = days % 7 == 0 ? "period=\(days / 7)" : "days=\(days)"
      target = "GetOfflineData.ashx?token=\(token);gnss=gps,glo;format=mga;\(period);resolution=1;"
    case (.token(let token)?, .ephemerides):
      target = "GetOnlineData.ashx?token=\(token);gnss=gps,gal,glo,bds;format=mga;datatype=eph;"
    case (nil, _): target = ""
    }
    return Array(
      "GET /\(target) HTTP/1.1\r\nHost: \(host)\r\nUser-Agent: sextant/\(version)\r\nAccept: */*\r\nConnection: close\r\n\r\n"
        .utf8)
  }

  /// Percent-encodes the characters of Base64 that have a meaning in a query (RFC 3986, section 2.2).
  private static func escaped(_ code: String) -> String {
    // Not by `replacing`, whose library adds a megabyte.
    code.reduce(into: "") { text, character in
      switch character {
      case "+": text += "%2B"
      case "/": text += "%2F"
      case "=": text += "%3D"
      default: text.append(character)
      }
    }
  }
}

/// A whole response of HTTP/1.x, after the server has closed the connection.
public struct HTTPAnswer: Sendable, Equatable {
  /// The reason why bytes are not a response.
  public enum Malformed: Error, Equatable, Sendable {
    /// It does not begin like a response.
    case otherProtocol
    /// It ends before its announced end.
    case cut
  }

  /// The status, 100…599.
  public var status: Int
  public var body: [UInt8]

  /// The longest accepted header, and the longest response in bytes: two weeks of predicted orbits have 0.1 MB.
  private static let longestHeader = 16_384
  public static let longest = 1 << 20

  public init(_ bytes: [UInt8]) throws(Malformed) {
    guard bytes.starts(with: Array("HTTP/1.".utf8)) else { throw bytes.isEmpty ? .cut : .otherProtocol }
    var (head, rest) = try Self.split(bytes[...])
    while head.isInterim { (head, rest) = try Self.split(rest) }
    status = head.status
    if head.isChunked {
      body = try Self.joined(rest)
    } else if let length = head.field("content-length").flatMap({ Int($0) }), length >= 0 {
      guard length <= rest.count else { throw .cut }
      body = Array(rest.prefix(length))
    } else {
      body = Array(rest)
    }
  }

  /// Returns the head at the beginning, and the bytes behind it.
  private static func split(
    _ bytes: ArraySlice<UInt8>
  ) throws(Malformed) -> (head: HTTPReplyHead, rest: ArraySlice<UInt8>) {
    let begin = bytes.prefix(longestHeader)
    guard let last = begin.indices.first(where: { HTTPHead.isComplete(begin[...$0]) }) else { throw .cut }
    guard let head = HTTPReplyHead(begin[...last]), (100...599).contains(head.status) else { throw .otherProtocol }
    return (head, bytes[(last + 1)...])
  }

  /// Joins the chunks of a body (RFC 9112, section 7.1).
  private static func joined(_ bytes: ArraySlice<UInt8>) throws(Malformed) -> [UInt8] {
    var (body, rest): ([UInt8], ArraySlice<UInt8>) = ([], bytes)
    while true {
      guard let lineEnd = rest.firstIndex(of: 0x0A) else { throw .cut }
      let digits = String(decoding: rest[..<lineEnd], as: UTF8.self).prefix { $0.isHexDigit }
      guard digits.utf8.count <= 6, let length = Int(digits, radix: 16) else { throw .otherProtocol }
      rest = rest[(lineEnd + 1)...]
      if length == 0 { return body }
      guard rest.count >= length + 2 else { throw .cut }
      body += rest.prefix(length)
      rest = rest.dropFirst(length + 2)
    }
  }
}
