// SPDX-License-Identifier: Apache-2.0
import LocationService
import Positioning
import Testing

@testable import EventLoop
@testable import LocationDaemon

@Suite("Permissions by the machine's policy")
struct PolicyTests {
  private static func policy(_ text: String) -> DaemonPolicy { DaemonPolicy(LocationPolicy(parsing: text)) }

  private static func peer(_ executable: String?, unit: String? = nil) -> Peer {
    Peer(.init(process: 1, user: 0, group: 0), executable: executable, unit: unit)
  }

  @Test("A program has the permission of its unit or of its executable; the unit counts first")
  func grants() {
    let policy = Self.policy("grant hike.service always\ngrant /usr/bin/hike whenInUse\n")
    #expect(policy.grant(to: Self.peer("/usr/bin/other", unit: "hike.service")) == .authorizedAlways)
    #expect(policy.grant(to: Self.peer("/usr/bin/hike", unit: "session-3.scope")) == .authorizedWhenInUse)
    #expect(policy.grant(to: Self.peer("/usr/bin/hike", unit: "hike.service")) == .authorizedAlways)
  }

  @Test("A name alone is no executable, and a process that is hidden has no permission")
  func others() {
    let policy = Self.policy("grant /usr/bin/hike always\n")
    #expect(policy.grant(to: Self.peer("/home/other/hike")) == nil)
    #expect(policy.grant(to: Self.peer("hike")) == nil)
    #expect(policy.grant(to: Self.peer("/usr/bin/hike (deleted)")) == nil)
    #expect(policy.grant(to: Self.peer(nil)) == nil)
    #expect(Self.policy("").grant(to: Self.peer("/usr/bin/hike")) == nil)
  }

  @Test("The policy allows gpsd's clients, forbids them, or leaves it to the sockets; the last line counts")
  func gpsd() {
    #expect(Self.policy("").servesGPSD == nil)
    #expect(Self.policy("gpsd = on  # for the desktop\n").servesGPSD == true)
    #expect(Self.policy("gpsd = on\ngpsd = off\n").servesGPSD == false)
    for line in ["gpsd on", "gpsd = maybe", "gpsd =", "gpsd"] {
      #expect(LocationPolicy(parsing: line).problem != nil, "\(line)")
    }
  }

  @Test(
    "The policy says how often a receiver serves the clock, and where its pulses are; without a line it serves none")
  func clock() {
    #expect(Self.policy("").clock == .off && Self.policy("").pulses == .ofPort)
    #expect(Self.policy("time = continuous\npps = carrier\n").clock == .continuous)
    #expect(Self.policy("time = every 10 min # a watch\npps = /dev/pps1\n").clock == .every(minutes: 10))
    #expect(Self.policy("pps = /dev/pps1\n").pulses == .device("/dev/pps1"))
    for line in ["time", "time = yes", "time every 10 min", "pps = gpio", "pps ="] {
      #expect(LocationPolicy(parsing: line).problem != nil, "\(line)")
    }
  }

  @Test("A grant that is not understood grants nothing, and is reported")
  func mistakes() {
    for line in ["grant hike.service", "grant hike.service sometimes", "grant hike.service always twice", "grant"] {
      let policy = LocationPolicy(parsing: line + "\n")
      #expect(policy.grants.isEmpty, "\(line)")
      #expect(policy.problem?.contains(":1:") == true, "\(line)")
    }
  }
}
