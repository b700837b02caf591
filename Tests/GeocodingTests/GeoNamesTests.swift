// SPDX-License-Identifier: Apache-2.0
import CoreLocation
import Positioning
import TestSupport
import Testing

@Suite("GeoNames")
struct GeoNamesTests {
  /// A line of an extract.
  private static func line(
    _ name: String, _ latitude: Double, _ longitude: Double, also: String = "", feature: String = "P",
    code: String = "PPL",
    country: String = "DE", state: String = "02", county: String = "091", population: Int = 1000,
    zone: String = "Europe/Berlin"
  ) -> String {
    [
      "1", name, name, also, "\(latitude)", "\(longitude)", feature, code, country, "", state, county, "", "",
      "\(population)", "", "500", zone, "2024-01-01",
    ].joined(separator: "\t") + "\n"
  }

  private static let text = Array(
    [
      line("Munich", 48.13743, 11.57549, also: "Monaco,München", code: "PPLA", population: 1_260_391),
      line("Schwabing", 48.16667, 11.58333, code: "PPLX"), line("Freising", 48.40351, 11.74876, county: "178"),
      line(
        "Springfield", 39.80172, -89.64371, country: "US", state: "IL", population: 114_394, zone: "America/Chicago"),
      line(
        "Springfield", 42.10148, -72.58981, country: "US", state: "MA", population: 155_929, zone: "America/New_York"),
      line("Suva", -18.14161, 178.44149, country: "FJ", state: "C", zone: "Pacific/Fiji"),
      line("Island", -17, 179.99, country: "FJ"), line("Alert", 82.50177, -62.34809, country: "CA", state: "14"),
      line("Ruin", 48.13, 11.57, code: "PPLH"), line("Zugspitze", 47.42, 10.98, feature: "T", code: "MT"),
    ].joined().utf8)

  private static var names: GeoNamesNames {
    var names = GeoNamesNames()
    names.add(GeoNamesText(Array("DE.02\tBavaria\tBavaria\t1\nUS.IL\tIllinois\tIllinois\t2\nbroken\n\tx\n".utf8)))
    names.add(GeoNamesText(Array("DE.02.091\tUpper Bavaria\tUpper Bavaria\t3\n".utf8)))
    return names
  }

  private func nearest(_ latitude: Double, _ longitude: Double) -> Place? {
    let found = GeoNamesIndex(GeoNamesText(Self.text)).nearest(
      to: Coordinate(latitudeDegrees: latitude, longitudeDegrees: longitude), in: GeoNamesText(Self.text))
    return found.map { Place($0.place, section: $0.section, Self.names) }
  }

  private func find(_ address: String, near circle: Circle? = nil) throws -> [GeoNamesPlace] {
    let search = GeoNamesSearch(Self.names) { ["germany": "DE", "united states": "US"][$0] }
    return try search.places(address, near: circle, in: GeoNamesText(Self.text))
  }

  // MARK: Lines

