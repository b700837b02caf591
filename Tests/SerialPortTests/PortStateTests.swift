import FileSystem
import Glibc
import Testing

@testable import SerialPort

@Suite("What is known of a port that is not opened")
struct PortStateTests {
  @Test("A port that nobody has: permitted, no holders")
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

  @Test("A path that leads nowhere is told")
  func missing() {
    let error = failure { () throws(SerialPortError) in _ = try PortState(of: "/dev/nonexistent") }
    #expect(error?.cause == .notFound)
  }

  @Test("The group that may is named, with what to do, to whoever is not in it")
  func group() throws {
    let node = try Syscalls.status(ofPath: "/dev/null")
    let error = SerialPortError(cause: .noPermission(group: "gnss"), operation: .open, path: "/dev/x", errno: EACCES)
    #expect(error.description.contains("usermod -aG gnss"))
    // /dev/null is everybody's, and belongs to root's group, which nobody is told to join.
    #expect(node.groupThatMayOpen == nil)
  }
}
