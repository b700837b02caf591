// SPDX-License-Identifier: Apache-2.0
import Glibc
import LocationService
import Testing
import WireBytes

@testable import LinuxIO
@testable import sextantd

@Suite("The identity of a program, and what it states about itself")
struct IdentityTests {
  private static let file = FileLookup.identity("/bin/sh")!
  private static let other = FileLookup.identity("/etc/passwd")!
  private static let host = Namespaces(user: "user:[1]", mount: "mnt:[1]")
  /// The sandbox of the unit.
  private static let unit = Namespaces(user: "user:[1]", mount: "mnt:[2]")

  private static func judged(
    _ found: PeerExecutable.Visible, _ process: Namespaces = host, own: Namespaces = unit, host: Namespaces = host,
    path: String = "/usr/bin/hike"
  ) -> PeerExecutable {
    .judged(path, file, found, process, own: own, host: host)
  }

  @Test(
    "An executable counts if the process is in the namespaces of the host, and the service sees no other file there")
  func host() {
    let known = PeerExecutable.known(path: "/usr/bin/hike", file: Self.file)
    #expect(Self.judged(.file(Self.file)) == known)
    // In the sandbox the service does not see the files of /home and /tmp.
    #expect(Self.judged(.concealed) == known && Self.judged(.absent) == known)
    #expect(Self.judged(.file(Self.other)) == .unknown(.namespace))
    #expect(Self.judged(.file(Self.file), own: Self.host) == known && Self.judged(.concealed, own: Self.host) == known)
    #expect(Self.judged(.absent, own: Self.host) == .unknown(.replaced))
    #expect(Self.judged(.file(Self.other), own: Self.host) == .unknown(.replaced))
  }

  @Test("An executable in another user or mount namespace is not known, as its user may mount another file at its path")
  func namespaces() {
    for process in [
      Namespaces(user: "user:[7]", mount: "mnt:[1]"), Namespaces(user: "user:[7]", mount: "mnt:[7]"),
      Namespaces(user: "user:[1]", mount: "mnt:[7]"),
    ] {
      for found in [PeerExecutable.Visible.file(Self.file), .file(Self.other), .absent, .concealed] {
        #expect(Self.judged(found, process) == .unknown(.namespace), "\(process) \(found)")
      }
    }
    for process in [Namespaces(user: nil, mount: "mnt:[1]"), Namespaces(user: "user:[1]", mount: nil)] {
      #expect(Self.judged(.file(Self.file), process) == .unknown(.hidden))
    }
  }

  @Test("Where process 1 is hidden, the service has to see the same file at the path")
  func hiddenHost() {
    let hidden = Namespaces(user: nil, mount: nil)
    #expect(Self.judged(.file(Self.file), host: hidden) == .known(path: "/usr/bin/hike", file: Self.file))
    for found in [PeerExecutable.Visible.file(Self.other), .absent, .concealed] {
      #expect(Self.judged(found, host: hidden) == .unknown(.namespace), "\(found)")
    }
  }

  @Test(
    "A file that was deleted is not the one that is at its path now",
    arguments: [
      "/usr/bin/hike (deleted)", "hike", "/a\u{FFFD}", "/usr/bin/hike\u{600} (deleted)", "/a\u{FFFD}\u{301}",
    ])
  func deleted(path: String) {
    #expect(Self.judged(.concealed, path: path) == .unknown(.replaced))
    #expect(Self.judged(.file(Self.file), path: path) == .unknown(.replaced))
  }

  @Test("Each reason has a line that says what helps; a unit of the system can have a grant")
  func reasons() {
    for reason in [PeerExecutable.Reason.namespace, .hidden, .descriptors] {
      #expect(reason.text(unit: "hike.service").contains("grant hike.service always"))
      #expect(!reason.text(unit: nil).contains("nil"))
    }
    #expect(PeerExecutable.Reason.replaced.text(unit: nil).contains("start it again"))
    #expect(PeerExecutable.Reason.connection.text(unit: nil).contains("SOCK_CLOEXEC"))
  }

  @Test("A group counts as a unit's only below slices: a container names its groups as it likes (cgroups(7))")
  func groups() {
    for (path, unit) in [
      ("/system.slice/hike.service", "hike.service"), ("/a.slice/a-b.slice/hike.service/x/y.service", "hike.service"),
      ("/machine.slice/libpod-7.scope/system.slice/hike.service", "libpod-7.scope"),
    ] as [(String, ExactText)] {
      #expect(Peer.unit(inCgroup: "0::\(path)\n") == unit)
    }
    for path in [
      "/lxc.payload.box/system.slice/hike.service", "/docker/0123/system.slice/hike.service", "/hike.service",
      "/../system.slice/hike.service", "/system.slice/box/hike.service", "/.slice/hike.service", "hike.service",
      "/system.slice/hike.service.d", "/user/hike.service",
    ] {
      #expect(Peer.unit(inCgroup: "0::\(path)\n") == nil, "\(path)")
      #expect(LaunchUnit(inCgroup: "0::\(path)\n", user: 1000) == nil, "\(path)")
    }
  }

