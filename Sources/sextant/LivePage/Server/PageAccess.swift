// SPDX-License-Identifier: Apache-2.0

/// Decides which requests are answered, from their host, the page that they come from, and their token.
package struct PageAccess: Sendable {
  /// Whether only this machine can reach the server. Programs of the server's user can then read without a token.
  package var isLoopback: Bool
  /// Whether settings of the receiver may be changed.
  package var allowsControl: Bool
  /// The secret of the printed address.
  package var token: String

  package init(isLoopback: Bool, allowsControl: Bool, token: String) {
    self.isLoopback = isLoopback
    self.allowsControl = allowsControl
    self.token = token
  }

  /// Returns the status of a refusal; nil if the request may be answered.
  ///
  /// - Parameter isOwnUser: whether the other side is a program of this machine and of the user of the server, or root.
  func refusal(_ request: HTTPRequest, isOwnUser: Bool) -> HTTPStatus? {
    // A name of another domain can be made to resolve to this machine (DNS rebinding); an address cannot.
    guard let host = request.field("host"), isOwn(host) else { return .misdirected }
    if let origin = request.field("origin"), origin != "http://\(host)" { return .forbidden }
    if request.path != "/", let site = request.field("sec-fetch-site"), site != "same-origin", site != "none" {
      return .forbidden
    }
    switch request.path {
    case "/control":
      guard allowsControl else { return .notFound }
      return isToken(request.field("x-sextant-token")) ? nil : .unauthorized
    // Style and script contain no data, and the page cannot send a token with them.
    case "/page.css", "/page.js": return nil
    default: return isLoopback && isOwnUser || isToken(request.parameter("token")) ? nil : .unauthorized
    }
  }

  /// Compares all characters, so that the duration of the comparison does not reveal the token.
  private func isToken(_ text: String?) -> Bool {
    guard let text, text.utf8.count == token.utf8.count else { return false }
    var difference: UInt8 = 0
    for (a, b) in zip(text.utf8, token.utf8) { difference |= a ^ b }
    return difference == 0
  }

  /// Whether a Host field names this machine: an address, or a name that cannot belong to another domain.
  private func isOwn(_ host: String) -> Bool {
    if host.hasPrefix("[") {
      guard let end = host.firstIndex(of: "]") else { return false }
      let address = host[host.index(after: host.startIndex)..<end]
      guard Self.isPort(host[host.index(after: end)...]) else { return false }
      return isLoopback ? address == "::1" : address.utf8.allSatisfy { Self.isOfVersion6($0) }
    }
    let end = host.firstIndex(of: ":") ?? host.endIndex
    let name = host[..<end].lowercased()
    guard Self.isPort(host[end...]) else { return false }
    if name == "localhost" { return true }
    let isAddress =
      name.split(separator: ".", omittingEmptySubsequences: false).count == 4
      && name.split(separator: ".").allSatisfy { UInt8($0) != nil }
    if isLoopback { return isAddress && name.hasPrefix("127.") }
    // A name without a dot, or of multicast DNS, belongs to the local network.
    return isAddress || name.hasSuffix(".local") || !name.isEmpty && !name.contains(".")
  }

  private static func isOfVersion6(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x3A, 0x41...0x46, 0x61...0x66, 0x2E: true
    default: false
    }
  }

  private static func isPort(_ text: Substring) -> Bool {
    text.isEmpty || text.first == ":" && UInt16(text.dropFirst()) != nil
  }
}
