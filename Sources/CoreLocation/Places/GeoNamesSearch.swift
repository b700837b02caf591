// SPDX-License-Identifier: Apache-2.0
import Positioning

/// The search for the places of an address in the text of a GeoNames extract.
///
/// The extract has names of places and no streets. A place is found by the first part of the address, where parts are
/// separated by commas; the other parts must be its state, county or country. ASCII letters are compared regardless of
/// case. If only a later part is the name of a place, the result is partial.
package struct GeoNamesSearch {
  /// The largest number of results.
  package static var limit: Int { 10 }

  private let names: GeoNamesNames
  private let countryCode: (String) -> String?

  /// - Parameters:
  ///   - names: the names of states and counties.
  ///   - countryCode: returns the code of a country for its name in lower case.
  package init(_ names: GeoNamesNames, countryCode: @escaping (String) -> String?) {
    self.names = names
    self.countryCode = countryCode
  }

  /// Returns the places of an address, those in the circle first, then the larger ones first.
  ///
  /// - Throws: `noResult`, or `partialResult` if the first part of the address is not a place.
  package func places(
    _ address: String, near circle: Circle?, in text: GeoNamesText
  ) throws(GeocodingError) -> [GeoNamesPlace] {
    let parts = address.split(separator: ",").map(Self.part).filter { !$0.isEmpty }
    for index in parts.indices {
      let found = places(parts[index], parts[(index + 1)...], in: text)
      if found.isEmpty { continue }
      guard index == 0 else { throw .partialResult }
      let isNear = { (place: GeoNamesPlace) in circle?.contains(place.coordinate) ?? false }
      return found.sorted { a, b in
        isNear(a) == isNear(b) ? a.population > b.population : isNear(a)
      }.prefix(Self.limit).map(\.self)
    }
    throw .noResult
  }

  /// A part without a postal code, in lower case.
  private static func part(_ text: Substring) -> String {
    text.split(whereSeparator: \.isWhitespace).filter { !$0.contains(where: \.isNumber) }.joined(separator: " ")
      .lowercased()
  }

  private func places(
    _ name: String, _ constraints: ArraySlice<String>, in text: GeoNamesText
  ) -> [GeoNamesPlace] {
    let wanted = Array(name.utf8)
    var found: [GeoNamesPlace] = []
    text.forEachLine { _, line in
      // Most lines are rejected by a scan of their names, without any allocation.
      guard Self.mentions(wanted, line), let place = GeoNamesPlace(line), Self.isCalled(name, place) else {
        return true
      }
      if constraints.allSatisfy({ satisfies($0, place) }) { found.append(place) }
      return true
    }
    return found
  }

  private static func isCalled(_ name: String, _ place: GeoNamesPlace) -> Bool {
    place.name.lowercased() == name || place.asciiName.lowercased() == name
      || place.alternateNames.contains { $0.lowercased() == name }
  }

  /// Whether one of the columns 1 to 3 has a name with these bytes, separated by tabs or commas.
  private static func mentions(_ name: [UInt8], _ line: Span<UInt8>) -> Bool {
    var (column, start, index) = (0, 0, 0)
    while index <= line.count, column <= 3 {
      let byte = index < line.count ? line[index] : 0x09
      if byte == 0x09 || byte == 0x2C {
        if column > 0, index - start == name.count, matches(name, line, at: start) { return true }
        start = index + 1
        if byte == 0x09 { column += 1 }
      }
      index += 1
    }
    return false
  }

  /// The case of letters of other alphabets is not compared here; `isCalled` compares them.
  private static func matches(_ name: [UInt8], _ line: Span<UInt8>, at start: Int) -> Bool {
    for offset in name.indices {
      let byte = line[start + offset]
      let lower = (0x41...0x5A).contains(byte) ? byte | 0x20 : byte
      if lower != name[offset], byte < 0x80 || name[offset] < 0x80 { return false }
    }
    return true
  }

  private func satisfies(_ constraint: String, _ place: GeoNamesPlace) -> Bool {
    let code = place.countryCode.lowercased()
    if constraint == code || countryCode(constraint)?.lowercased() == code { return true }
    let areas = [names.state(of: place), names.county(of: place)].compactMap { $0?.lowercased() }
    return areas.contains(constraint) || constraint == place.stateCode.lowercased()
  }
}

/// The names of states and counties, keyed by code: files `admin1CodesASCII.txt` and `admin2Codes.txt` of GeoNames,
/// whose first two columns are the code, like `DE.02`, and the name.
package struct GeoNamesNames: Sendable {
  private var names: [String: String] = [:]

  package init() {}

  /// Adds the names of a file.
  package mutating func add(_ text: GeoNamesText) {
    var added: [(String, String)] = []
    text.forEachLine { _, line in
      let columns = String(decoding: line.indices.map { line[$0] }, as: UTF8.self).split(
        separator: "\t", maxSplits: 2, omittingEmptySubsequences: false)
      if columns.count >= 2, !columns[0].isEmpty, !columns[1].isEmpty {
        added.append((String(columns[0]), String(columns[1])))
      }
      return true
    }
    for (code, name) in added { names[code] = name }
  }

  package func state(of place: GeoNamesPlace) -> String? {
    place.stateCode.isEmpty ? nil : names["\(place.countryCode).\(place.stateCode)"]
  }

  package func county(of place: GeoNamesPlace) -> String? {
    place.countyCode.isEmpty ? nil : names["\(place.countryCode).\(place.stateCode).\(place.countyCode)"]
  }
}

extension Place {
  /// The place of a line of GeoNames, and the part of it.
  package init(_ found: GeoNamesPlace, section: GeoNamesPlace? = nil, _ names: GeoNamesNames) {
    self.init((section ?? found).coordinate)
    name = (section ?? found).name
    if found.isSection {
      subLocality = found.name
    } else {
      locality = found.name
      subLocality = section?.name
    }
    isoCountryCode = found.countryCode.isEmpty ? nil : found.countryCode
    administrativeArea = names.state(of: found)
    subAdministrativeArea = names.county(of: found)
    timeZone = found.timeZone.isEmpty ? nil : found.timeZone
  }
}
