// SPDX-License-Identifier: Apache-2.0
import Glibc
import LinuxIO
import Testing

@testable import SerialPort

@Suite("The state of a port that is not open")
struct PortStateTests {
  @Test("A port that no program holds: permitted, no holders")
  func free() throws {
    let device = try PseudoTerminal()
    let state = try PortState(of: device.path)
    #expect(state.isPermitted && state.cure == nil)
    #expect(state.holders.allSatisfy { $0.processID == getpid() })
  }

  @Test("The program with the lock is named")
  func held() throws {
    let device = try PseudoTerminal()
    let port = try SerialPort(opening: device.path, access: .readWrite, baud: nil)
    #expect(try PortState(of: port.path).holders.map(\.processID) == [getpid()])
  }

  @Test("A missing path is an error")
  func missing() {
    let error = failure { () throws(SerialPortError) in _ = try PortState(of: "/dev/nonexistent") }
    #expect(error?.cause == .notFound)
  }

  @Test("For a user outside the group, the message has the group and the next step")
  func group() throws {
    let node = try Syscalls.status(ofPath: "/dev/null")
    let error = SerialPortError(cause: .noPermission(group: "gnss"), operation: .open, path: "/dev/x", errno: EACCES)
    #expect(error.description.contains("usermod -aG gnss"))
    // /dev/null is readable for all, and belongs to root's group, which the message must not suggest joining.
    #expect(node.groupThatMayOpen == nil)
  }
}
