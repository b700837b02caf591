// SPDX-License-Identifier: Apache-2.0
import WireBytes

/// The locations of a program's property list.
///
/// Programs in one folder, such as `/usr/local/bin`, would share an `Info.plist` in it, so a list named after the
/// program comes first.
package enum PropertyListPaths {
  /// The paths for an executable, in the order in which they are looked up; the first one that exists is used.
  ///
  /// - Parameter executable: the path of the executable. Without a slash, the executable is in the current folder.
  package static func paths(ofExecutable executable: String) -> [String] {
    let parts = executable.parts(at: "/", omittingEmpty: false)
    let name = parts.last.map(String.init) ?? ""
    let folder = parts.dropLast().isEmpty ? "." : parts.dropLast().joined(separator: "/")
    var paths = [
      "\(folder)/\(name).plist", "\(folder)/\(name).app/Contents/Info.plist", "\(folder)/\(name).app/Info.plist",
      "\(folder)/Info.plist",
    ]
    // X.app/Contents/Linux/X has X.app/Contents/Info.plist.
    if parts.count >= 3, parts[parts.count - 3] == "Contents" {
      paths.append(parts.dropLast(2).joined(separator: "/") + "/Info.plist")
    }
    return paths + ["/usr/share/\(name)/Info.plist"]
  }
}
