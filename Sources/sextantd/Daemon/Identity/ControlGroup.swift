// SPDX-License-Identifier: Apache-2.0

/// The control group of a process in the hierarchy of the host: the line `0::` of /proc/PID/cgroup (cgroups(7)).
struct ControlGroup: Equatable, Sendable {
  /// The path of the group, such as /system.slice/hike.service.
  let path: Substring

  /// Returns nil if the text lacks that line.
  init?(_ text: String) {
    guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix("0::") }) else { return nil }
    path = line.dropFirst(3)
  }

  /// The services and scopes on the path, the outermost first; empty if the outermost one is not contained only in
  /// slices. The system's service manager creates the groups of its units in slices (systemd.slice(5)). A container has
  /// a group with another name, and chooses the names below it freely: /lxc.payload.box/system.slice/hike.service is
  /// not the system's hike.service.
  var units: [String] {
    let parts = path.split(separator: "/")
    guard path.hasPrefix("/"), let first = parts.firstIndex(where: Self.isUnit), first > 0,
      parts[..<first].allSatisfy({ $0.hasSuffix(".slice") && $0 != ".slice" })
    else { return [] }
    return parts[first...].filter(Self.isUnit).map(String.init)
  }

  /// The unit of the system's service manager: the outermost service or scope. Users choose the names of the groups
  /// below it: a unit hike.service of a user's manager is not the system's.
  var systemUnit: String? { units.first }

  private static func isUnit(_ name: Substring) -> Bool { name.hasSuffix(".service") || name.hasSuffix(".scope") }
}
