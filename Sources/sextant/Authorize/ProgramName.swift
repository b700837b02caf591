// SPDX-License-Identifier: Apache-2.0
import FileSystem

/// The name that a program has in the authorization store: its bundle identifier where it has an Info.plist, else the name of
/// its executable. Only the program itself reads its property list, with Foundation (`Bundle.main`).
enum ProgramName {
  /// The name of the executable at a path.
  ///
  /// - Parameters:
  ///   - path: the executable.
  ///   - exists: whether there is a file at a path.
  /// - Throws: `CommandFailure` if it has an Info.plist.
  static func ofExecutable(
    _ path: String, exists: (String) -> Bool = FileLookup.exists
  ) throws(CommandFailure) -> String {
    var folders = path.split(separator: "/", omittingEmptySubsequences: false)
    let name = String(folders.popLast() ?? "")
    var places = [folders.joined(separator: "/")]
    // X.app/Contents/Linux/X has X.app/Contents/Info.plist.
    if folders.count >= 2, folders[folders.count - 2] == "Contents" {
      places.append(folders.dropLast().joined(separator: "/"))
    }
    guard let list = places.map({ $0 + "/Info.plist" }).first(where: exists) else { return name }
    throw CommandFailure(
      .usage, "\(path): is known by its bundle identifier; name that (CFBundleIdentifier in \(list))")
  }
}
