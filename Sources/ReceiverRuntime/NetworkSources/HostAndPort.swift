// SPDX-License-Identifier: Apache-2.0

/// A host and a port, as in the authority of a URI (RFC 3986, section 3.2): `HOST:PORT`, with an IPv6 address in
/// brackets.
package struct HostAndPort: Equatable, Sendable {
  /// A name or an address, without brackets; may be empty.
  package var host: String
  /// Nil if there is none.
  package var port: UInt16?

  /// Reads the text; nil for a port that is not a number above 0, and for characters that are invalid in a host.
  package init?(_ text: some StringProtocol) {
    var host = text[...]
    let bracket = text.lastIndex(of: "]")
    if let colon = text.lastIndex(of: ":"), bracket.map({ $0 < colon }) ?? true {
      guard let number = UInt16(text[text.index(after: colon)...]), number > 0 else { return nil }
      port = number
      host = text[..<colon]
    }
    if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
    guard host.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "/") }) else { return nil }
    self.host = String(host)
  }
}
