// SPDX-License-Identifier: Apache-2.0

#if !hasFeature(Embedded)
  /// A header field of HTTP/1.x (RFC 9112, section 5).
  package struct HTTPField: Equatable, Sendable {
    /// In lower case.
    package var name: String
    /// Without white space around it.
    package var value: String

    package init(name: String, value: String) {
      self.name = name
      self.value = value
    }

    /// Reads a line without its end; nil if it is not a field.
    package init?(_ line: some BidirectionalCollection<UInt8>) {
      guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon != line.startIndex,
        line[..<colon].allSatisfy(Self.isTokenCharacter)
      else { return nil }
      let value = line[line.index(after: colon)...].drop(while: Self.isWhiteSpace)
      let end = value.lastIndex { !Self.isWhiteSpace($0) }.map(value.index(after:)) ?? value.startIndex
      name = String(decoding: line[..<colon], as: UTF8.self).lowercased()
      self.value = String(decoding: value[..<end], as: UTF8.self)
    }

    private static func isWhiteSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    /// The characters of a name (RFC 9110, section 5.6.2).
    private static func isTokenCharacter(_ byte: UInt8) -> Bool {
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
      default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
      }
    }
  }

  /// The end of a head of HTTP/1.x.
  package enum HTTPHead {
    /// Whether bytes end with the empty line behind a head. A line ends with CR LF, or with LF alone (RFC 9112, section 2.2).
    package static func isComplete(_ bytes: some BidirectionalCollection<UInt8>) -> Bool {
      guard bytes.last == 0x0A else { return false }
      let line = bytes.dropLast()
      return (line.last == 0x0D ? line.dropLast() : line).last == 0x0A
    }
  }

  /// The head of a reply of HTTP/1.x: the status and the fields (RFC 9112, sections 4 and 5).
  package struct HTTPReplyHead: Equatable, Sendable {
    package let status: Int
    private let fields: [HTTPField]

    /// Reads a head; nil if it does not begin with a status line. Lines that are not fields are skipped.
    package init?(_ bytes: some BidirectionalCollection<UInt8>) {
      let lines = bytes.split(separator: 0x0A).map { $0.last == 0x0D ? $0.dropLast() : $0 }
      guard let first = lines.first, first.starts(with: "HTTP/".utf8) else { return nil }
      let words = first.split(separator: 0x20, maxSplits: 2)
      guard words.count > 1, let status = Int(String(decoding: words[1], as: UTF8.self)) else { return nil }
      self.status = status
      fields = lines.dropFirst().compactMap { HTTPField($0) }
    }

    /// Whether the final reply is still to come (RFC 9110, section 15.2). After 101 another protocol follows, which no request asks for.
    package var isInterim: Bool { (100...199).contains(status) && status != 101 }

    /// The value of the first field with a name, in lower case; nil without one.
    package func field(_ name: String) -> String? { fields.first { $0.name == name }?.value }

    /// Whether the body is in chunks: the last transfer coding is `chunked` (RFC 9112, section 6.1).
    package var isChunked: Bool {
      let codings = fields.last { $0.name == "transfer-encoding" }?.value
      return codings?.parts(at: ",").last?.words.map { $0.lowercased() } == ["chunked"]
    }
  }

  /// Whether a connection begins as a request of HTTP or HTTPS. A web page in a user's browser can send any body to a port of this
  /// computer, but its connection begins with a method, or with TLS's first record (RFC 8446, 5.1): ports of other protocols refuse such
  /// a connection.
  package enum HTTPStart: Equatable, Sendable {
    case http
    /// The bytes are the beginning of a method or of a record.
    case undecided
    case other

    /// - Parameter bytes: the first bytes of the connection.
    package init(_ bytes: some Collection<UInt8>) {
      self = .other
      for method in Self.methods {
        if bytes.starts(with: method) { self = .http } else if method.starts(with: bytes) { self = .undecided }
      }
    }

    private static let methods =
      [
        "GET ", "POST ", "HEAD ", "PUT ", "OPTIONS ", "DELETE ", "PATCH ", "CONNECT ", "TRACE ",
      ]
      .map { Array($0.utf8) } + [[0x16, 0x03]]
  }
#endif
