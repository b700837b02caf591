// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import Messages
import ReceiverRuntime

/// The sources of addresses that the machine has.
package struct GeocodingSettings: Sendable {
  /// The folder that is searched for an extract of GeoNames.
  package static let folder = "/usr/share/sextant/geonames"

  /// The address of a Nominatim server; nil if there is none. There is no default: the machine sends locations only if
  /// configured.
  package var server: String?
  /// The file of a GeoNames extract; nil if there is none.
  package var extract: String?
  /// The reason why the configuration cannot be read.
  package var problem: String?

  package init(server: String? = nil, extract: String? = nil) {
    self.server = server
    self.extract = extract
  }

  /// Reads the environment and the configuration files of this process.
  package static func ofThisProcess() -> GeocodingSettings {
    GeocodingSettings(
      { System.variable($0) }, isFile: FileLookup.isRegularFile, names: FileLookup.names,
      configuration: { () throws(SextantConfigurationError) in try .installed { System.variable($0) } })
  }

  /// - Parameters:
  ///   - variable: returns a variable of the environment: SEXTANT_GEOCODER replaces the configuration's server, and
  ///     disables it if empty; SEXTANT_GEONAMES names a file, or a folder in place of ``folder``.
  ///   - isFile: whether there is a file at a path.
  ///   - names: returns the names in a folder.
  ///   - configuration: reads the configuration files.
  init(
    _ variable: (String) -> String?, isFile: (String) -> Bool, names: (String) -> [String],
    configuration: () throws(SextantConfigurationError) -> SextantConfiguration
  ) {
    if let server = variable("SEXTANT_GEOCODER") {
      self.server = server.isEmpty ? nil : server
    } else {
      do throws(SextantConfigurationError) {
        server = try configuration().geocoder
      } catch {
        problem = error.description
      }
    }
    let place = variable("SEXTANT_GEONAMES") ?? Self.folder
    extract = isFile(place) ? place : Self.extract(among: names(place)).map { "\(place)/\($0)" }
  }

  /// The extract with the most places comes first: `cities500.txt`, then 1000, 5000, 15000.
  private static func extract(among names: [String]) -> String? {
    func least(_ name: String) -> Int? {
      guard name.hasPrefix("cities"), name.hasSuffix(".txt") else { return nil }
      return Int(name.dropFirst(6).dropLast(4)) ?? .max
    }
    return names.filter { least($0) != nil }.min { (least($0)!, $0) < (least($1)!, $1) }
  }
}
