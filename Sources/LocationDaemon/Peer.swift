// SPDX-License-Identifier: Apache-2.0
import EventLoop
import FileSystem
import Positioning

/// The program at the other end of a connection, as the kernel knows it.
struct Peer: Equatable, Sendable {
  let credentials: PeerCredentials
  /// The path of its executable; nil if the process is gone or hidden, or in a user namespace of its own, where its user may have
  /// mounted another file at that path.
  let executable: String?
  /// Its unit of the system's service manager, such as hike.service; nil outside a unit.
  let unit: String?

  init(_ credentials: PeerCredentials) {
    let folder = "/proc/\(credentials.process)"
    let isAtHome = Self.userNamespace(of: folder).map { $0 == Self.userNamespace(of: "/proc/self") } ?? false
    self.init(
      credentials, executable: isAtHome ? try? Syscalls.target(ofLink: "\(folder)/exe") : nil,
      unit: AttributeFile.read("\(folder)/cgroup").flatMap { Self.unit(inCgroup: $0) })
  }

  init(_ credentials: PeerCredentials, executable: String?, unit: String?) {
    self.credentials = credentials
    self.executable = executable
    self.unit = unit
  }

  /// The name of the executable without its folder, or of the process.
  var executableName: String {
    executable.flatMap { $0.split(separator: "/").last }.map(String.init) ?? "process-\(credentials.process)"
  }

  private static func userNamespace(of folder: String) -> String? { try? Syscalls.target(ofLink: "\(folder)/ns/user") }

  /// Returns the unit of a process: the outermost service or scope in the content of /proc/PID/cgroup (cgroups(7)). The groups below
  /// it have the names that their user gives them: a unit hike.service of a user manager is not the system's.
  static func unit(inCgroup text: String) -> String? {
    // 0::/system.slice/hike.service, 0::/user.slice/user-1000.slice/user@1000.service/app.slice/hike.service
    guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix("0::") }) else { return nil }
    let name = line.dropFirst(3).split(separator: "/").first { $0.hasSuffix(".service") || $0.hasSuffix(".scope") }
    return name.map(String.init)
  }

  /// Whether the process is in the foreground of its controlling terminal now.
  var applicationState: ApplicationState {
    guard let text = AttributeFile.read("/proc/\(credentials.process)/stat") else { return .background }
    return Self.isInForeground(stat: text) ? .foreground : .background
  }

  /// Returns whether the process group is that of the terminal's foreground, by the content of /proc/PID/stat (proc(5)): fields 5
  /// and 8, which follow the name in parentheses.
  static func isInForeground(stat text: String) -> Bool {
    guard let end = text.lastIndex(of: ")") else { return false }
    let fields = text[text.index(after: end)...].split(separator: " ")
    // The first field here is the third one, the state.
    guard fields.count > 5, let group = Int(fields[2]), let foreground = Int(fields[5]) else { return false }
    return foreground > 0 && group == foreground
  }
}
