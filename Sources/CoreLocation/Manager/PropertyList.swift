// SPDX-License-Identifier: Apache-2.0
import Foundation
import LocationService

/// The property list of this program.
enum PropertyList {
  /// Returns the first one of ``PropertyListPaths`` that can be parsed, else an empty one; and the problem of a list
  /// that cannot be parsed.
  static func ofProgram() -> (list: [String: Any], problem: String?) {
    var problem: String?
    for path in PropertyListPaths.paths(ofExecutable: Bundle.main.executablePath ?? CommandLine.arguments[0]) {
      guard let data = FileManager.default.contents(atPath: path) else { continue }
      // Not requested: the format would be returned through a pointer.
      let list = try? unsafe PropertyListSerialization.propertyList(from: data, format: nil)
      if let list = list as? [String: Any] { return (list, problem) }
      problem = problem ?? "\(path): not a property list, and ignored; check it with plutil or xmllint"
    }
    return ([:], problem)
  }
}
