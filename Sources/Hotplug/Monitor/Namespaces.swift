import FileSystem

/// What the kernel shows this process of the machine.
enum Namespaces {
  /// Whether the users of this process are those of the machine; user_namespaces(7).
  static var isInitialUserNamespace: Bool {
    // Without the file the kernel has no such namespaces.
    guard let map = try? UserFile.read("/proc/self/uid_map") else { return true }
    return isInitial(userMap: map)
  }

  /// The machine's own namespace maps all users onto themselves.
  static func isInitial(userMap: String) -> Bool {
    userMap.split { $0 == " " || $0 == "\n" } == ["0", "0", "4294967295"]
  }
}
