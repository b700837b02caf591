// SPDX-License-Identifier: Apache-2.0
import Positioning

/// The program that the service serves.
package struct AppDescription: Sendable, Equatable {
  /// The key of its state: a bundle identifier, or the executable's name.
  package var identifier: String
  /// The program's declarations and its texts for the user.
  package var keys: UsageKeys
  /// The path of its executable; nil if it is unknown.
  package var executable: String?
  /// The name that a program of the daemon declares; nil if it is the identifier.
  package var label: String?

  package init(identifier: String, keys: UsageKeys, executable: String? = nil, label: String? = nil) {
    self.identifier = identifier
    self.keys = keys
    self.executable = executable
    self.label = label
  }

  /// The identifier as the name of a folder.
  var folderName: String { Self.fileName(of: identifier) }

  /// Returns a file name for a name of any bytes: ASCII alphanumerics and `._-` are kept, other bytes become %XX.
  ///
  /// - Parameter dots: whether dots are kept.
  static func fileName(of name: String, dots: Bool = true) -> String {
    let escaped = StateText.escape(name) { byte in
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x5F: true
      // A name of only dots would refer to another folder.
      case 0x2E: dots && !name.hasPrefix(".")
      default: false
      }
    }
    return escaped.isEmpty ? "%" : escaped
  }
}
