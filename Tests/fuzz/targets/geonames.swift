// SPDX-License-Identifier: Apache-2.0

// The text of a GeoNames extract, and the names of states and counties. The index has the places of the lines; at each
// place the nearest one is that place, or an equally near one; a search for its name ends.
import CoreLocation
import Positioning

func fuzzGeoNames(_ input: [UInt8]) {
  let lines = input.split(separator: 10, omittingEmptySubsequences: false)
  let places = lines.compactMap { GeoNamesPlace(Array($0).span) }
  let index = GeoNamesIndex(GeoNamesText(input))
  guard index.count == places.count else { fatalError("\(index.count) of \(places.count) places") }
  var names = GeoNamesNames()
  names.add(GeoNamesText(input))
  let search = GeoNamesSearch(names) { $0 == "country" ? "CC" : nil }
  for place in places.prefix(16) {
    let found = index.nearest(to: place.coordinate, in: GeoNamesText(input))
    let metres = (found?.place).map { Geodesic.distanceMetres($0.coordinate, place.coordinate) }
    // The index rounds degrees to a few metres.
    guard place.isSection || (metres ?? .infinity) < 10 else { fatalError("\(place) is not at its coordinate") }
    requireResults(search, "\(place.name), country", in: input)
    if let found { requireLegal(Place(found.place, section: found.section, names)) }
  }
  requireResults(search, String(decoding: input.prefix(64), as: UTF8.self), in: input)
}

/// A search ends with places, or with the reason why there are none.
private func requireResults(_ search: GeoNamesSearch, _ address: String, in text: [UInt8]) {
  let circle = Circle(centre: Coordinate(latitudeDegrees: 48, longitudeDegrees: 11), radiusMetres: 1000)
  do throws(GeocodingError) {
    let found = try search.places(address, near: circle, in: GeoNamesText(text))
    guard (1...GeoNamesSearch.limit).contains(found.count) else { fatalError("\(found.count) results") }
  } catch {
    guard error == .noResult || error == .partialResult else { fatalError("\(error) of a file") }
  }
}
