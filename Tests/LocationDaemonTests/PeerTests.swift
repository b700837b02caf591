// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import EventLoop
@testable import LocationDaemon

@Suite("The program at the other end, as the kernel describes it")
struct PeerTests {
  @Test(
    "The unit is the outermost service or scope of the process's group (cgroups(7))",
    arguments: [
      ("0::/system.slice/hike.service\n", "hike.service"),
      // A user names the units of the own service manager.
      ("0::/user.slice/user-1000.slice/user@1000.service/app.slice/hike.service\n", "user@1000.service"),
      ("0::/user.slice/user-1000.slice/session-3.scope\n", "session-3.scope"),
      // A folder of the unit's own, as with Delegate=yes (systemd.resource-control(5)).
      ("0::/system.slice/hike.service/worker\n", "hike.service"),
      // A mixed machine has lines of the first version as well.
      ("12:pids:/other.service\n1:name=systemd:/old.service\n0::/system.slice/hike.service\n", "hike.service"),
    ])
  func unit(text: String, unit: String) {
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
    "A program is in the foreground if its group is that of its terminal (proc(5), stat)",
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
    ])
  func foreground(text: String, isInForeground: Bool) {
    #expect(Peer.isInForeground(stat: text) == isInForeground)
  }

  @Test("A process that is gone is described by its number, and is in the background")
  func gone() {
    // Above the largest number of a process, 2^22 (proc(5), pid_max).
    let peer = Peer(PeerCredentials(process: 2_000_000_000, user: 1000, group: 1000))
    #expect(peer.executable == nil)
    #expect(peer.unit == nil)
    #expect(peer.executableName == "process-2000000000")
    #expect(peer.applicationState == .background)
  }
}
