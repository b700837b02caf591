// SPDX-License-Identifier: Apache-2.0

import LinuxIO
import Positioning
import SystemPackage
import WireBytes

/// The program at the other end of a connection, according to the kernel.
struct Peer: Equatable, Sendable {
  let credentials: PeerCredentials
  private let program: PeerExecutable
  /// The process's unit of the system's service manager, such as hike.service; nil outside a unit.
  let unit: ExactText?
  /// Its unit of the system's or its user's service manager, which can start it again.
  let launchUnit: LaunchUnit?
  /// Its control group; nil if it is unknown.
  let group: ControlGroup?
  /// The start time of the process (``ProcessStat``).
  let start: UInt64?

  /// Reads the kernel's data about the process that has connected. If the process has ended, nothing is known: its id
  /// may belong to another process.
  init(_ socket: borrowing UnixSocket, _ credentials: PeerCredentials) {
    let process = socket.peerProcess()
    let peer = Peer(credentials)
    switch process {
    case .some(let process) where process.isRunning != false && peer.isStillThere: self = peer
    default: self.init(credentials, .unknown(.hidden))
    }
  }

  /// Reads the kernel's data about a process with a given id.
  init(_ credentials: PeerCredentials) {
    let start = ProcessStat(process: credentials.process)?.start
    let group = AttributeFile.read("/proc/\(credentials.process)/cgroup").flatMap { ControlGroup($0) }
    self.init(
      credentials, PeerExecutable(ofProcess: credentials.process), unit: group?.systemUnit,
      launchUnit: group.flatMap { LaunchUnit($0, user: credentials.user) }, group: group, start: start)
  }

  init(
    _ credentials: PeerCredentials, executable: ExactText?, file: FileLookup.Identity? = nil, unit: ExactText?,
    launchUnit: LaunchUnit? = nil
  ) {
    let program = executable.map { PeerExecutable.known(path: $0, file: file) } ?? .unknown(.hidden)
    self.init(credentials, program, unit: unit, launchUnit: launchUnit)
  }

  init(
    _ credentials: PeerCredentials, _ program: PeerExecutable, unit: ExactText? = nil, launchUnit: LaunchUnit? = nil,
    group: ControlGroup? = nil, start: UInt64? = nil
  ) {
    self.credentials = credentials
    self.program = program
    self.unit = unit
    self.launchUnit = launchUnit
    self.group = group
    self.start = start
  }

  /// The path of its executable on the host; nil if it is not known.
  var executable: ExactText? { program.path }

  /// The reason why its executable is unknown; nil if it is known.
  var reason: PeerExecutable.Reason? { program.reason }

  /// The same process without a known executable.
  func withoutExecutable(_ reason: PeerExecutable.Reason) -> Peer {
    Peer(credentials, .unknown(reason), unit: unit, launchUnit: launchUnit, group: group, start: start)
  }

  /// The name of the executable without its folder, or the name of the process.
  var executableName: String {
    executable.map { ProgramLabel.text(String(ProgramIdentity.fileName($0.text))) } ?? "process-\(credentials.process)"
  }

  /// Whether the process now executes a different program from the one that connected (execve(2)). False if the process
  /// has ended: it sent its own messages.
  var executesAnotherProgram: Bool {
    guard let file = program.file, let present = FileLookup.identity("/proc/\(credentials.process)/exe") else {
      return false
    }
    return present != file && isStillThere
  }

  /// Whether the process runs, and executes the program that it executed when it was looked up.
  var executesSameProgram: Bool {
    guard let file = program.file else { return false }
    return FileLookup.identity("/proc/\(credentials.process)/exe") == file && isStillThere
  }

  /// Whether the process id still belongs to the same process.
  private var isStillThere: Bool { stat != nil }

  /// The current state of the process; nil if it has ended.
  private var stat: ProcessStat? {
    guard let stat = ProcessStat(process: credentials.process), start == nil || stat.start == start else { return nil }
    return stat
  }

  /// Returns the unit of a process from the content of /proc/PID/cgroup.
  static func unit(inCgroup text: String) -> ExactText? { ControlGroup(text)?.systemUnit }

  /// Whether the process is currently in the foreground of its controlling terminal.
  var applicationState: ApplicationState { stat?.isInForeground == true ? .foreground : .background }

  /// Whether the process has a controlling terminal.
  var hasTerminal: Bool { stat?.hasTerminal == true }

  /// Its ancestor processes, the nearest first.
  var ancestors: [Int32] { parents.map(\.process) }

  private struct Parent {
    var process: Int32
    /// Nil for a process that has ended.
    var stat: ProcessStat?

    /// Whether the process adopts orphaned processes: process 1 and the service managers of users
    /// (PR_SET_CHILD_SUBREAPER in prctl(2)).
    var isReaper: Bool { process == 1 || stat?.name == "systemd" }
  }

  /// The largest number of ancestors that are read. It ends a chain whose process ids are reused during the search.
  static let ancestorLimit = 64

