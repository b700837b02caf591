// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import Positioning

/// The program at the other end of a connection, according to the kernel.
struct Peer: Equatable, Sendable {
  let credentials: PeerCredentials
  private let program: PeerExecutable
  /// The process's unit of the system's service manager, such as hike.service; nil outside a unit.
  let unit: String?
  /// Its unit of the system's or its user's service manager, which can start it again.
  let launchUnit: LaunchUnit?
  /// The path of its control group; nil if it is unknown.
  let group: String?
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
      launchUnit: group.flatMap { LaunchUnit($0, user: credentials.user) }, group: group.map { String($0.path) },
      start: start)
  }

  init(
    _ credentials: PeerCredentials, executable: String?, file: FileLookup.Identity? = nil, unit: String?,
    launchUnit: LaunchUnit? = nil
  ) {
    let program = executable.map { PeerExecutable.known(path: $0, file: file) } ?? .unknown(.hidden)
    self.init(credentials, program, unit: unit, launchUnit: launchUnit)
  }

  init(
    _ credentials: PeerCredentials, _ program: PeerExecutable, unit: String? = nil, launchUnit: LaunchUnit? = nil,
    group: String? = nil, start: UInt64? = nil
  ) {
    self.credentials = credentials
    self.program = program
    self.unit = unit
    self.launchUnit = launchUnit
    self.group = group
    self.start = start
  }

  /// The path of its executable on the host; nil if it is not known.
  var executable: String? { program.path }

  /// The reason why its executable is unknown; nil if it is known.
  var reason: PeerExecutable.Reason? { program.reason }

  /// The same process without a known executable, because another program may have opened its connection.
  func withoutExecutable() -> Peer {
    Peer(credentials, .unknown(.connection), unit: unit, launchUnit: launchUnit, group: group, start: start)
  }

  /// The name of the executable without its folder, or the name of the process.
  var executableName: String {
    executable.map { ProgramLabel.text(String(ProgramIdentity.fileName($0))) } ?? "process-\(credentials.process)"
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
  static func unit(inCgroup text: String) -> String? { ControlGroup(text)?.systemUnit }

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

  private var parents: [Parent] {
    var found: [Parent] = []
    var process = stat
    // The limit ends a chain whose process ids are reused during the search.
    while found.count < 64, let number = process?.parent, number > 0 {
      process = ProcessStat(process: number)
      found.append(Parent(process: number, stat: process))
    }
    return found
  }

  /// The program as one that answers questions.
  var answerer: PermissionQuestions.Answerer {
    let parents = parents
    let chain = [stat] + parents.map(\.stat)
    // The child of a reaper was started by the reaper, or by a process that has ended.
    let detached = parents.firstIndex(where: \.isReaper).flatMap { chain[$0]?.start }
    return PermissionQuestions.Answerer(
      user: credentials.user, process: credentials.process, executable: executable, ancestors: parents.map(\.process),
      ancestorExecutables: parents.compactMap { executable(of: $0.process) }, detachedStart: detached, group: group)
  }

  /// The executable of a process of the same user; nil for one of another user.
  private func executable(of process: Int32) -> String? {
    let folder = "/proc/\(process)"
    guard (try? Syscalls.status(ofPath: folder))?.owner == credentials.user else { return nil }
    return try? Syscalls.target(ofLink: "\(folder)/exe")
  }

  /// Returns a number of /proc/PID/stat (``ProcessStat``).
  static func field(_ number: Int, ofStat text: String) -> Int32? { ProcessStat(text)?.field(number) }

  /// Returns whether the process group is the terminal's foreground group, from the content of /proc/PID/stat.
  static func isInForeground(stat text: String) -> Bool { ProcessStat(text)?.isInForeground == true }
}
