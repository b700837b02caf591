// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemPackage
import TestSupport
import Testing
import WireBytes

@testable import LinuxIO
@testable import sextantd

@Suite("The program at the other end, as the kernel describes it")
struct PeerTests {
  @Test("The user of a connection over the loopback interface is the owner of its other end, while that is open")
  func internetPeer() {
    let table = """
        sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
         0: 0100007F:0B83 00000000:0000 0A 00000000:00000000 00:00000000 00000000   991        0 11 1 0 100 0 0 10 0
         1: 0100007F:0B83 0100007F:D431 01 00000000:00000000 00:00000000 00000000   991        0 12 1 0 20 4 30 10 -1
         2: 0100007F:D431 0100007F:0B83 01 00000000:00000000 00:00000000 00000000  1000        0 13 1 0 20 4 30 10 -1
         3: 0100007F:D432 0100007F:0B83 05 00000000:00000000 00:00000000 00000000     0        0 0 1 0 20 4 30 10 -1
         5: 0100007F:D435 0100007F:0B83 05 00000000:00000000 00:00000000 00000000  1000        0 14 1 0 20 4 30 10 -1
         4: 0100007F:D433 0100007F:0B83 01 00000000:00000000 00:00000000 00000000     0        0 0 1 0 20 4 30 10 -1
      """
    func user(_ port: String) -> UInt32? {
      InternetPeer.user(inTable: table, local: "0100007F:\(port)", remote: "0100007F:0B83")
    }
    #expect(user("D431") == 1000)
    #expect(user("D432") == nil)
    #expect(user("D433") == nil)
    #expect(user("D434") == nil)
    // Only shut down for writing.
    #expect(user("D435") == 1000)
  }

  @Test("The other end of a connection that it has closed is on this machine, and its user is unknown")
  func closedPeer() throws {
    let listener = UnixSocket(adopting: try InternetAddress.loopback(port: 0)[0].listen())
    let port = try #require(SocketName(of: listener.descriptor)?.port)
    for (end, expected) in [(nil, .user(geteuid())), (SHUT_WR, .user(geteuid()))] as [(Int?, InternetPeer)] {
      let client = try connect(port)
      guard let served = try listener.accept() else { throw Errno.wouldBlock }
      if let end { shutdown(client, Int32(end)) }
      #expect(InternetPeer(of: served.descriptor) == expected)
      close(client)
      #expect(InternetPeer(of: served.descriptor) == .unknownUser)
    }
  }

