// SPDX-License-Identifier: Apache-2.0
import CoreLocation
import Positioning
import TestSupport
import Testing

@Suite("Nominatim")
struct NominatimTests {
  private static let munich = Coordinate(latitudeDegrees: 48.137, longitudeDegrees: 11.5755)

  private func places(_ text: String) throws -> [Place] { try NominatimAnswer.places(in: Array(text.utf8)) }

  // MARK: Requests

  @Test(
    "A server has an address of the web without a query",
    arguments: [
      ("http://localhost:8080/", "http://localhost:8080"),
      (
        "HTTPS://maps.example.org/nominatim",
        "HTTPS://maps.example.org/nominatim"
      ),
      ("ftp://example.org", nil), ("localhost", nil), ("http://", nil), ("http://a/?q=1", nil), ("http://a b", nil),
      ("http://a\"\nurl = \"http://b", nil), ("", nil),
    ])
  func server(text: String, base: String?) { #expect(NominatimServer(text)?.base == base) }

  @Test("A reverse request has the coordinate to a metre, and the languages")
  func reverse() throws {
    let server = try #require(NominatimServer("http://localhost"))
    #expect(
      server.address(of: .reverse(Self.munich), language: "de-DE,de")
        == "http://localhost/reverse?format=jsonv2&addressdetails=1&lat=48.13700&lon=11.57550&accept-language=de-DE%2Cde"
    )
    let south = Coordinate(latitudeDegrees: -0.000_014, longitudeDegrees: -179.999_999)
    #expect(
      server.address(of: .reverse(south), language: nil)
        == "http://localhost/reverse?format=jsonv2&addressdetails=1&lat=-0.00001&lon=-180.00000")
  }

  @Test("An address is percent-encoded, and a region is a preferred box around it")
  func forward() throws {
    let server = try #require(NominatimServer("http://localhost/nominatim/"))
    #expect(
      server.address(of: .forward("Straße 1 & 2, Köln", near: nil), language: nil)
        == "http://localhost/nominatim/search?format=jsonv2&addressdetails=1&q=Stra%C3%9Fe%201%20%26%202%2C%20K%C3%B6ln&limit=10"
    )
    let circle = Circle(centre: Self.munich, radiusMetres: 11_119.5)
    #expect(
      server.address(of: .forward("x", near: circle), language: nil)
        .hasSuffix("&viewbox=11.37550%2C48.23700%2C11.77550%2C48.03700"))
    let polar = Circle(centre: Coordinate(latitudeDegrees: 89, longitudeDegrees: 0), radiusMetres: 1000)
    #expect(!server.address(of: .forward("x", near: polar), language: nil).contains("viewbox"))
  }

  @Test("A request for no coordinate or no address is none")
  func impossible() {
    #expect(!GeocodingRequest.reverse(Coordinate(latitudeDegrees: 91, longitudeDegrees: 0)).isPossible)
    #expect(!GeocodingRequest.reverse(Coordinate(latitudeDegrees: .nan, longitudeDegrees: 0)).isPossible)
    #expect(!GeocodingRequest.forward(" \n", near: nil).isPossible)
    #expect(!GeocodingRequest.forward(String(repeating: "x", count: 1001), near: nil).isPossible)
    #expect(GeocodingRequest.forward("x", near: nil).isPossible)
  }

  // MARK: Answers

  @Test("A house has its parts, its own name before its address, and the circle around its box")
  func house() throws {
    let text = """
      {"place_id":1,"lat":"48.1370","lon":"11.5755","category":"tourism","type":"museum","name":"Old Tower",
       "display_name":"Old Tower, 8, Hill Street, …","boundingbox":["48.1369","48.1371","11.5754","11.5756"],
       "address":{"tourism":"Old Tower","house_number":"8","road":"Hill Street","suburb":"Old Town","city":"Example",
       "county":"County","state":"State","ISO3166-2-lvl4":"DE-BY","postcode":"80331","country":"Germany",
       "country_code":"de"}}
      """
    let place = try #require(places(text).first)
    #expect(place.coordinate == Self.munich)
    #expect(place.name == "Old Tower" && place.areasOfInterest == ["Old Tower"])
    #expect(place.thoroughfare == "Hill Street" && place.subThoroughfare == "8")
    #expect(place.locality == "Example" && place.subLocality == "Old Town")
    #expect(place.administrativeArea == "State" && place.subAdministrativeArea == "County")
    #expect(place.postalCode == "80331" && place.country == "Germany" && place.isoCountryCode == "DE")
    #expect(place.ocean == nil && place.inlandWater == nil && place.timeZone == nil)
    #expect(place.radiusMetres.map { $0 > 13 && $0 < 14 } == true)
  }

  @Test(
    "A house without a name is called by its address, as the country writes it; other places by their road or city",
    arguments: [
      (#""house_number":"8","road":"Hill Street","country_code":"de""#, "Hill Street 8"),
      (#""house_number":"8","road":"Hill Street","country_code":"us""#, "8 Hill Street"),
      (#""road":"Hill Street","city":"Example""#, "Hill Street"), (#""village":"Example""#, "Example"),
    ])
  func unnamed(address: String, name: String) throws {
    let text = #"{"lat":48,"lon":11,"name":"","address":{\#(address)}}"#
    #expect(try places(text).first?.name == name)
  }

  @Test(
    "Water is an ocean or inland",
    arguments: [
      ("place", "ocean", "sea"), ("natural", "water", "lake"), ("waterway", "river", "lake"), ("place", "city", "none"),
    ])
  func water(category: String, type: String, kind: String) throws {
    let text = #"[{"lat":"1","lon":"2","category":"\#(category)","type":"\#(type)","name":"Name","address":{}}]"#
    let place = try #require(places(text).first)
    #expect(place.ocean == (kind == "sea" ? "Name" : nil))
    #expect(place.inlandWater == (kind == "lake" ? "Name" : nil))
    #expect(place.areasOfInterest == [])
  }

  @Test(
    "An answer without a place gives no result",
    arguments: [#"{"error":"Unable to geocode"}"#, "[]", #"[{"lat":"x","lon":"1"}]"#, #"{"error":{"code":404}}"#])
  func nothing(text: String) { #expect(throws: GeocodingError.noResult) { try places(text) } }

  @Test(
    "Other text is an error of the network",
    arguments: ["", "<html>", #""text""#, #"{"lat":"91","lon":"0"}"#, "{}", #"[{"lat":"1","lon":"2"}"#])
  func foreign(text: String) {
    let error = #expect(throws: GeocodingError.self) { try places(text) }
    guard case .network = error else { return #expect(error == .noResult) }
  }

  @Test(
    "An invalid box gives no extent",
    arguments: ["[]", "[1,2,3]", #"["2","1","3","4"]"#, "[0,1,0,999]", #"["a",1,2,3]"#])
  func noExtent(bounds: String) throws {
    let place = try #require(places(#"{"lat":1,"lon":2,"boundingbox":\#(bounds)}"#).first)
    #expect(place.radiusMetres == nil && place.name == nil)
  }

  @Test("Random changes of an answer give places with valid coordinates, or an error")
  func random() throws {
    let answer = Array(
      #"[{"lat":"48.1","lon":"11.5","category":"place","type":"city","name":"N","boundingbox":["48","49","11","12"],"address":{"city":"C","country_code":"de","postcode":"1"}}]"#
        .utf8)
    var random = SeededRandomNumberGenerator(seed: 28)
    var (found, failed) = (0, 0)
    for _ in 0..<5000 {
      var bytes = answer
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        let index = Int.random(in: bytes.indices, using: &random)
        switch Int.random(in: 0..<3, using: &random) {
        case 0: bytes[index] = random.byte()
        case 1: bytes.remove(at: index)
        default: bytes.insert(bytes[Int.random(in: bytes.indices, using: &random)], at: index)
        }
      }
      do {
        for place in try NominatimAnswer.places(in: bytes) {
          found += 1
          #expect(place.coordinate.isValid && place.radiusMetres.map { $0.isFinite && $0 >= 0 } ?? true)
        }
      } catch { failed += 1 }
    }
    #expect(found > 100 && failed > 100)
  }
}
