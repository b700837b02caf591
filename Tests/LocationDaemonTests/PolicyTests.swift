// SPDX-License-Identifier: Apache-2.0
import GPSD
import LocationService
import Positioning
import ReceiverRuntime
import Testing
import WireBytes

@testable import LinuxIO
@testable import sextantd

@Suite("Permissions by the machine's policy")
struct PolicyTests {
  private static func policy(_ text: String) -> DaemonPolicy { DaemonPolicy(LocationPolicy(parsing: text)) }

  private static func peer(_ executable: ExactText?, unit: ExactText? = nil) -> Peer {
    Peer(.init(process: 1, user: 0, group: 0), executable: executable, unit: unit)
  }

  @Test("A program has the permission of its unit or of its executable; the unit counts first")
  func grants() {
    let policy = Self.policy("grant hike.service always\ngrant /usr/bin/hike whenInUse\n")
    #expect(policy.grant(to: Self.peer("/usr/bin/other", unit: "hike.service")) == .authorizedAlways)
    #expect(policy.grant(to: Self.peer("/usr/bin/hike", unit: "session-3.scope")) == .authorizedWhenInUse)
    #expect(policy.grant(to: Self.peer("/usr/bin/hike", unit: "hike.service")) == .authorizedAlways)
  }

  @Test("A name alone is not an executable, and a process that is hidden has no permission")
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
    for line in [
      "gpsd on", "gpsd = maybe", "gpsd =", "gpsd", "gpsd = on,", "gpsd = off, every 60 s", "gpsd = on, every 0 s",
      "gpsd = on, every 60", "gpsd = on, every nan s", "gpsd = on, accuracy 1e300 m",
      "gpsd = on, accuracy 9 m, accuracy 9 m",
      "gpsd = on, every 2 d",
    ] {
      #expect(LocationPolicy(parsing: line).problem != nil, "\(line)")
    }
  }

  @Test("A configuration that cannot be read when the files are read again leaves its setting as it was")
  func reloads() throws {
    func configuration(_ text: String) throws -> SextantConfiguration {
      try SextantConfiguration(parsing: text, file: "config")
    }
    let policy = Self.policy("")
    policy.reload(LocationPolicy(parsing: ""), try configuration("gpsd = off\n"))
    #expect(policy.servesGPSD == false)
    policy.reload(LocationPolicy(parsing: ""), nil)
    #expect(policy.servesGPSD == false && policy.revision == 3)
    policy.reload(LocationPolicy(parsing: "gpsd = on\n"), nil)
    #expect(policy.servesGPSD == true)
    policy.reload(LocationPolicy(parsing: ""), try configuration(""))
    #expect(policy.servesGPSD == nil)
  }

  @Test("The limit for gpsd's clients is in the policy or in the configuration; the policy's has precedence")
  func gpsdLimit() throws {
    let configured = try #require(GPSDSetting("on, every 60 s, accuracy 100 m"))
    func policy(_ text: String) -> DaemonPolicy { DaemonPolicy(LocationPolicy(parsing: text), gpsd: configured) }
    let limit = DemandLimit(everySeconds: 60, accuracyMetres: 100)
    #expect(policy("").servesGPSD == true && policy("").gpsdLimit == limit)
    #expect(policy("gpsd = on").gpsdLimit == limit)
    #expect(policy("gpsd = on, every 5 min").gpsdLimit == DemandLimit(everySeconds: 300))
    #expect(policy("gpsd = off").servesGPSD == false)
    #expect(Self.policy("gpsd = on, accuracy 50 m\n").gpsdLimit == DemandLimit(accuracyMetres: 50))
    #expect(Self.policy("").gpsdLimit == DemandLimit())
  }

  @Test(
    "A program of a service is in use while it runs if the policy grants whenInUse, and in the background with always")
  func inUse() {
    let policy = Self.policy("grant hike.service whenInUse\ngrant yard.service always\ngrant /usr/bin/hike whenInUse\n")
    #expect(policy.isInUse(Self.peer("/usr/bin/other", unit: "hike.service")))
    #expect(policy.isInUse(Self.peer("/usr/bin/hike", unit: "other.service")))
    #expect(!policy.isInUse(Self.peer("/usr/bin/other", unit: "other.service")))
    #expect(!policy.isInUse(Self.peer("/usr/bin/hike", unit: "yard.service")))
    // A user's session has a terminal, on which the program can be in use.
    for unit in ["session-3.scope", "user@1000.service", nil] as [ExactText?] {
      #expect(!policy.isInUse(Self.peer("/usr/bin/hike", unit: unit)))
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
