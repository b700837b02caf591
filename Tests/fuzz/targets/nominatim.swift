// SPDX-License-Identifier: Apache-2.0

// The answers of a Nominatim server, and the addresses of requests with any text in them. A place has a coordinate, and the
// radius of its box if the box is valid; an address has no character that would end it.
import CoreLocation
import Positioning

func fuzzNominatim(_ input: [UInt8]) {
  do throws(GeocodingError) {
    let places = try NominatimAnswer.places(in: input)
    guard !places.isEmpty else { fatalError("an answer without a place is not an error") }
    places.forEach(requireLegal)
  } catch {
    guard error != .partialResult else { fatalError("a part of an answer") }
  }
  let text = String(decoding: input.prefix(256), as: UTF8.self)
  if let server = NominatimServer(text) { requireClean(server.base) }
  guard let server = NominatimServer("http://localhost") else { fatalError("localhost is not a server") }
  let circle = Circle(centre: Coordinate(latitudeDegrees: 48, longitudeDegrees: 11), radiusMetres: 1000)
  requireClean(server.address(of: .forward(text, near: circle), language: text))
}

/// An address is in quotes in curl's input.
private func requireClean(_ address: String) {
  let isClean = address.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x22 && $0 != 0x5C }
  guard isClean else { fatalError("\(address) has a character that ends it") }
}
