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
}
