// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import Messages
import Positioning
import WireBytes

/// The files of the daemon that name the unit of a program and the events that wait for it, one for each program of each user.
package struct LaunchFiles: Sendable {
  /// The file of one program.
  package struct File: Equatable, Sendable {
    package var user: UInt32
    /// The name in the authorization store.
    package var name: String
    package var text: String
  }

  private let stateFolder: String?

  /// - Parameter stateFolder: the daemon's state folder; nil to store nothing.
  package init(stateFolder: String?) { self.stateFolder = stateFolder }

  /// Returns all stored files, by user and name.
  package func all() -> [File] {
    guard let stateFolder else { return [] }
    return PrivateFile.names(in: "\(stateFolder)/users").compactMap { UInt32($0) }.sorted().flatMap { user in
      AppDescription.places(in: "\(stateFolder)/users/\(user)/apps").compactMap { folder in
        if folder.ends(with: StateDamage.suffix) { return nil }
        let name = AppDescription.name(ofPlace: folder)
        let path = path(of: name, user)
        guard let text = try? PrivateFile.read(path) else { return nil }
        let checked = ChecksummedText(text, place: place(of: name))
        guard checked.damage > 0 else { return File(user: user, name: name, text: checked.content) }
        try? PrivateFile.replace(path + StateDamage.suffix, with: text)
        try? PrivateFile.remove(path)
        return File(user: user, name: name, text: "")
      }
    }
  }

  /// Replaces the file of a program; nil removes it.
  ///
  /// - Throws: `FileError`.
  package func store(_ text: String?, of name: String, _ user: UInt32) throws(FileError) {
    if stateFolder == nil { return }
    if let text {
      try PrivateFile.replace(path(of: name, user), with: ChecksummedText.text(text, place: place(of: name)))
    } else {
      try PrivateFile.remove(path(of: name, user))
    }
  }

  /// The names of the monitors with stored conditions.
  package func monitors(of name: String, _ user: UInt32) -> [String] {
    guard stateFolder != nil else { return [] }
    return AppDescription.places(in: folder(of: name, user) + "/monitors").map { AppDescription.name(ofPlace: $0) }
  }

  private func folder(of name: String, _ user: UInt32) -> String {
    let app = AppDescription(identifier: name, keys: UsageKeys())
    return "\(stateFolder ?? "")/users/\(user)/\(StateFile.appFolder(app))"
  }

  private func path(of name: String, _ user: UInt32) -> String { folder(of: name, user) + "/launch" }

  /// The path in the state folder of a user.
  private func place(of name: String) -> String {
    StateFile.appFolder(AppDescription(identifier: name, keys: UsageKeys())) + "/launch"
  }
}
