// SPDX-License-Identifier: Apache-2.0
import Glibc
import LinuxIO
import TestSupport
import Testing

@Suite("The service manager (sd_listen_fds(3), sd_notify(3), sd_watchdog_enabled(3))")
struct ServiceManagerTests {
  private static let own = String(getpid())
  private static let other = String(getpid() + 1)

  private static func manager(_ variables: [String: String]) -> ServiceManager { ServiceManager { variables[$0] } }

  @Test("Sockets that are passed have their names, from descriptor 3 on")
  func sockets() {
    let manager = Self.manager(["LISTEN_PID": Self.own, "LISTEN_FDS": "2", "LISTEN_FDNAMES": "gpsd:location"])
    #expect(manager.sockets == ["gpsd": 3, "location": 4])
  }

  @Test("Several sockets may have one name, as an address of IPv4 and one of IPv6")
  func sameName() {
    let manager = Self.manager(["LISTEN_PID": Self.own, "LISTEN_FDS": "3", "LISTEN_FDNAMES": "gpsd:gpsd:location"])
    #expect(manager.allSockets.filter { $0.name == "gpsd" }.map(\.descriptor) == [3, 4])
  }

  @Test("A socket without a name is unknown")
  func unnamed() {
    #expect(Self.manager(["LISTEN_PID": Self.own, "LISTEN_FDS": "1"]).sockets == ["unknown": 3])
  }

  @Test(
    "Variables for another process, or without sense, pass no socket",
    arguments: [
      ["LISTEN_PID": other, "LISTEN_FDS": "1"], ["LISTEN_FDS": "1"], ["LISTEN_PID": own],
      ["LISTEN_PID": own, "LISTEN_FDS": "0"], ["LISTEN_PID": own, "LISTEN_FDS": "-1"],
      ["LISTEN_PID": own, "LISTEN_FDS": "99999"], ["LISTEN_PID": own, "LISTEN_FDS": "one"],
      ["LISTEN_PID": "", "LISTEN_FDS": "1"],
    ])
  func foreign(variables: [String: String]) {
    #expect(Self.manager(variables).sockets.isEmpty)
  }

  @Test("The watchdog counts if it is this process's, or no process is named")
  func watchdog() {
    #expect(Self.manager(["WATCHDOG_USEC": "30000000", "WATCHDOG_PID": Self.own]).watchdogMicroseconds == 30_000_000)
    #expect(Self.manager(["WATCHDOG_USEC": "30000000"]).watchdogMicroseconds == 30_000_000)
    #expect(Self.manager(["WATCHDOG_USEC": "30000000", "WATCHDOG_PID": Self.other]).watchdogMicroseconds == nil)
    #expect(Self.manager(["WATCHDOG_USEC": "x"]).watchdogMicroseconds == nil)
    #expect(Self.manager([:]).watchdogMicroseconds == nil)
  }

  @Test("States arrive at the manager's socket, one datagram each; without a socket a state has no effect")
  func notify() throws {
    Self.manager([:]).notify("READY=1")
    let folder = try TemporaryFolder()
    let path = "\(folder.path)/notify"
    let receiver = DatagramReceiver(at: path)
    defer { receiver.close() }
    let manager = Self.manager(["NOTIFY_SOCKET": path])
    manager.notify("READY=1")
    manager.notify("STOPPING=1")
    #expect(receiver.next() == "READY=1")
    #expect(receiver.next() == "STOPPING=1")
    #expect(receiver.next() == nil)
  }

  @Test("A path that is too long for a socket is not used")
  func longPath() {
    Self.manager(["NOTIFY_SOCKET": "/" + String(repeating: "x", count: 200)]).notify("READY=1")
  }
}

/// A socket of datagrams, like the service manager's: unix(7).
private struct DatagramReceiver {
  private let descriptor: Int32

  init(at path: String) {
    descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
    unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        _ = unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
  }

  /// The text of the next available datagram.
  func next() -> String? {
    var buffer = [UInt8](repeating: 0, count: 256)
    let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
    return count < 0 ? nil : String(decoding: buffer.prefix(count), as: UTF8.self)
  }

  func close() { _ = Glibc.close(descriptor) }
}
