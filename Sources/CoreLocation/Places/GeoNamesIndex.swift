// SPDX-License-Identifier: Apache-2.0

import Positioning
import WireBytes

/// The places of a GeoNames extract, in cells of half a degree.
///
/// The text stays in a file. The index has 16 bytes per place: a search for the nearest place visits a few cells and
/// reads one line.
package struct GeoNamesIndex: Sendable {
  /// The distance beyond which a place does not describe a location. Towns of the extract are closer than that to each
  /// other in most inhabited regions.
  package static var maximumMetres: Double { 25_000 }

  private struct Entry: Sendable {
    /// The offset of the line in the text, bytes.
    var offset: UInt32
    /// Degrees; the resolution is one metre.
    var latitude: Float
    var longitude: Float
    var isSection: Bool
  }

  private static var columns: Int { 720 }
  private static var rows: Int { 360 }

  /// The entries in the order of their cells; `starts[cell]` is the first one of a cell.
  private var entries: [Entry] = []
  private var starts: [Int32] = []

  /// The number of places.
  package var count: Int { entries.count }

  /// Reads the text of an extract, once. Lines that are not populated places are skipped.
  package init(_ text: GeoNamesText) {
    var unsorted: [(cell: Int, entry: Entry)] = []
    var counts = [Int32](repeating: 0, count: Self.columns * Self.rows + 1)
    text.forEachLine { start, line in
      guard let columns = GeoNamesColumns(line), columns.isPopulated(line), !columns.range(1).isEmpty,
        let latitude = columns.number(4, line), let longitude = columns.number(5, line), abs(latitude) <= 90,
        abs(longitude) <= 180, let offset = UInt32(exactly: start)
      else { return true }
      let cell = Self.row(latitude) * Self.columns + Self.column(longitude)
      counts[cell + 1] += 1
      let isSection = columns.text(7, line) == "PPLX"
      unsorted.append(
        (cell, Entry(offset: offset, latitude: Float(latitude), longitude: Float(longitude), isSection: isSection)))
      return true
    }
    for cell in 1..<counts.count { counts[cell] += counts[cell - 1] }
    starts = counts
    unsorted.sort { $0.cell < $1.cell }
    entries = unsorted.map(\.entry)
  }

  private static func row(_ latitude: Double) -> Int { min(rows - 1, max(0, Int(clamping: (latitude + 90) * 2))) }
  private static func column(_ longitude: Double) -> Int {
    min(columns - 1, max(0, Int(clamping: (longitude + 180) * 2)))
  }

  /// Returns the place that is nearest to a coordinate, and the part of it, in ``maximumMetres`` each.
  ///
  /// - Parameters:
  ///   - coordinate: the coordinate.
  ///   - text: the text from which the index was made.
  package func nearest(
    to coordinate: Coordinate, in text: GeoNamesText
  ) -> (place: GeoNamesPlace, section: GeoNamesPlace?)? {
    var place: (metres: Double, offset: Int)?
    var section: (metres: Double, offset: Int)?
    forEachEntry(around: coordinate) { entry in
      let metres = Geodesic.distanceMetres(
        coordinate,
        Coordinate(latitudeDegrees: Double(entry.latitude), longitudeDegrees: Double(entry.longitude)))
      guard metres <= Self.maximumMetres else { return }
      if entry.isSection {
        if metres < section?.metres ?? .infinity { section = (metres, Int(entry.offset)) }
      } else if metres < place?.metres ?? .infinity {
        place = (metres, Int(entry.offset))
      }
    }
    guard let place, let found = Self.place(at: place.offset, in: text) else { return nil }
    // A part that is farther away than its place belongs to another place.
    let part = section.flatMap { $0.metres < place.metres ? Self.place(at: $0.offset, in: text) : nil }
    return (found, part)
  }

  private func forEachEntry(around coordinate: Coordinate, _ body: (Entry) -> Void) {
    let latitude = coordinate.latitudeDegrees
    let north = Self.maximumMetres / 110_000
    let rows = Self.row(latitude - north)...Self.row(latitude + north)
    // A lower bound of the length of a degree of longitude at the latitude that is farther from the equator.
    let cosine = Self.leastCosine(abs(latitude) + north)
    let east = cosine > 0 ? north / cosine : 180
    for row in rows {
      for column in Self.columnsOf(coordinate.longitudeDegrees, east) {
        let cell = row * Self.columns + column
        for index in starts[cell]..<starts[cell + 1] { body(entries[Int(index)]) }
      }
    }
  }

  /// A lower bound of the cosine: the line from 0° to 90° lies below it.
  private static func leastCosine(_ degrees: Double) -> Double { max(0, 1 - degrees / 90) }

  /// The columns of a range of longitudes, including ranges across the date line.
  private static func columnsOf(_ longitude: Double, _ east: Double) -> [Int] {
    guard east < 90 else { return Array(0..<columns) }
    let first = Int(clamping: ((longitude - east + 180) * 2).rounded(.down))
    let last = Int(clamping: ((longitude + east + 180) * 2).rounded(.down))
    return (first...last).map { ($0 % columns + columns) % columns }
  }

  private static func place(at offset: Int, in text: GeoNamesText) -> GeoNamesPlace? {
    var found: GeoNamesPlace?
    text.forEachLine(from: offset) { _, line in
      found = GeoNamesPlace(line)
      return false
    }
    return found
  }
}

/// The text of an extract, which is read in pieces: a map of a file that is overwritten in place would end the program.
package struct GeoNamesText {
  /// The length of a line beyond which the rest of the text is not read, bytes.
  private static var longestLine: Int { 1 << 20 }

  private let read: (Int) -> [UInt8]

  /// - Parameter read: returns bytes from an offset on; none at the end.
  package init(read: @escaping (Int) -> [UInt8]) { self.read = read }

  package init(_ bytes: [UInt8]) { read = { Array(bytes.dropFirst($0)) } }

  /// Calls `body` with the offset and the bytes of each line, until it returns false.
  func forEachLine(from first: Int = 0, _ body: (Int, Span<UInt8>) -> Bool) {
    // The bytes from `start` on that belong to no line yet.
    var start = first
    var bytes: [UInt8] = []
    while case let piece = read(start + bytes.count), !piece.isEmpty {
      var end = bytes.count
      bytes += piece
      var begin = 0
      while end < bytes.count {
        if bytes[end] == 0x0A {
          if !body(start + begin, bytes.span.extracting(begin..<end)) { return }
          begin = end + 1
        }
        end += 1
      }
      bytes.removeFirst(begin)
      start += begin
      if bytes.count > Self.longestLine { return }
    }
    if !bytes.isEmpty { _ = body(start, bytes.span) }
  }
}

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
