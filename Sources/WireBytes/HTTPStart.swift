// SPDX-License-Identifier: Apache-2.0

#if !hasFeature(Embedded)
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
