// SPDX-License-Identifier: Apache-2.0

/// A request of HTTP/1.1 or 1.0 (RFC 9112).
package struct HTTPRequest: Equatable, Sendable {
  /// A field of the head. Its name is in lower case.
  package struct Field: Equatable, Sendable {
    package var name: String
    package var value: String
  }

  package var method: String
  /// The path as it was sent, up to the question mark.
  package var path: String
  /// The parameters after the question mark, with percent-encoding removed.
  package var query: [Field]
  package var fields: [Field]
  package var body: [UInt8]

  /// The value of the only field with this name, in lower case; nil if there is none.
  package func field(_ name: String) -> String? { fields.first { $0.name == name }?.value }

  /// The first parameter with this name; nil if there is none.
  package func parameter(_ name: String) -> String? { query.first { $0.name == name }?.value }
}

/// The status codes of the replies (RFC 9110, section 15; RFC 6585 for 431).
package enum HTTPStatus: Int, Sendable {
  case ok = 200
  case accepted = 202
  case badRequest = 400
  case unauthorized = 401
  case forbidden = 403
  case notFound = 404
  case methodNotAllowed = 405
  case requestTimeout = 408
  case conflict = 409
  case contentTooLarge = 413
  case misdirected = 421
  case headTooLarge = 431
  case unavailable = 503
  case versionNotSupported = 505

  var reason: String {
    switch self {
    case .ok: "OK"
    case .accepted: "Accepted"
    case .badRequest: "Bad Request"
    case .unauthorized: "Unauthorized"
    case .forbidden: "Forbidden"
    case .notFound: "Not Found"
    case .methodNotAllowed: "Method Not Allowed"
    case .requestTimeout: "Request Timeout"
    case .conflict: "Conflict"
    case .contentTooLarge: "Content Too Large"
    case .misdirected: "Misdirected Request"
    case .headTooLarge: "Request Header Fields Too Large"
    case .unavailable: "Service Unavailable"
    case .versionNotSupported: "HTTP Version Not Supported"
    }
  }
}
