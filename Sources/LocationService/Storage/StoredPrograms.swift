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
      for folder in AppDescription.places(in: path) where !folder.ends(with: StateDamage.suffix) {
        let name = AppDescription.name(ofPlace: folder)
        if isName(name) { continue }
        let renamed = Self.executable(inOldName: name).map(identity)
        let target = renamed.map { AppDescription(identifier: $0, keys: UsageKeys()).folderName }
        if let renamed, let target, !FileLookup.exists("\(path)/\(target)") {
          if (try? PrivateFolder(path).rename(folder, to: target)) != nil { continue }
          log("\(path)/\(folder) cannot be renamed to \(renamed)")
        }
        // If there are two permissions for one executable, a denial wins.
        if let renamed, store.isDenied(ExactText(name)) { try? store.set(.denied, for: ExactText(renamed)) }
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
    guard !parts[1].includes("@/"), !parts[0].isEmpty, !parts[0].includes("/"), !parts[1].isEmpty else { return nil }
    return "/" + parts[1]
  }
}

extension AuthorizationStore {
  fileprivate func isDenied(_ app: ExactText) -> Bool { entries().contains { $0.app == app && $0.status == .denied } }
}

/// The damage of a file of the state folder.
enum StateDamage: Equatable {
  /// The file belongs to another program or a later version, or is empty.
  case foreign
  /// This many of its lines cannot be read, including an incomplete last line.
  case lines(Int)

  /// Returns a line with the file, its new name, and the next step.
  func text(path: String) -> String {
    switch self {
    case .foreign:
      "\(path) is not a file of this kind and is not used; it is now \(path)\(Self.suffix) (remove it, or put back yours)"
    case .lines(let count):
      "\(path) has \(count) line\(count == 1 ? "" : "s") that cannot be read; the others are used, and a copy of the file is "
        + "\(path)\(Self.suffix)"
    }
  }

  /// The suffix of the name of a file that is set aside.
  static let suffix = ".unreadable"
}

extension StateText {
  /// Returns the damage of a file's text; nil if there is none.
  ///
  /// - Parameter lost: the number of lines that its checksums have dropped. No part of a damaged permission is used.
  static func damage(in text: String, of file: StateFile, lost: Int) -> StateDamage? {
    let damage = damage(in: text, of: file)
    switch damage {
    case .foreign: return .foreign
    case .lines(let count): return .lines(count + lost)
    case nil: return lost == 0 ? nil : file == .authorization ? .foreign : .lines(lost)
    }
  }

  /// Returns the damage of a text without checksums; nil if there is none.
  static func damage(in text: String, of file: StateFile) -> StateDamage? {
    switch file {
    case .regions: damage(text, regionsHeading) { region($0) != nil }
    case .visits: damage(text, visitsHeading) { isRunning($0) != nil || visit($0) != nil }
    case .authorization: damage(text, authorizationHeading, wanted: 1) { _ in authorization(in: text) != nil }
    case .newestLocation: damage(text, locationHeading, wanted: 1) { _ in location(in: text) != nil }
    case .monitor: damage(text, monitorHeading) { monitorRecord($0) != nil }
    // The file grows with each location, so an incomplete end means that the program was killed.
    case .deferred: nil
    case .compass:
      damage(text, compassHeading, wanted: 1) { fields in
        fields.last.map { calibration(in: text, sensor: unescape($0)) != nil } ?? false
      }
    }
  }

  /// - Parameter wanted: the smallest number of lines.
  private static func damage(
    _ text: String, _ heading: String, wanted: Int = 0, _ isReadable: ([Substring]) -> Bool
  ) -> StateDamage? {
    guard let lines = lines(of: text, heading: heading) else { return .foreign }
    var unreadable = lines.count { !isReadable($0) }
    if text.utf8.last != UInt8(ascii: "\n") { unreadable += 1 }
    unreadable = max(unreadable, wanted - lines.count)
    return unreadable > 0 ? .lines(unreadable) : nil
  }
}
