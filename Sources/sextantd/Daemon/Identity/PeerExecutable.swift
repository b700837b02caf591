// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import SystemPackage

/// The executable of a process, from the service's point of view.
enum PeerExecutable: Equatable, Sendable {
  /// A file at a path on the host.
  case known(path: String, file: FileLookup.Identity?)
  case unknown(Reason)

  /// The reason why the executable of a program is unknown.
  enum Reason: Hashable, Sendable {
    /// The process is in another user or mount namespace, where the path may refer to another file.
    case namespace
    /// The process has ended, or is hidden from the service.
    case hidden
    /// The file was deleted or replaced since the start of the process.
    case replaced
    /// The connection may have been opened by another program.
    case connection

    /// The reason as text, and the remedy for an administrator or the user.
    func text(unit: String?) -> String {
      let grant = unit.map { "permit its unit with `grant \($0) always` in /etc/sextant/policy" }
      let advice: String
      switch self {
      case .namespace:
        advice =
          "it runs in a namespace of its own; \(grant ?? "run it outside the sandbox, or as a unit of the system with a grant")"
      case .hidden: advice = "its executable cannot be read; \(grant ?? "run it as a unit of the system with a grant")"
      case .replaced: advice = "its executable was replaced since its start; start it again"
      case .connection:
        advice =
          "another program may have opened its connection; open it in this program, with SOCK_CLOEXEC (socket(2)), or "
          + (grant ?? "run it as a unit of the system with a grant")
      }
      return advice
    }
  }

  var path: String? { if case .known(let path, _) = self { path } else { nil } }
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
    if path.hasSuffix(" (deleted)") || !path.hasPrefix("/") || path.contains("\u{FFFD}") { return .unknown(.replaced) }
    switch found {
    case .file(file): return .known(path: path, file: file)
    case .file: return .unknown(mount == own.mount ? .replaced : .namespace)
    case .absent where mount == own.mount: return .unknown(.replaced)
    case .absent, .concealed:
      return mount == own.mount || mount == host.mount ? .known(path: path, file: file) : .unknown(.namespace)
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
