// SPDX-License-Identifier: Apache-2.0
import Positioning

/// A line of a GeoNames extract: 19 columns separated by tabs (GeoNames, "readme.txt", section "The main 'geoname' table").
package struct GeoNamesPlace: Hashable, Sendable {
  package var name: String
  /// The name in ASCII, and other names.
  package var asciiName: String
  package var alternateNames: [String]
  package var coordinate: Coordinate
  /// Whether it is a part of a place (feature code PPLX).
  package var isSection: Bool
  /// Two capital letters; empty if unknown.
  package var countryCode: String
  /// The codes of the state and the county; empty if unknown.
  package var stateCode: String
  package var countyCode: String
  package var population: Int
  /// The name of the time zone; empty if unknown.
  package var timeZone: String

  static var columns: Int { 19 }

  /// Reads a line without its end; nil if it is not a currently populated place.
  package init?(_ line: Span<UInt8>) {
    guard let columns = GeoNamesColumns(line), columns.isPopulated(line),
      let latitude = columns.number(4, line), let longitude = columns.number(5, line)
    else { return nil }
    coordinate = Coordinate(latitudeDegrees: latitude, longitudeDegrees: longitude)
    name = columns.text(1, line)
    guard coordinate.isValid, !name.isEmpty else { return nil }
    asciiName = columns.text(2, line)
    alternateNames = columns.text(3, line).split(separator: ",").map(String.init)
    isSection = columns.text(7, line) == "PPLX"
    countryCode = columns.text(8, line)
    stateCode = columns.text(10, line)
    countyCode = columns.text(11, line)
    population = Int(columns.text(14, line)) ?? 0
    timeZone = columns.text(17, line)
  }
}

/// The positions of the columns in a line.
struct GeoNamesColumns {
  /// The offset of each column's first byte, and the offset after the last column's end plus one.
  private let starts: [Int]

  /// - Returns: nil for a line with another number of columns.
  init?(_ line: Span<UInt8>) {
    var starts = [0]
    starts.reserveCapacity(GeoNamesPlace.columns + 1)
    for index in line.indices where line[index] == 0x09 { starts.append(index + 1) }
    guard starts.count == GeoNamesPlace.columns else { return nil }
    starts.append(line.count + 1)
    self.starts = starts
  }

  func range(_ column: Int) -> Range<Int> { starts[column]..<(starts[column + 1] - 1) }

  func text(_ column: Int, _ line: Span<UInt8>) -> String {
    let range = range(column)
    return String(decoding: range.map { line[$0] }, as: UTF8.self)
  }

  func number(_ column: Int, _ line: Span<UInt8>) -> Double? {
    Double(text(column, line)).flatMap { $0.isFinite ? $0 : nil }
  }

  /// Feature class P, without places that are abandoned, historical or destroyed.
  func isPopulated(_ line: Span<UInt8>) -> Bool {
    text(6, line) == "P" && !["PPLQ", "PPLH", "PPLW", "PPLCH"].contains(text(7, line))
  }
}