  @Test("The index has populated places of today only")
  func populated() { #expect(GeoNamesIndex(GeoNamesText(Self.text)).count == 8) }

  @Test(
    "A line with another number of columns, or without a place, is left out",
    arguments: ["", "\n\n", "1\tx\n", "# comment\n", line("A", 91, 0), line("A", 0, 181), line("", 1, 1)])
  func noPlace(text: String) { #expect(GeoNamesIndex(GeoNamesText(Array(text.utf8))).count == 0) }

  @Test("The last line needs no end")
  func lastLine() {
    let text = Array(Self.text.dropLast(Self.line("Zugspitze", 47.42, 10.98, feature: "T", code: "MT").utf8.count + 1))
    let index = GeoNamesIndex(GeoNamesText(Array(text)))
    #expect(index.count == 8)
  }

  @Test("A text that is read in pieces has the same places", arguments: [1, 7, 100, 1000])
  func pieces(size: Int) throws {
    let text = GeoNamesText { Array(Self.text.dropFirst($0).prefix(size)) }
    let index = GeoNamesIndex(text)
    #expect(index.count == 8)
    let here = Coordinate(latitudeDegrees: 48.164, longitudeDegrees: 11.6)
    let found = try #require(index.nearest(to: here, in: text))
    #expect(found.place.name == "Munich" && found.section?.name == "Schwabing")
    let search = GeoNamesSearch(Self.names) { ["united states": "US"][$0] }
    #expect(try search.places("Springfield, United States", near: nil, in: text).map(\.stateCode) == ["MA", "IL"])
  }

  // MARK: Addresses of coordinates

  @Test("A place has its state, county, country and time zone")
  func place() throws {
    let place = try #require(nearest(48.4, 11.7))
    #expect(place.name == "Freising" && place.locality == "Freising" && place.subLocality == nil)
    #expect(place.administrativeArea == "Bavaria" && place.subAdministrativeArea == nil)
    #expect(place.isoCountryCode == "DE" && place.country == nil && place.timeZone == "Europe/Berlin")
    #expect(place.thoroughfare == nil && place.postalCode == nil && place.radiusMetres == nil)
  }

  @Test("A part of a city that is nearer than the city is the part of it")
  func section() throws {
    let inside = try #require(nearest(48.164, 11.6))
    #expect(inside.locality == "Munich" && inside.subLocality == "Schwabing" && inside.name == "Schwabing")
    #expect(inside.subAdministrativeArea == "Upper Bavaria")
    let centre = try #require(nearest(48.137, 11.575))
    #expect(centre.locality == "Munich" && centre.subLocality == nil && centre.name == "Munich")
  }

  @Test("Beyond 25 km of every place there is none")
  func nowhere() {
    #expect(nearest(0, 0) == nil)
    #expect(nearest(48.137, 11.95) == nil || nearest(48.137, 11.95)?.locality == "Freising")
    #expect(nearest(47.42, 10.98) == nil)
    #expect(nearest(-90, 0) == nil && nearest(90, 180) == nil)
  }

  @Test("The nearest place may be across the date line, and near a pole")
  func edges() {
    #expect(nearest(-17, -179.99)?.name == "Island")
    #expect(nearest(82.6, -61.5)?.name == "Alert")
  }

  @Test("The nearest place of random ones is the one that a search through all finds")
  func random() throws {
    var random = SeededRandomNumberGenerator(seed: 1)
    var text = ""
    var places: [Coordinate] = []
    for number in 0..<1500 {
      let latitude =
        number % 3 == 0 ? Double.random(in: -90...90, using: &random) : Double.random(in: 50...51, using: &random)
      let longitude =
        number % 3 == 0 ? Double.random(in: -180...180, using: &random) : Double.random(in: 179...180, using: &random)
      places.append(Coordinate(latitudeDegrees: latitude, longitudeDegrees: longitude))
      text += Self.line("\(number)", latitude, longitude)
    }
    let bytes = Array(text.utf8)
    let index = GeoNamesIndex(GeoNamesText(bytes))
    var found = 0
    for _ in 0..<300 {
      let here = Coordinate(
        latitudeDegrees: Double.random(in: 49.5...51.5, using: &random),
        longitudeDegrees: Double.random(in: 178.5...181, using: &random))
      let wrapped = Coordinate(
        latitudeDegrees: here.latitudeDegrees,
        longitudeDegrees: here.longitudeDegrees > 180 ? here.longitudeDegrees - 360 : here.longitudeDegrees)
      let metres = places.map { Geodesic.distanceMetres(wrapped, $0) }.min() ?? .infinity
      let nearest = index.nearest(to: wrapped, in: GeoNamesText(bytes))?.place
      if let nearest {
        found += 1
        #expect(abs(Geodesic.distanceMetres(wrapped, nearest.coordinate) - metres) < 2)
      } else {
        #expect(metres > GeoNamesIndex.maximumMetres - 2)
      }
    }
    #expect(found > 30)
  }

  // MARK: Places of addresses

  @Test("A name is found in any case, also an alternate one")
  func names() throws {
    for name in ["Munich", "MUNICH", "münchen", "München", " monaco "] {
      #expect(try find(name).map(\.name) == ["Munich"], "\(name)")
    }
  }

  @Test("State, county and country restrict a name, and a postal code does not")
  func restricted() throws {
    #expect(try find("Springfield").map(\.stateCode) == ["MA", "IL"])
    #expect(try find("Springfield, Illinois, US").map(\.stateCode) == ["IL"])
    #expect(try find("Springfield, IL 62701, United States").map(\.stateCode) == ["IL"])
    #expect(try find("80331 Munich, Upper Bavaria, Germany").map(\.name) == ["Munich"])
    #expect(throws: GeocodingError.noResult) { try find("Munich, United States") }
  }

  @Test("Places in the region come first")
  func region() throws {
    let circle = Circle(centre: Coordinate(latitudeDegrees: 39.8, longitudeDegrees: -89.6), radiusMetres: 50_000)
    #expect(try find("Springfield", near: circle).map(\.stateCode) == ["IL", "MA"])
  }

  @Test("A street is not found, and its city is a partial result")
  func street() {
    #expect(throws: GeocodingError.partialResult) { try find("Marienplatz 8, Munich") }
    #expect(throws: GeocodingError.noResult) { try find("Marienplatz 8") }
    #expect(throws: GeocodingError.noResult) { try find(", 123,") }
  }

  @Test("Random bytes and changed extracts are read without a place outside the world")
  func fuzz() {
    var random = SeededRandomNumberGenerator(seed: 500)
    var found = 0
    for round in 0..<400 {
      var bytes = round % 4 == 0 ? random.bytes(Int.random(in: 0...400, using: &random)) : Self.text
      for _ in 0..<Int.random(in: 0...30, using: &random) where !bytes.isEmpty {
        bytes[Int.random(in: bytes.indices, using: &random)] = [0x09, 0x0A, 0x2C, 0x2D, 0x39, random.byte()]
          .randomElement(
            using: &random)!
      }
      let index = GeoNamesIndex(GeoNamesText(bytes))
      let here = Coordinate(latitudeDegrees: 48.137, longitudeDegrees: 11.575)
      if let place = index.nearest(to: here, in: GeoNamesText(bytes))?.place {
        found += 1
        #expect(place.coordinate.isValid && !place.name.isEmpty)
        #expect(Geodesic.distanceMetres(place.coordinate, here) < GeoNamesIndex.maximumMetres + 2)
      }
    }
    #expect(found > 100)
  }
}