  private func connect(_ port: UInt16) throws -> Int32 {
    let client = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let code = unsafe withUnsafePointer(to: &address) {
      unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe Glibc.connect(client, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    #expect(code == 0)
    return client
  }

  @Test("A file is for users who may open it by its mode")
  func fileAccess() throws {
    let folder = try TemporaryFolder()
    let path = "\(folder.path)/node"
    close(unsafe open(path, O_CREAT | O_WRONLY, 0o600))
    for (mode, isOpen) in [(0o600, false), (0o660, false), (0o664, false), (0o666, true)] as [(mode_t, Bool)] {
      unsafe chmod(path, mode)
      // A user who is neither the owner nor in the group.
      #expect(FileAccess.mayReadAndWrite(path, user: 65_533) == isOpen, "\(mode)")
      #expect(FileAccess.mayReadAndWrite(path, user: 0))
    }
    #expect(!FileAccess.mayReadAndWrite("/nonexistent", user: 65_534))
  }

  @Test(
    "The unit is the outermost service or scope of the process's group (cgroups(7))",
    arguments: [
      ("0::/system.slice/hike.service\n", "hike.service"),
      // Users choose the names of their own service manager's units.
      ("0::/user.slice/user-1000.slice/user@1000.service/app.slice/hike.service\n", "user@1000.service"),
      ("0::/user.slice/user-1000.slice/session-3.scope\n", "session-3.scope"),
      // A subfolder created by the unit, as with Delegate=yes (systemd.resource-control(5)).
      ("0::/system.slice/hike.service/worker\n", "hike.service"),
      // A mixed machine has lines of the first version as well.
      ("12:pids:/other.service\n1:name=systemd:/old.service\n0::/system.slice/hike.service\n", "hike.service"),
    ])
  func unit(text: String, unit: ExactText) {
    #expect(Peer.unit(inCgroup: text) == unit)
  }

  @Test(
    "A process outside a service and a scope has no unit",
    arguments: [
      "0::/\n", "0::/user.slice/user-1000.slice\n", "", "\n", "0::", "4:pids:/hike.service\n", "service",
      "0::/.slice/x",
    ])
  func noUnit(text: String) {
    #expect(Peer.unit(inCgroup: text) == nil)
  }

  @Test(
    "A program is in the foreground if its group is its terminal's foreground group (proc(5), stat)",
    arguments: [
      ("812 (hike) S 700 812 700 34816 812 4194304 1 2", true),
      ("812 (hike) S 700 812 700 34816 900 4194304 1 2", false),
      // A process without a terminal.
      ("812 (hike) S 1 812 812 0 -1 4194304 1 2", false),
      // A name may have spaces and parentheses.
      ("812 (a) S 1 9 9 (b) S 700 812 700 34816 812 4194304", true),
      ("812 (a) b) S 700 812 700 34816 900 4194304", false),
      ("812 (hike) S 700 812", false), ("", false), ("812 hike S 700 812 700 34816 812", false),
      ("812 (hike) S 700 x 700 34816 x 4194304", false),
      // A prepended character in the name, which is one character with the parenthesis after it.
      ("812 ()R 1 1 1 1 1 \u{600}) S 700 812 700 34816 900 4194304", false),
      ("812 ()R 1 1 1 1 1 \u{600}) S 700 812 700 34816 812 4194304", true),
      ("812 (\u{301}hike) S 700 812 700 34816 812 4194304", true),
    ])
  func foreground(text: String, isInForeground: Bool) {
    #expect(Peer.isInForeground(stat: text) == isInForeground)
  }

  @Test("The fields of a process come after its name, whatever bytes that has")
  func forgedStat() throws {
    for name in [
      ")R 1 1 1 1 1 \u{600}", "\u{301}", "systemd)", ") S 1 (", "a\nb", "\u{600}", "x\u{200D}", "\u{1F1E6}", "\r", " ",
      "",
    ] {
      let text = "812 (\(name)) S 700 812 811 34816 900 4194304 1 2 3 4 5 6 7 8 9 10 11 12 4711 9\n"
      let stat = try #require(ProcessStat(text))
      #expect(stat.name == ExactText(name) && stat.parent == 700 && !stat.isInForeground && stat.hasTerminal)
      #expect(stat.start == 4711)
    }
  }

  @Test("A process that executes another program than the one that connected is recognised, by the file")
  func executable() {
    let credentials = PeerCredentials(process: getpid(), user: 1000, group: 1000)
    #expect(!Peer(credentials).executesAnotherProgram)
    let other = FileLookup.identity("/bin/sh")
    #expect(other != nil)
    #expect(Peer(credentials, executable: "/bin/sh", file: other, unit: nil).executesAnotherProgram)
    // Unknown values cannot differ, and messages of an ended process remain valid.
    #expect(!Peer(credentials, executable: nil, unit: nil).executesAnotherProgram)
    let gone = PeerCredentials(process: 2_000_000_000, user: 1000, group: 1000)
    #expect(!Peer(gone, executable: "/bin/sh", file: other, unit: nil).executesAnotherProgram)
  }

  @Test("A process that is gone is described by its number, and is in the background")
  func gone() {
    // Above the largest process id, 2^22 (proc(5), pid_max).
    let peer = Peer(PeerCredentials(process: 2_000_000_000, user: 1000, group: 1000))
    #expect(peer.executable == nil)
    #expect(peer.unit == nil)
    #expect(peer.executableName == "process-2000000000")
    #expect(peer.applicationState == .background)
  }
}
