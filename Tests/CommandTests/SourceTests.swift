// SPDX-License-Identifier: Apache-2.0
import Hotplug
import ReceiverRuntime
import Testing

@testable import sextant

@Suite("The choice of the device")
struct SourceTests {
  @Test("The command line precedes the environment")
  func named() throws {
    let choice = try #require(try Source.choose(named: "/dev/ttyACM3", environment: "/dev/gnss0", ports: []))
    #expect(choice.source == .device("/dev/ttyACM3"))
    #expect(choice.note == nil)
  }

  @Test("GNSS_DEVICE is used, and its sim: is the simulator", arguments: ["sim:", "sim:walk"])
  func environment(simulator: String) throws {
    #expect(try Source.choose(named: nil, environment: "/dev/gnss0", ports: [])?.source == .device("/dev/gnss0"))
    #expect(try Source.choose(named: nil, environment: simulator, ports: [])?.source == .simulator("walk"))
  }

  @Test("The configuration file follows both, and applies to receivers that are not named")
  func configuration() throws {
    var file = ReceiverConfiguration()
    file.devices = ["/dev/a", "/dev/b"]
    file.baud = 115_200
    file.isReadOnly = true
    let choice = try #require(try Source.choose(named: nil, environment: nil, configuration: file, ports: []))
    #expect(choice == Source.Choice(source: .device("/dev/a"), note: nil, baud: 115_200, isReadOnly: true))
    let second = try Source.choose(named: nil, environment: nil, configuration: file, ports: []) { $0 == "/dev/b" }
    #expect(second?.source == .device("/dev/b"))
    let none = try Source.choose(named: nil, environment: nil, configuration: file, ports: []) { _ in false }
    #expect(none?.source == .device("/dev/a"))
    for (named, environment) in [("/dev/c", nil), (nil, "/dev/c")] as [(String?, String?)] {
      let choice = try #require(
        try Source.choose(named: named, environment: environment, configuration: file, ports: []))
      #expect(choice == Source.Choice(source: .device("/dev/c"), note: nil))
    }
    file.devices = []
    let found = try #require(
      try Source.choose(named: nil, environment: nil, configuration: file, ports: [], isDemo: true))
    #expect(found.source == .simulator("walk") && found.isReadOnly)
  }

  @Test("An unknown scenario is refused with the known ones")
  func scenario() {
    #expect {
      try Source.choose(named: "sim:moon", environment: nil, ports: [])
    } throws: { error in
      (error as? CommandFailure)?.exitCode == 66 && "\(error)".contains("sim:walk")
    }
  }

  @Test("Without a receiver there is no source, and only --demo requests the simulator")
  func none() throws {
    #expect(try Source.choose(named: nil, environment: "", ports: []) == nil)
    let choice = try #require(try Source.choose(named: nil, environment: "", ports: [], isDemo: true))
    #expect(choice.source == .simulator("walk"))
    #expect(choice.note?.contains("simulator") == true)
    #expect(try Source.choose(named: "/dev/a", environment: nil, ports: [], isDemo: true)?.source == .device("/dev/a"))
    #expect(try Source.choose(named: nil, environment: "/dev/a", ports: [], isDemo: true)?.source == .device("/dev/a"))
  }
}
