// SPDX-License-Identifier: Apache-2.0
import Glibc
import LinuxIO
import TestSupport
import Testing

@testable import SerialPort

@Suite("A device that a user names to the service")
struct PinnedDeviceTests {
  private let user: UInt32 = 61001

  private func permit(_ path: String, _ mode: mode_t) { #expect(unsafe chmod(path, mode) == 0) }

  private func refusal(naming name: String, user: UInt32 = 0) -> SerialPortError? {
    failure { () throws(SerialPortError) in _ = try PinnedDevice(name, user: user, groups: []) }
  }

  private func refusal(opening path: String, _ pin: PinnedDevice) -> SerialPortError? {
    failure { () throws(SerialPortError) in
      _ = try SerialPort(opening: path, access: .readWrite, baud: nil, pin: pin)
    }
  }

  @Test("The path is resolved once: a link that leads elsewhere later has no effect")
  func links() throws {
    let folder = try TemporaryFolder()
    let own = try PseudoTerminal()
    let foreign = try PseudoTerminal()
    permit(own.path, 0o666)
    permit(foreign.path, 0o600)
    let link = try folder.link("receiver", to: own.path)
    let pin = try PinnedDevice(link, user: user, groups: [])
    let path = own.path
    #expect(pin.path == path)
    #expect(refusal(opening: pin.path, pin) == nil)
    #expect(unsafe unlink(link) == 0)
    #expect(try folder.link("receiver", to: foreign.path) == link)
    #expect(refusal(opening: path, pin) == nil)
    #expect(refusal(opening: link, pin) != nil)
    #expect(pin.access(at: link) == nil)
    let others = foreign.path
    #expect(refusal(opening: others, pin) != nil)
    #expect(pin.access(at: others) == nil)
    #expect(pin.access(at: path) == (try NodeAccess(ofPath: path)))
  }

  @Test("Each opening needs the permission of the user who named the device")
  func permission() throws {
    let device = try PseudoTerminal()
    let path = device.path
    permit(path, 0o600)
    #expect(refusal(naming: path, user: user)?.cause == .noPermission(group: nil))
    permit(path, 0o666)
    let pin = try PinnedDevice(path, user: user, groups: [])
    permit(path, 0o600)
    let error = try #require(refusal(opening: path, pin))
    #expect(error.description.contains("may not open it any more"))
    #expect(error.exitCode == 66)
    permit(path, 0o666)
    #expect(refusal(opening: path, pin) == nil)
  }

  @Test(
    "Only serial lines are accepted, from root too",
    arguments: ["/dev/null", "/dev/zero", "/dev/urandom", "/dev/tty", "/dev/ptmx", "/dev", "/etc/passwd"])
  func kinds(path: String) throws {
    #expect(try #require(refusal(naming: path)).cause == .unsuitable)
  }

  @Test("A path that does not exist, or has a NUL character, is refused")
  func paths() throws {
    let device = try PseudoTerminal()
    #expect(refusal(naming: "/nonexistent/tty")?.cause == .notFound)
    let path = device.path + "\0"
    #expect(refusal(naming: path) != nil)
  }
}