  private var parents: [Parent] {
    var found: [Parent] = []
    var process = stat
    while found.count < Self.ancestorLimit, let number = process?.parent, number > 0 {
      process = ProcessStat(process: number)
      found.append(Parent(process: number, stat: process))
    }
    return found
  }

  /// The program as one that answers questions.
  var answerer: PermissionQuestions.Answerer {
    let parents = parents
    let chain = [stat] + parents.map(\.stat)
    // The child of a reaper was started by the reaper, or by a process that has ended. A process from outside of a container
    // has the parent 0. Any other chain is longer than the limit, or a process of it has ended meanwhile: a program can
    // arrange both.
    let reaped = parents.firstIndex(where: \.isReaper)
    let detached = reaped == nil && chain.last??.parent == 0 ? nil : reaped.flatMap { chain[$0]?.start } ?? .max
    return PermissionQuestions.Answerer(
      user: credentials.user, process: credentials.process, executable: executable, ancestors: parents.map(\.process),
      ancestorExecutables: parents.compactMap { executable(of: $0.process) }, detachedStart: detached, group: group)
  }

  /// The executable of a process of the same user; nil for one of another user.
  private func executable(of process: Int32) -> ExactText? {
    let folder = "/proc/\(process)"
    guard (try? Syscalls.status(ofPath: folder))?.owner == credentials.user else { return nil }
    return (try? Syscalls.target(ofLink: "\(folder)/exe")).map { ExactText($0) }
  }

  /// Returns a number of /proc/PID/stat (``ProcessStat``).
  static func field(_ number: Int, ofStat text: String) -> Int32? { ProcessStat(text)?.field(number) }

  /// Returns whether the process group is the terminal's foreground group, from the content of /proc/PID/stat.
  static func isInForeground(stat text: String) -> Bool { ProcessStat(text)?.isInForeground == true }
}

/// The control group of a process in the hierarchy of the host: the line `0::` of /proc/PID/cgroup (cgroups(7)).
struct ControlGroup: Equatable, Sendable {
  /// The path of the group, such as /system.slice/hike.service.
  let path: ExactText

  /// Returns nil if the text lacks that line.
  init?(_ text: String) {
    guard let path = text.parts(at: "\n").lazy.compactMap({ $0.after("0::") }).first else { return nil }
    self.path = ExactText(path)
  }

  /// The services and scopes on the path, the outermost first; empty if the outermost one is not contained only in
  /// slices. The system's service manager creates the groups of its units in slices (systemd.slice(5)). A container has
  /// a group with another name, and chooses the names below it freely: /lxc.payload.box/system.slice/hike.service is
  /// not the system's hike.service.
  var units: [ExactText] {
    let parts = path.text.parts(at: "/")
    guard path.text.begins(with: "/"), let first = parts.firstIndex(where: Self.isUnit), first > 0,
      parts[..<first].allSatisfy({ $0.ends(with: ".slice") && $0.utf8.count > ".slice".utf8.count })
    else { return [] }
    return parts[first...].filter(Self.isUnit).map { ExactText($0) }
  }

  /// The unit of the system's service manager: the outermost service or scope. Users choose the names of the groups
  /// below it: a unit hike.service of a user's manager is not the system's.
  var systemUnit: ExactText? { units.first }

  /// The unit, or the path of the group on a machine without units: no user moves a process to another one.
  var ofSystem: ExactText { systemUnit ?? path }

  private static func isUnit(_ name: Substring) -> Bool { name.ends(with: ".service") || name.ends(with: ".scope") }
}

/// The content of /proc/PID/stat (proc(5)).
struct ProcessStat: Equatable, Sendable {
  /// The name of the process's program, as it states it; the kernel truncates it to 15 bytes.
  let name: ExactText
  /// The fields after the name.
  private let fields: [Substring]

  /// Returns nil for a text of another form.
  init?(_ text: String) {
    // A process chooses the bytes of its name, also spaces and parentheses.
    guard let start = text.position(of: "("), let end = text.lastPosition(of: ")"), start < end else { return nil }
    name = ExactText(text[text.utf8.index(after: start)..<end])
    fields = text[text.utf8.index(after: end)...].parts(at: " ")
  }

  /// The current state of a process; nil if it does not exist.
  init?(process: Int32) {
    guard let text = AttributeFile.read("/proc/\(process)/stat") else { return nil }
    self.init(text)
  }

  /// Returns the number in a field, 3 or above; fields count from 1.
  func field<Number: FixedWidthInteger>(_ number: Int) -> Number? {
    fields.indices.contains(number - 3) ? Number(fields[number - 3]) : nil
  }

  var parent: Int32? { field(4) }
  /// Whether it has a controlling terminal.
  var hasTerminal: Bool { field(7) ?? 0 != 0 }
  /// The time of the process's start in clock ticks since the start of the computer. It distinguishes processes that
  /// reuse the same id.
  var start: UInt64? { field(22) }

  /// Whether the process group is the terminal's foreground group.
  var isInForeground: Bool {
    guard let group: Int32 = field(5), let foreground: Int32 = field(8) else { return false }
    return foreground > 0 && group == foreground
  }
}

