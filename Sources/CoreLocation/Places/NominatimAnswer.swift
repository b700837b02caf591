// SPDX-License-Identifier: Apache-2.0
import Messages
import Positioning

/// The answers of a Nominatim server in format `jsonv2` (Nominatim's API documentation, "Place Output").
package enum NominatimAnswer {
  /// The largest answer that is read, bytes. Ten places with all their names have a few tens of kilobytes.
  package static var maximumBytes: Int { 1 << 20 }

  /// Reads the answer of a request.
  ///
  /// - Throws: `noResult` for an answer without a place, `network` for text that is not an answer.
  package static func places(in text: [UInt8]) throws(GeocodingError) -> [Place] {
    let answer: JSON
    do throws(JSONSyntaxError) { answer = try JSON(parsing: text) } catch {
      throw .network("the answer is not JSON: \(error)")
    }
    switch answer {
    case .array(let results):
      let places = results.compactMap(place)
      if places.isEmpty { throw .noResult }
      return places
    case .object:
      // A place that cannot be found is an object with a text, or with an object that has one.
      if answer["error"] != nil { throw .noResult }
      guard let place = place(answer) else { throw .network("the answer has no place") }
      return [place]
    default: throw .network("the answer is neither a place nor a list of places")
    }
  }

  private static func place(_ result: JSON) -> Place? {
    guard let latitude = number(result["lat"]), let longitude = number(result["lon"]) else { return nil }
    var place = Place(Coordinate(latitudeDegrees: latitude, longitudeDegrees: longitude))
    guard place.coordinate.isValid else { return nil }
    place.radiusMetres = radius(result["boundingbox"], around: place.coordinate)
    let address = result["address"] ?? .empty
    func first(_ keys: String...) -> String? { keys.lazy.compactMap { text(address[$0]) }.first }
    place.subThoroughfare = first("house_number")
    place.thoroughfare = first("road", "pedestrian", "footway", "path", "cycleway", "square")
    place.subLocality = first("suburb", "city_district", "borough", "quarter", "neighbourhood")
    place.locality = first("city", "town", "village", "municipality", "hamlet")
    place.subAdministrativeArea = first("county", "state_district")
    place.administrativeArea = first("state", "province", "region")
    place.postalCode = first("postcode")
    place.country = first("country")
    place.isoCountryCode = first("country_code")?.uppercased()
    place.name = text(result["name"]) ?? streetAddress(place) ?? place.locality
    classify(&place, result)
    return place
  }

  /// The number precedes the street if that is the country's convention.
  private static func streetAddress(_ place: Place) -> String? {
    guard let street = place.thoroughfare, let number = place.subThoroughfare else { return place.thoroughfare }
    let isFirst = place.isoCountryCode.map { countriesWithNumberFirst.contains($0) } ?? false
    return isFirst ? "\(number) \(street)" : "\(street) \(number)"
  }

  /// The countries whose addresses begin with the number of the house (Universal Postal Union, "Addressing systems").
  private static let countriesWithNumberFirst: Set = [
    "AU", "CA", "FR", "GB", "IE", "IL", "IN", "LU", "MT", "MY", "NZ", "PH", "SG", "TH", "US", "ZA",
  ]

  private static func classify(_ place: inout Place, _ result: JSON) {
    guard let name = text(result["name"]) else { return }
    switch (text(result["category"]) ?? "", text(result["type"]) ?? "") {
    case ("place", "ocean"), ("place", "sea"), ("natural", "bay"), ("natural", "strait"): place.ocean = name
    case ("natural", "water"), ("waterway", _), ("water", _): place.inlandWater = name
    case ("amenity", _), ("tourism", _), ("leisure", _), ("historic", _), ("shop", _), ("aeroway", _), ("railway", _),
      ("natural", _), ("man_made", _):
      place.areasOfInterest = [name]
    default: break
    }
  }

  /// The distance to the farther corner of the box `south, north, west, east`, each of which is a text or a number.
  private static func radius(_ bounds: JSON?, around centre: Coordinate) -> Double? {
    guard case .array(let items)? = bounds, items.count == 4 else { return nil }
    let edges = items.compactMap(number)
    guard edges.count == 4, edges[0] <= edges[1], edges[2] <= edges[3] else { return nil }
    let corners = [(edges[0], edges[2]), (edges[0], edges[3]), (edges[1], edges[2]), (edges[1], edges[3])]
      .map { Coordinate(latitudeDegrees: $0.0, longitudeDegrees: $0.1) }
    guard corners.allSatisfy(\.isValid) else { return nil }
    return corners.map { Geodesic.distanceMetres($0, centre) }.max()
  }

  private static func text(_ value: JSON?) -> String? { value?.string.flatMap { $0.isEmpty ? nil : $0 } }

  private static func number(_ value: JSON?) -> Double? {
    switch value {
    case .string(let text): Double(text).flatMap { $0.isFinite ? $0 : nil }
    case .integer(let number): Double(number)
    case .double(let number): number.isFinite ? number : nil
    default: nil
    }
  }
}
