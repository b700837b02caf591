// SPDX-License-Identifier: Apache-2.0
import ReceiverRuntime
import SerialPort
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
    var file = SextantConfiguration()
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

  private func port(_ node: String, vendorID: UInt16, productID: UInt16) -> ReceiverPort {
    var attributes = DeviceAttributes(node: node, subsystem: .tty)
    (attributes.vendorID, attributes.productID) = (vendorID, productID)
    return ReceiverPort(attributes)
  }

  @Test("A command that waits takes the receiver that is plugged in later, and neither an Arduino nor one that is gone")
  func later() throws {
    var ports = PresentPorts()
    func choice(_ events: DeviceEvent...) throws -> Source? {
      guard let present = ports.receive(events) else { return nil }
      return try Source.choose(named: nil, environment: nil, ports: present)?.source
    }
    let arduino = port("/dev/ttyACM0", vendorID: 0x2341, productID: 0x0043)
    let receiver = port("/dev/ttyACM1", vendorID: 0x1546, productID: 0x01a8)
    let bridge = port("/dev/ttyUSB0", vendorID: 0x0403, productID: 0x6001)
    #expect(try choice() == nil)
    #expect(try choice(DeviceEvent(.added, arduino)) == nil)
    // Between two rounds a receiver may be connected and removed.
    #expect(try choice(DeviceEvent(.added, receiver), DeviceEvent(.removed, receiver)) == nil)
    #expect(try choice(DeviceEvent(.removed, arduino)) == nil)
    #expect(try choice(DeviceEvent(.added, bridge), DeviceEvent(.added, receiver)) == .device("/dev/ttyACM1"))
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
