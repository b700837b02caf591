// SPDX-License-Identifier: Apache-2.0

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
