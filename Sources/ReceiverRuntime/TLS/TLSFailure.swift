// SPDX-License-Identifier: Apache-2.0

/// The reason why there is no encrypted connection.
package enum TLSFailure: Error, Equatable, Sendable {
  /// OpenSSL is not installed.
  case noLibrary
  /// OpenSSL has no memory for a connection.
  case noMemory
  /// The server's certificate is refused: `X509_V_ERR_…` of X509_STORE_CTX_get_error(3), and OpenSSL's text for it.
  case certificate(code: Int, words: String)
  /// The server does not support TLS, or no version in common; OpenSSL's text, nil if there is none.
  case handshake(words: String?)
  /// A record was damaged in transit; OpenSSL's text.
  case record(words: String?)
  /// The connection ended without a close_notify alert (RFC 8446, section 6.1).
  case truncated

  /// The problem and the next step, to be printed after the name of a server.
  package var text: String {
    switch self {
    case .noLibrary: "TLS needs OpenSSL 3; install it (sudo apt install libssl3)"
    case .noMemory: "there is no memory for a connection with TLS; end other programs"
    case .certificate(let code, let words): Self.text(ofCertificate: code, words)
    case .handshake(let words?):
      "TLS fails (\(words)); check host and port: without TLS the address begins with ntrip://"
    case .handshake(nil): "closes the connection when TLS begins; check host and port"
    case .record(let words): "the connection is lost (TLS: \(words ?? "damaged data"))"
    case .truncated: "the connection was closed"
    }
  }

  /// The codes are defined in openssl/x509_vfy.h.
  private static func text(ofCertificate code: Int, _ words: String) -> String {
    switch code {
    case 62, 64:
      "its certificate is for another host (\(words)); check the name of the caster"
    case 9:
      "its certificate is not valid yet; check the clock of this computer"
    case 10:
      "its certificate has expired; check the clock of this computer, or ask the operator of the caster for a new one"
    case 2, 18, 19, 20, 21:
      "its certificate is of no authority that this computer trusts (\(words)); name the file of the authority's certificate "
        + "in SSL_CERT_FILE, or install ca-certificates"
    default:
      "its certificate is refused (\(words)); ask the operator of the caster"
    }
  }
}
