// SPDX-License-Identifier: Apache-2.0
import Receiver
import SerialPort
import Testing

@testable import ReceiverRuntime

@Suite("Names of devices")
struct LineAddressTests {
  @Test("A path is a path, and a name with a prefix is another kind of line")
  func names() throws {
    #expect(try LineAddress("/dev/ttyACM0") == .port("/dev/ttyACM0"))
    #expect(try LineAddress("i2c:/dev/i2c-1") == .i2c(bus: "/dev/i2c-1", address: 0x42))
    #expect(try LineAddress("i2c:/dev/i2c-1@0x43") == .i2c(bus: "/dev/i2c-1", address: 0x43))
    #expect(try LineAddress("i2c:/dev/i2c-1@66") == .i2c(bus: "/dev/i2c-1", address: 0x42))
    #expect(try LineAddress("replay:a.rec") == .replay(file: "a.rec", .times(1)))
    #expect(try LineAddress("replay:a@home.rec") == .replay(file: "a@home.rec", .times(1)))
    #expect(try LineAddress("replay:a@home.rec@2.5x") == .replay(file: "a@home.rec", .times(2.5)))
    #expect(try LineAddress("replay:a.rec@max") == .replay(file: "a.rec", .maximum))
    #expect(try LineAddress("tcp://board:23") == .network(.tcp(host: "board", port: 23)))
    #expect(try LineAddress("sim:drive") == .simulator(scenario: "drive"))
    #expect(try LineAddress("sim:/tmp/a.scenario") == .simulator(scenario: "/tmp/a.scenario"))
    #expect(try LineAddress("sim:") == .simulator(scenario: "walk"))
    #expect(try LineAddress("/dev/serial/by-path/pci-0000:00:14.0") == .port("/dev/serial/by-path/pci-0000:00:14.0"))
  }

  @Test(
    "An invalid name is refused with the correct form",
    arguments: ["i2c:", "i2c:/dev/i2c-1@0x99", "replay:", "tcp://board"])
  func refused(name: String) {
    #expect {
      _ = try LineAddress(name)
    } throws: { error in
      (error as? SerialPortError)?.exitCode == 66
    }
  }
}