  @Test("The names of a user's groups are bytes: no character of them hides a slash, and so the user's manager")
  func groupsOfUsers() {
    let users = "user.slice/user-1000.slice/user@1000.service"
    for odd in ["\u{301}", "\u{600}", "\u{200D}", "\r", "e\u{301}", "\u{1F3FB}", "\u{FFFD}"] {
      for path in [
        "/\(users)/\(odd)x.slice/hike.service", "/\(users)/x\(odd)/hike.service",
        "/\(users)/\(odd)/\(odd).slice/hike.service",
      ] {
        #expect(Peer.unit(inCgroup: "0::\(path)\n") == "user@1000.service", "\(path.debugDescription)")
        #expect(LaunchUnit(inCgroup: "0::\(path)\n", user: 1001) == nil, "\(path.debugDescription)")
        if let unit = LaunchUnit(inCgroup: "0::\(path)\n", user: 1000) { #expect(unit == .user("hike.service")) }
      }
    }
  }

  @Test("Executables and names that differ in their bytes are different programs, though they are equal as text")
  func exactNames() {
    let pairs: [(ExactText, ExactText)] = [
      ("/home/a/caf\u{E9}", "/home/a/cafe\u{301}"), ("/opt/\u{212A}", "/opt/K"),
      ("/opt/\u{1100}\u{1161}", "/opt/\u{AC00}"),
    ]
    for (one, other) in pairs {
      #expect(one.text == other.text && one != other && Set([one, other]).count == 2)
      #expect(ProgramIdentity.executable(one) != .executable(other))
      let policy = DaemonPolicy(LocationPolicy(parsing: "grant \(one) always\nlaunch \(one)\n"))
      #expect(policy.grant(unit: nil, executable: one) == .authorizedAlways && policy.hasGrant(ofUnit: one))
      #expect(policy.grant(unit: other, executable: other) == nil && !policy.hasGrant(ofUnit: other))
      #expect(policy.mayLaunch(one.text) && !policy.mayLaunch(other.text))
      #expect(Launcher.Key(user: 1, name: one) != .init(user: 1, name: other))
      #expect(PermissionQuestions.Asker.refused(name: one, user: 1) != .refused(name: other, user: 1))
      // The one is a program of its own for the other, which may answer.
      let program = PermissionQuestions.Program(name: one, user: 1000, process: 70, executable: one)
      #expect(
        PermissionQuestions.refusal(of: .init(user: 1000, process: 90, executable: other), for: program) == nil)
    }
    // A folder whose name ends with a prepended character.
    let odd = ProgramIdentity.executable("/home/a/x\u{600}/spy")
    #expect(odd.name == "spy@/home/a/x\u{600}/spy" && ProgramIdentity(name: odd.name) == odd)
  }

  @Test("The name in the store is made of the executable alone, and no other text is one")
  func names() {
    let hike = ProgramIdentity.executable("/usr/bin/hike")
    #expect(hike.name == "hike@/usr/bin/hike" && ProgramIdentity(name: hike.name) == hike)
    let odd = ProgramIdentity.executable("/home/a@b/c@d")
    #expect(ProgramIdentity(name: odd.name) == odd)
    for name in [
      "hike", "hike@", "@", "", "hike@hike", "other@/usr/bin/hike", "a@b@/usr/bin/hike",
      "hike@/usr/bin/hike@/home/x/evil",
      "hike.service@unit", "@/usr/bin/hike",
    ] as [ExactText] {
      #expect(ProgramIdentity(name: name) == nil, "\(name)")
    }
    #expect(ProgramIdentity.isStoredName(ProgramIdentity.unit("hike.service").name))
    #expect(!ProgramIdentity.isStoredName("a/b@unit") && !ProgramIdentity.isStoredName("hike@"))
  }

