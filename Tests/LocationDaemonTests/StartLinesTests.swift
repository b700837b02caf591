// SPDX-License-Identifier: Apache-2.0
import LocationService
import ReceiverRuntime
import SerialPort
import Testing

@testable import sextantd

@Suite("The first lines of the daemon")
struct StartLinesTests {
  private static func lines(_ devices: [String], policy: Bool = true, faults: [String: String] = [:]) -> [String] {
    var settings = ServiceSettings(isRoot: false) { _ in nil }
    settings.use(devices)
    return StartLines.lines(socket: "/run/s", settings, policyExists: policy) { faults[$0] }
  }

  @Test("One line has the socket, the receivers and the policy")
  func oneLine() {
    #expect(
      Self.lines([]) == ["socket /run/s; receiver the first one that is plugged in; policy /etc/sextant/policy"])
    #expect(
      Self.lines(["/dev/ttyACM0", "sim:city"], policy: false) == [
        "socket /run/s; receiver /dev/ttyACM0, sim:city (simulated); policy none (/etc/sextant/policy does not exist)"
      ])
  }

  @Test("A device that cannot be opened has a line of its own")
  func faults() {
    let lines = Self.lines(["/dev/a", "/dev/b"], faults: ["/dev/b": "/dev/b: no such device"])
    #expect(lines.count == 2 && lines.last == "/dev/b: no such device (the service waits for it)")
  }

  @Test("A name is looked at without opening it")
  func names() throws {
    for (name, part) in [
      ("/dev/ttyACM77", "no such device"), ("i2c:/dev/i2c-77", "no such device"), ("i2c:", "names no bus"),
      ("replay:/nothing.rec", "no such recording"),
    ] {
      #expect(DeviceFault.text(of: name)?.contains(part) == true, "\(name): \(DeviceFault.text(of: name) ?? "nil")")
    }
    // A device that no other program has open.
    let terminal = try PseudoTerminal()
    for name in [terminal.path, "sim:walk", "tcp://example.org:1"] { #expect(DeviceFault.text(of: name) == nil) }
    _ = consume terminal
  }
}
