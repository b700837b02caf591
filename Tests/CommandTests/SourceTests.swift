import Hotplug
import Testing

@testable import sextant

@Suite("Which device is watched")
struct SourceTests {
  @Test("The command line comes before the environment")
  func named() throws {
    let choice = try Source.choose(named: "/dev/ttyACM3", environment: "/dev/gnss0", ports: [])
    #expect(choice.source == .device("/dev/ttyACM3"))
    #expect(choice.note == nil)
  }

  @Test("GNSS_DEVICE is taken, and its sim: is the simulator", arguments: ["sim:", "sim:walk"])
  func environment(simulator: String) throws {
    #expect(try Source.choose(named: nil, environment: "/dev/gnss0", ports: []).source == .device("/dev/gnss0"))
    #expect(try Source.choose(named: nil, environment: simulator, ports: []).source == .simulator("walk"))
  }

  @Test("A scenario that does not exist is refused with those that do")
  func scenario() {
    #expect {
      try Source.choose(named: "sim:moon", environment: nil, ports: [])
    } throws: { error in
      (error as? CommandFailure)?.exitCode == 66 && "\(error)".contains("sim:walk")
    }
  }

  @Test("Without a receiver the simulator is shown, and it is said")
  func none() throws {
    let choice = try Source.choose(named: nil, environment: "", ports: [])
    #expect(choice.source == .simulator("walk"))
    #expect(choice.note?.contains("simulator") == true)
  }
}
