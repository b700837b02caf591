// SPDX-License-Identifier: Apache-2.0

import Foundation
import Positioning

/// A place with its address, as a geocoder found it. A part that the source does not know is nil.
open class CLPlacemark: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
  // Sendable: no property changes, and subclasses must not change that.
  private let content: Place
  private let place: CLLocation
  private let zone: TimeZone?

  /// - Parameter country: the name of the country, if the source has only its code.
  init(_ content: Place, country: String? = nil) {
    var content = content
    content.country = content.country ?? country
    self.content = content
    place = CLLocation(
      coordinate: CLLocationCoordinate2D(content.coordinate), altitude: 0,
      horizontalAccuracy: content.radiusMetres ?? 0, verticalAccuracy: -1, timestamp: Date())
    zone = content.timeZone.flatMap { TimeZone(identifier: $0) }
  }

  /// Makes a place without an address at 0, 0, for mocks in tests, which override what they need.
  public override init() {
    content = Place(Coordinate(latitudeDegrees: 0, longitudeDegrees: 0))
    place = CLLocation(latitude: 0, longitude: 0)
    zone = nil
  }

  /// Makes a copy.
  public init(placemark: CLPlacemark) {
    content = placemark.content
    place = placemark.place
    zone = placemark.zone
  }

  /// The middle of the place. Its accuracy is the radius of the place, or 0 if the source does not know it.
  open var location: CLLocation? { place }
  /// The circle that contains the place, if the source knows its extent.
  open var region: CLRegion? {
    guard let radius = content.radiusMetres else { return nil }
    let centre = place.coordinate
    let identifier = String(format: "<%+.8f,%+.8f> radius %.2f", centre.latitude, centre.longitude, radius)
    return CLCircularRegion(center: centre, radius: radius, identifier: identifier)
  }
  open var timeZone: TimeZone? { zone }
  /// The name of the place: a building, a street with a number, or a city.
  open var name: String? { content.name }
  /// The street.
  open var thoroughfare: String? { content.thoroughfare }
  /// The number in the street.
  open var subThoroughfare: String? { content.subThoroughfare }
  /// The city.
  open var locality: String? { content.locality }
  /// The part of the city.
  open var subLocality: String? { content.subLocality }
  /// The state.
  open var administrativeArea: String? { content.administrativeArea }
  /// The county.
  open var subAdministrativeArea: String? { content.subAdministrativeArea }
  open var postalCode: String? { content.postalCode }
  /// Two capital letters (ISO 3166-1).
  open var isoCountryCode: String? { content.isoCountryCode }
  open var country: String? { content.country }
  /// The lake or river.
  open var inlandWater: String? { content.inlandWater }
  open var ocean: String? { content.ocean }
  /// The names of sights and the like; nil if there are none.
  open var areasOfInterest: [String]? { content.areasOfInterest.isEmpty ? nil : content.areasOfInterest }

  /// The parts of the address, with the keys of the old address book. `FormattedAddressLines` has street, city and
  /// country.
  @available(*, deprecated, message: "use the properties")
  open var addressDictionary: [AnyHashable: Any]? { AddressKeys.dictionary(of: content) }

  /// A human-readable text, whose form may change.
  open override var description: String {
    let lines = [name] + AddressKeys.lines(of: content).map { $0 == name ? nil : $0 }
    let region = region.map { ", region \($0)" } ?? ""
    return "\(lines.compactMap(\.self).joined(separator: ", ")) @ \(place)\(region)"
  }

  // MARK: Copying and coding

  open func copy(with zone: NSZone? = nil) -> Any { self }
  open class var supportsSecureCoding: Bool { true }

  /// The texts, keyed by property name.
  private static var texts: [(key: String, path: WritableKeyPath<Place, String?>)] {
    [
      ("name", \.name), ("thoroughfare", \.thoroughfare), ("subThoroughfare", \.subThoroughfare),
      ("locality", \.locality), ("subLocality", \.subLocality), ("administrativeArea", \.administrativeArea),
      ("subAdministrativeArea", \.subAdministrativeArea), ("postalCode", \.postalCode),
      ("isoCountryCode", \.isoCountryCode), ("country", \.country), ("inlandWater", \.inlandWater), ("ocean", \.ocean),
      ("timeZone", \.timeZone),
    ]
  }

  open func encode(with coder: NSCoder) {
    coder.encode(place, forKey: "CLPlacemark.location")
    if let radius = content.radiusMetres { coder.encode(radius, forKey: "CLPlacemark.radius") }
    for (key, path) in Self.texts {
      if let text = content[keyPath: path] { coder.encode(text as NSString, forKey: "CLPlacemark.\(key)") }
    }
    coder.encode(content.areasOfInterest.count, forKey: "CLPlacemark.areasOfInterest")
    for (index, area) in content.areasOfInterest.enumerated() {
      coder.encode(area as NSString, forKey: "CLPlacemark.areasOfInterest \(index)")
    }
  }

  /// A subclass that encodes only its own properties gets the values of ``init()`` for these.
  public required init?(coder: NSCoder) {
    guard type(of: self) == CLPlacemark.self || coder.containsValue(forKey: "CLPlacemark.location") else {
      content = Place(Coordinate(latitudeDegrees: 0, longitudeDegrees: 0))
      place = CLLocation(latitude: 0, longitude: 0)
      zone = nil
      return
    }
    guard coder.containsValue(forKey: "CLPlacemark.location"),
      let place = coder.decodeObject(of: CLLocation.self, forKey: "CLPlacemark.location")
    else { return nil }
    var content = Place(place.coordinate.asCoordinate)
    if coder.containsValue(forKey: "CLPlacemark.radius") {
      content.radiusMetres = coder.decodeDouble(forKey: "CLPlacemark.radius")
    }
    for (key, path) in Self.texts { content[keyPath: path] = coder.text("CLPlacemark.\(key)") }
    for index in 0..<max(0, min(coder.decodeInteger(forKey: "CLPlacemark.areasOfInterest"), 1000)) {
      guard let area = coder.text("CLPlacemark.areasOfInterest \(index)") else { return nil }
      content.areasOfInterest.append(area)
    }
    self.content = content
    self.place = place
    zone = content.timeZone.flatMap { TimeZone(identifier: $0) }
  }
}

