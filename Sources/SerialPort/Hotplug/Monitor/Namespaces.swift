// SPDX-License-Identifier: Apache-2.0
import LinuxIO

/// The namespaces of this process.
enum Namespaces {
  /// Whether the user ids of this process are the machine's own; user_namespaces(7).
  static var isInitialUserNamespace: Bool {
    // A kernel without user namespaces has no such file.
    guard let map = try? UserFile.read("/proc/self/uid_map") else { return true }
    return isInitial(userMap: map)
  }

  /// Whether a map belongs to the initial namespace, which maps all user ids onto themselves.
  static func isInitial(userMap: String) -> Bool {
    userMap.split { $0 == " " || $0 == "\n" } == ["0", "0", "4294967295"]
  }
}
