// SPDX-License-Identifier: Apache-2.0
import Positioning
import WireBytes

/// The addresses of requests to a Nominatim server (Nominatim's API documentation, "Search" and "Reverse", format `jsonv2`).
package struct NominatimServer: Hashable, Sendable {
  /// The server's address without a trailing slash.
  package let base: String

  /// - Parameter text: an address with `http://` or `https://`; nil for any other address.
  package init?(_ text: String) {
    let isWeb = text.lowercased().hasPrefix("http://") || text.lowercased().hasPrefix("https://")
    // Quotes, spaces and control characters would end the address in curl's input.
    let isClean = text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x22 && $0 != 0x5C }
    let rest = text.drop { $0 != "/" }.drop { $0 == "/" }
    guard isWeb, isClean, !rest.isEmpty, !text.contains("?"), !text.contains("#") else { return nil }
    var base = text
    while base.hasSuffix("/") { base.removeLast() }
    self.base = base
  }

  /// Returns the address of a request.
  ///
  /// - Parameter language: the languages of the answer as in HTTP's Accept-Language; nil for the server's default.
  package func address(of request: GeocodingRequest, language: String?) -> String {
    var query: [(String, String)] = [("format", "jsonv2"), ("addressdetails", "1")]
    let path: String
    switch request {
    case .reverse(let coordinate):
      path = "/reverse"
      query.append(("lat", Self.decimal(coordinate.latitudeDegrees)))
      query.append(("lon", Self.decimal(coordinate.longitudeDegrees)))
    case .forward(let address, let circle):
      path = "/search"
      query.append(("q", address))
      query.append(("limit", "10"))
      if let circle, let bounds = Self.bounds(of: circle) { query.append(("viewbox", bounds)) }
    }
    if let language { query.append(("accept-language", language)) }
    return base + path + "?" + query.map { "\($0)=\($1.percentEncoded())" }.joined(separator: "&")
  }

  /// Five decimals: one metre. Requests for the same place are therefore equal, and share one answer in the cache.
  private static func decimal(_ degrees: Double) -> String { degrees.decimals(5) }

  /// The corners of the circle's box, `west,north,east,south`; nil for a circle around a pole or the date line.
  private static func bounds(of circle: Circle) -> String? {
    let latitude = circle.centre.latitudeDegrees
    let north = circle.radiusMetres / Geodesic.metresPerDegree
    guard circle.centre.isValid, circle.radiusMetres > 0, abs(latitude) + north < 85 else { return nil }
    // At 85° a degree of longitude has a twelfth of its length at the equator; the box is not smaller than the circle.
    let east = north * (abs(latitude) + north < 60 ? 2 : 12)
    let longitude = circle.centre.longitudeDegrees
    guard abs(longitude) + east < 180 else { return nil }
    return [longitude - east, latitude + north, longitude + east, latitude - north].map(decimal).joined(separator: ",")
  }
}
