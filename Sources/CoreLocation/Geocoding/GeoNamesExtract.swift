// SPDX-License-Identifier: Apache-2.0
import Foundation
import Positioning

/// An extract of GeoNames in a file that is mapped into memory, with its index.
struct GeoNamesExtract: Sendable {
  private let text: Data
  private let index: GeoNamesIndex
  private let names: GeoNamesNames

  /// - Parameter path: the extract. `admin1CodesASCII.txt` and `admin2Codes.txt` next to it have the names of states
  ///   and counties; without them these are nil.
  /// - Returns: nil if the file cannot be read, or contains no places.
  init?(_ path: String) {
    guard let text = Self.mapped(path), case let index = Self.index(of: text), index.count > 0 else { return nil }
    self.text = text
    self.index = index
    names = Self.names(beside: path)
  }

  private static func index(of text: Data) -> GeoNamesIndex { GeoNamesIndex(text.span) }

  private static func names(beside path: String) -> GeoNamesNames {
    let folder = (path as NSString).deletingLastPathComponent
    var names = GeoNamesNames()
    for name in ["admin1CodesASCII.txt", "admin2Codes.txt"] {
      if let text = mapped("\(folder)/\(name)") { names.add(text.span) }
    }
    return names
  }

  private static func mapped(_ path: String) -> Data? {
    try? Data(contentsOf: URL(fileURLWithPath: path), options: .alwaysMapped)
  }

  /// Returns the places of a request.
  ///
  /// - Parameter locale: the language in which the address may name its country, in addition to English.
  func places(_ request: GeocodingRequest, _ locale: Locale) throws(GeocodingError) -> [Place] {
    switch request {
    case .reverse(let coordinate):
      guard let found = index.nearest(to: coordinate, in: text.span) else { throw .noResult }
      return [Place(found.place, section: found.section, names)]
    case .forward(let address, let circle):
      let countries = Self.countries(locale)
      let search = GeoNamesSearch(names) { countries[$0] }
      return try search.places(address, near: circle, in: text.span).map { Place($0, names) }
    }
  }

  /// Country codes, keyed by country name in lower case.
  private static func countries(_ locale: Locale) -> [String: String] {
    var codes: [String: String] = [:]
    for region in Locale.Region.isoRegions {
      for language in [Locale(identifier: "en"), locale] {
        guard let name = language.localizedString(forRegionCode: region.identifier) else { continue }
        codes[name.lowercased()] = region.identifier
      }
    }
    return codes
  }
}