  @Test("A stated name is a label of bounded length without control characters and separators")
  func labels() {
    #expect(ProgramLabel.text("org.example.Hike 2") == "org.example.Hike 2")
    #expect(ProgramLabel.text("a@b/c%") == "a%40b%2Fc%25")
    #expect(ProgramLabel.text("a\n\u{1B}[2J\u{202E}") == "a%0A%1B[2J%E2%80%AE")
    #expect(ProgramLabel.text(String(repeating: "é", count: 60_000)).utf8.count == ProgramLabel.limit)
    #expect(ProgramLabel.text(String(repeating: "\n", count: 60_000)).utf8.count <= ProgramLabel.limit)
    #expect(ProgramLabel.text("") == "")
    #expect(
      ProgramLabel.reason("to show\nhike@/usr/bin/hike  authorizedAlways")
        == "to show\\u000ahike@/usr/bin/hike  authorizedAlways")
    #expect(ProgramLabel.reason(String(repeating: "\u{1B}", count: 60_000)).count < 300)
  }

  @Test("A descriptor that is closed on exec was opened by the present program (proc(5), fdinfo)")
  func descriptors() {
    let text = "pos:\t0\nflags:\t02000002\nmnt_id:\t10\nino:\t107968\nscm_fds: 0\n"
    #expect(DescriptorInformation(text)?.inode == 107_968)
    #expect(DescriptorInformation(text)?.isClosedOnExec == true)
    #expect(DescriptorInformation(text.replacing("02000002", with: "02"))?.isClosedOnExec == false)
    // Before Linux 5.14.
    #expect(DescriptorInformation("pos:\t0\nflags:\t02\nmnt_id:\t10\n") == nil)
    #expect(DescriptorInformation("") == nil && DescriptorInformation("ino:\tx\nflags:\t02\n") == nil)
  }

  @Test("A connection is sought among the first and the last of many descriptors")
  func manyDescriptors() {
    let limit = Int32(OpenedConnection.descriptorLimit)
    for count in [1, limit / 2 + 1, limit] {
      #expect(Array(OpenedConnection.checked(Array(0..<count))) == Array(0..<count))
    }
    let some = OpenedConnection.checked(Array(0..<9 * limit))
    #expect(Array(some) == Array(0..<limit / 2) + Array(9 * limit - limit / 2..<9 * limit))
  }

  @Test("The ends of a connection have the form of /proc/net/tcp and tcp6")
  func ends() {
    let loopback = InternetEnd(address: [127, 0, 0, 1], port: 2947)
    #expect(loopback.version4 == "0100007F:0B83")
    #expect(loopback.version6 == "0000000000000000FFFF00000100007F:0B83")
    #expect(InternetEnd(address: [127, 0, 0, 2], port: 2947).version4 == "0200007F:0B83")
    let version6 = InternetEnd(address: Array(repeating: 0, count: 15) + [1], port: 54321)
    #expect(version6.version4 == nil && version6.version6 == "00000000000000000000000001000000:D431")
    #expect(InternetEnd(address: Array(repeating: 0, count: 10) + [255, 255, 127, 0, 0, 1], port: 2947) == loopback)
  }

  @Test(
    "A process that its parent has left is a descendant if it is younger, unless a service manager has put it elsewhere"
  )
  func detached() {
    let hike = PermissionQuestions.Program(
      name: "hike@/hike", user: 1000, process: 70, executable: "/hike", start: 500,
      group: ControlGroup("0::/user.slice/session-1.scope"))
    func answerer(_ start: UInt64?, _ group: ControlGroup?) -> PermissionQuestions.Answerer {
      .init(
        user: 1000, process: 90, executable: "/usr/bin/sextant", ancestors: [80, 1], detachedStart: start, group: group)
    }
    // A login shell is older.
    #expect(PermissionQuestions.refusal(of: answerer(499, hike.group), for: hike) == nil)
    #expect(PermissionQuestions.refusal(of: answerer(500, hike.group), for: hike) != nil)
    #expect(PermissionQuestions.refusal(of: answerer(900, hike.group), for: hike) != nil)
    // A later login, and a desktop's program.
    #expect(
      PermissionQuestions.refusal(of: answerer(900, ControlGroup("0::/user.slice/session-2.scope")), for: hike) == nil)
    #expect(PermissionQuestions.refusal(of: answerer(nil, nil), for: hike) == nil)
    // Another process of the same executable has started it.
    var child = answerer(499, hike.group)
    child.ancestorExecutables = ["/usr/bin/bash", "/hike"]
    #expect(PermissionQuestions.refusal(of: child, for: hike) != nil)
    // Below the user's service manager, a program moves its children to groups that it makes.
    let users = "0::/user.slice/user-1000.slice/user@1000.service"
    var unit = hike
    unit.group = ControlGroup("\(users)/app.slice/hike.service")
    for group in ["/mine.scope", "/app.slice/other.service", "", "/app.slice/hike.service/x"] {
      #expect(PermissionQuestions.refusal(of: answerer(500, ControlGroup(users + group)), for: unit) == .mayBeOwn)
      #expect(PermissionQuestions.refusal(of: answerer(499, ControlGroup(users + group)), for: unit) == nil)
    }
    #expect(PermissionQuestions.refusal(of: answerer(900, hike.group), for: unit) == nil)
    // A machine without units.
    unit.group = ControlGroup("0::/3")
    #expect(PermissionQuestions.refusal(of: answerer(900, ControlGroup("0::/4")), for: unit) == nil)
    #expect(PermissionQuestions.refusal(of: answerer(900, ControlGroup("0::/3")), for: unit) == .mayBeOwn)
    // Ancestors that are not all known.
    #expect(PermissionQuestions.refusal(of: answerer(.max, hike.group), for: hike) == .mayBeOwn)
  }
}