/// The executable of a process, from the service's point of view.
enum PeerExecutable: Equatable, Sendable {
  /// A file at a path on the host.
  case known(path: ExactText, file: FileLookup.Identity?)
  case unknown(Reason)

  /// The reason why the executable of a program is unknown.
  enum Reason: Hashable, Sendable {
    /// The process is in another user or mount namespace, where the path may refer to another file, or its connection is
    /// in another network namespace, where the kernel does not show who has opened it.
    case namespace
    /// The process has ended, or is hidden from the service.
    case hidden
    /// The file was deleted or replaced since the start of the process.
    case replaced
    /// The connection may have been opened by another program.
    case connection
    /// The process has so many descriptors that its connection was not found among them.
    case descriptors

    /// The reason as text, and the remedy for an administrator or the user.
    func text(unit: ExactText?) -> String {
      let grant = unit.map { "permit its unit with `grant \($0) always` in /etc/sextant/policy" }
      let advice: String
      switch self {
      case .namespace:
        advice =
          "it runs in a namespace of its own; \(grant ?? "run it outside the sandbox, or as a unit of the system with a grant")"
      case .hidden: advice = "its executable cannot be read; \(grant ?? "run it as a unit of the system with a grant")"
      case .replaced: advice = "its executable was replaced since its start; start it again"
      case .descriptors:
        advice =
          "its connection was not found among its open descriptors; open it before the others, or "
          + (grant ?? "run it as a unit of the system with a grant")
      case .connection:
        advice =
          "another program may have opened its connection; open it in this program, with SOCK_CLOEXEC (socket(2)), or "
          + (grant ?? "run it as a unit of the system with a grant")
      }
      return advice
    }
  }

  var path: ExactText? { if case .known(let path, _) = self { path } else { nil } }
  var file: FileLookup.Identity? { if case .known(_, let file) = self { file } else { nil } }
  var reason: Reason? { if case .unknown(let reason) = self { reason } else { nil } }

  /// Reads the executable of a process: proc(5), /proc/PID/exe.
  init(ofProcess process: Int32) {
    let folder = "/proc/\(process)"
    let namespaces = Namespaces(folder)
    guard let file = FileLookup.identity("\(folder)/exe"), let path = try? Syscalls.target(ofLink: "\(folder)/exe")
    else {
      self = .unknown(.hidden)
      return
    }
    var found = Visible.file(file)
    do throws(Errno) {
      found = try FileLookup.identity(ofFileAt: path).map(Visible.file) ?? .absent
    } catch { found = .concealed }
    self = Self.judged(path, file, found, namespaces, own: .own, host: .host)
  }

  /// The file at a path in the service's namespace.
  enum Visible: Equatable, Sendable {
    case file(FileLookup.Identity), absent
    /// The service lacks permission to look it up.
    case concealed
  }

  /// Returns the executable if its path is valid on the host.
  ///
  /// The kernel reports the path in the process's mount namespace. If that is the namespace of the host (process 1) or
  /// of the service, the path is valid on the host. In the sandbox of the unit the service does not see all files of
  /// the host, such as those in /home; but a file that it sees at the path must be the same one. If the namespace of
  /// process 1 cannot be read, the path is accepted only if the service sees the same file there.
  static func judged(
    _ path: String, _ file: FileLookup.Identity, _ found: Visible, _ process: Namespaces, own: Namespaces,
    host: Namespaces
  ) -> PeerExecutable {
    guard let user = process.user, let mount = process.mount else { return .unknown(.hidden) }
    guard user == own.user, mount == own.mount || mount == host.mount || host.mount == nil else {
      return .unknown(.namespace)
    }
    // The path of a deleted file ends with this, and the path of an existing file may too.
    if path.ends(with: " (deleted)") || !path.begins(with: "/") || path.includes("\u{FFFD}") {
      return .unknown(.replaced)
    }
    let known = PeerExecutable.known(path: ExactText(path), file: file)
    switch found {
    case .file(file): return known
    case .file: return .unknown(mount == own.mount ? .replaced : .namespace)
    case .absent where mount == own.mount: return .unknown(.replaced)
    case .absent, .concealed:
      return mount == own.mount || mount == host.mount ? known : .unknown(.namespace)
    }
  }
}

/// The user and mount namespaces of a process (namespaces(7)); nil if they cannot be read.
struct Namespaces: Equatable, Sendable {
  var user: String?
  var mount: String?

  init(user: String?, mount: String?) {
    self.user = user
    self.mount = mount
  }

  /// - Parameter folder: the folder of the process in /proc.
  init(_ folder: String) {
    user = try? Syscalls.target(ofLink: "\(folder)/ns/user")
    mount = try? Syscalls.target(ofLink: "\(folder)/ns/mnt")
  }

  /// The namespaces of the service and of process 1.
  static let own = Namespaces("/proc/self")
  static let host = Namespaces("/proc/1")
}
