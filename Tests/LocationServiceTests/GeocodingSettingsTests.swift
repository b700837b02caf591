// SPDX-License-Identifier: Apache-2.0
import ReceiverRuntime
import Testing

@testable import LocationService

@Suite("Sources of addresses")
struct GeocodingSettingsTests {
  private func settings(
    _ environment: [String: String] = [:], files: [String] = [], configuration: String = ""
  ) -> GeocodingSettings {
    GeocodingSettings(
      { environment[$0] }, isFile: files.contains,
      names: { folder in files.filter { $0.hasPrefix(folder + "/") }.map { String($0.dropFirst(folder.count + 1)) } },
      configuration: { () throws(SextantConfigurationError) in
        try SextantConfiguration(parsing: configuration, file: "config")
      })
  }

  @Test("There is no server unless the configuration or the environment names one")
  func server() {
    #expect(settings().server == nil)
    #expect(settings(configuration: "geocoder http://localhost:8080").server == "http://localhost:8080")
    let environment = ["SEXTANT_GEOCODER": "http://b"]
    #expect(settings(environment, configuration: "geocoder http://a").server == "http://b")
    #expect(settings(["SEXTANT_GEOCODER": ""], configuration: "geocoder http://a").server == nil)
  }

  @Test("A configuration that cannot be read is a problem, and no server")
  func mistake() {
    let settings = settings(configuration: "geocoder http://a\ngeocoder http://b")
    #expect(settings.server == nil && settings.problem?.contains("second time") == true)
  }

  @Test("The extract with the most places is used")
  func extract() {
    let folder = GeocodingSettings.folder
    #expect(settings().extract == nil)
    #expect(settings(files: ["\(folder)/admin1CodesASCII.txt"]).extract == nil)
    let files = ["cities15000.txt", "cities500.txt", "cities.txt", "cities1000.txt", "cities500.zip"].map {
      "\(folder)/\($0)"
    }
    #expect(settings(files: files).extract == "\(folder)/cities500.txt")
    #expect(settings(files: ["\(folder)/cities.txt"]).extract == "\(folder)/cities.txt")
  }

  @Test("SEXTANT_GEONAMES names a file or a folder")
  func named() {
    #expect(settings(["SEXTANT_GEONAMES": "/a/x.txt"], files: ["/a/x.txt"]).extract == "/a/x.txt")
    #expect(settings(["SEXTANT_GEONAMES": "/a"], files: ["/a/cities500.txt"]).extract == "/a/cities500.txt")
    #expect(settings(["SEXTANT_GEONAMES": "/a"], files: ["\(GeocodingSettings.folder)/cities500.txt"]).extract == nil)
  }
}
