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
  /// The file of its executable, which an update of the program does not change.
  private let file: FileLookup.Identity?
  /// Its unit of the system's service manager, such as hike.service; nil outside a unit.
  let unit: String?
  /// Its unit of the system's or its user's service manager, which can start it again.
  let launchUnit: LaunchUnit?

  init(_ credentials: PeerCredentials) {
    let folder = "/proc/\(credentials.process)"
    let isAtHome = Self.userNamespace(of: folder).map { $0 == Self.userNamespace(of: "/proc/self") } ?? false
    let groups = AttributeFile.read("\(folder)/cgroup")
    self.init(
      credentials, executable: isAtHome ? try? Syscalls.target(ofLink: "\(folder)/exe") : nil,
      file: isAtHome ? FileLookup.identity("\(folder)/exe") : nil, unit: groups.flatMap { Self.unit(inCgroup: $0) },
      launchUnit: groups.flatMap { LaunchUnit(inCgroup: $0, user: credentials.user) })
  }

  init(
    _ credentials: PeerCredentials, executable: String?, file: FileLookup.Identity? = nil, unit: String?,
    launchUnit: LaunchUnit? = nil
  ) {
    self.credentials = credentials
    self.executable = executable
    self.file = file
    self.unit = unit
    self.launchUnit = launchUnit
  }

  /// The name of the executable without its folder, or of the process.
  var executableName: String {
    executable.flatMap { $0.split(separator: "/").last }.map(String.init) ?? "process-\(credentials.process)"
  }

  /// Whether the process executes another program now than the one that connected (execve(2)). A process that is gone does not:
  /// what it has sent is its own.
  var executesAnotherProgram: Bool {
    guard let file, let present = FileLookup.identity("/proc/\(credentials.process)/exe") else { return false }
    return present != file
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

  /// Whether the process has a controlling terminal: field 7 of /proc/PID/stat (proc(5)).
  var hasTerminal: Bool {
    guard let text = AttributeFile.read("/proc/\(credentials.process)/stat") else { return false }
    return Self.field(7, ofStat: text) ?? 0 != 0
  }

  /// The processes that have started it, the nearest first.
  var ancestors: [Int32] {
    var found: [Int32] = []
    var process = credentials.process
    // The limit ends a chain whose numbers are used again meanwhile.
    while found.count < 64, let text = AttributeFile.read("/proc/\(process)/stat"),
      let parent = Self.field(4, ofStat: text), parent > 0
    {
      found.append(parent)
      process = parent
    }
    return found
  }

  /// The program as one that answers questions.
  var answerer: PermissionQuestions.Answerer {
    PermissionQuestions.Answerer(
      user: credentials.user, process: credentials.process, executable: executable, ancestors: ancestors)
  }

  /// Returns a number of /proc/PID/stat (proc(5)), whose fields count from 1, from the third one on.
  static func field(_ number: Int, ofStat text: String) -> Int32? {
    guard let end = text.lastIndex(of: ")") else { return nil }
    let fields = text[text.index(after: end)...].split(separator: " ")
    return fields.indices.contains(number - 3) ? Int32(fields[number - 3]) : nil
  }

  /// Returns whether the process group is that of the terminal's foreground, by the content of /proc/PID/stat (proc(5)): fields 5
  /// and 8, which follow the name in parentheses.
  static func isInForeground(stat text: String) -> Bool {
    guard let group = field(5, ofStat: text), let foreground = field(8, ofStat: text) else { return false }
    return foreground > 0 && group == foreground
  }
}
