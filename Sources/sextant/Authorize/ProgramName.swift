// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import LocationService
import WireBytes

/// The name that a program has in the authorization store: its bundle identifier where its property list has one, else the
/// name of its executable. Only the program itself parses its property list, with Foundation.
enum ProgramName {
  /// The name of the executable at a path.
  ///
  /// - Parameters:
  ///   - path: the executable.
  ///   - read: the content of a file; nil if there is none that can be read.
  /// - Throws: `CommandFailure` if its property list has a bundle identifier.
  static func ofExecutable(
    _ path: String, read: (String) -> [UInt8]? = { try? InputFile.readAll($0, limit: 1 << 20) }
  ) throws(CommandFailure) -> String {
    let name = path.split(separator: "/").last.map(String.init) ?? path
    for place in PropertyListPlaces.paths(ofExecutable: path) {
      guard let list = read(place) else { continue }
      // Keys of every format of property lists are ASCII.
      guard list.occurrence(of: "CFBundleIdentifier".utf8) != nil else { return name }
      throw CommandFailure(
        .usage, "\(path): is known by its bundle identifier; name that (CFBundleIdentifier in \(place))")
    }
    return name
  }
}