/// The dictionaries of addresses up to iOS 10, with the keys of framework AddressBook.
enum AddressKeys {
  /// The parts of a place.
  static func dictionary(of place: Place) -> [AnyHashable: Any] {
    let parts: [(String, Any?)] = [
      ("Name", place.name), ("Street", street(of: place)), ("Thoroughfare", place.thoroughfare),
      ("SubThoroughfare", place.subThoroughfare), ("City", place.locality), ("SubLocality", place.subLocality),
      ("State", place.administrativeArea), ("SubAdministrativeArea", place.subAdministrativeArea),
      ("ZIP", place.postalCode), ("Country", place.country), ("CountryCode", place.isoCountryCode),
      ("FormattedAddressLines", lines(of: place)),
    ]
    var dictionary: [AnyHashable: Any] = [:]
    for (key, value) in parts { dictionary[key] = value }
    return dictionary
  }

  /// Street, city and country, without unknown ones.
  static func lines(of place: Place) -> [String] {
    let city = [place.postalCode, place.locality].compactMap(\.self).joined(separator: " ")
    return [street(of: place), city.isEmpty ? nil : city, place.administrativeArea, place.country].compactMap(\.self)
  }

  /// The street with its number: the place's name has both, unless it is another name.
  private static func street(of place: Place) -> String? {
    guard let street = place.thoroughfare else { return nil }
    guard let number = place.subThoroughfare else { return street }
    return place.name == "\(number) \(street)" ? place.name : "\(street) \(number)"
  }

  /// The address of a dictionary, from its street to its country.
  static func address(of dictionary: [AnyHashable: Any]) -> String {
    let keys = ["Street", "SubLocality", "ZIP", "City", "SubAdministrativeArea", "State", "Country"]
    let parts = keys.compactMap { dictionary[$0] as? String }.filter { !$0.isEmpty }
    return (parts.isEmpty ? [dictionary["CountryCode"] as? String].compactMap(\.self) : parts).joined(separator: ", ")
  }
}
