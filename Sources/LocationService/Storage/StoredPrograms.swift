// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import Messages
import Positioning
import WireBytes

/// The folders of programs in the daemon's state, which older versions named after the program's own statement:
/// IDENTIFIER@EXECUTABLE. They are renamed to the name of the executable.
package struct StoredPrograms: Sendable {
  private let stateFolder: String

  package init(stateFolder: String) { self.stateFolder = stateFolder }

  /// Renames the folders of older versions. One whose name has no single executable is set aside: its permission cannot be attributed.
  ///
  /// - Parameters:
  ///   - identity: returns the name of an executable at a path.
  ///   - isName: whether a name has the form of this version.
  ///   - log: receives a line for each discarded permission.
  package func rename(
    identity: (String) -> String, isName: (String) -> Bool, log: (String) -> Void
  ) {
    for user in PrivateFile.names(in: "\(stateFolder)/users") where UInt32(user) != nil {
      let path = "\(stateFolder)/users/\(user)/apps"
      let store = AuthorizationStore(stateFolder: "\(stateFolder)/users/\(user)")
      for folder in PrivateFile.names(in: path) where !folder.hasSuffix(StateDamage.suffix) {
        let name = StateText.unescape(folder[...])
        if isName(name) { continue }
        let renamed = Self.executable(inOldName: name).map(identity)
        let target = renamed.map { AppDescription(identifier: $0, keys: UsageKeys()).folderName }
        if let renamed, let target, !FileLookup.exists("\(path)/\(target)") {
          if (try? PrivateFolder(path).rename(folder, to: target)) != nil { continue }
          log("\(path)/\(folder) cannot be renamed to \(renamed)")
        }
        // If there are two permissions for one executable, a denial wins.
        if let renamed, store.isDenied(name) { try? store.set(.denied, for: renamed) }
        try? PrivateFolder(path).rename(folder, to: folder + StateDamage.suffix)
        log(
          "the permission of \(name), user \(user), is of an older version and belongs to no single executable: it is not used; "
            + "grant it again with `sextant authorize allow NAME` once the program has asked")
      }
    }
  }

  /// Returns the executable of a name IDENTIFIER@EXECUTABLE; nil if the name is ambiguous.
  static func executable(inOldName name: String) -> String? {
    guard let at = name.utf8.occurrence(of: "@/".utf8) else { return nil }
    let parts = [name[..<at.lowerBound], name[at.upperBound...]]
    guard !parts[1].includes("@/"), !parts[0].isEmpty, !parts[0].contains("/"), !parts[1].isEmpty else { return nil }
    return "/" + parts[1]
  }
}

extension AuthorizationStore {
  fileprivate func isDenied(_ app: String) -> Bool { entries().contains { $0.app == app && $0.status == .denied } }
}
