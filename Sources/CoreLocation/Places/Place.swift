// SPDX-License-Identifier: Apache-2.0
import Positioning

/// A place with its address, as a source of addresses returned it. A part that the source does not know is nil.
package struct Place: Hashable, Sendable {
  package var coordinate: Coordinate
  /// The radius of the circle that contains the place, if the source knows its extent.
  package var radiusMetres: Double?
  package var name: String?
  /// The street, and the number in it.
  package var thoroughfare: String?
  package var subThoroughfare: String?
  /// The city, and the part of it.
  package var locality: String?
  package var subLocality: String?
  /// The state, and the county.
  package var administrativeArea: String?
  package var subAdministrativeArea: String?
  package var postalCode: String?
  /// Two capital letters (ISO 3166-1).
  package var isoCountryCode: String?
  package var country: String?
  package var inlandWater: String?
  package var ocean: String?
  package var areasOfInterest: [String] = []
  /// The name of the time zone in the tz database.
  package var timeZone: String?

  package init(_ coordinate: Coordinate) { self.coordinate = coordinate }
}

/// The reason why there is no place.
package enum GeocodingError: Error, Hashable, Sendable {
  /// The source has no place for the request.
  case noResult
  /// Only a part of the address was found.
  case partialResult
  /// No source can be reached, or its answer cannot be read, for this reason.
  case network(String)
}

/// The request of a geocoder.
package enum GeocodingRequest: Hashable, Sendable {
  /// The place at a coordinate.
  case reverse(Coordinate)
  /// The places of an address, with a circle whose places are preferred.
  case forward(String, near: Circle?)

  /// The longest address, bytes. No place has an address that long, and servers limit the length of requests.
  private static var maximumAddressBytes: Int { 1000 }

  /// Whether a source can have an answer at all.
  package var isPossible: Bool {
    switch self {
    case .reverse(let coordinate): coordinate.isValid
    case .forward(let address, _):
      address.utf8.count <= Self.maximumAddressBytes && address.contains { !$0.isWhitespace }
    }
  }
}
