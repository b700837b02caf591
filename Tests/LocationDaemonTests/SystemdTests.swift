// SPDX-License-Identifier: Apache-2.0
import Glibc
import LinuxIO
import MonotonicTime
import TestSupport
import Testing

@Suite("systemd (sd_listen_fds(3), sd_notify(3), sd_watchdog_enabled(3))")
struct SystemdTests {
  private static let own = String(getpid())
  private static let other = String(getpid() + 1)

  private static func systemd(_ variables: [String: String]) -> Systemd { Systemd { variables[$0] } }

  @Test("Sockets that are passed have their names, from descriptor 3 on")
  func sockets() {
    let systemd = Self.systemd(["LISTEN_PID": Self.own, "LISTEN_FDS": "2", "LISTEN_FDNAMES": "gpsd:location"])
    #expect(systemd.sockets == ["gpsd": 3, "location": 4])
  }

  @Test("Several sockets may have one name, as an address of IPv4 and one of IPv6")
  func sameName() {
    let systemd = Self.systemd(["LISTEN_PID": Self.own, "LISTEN_FDS": "3", "LISTEN_FDNAMES": "gpsd:gpsd:location"])
    #expect(systemd.allSockets.filter { $0.name == "gpsd" }.map(\.descriptor) == [3, 4])
  }

  @Test("A socket without a name is unknown")
  func unnamed() {
    #expect(Self.systemd(["LISTEN_PID": Self.own, "LISTEN_FDS": "1"]).sockets == ["unknown": 3])
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
    #expect(Self.systemd(variables).sockets.isEmpty)
  }

  @Test("The watchdog counts if it is this process's, or no process is named")
  func watchdog() {
    #expect(Self.systemd(["WATCHDOG_USEC": "30000000", "WATCHDOG_PID": Self.own]).watchdogMicroseconds == 30_000_000)
    #expect(Self.systemd(["WATCHDOG_USEC": "30000000"]).watchdogMicroseconds == 30_000_000)
    #expect(Self.systemd(["WATCHDOG_USEC": "30000000", "WATCHDOG_PID": Self.other]).watchdogMicroseconds == nil)
    #expect(Self.systemd(["WATCHDOG_USEC": "x"]).watchdogMicroseconds == nil)
    #expect(Self.systemd([:]).watchdogMicroseconds == nil)
  }

  @Test("States arrive at the manager's socket, one datagram each; without a socket a state has no effect")
  func notify() throws {
    Self.systemd([:]).notify("READY=1")
    let folder = try TemporaryFolder()
    let path = "\(folder.path)/notify"
    let receiver = DatagramReceiver(at: path)
    defer { receiver.close() }
    let systemd = Self.systemd(["NOTIFY_SOCKET": path])
    systemd.notify("READY=1")
    systemd.notify("STOPPING=1")
    #expect(receiver.next() == "READY=1")
    #expect(receiver.next() == "STOPPING=1")
    #expect(receiver.next() == nil)
  }

  @Test("The watchdog is pinged at the start, and again after half of its time")
  func pings() throws {
    let folder = try TemporaryFolder()
    let path = "\(folder.path)/notify"
    let receiver = DatagramReceiver(at: path)
    defer { receiver.close() }
    var systemd = Self.systemd(["NOTIFY_SOCKET": path, "WATCHDOG_USEC": "30000000"])
    #expect(systemd.watchdogDeadline == .zero)
    let start = Instant.zero + Milliseconds(1000)
    systemd.pingWatchdog(at: start)
    #expect(receiver.next() == "WATCHDOG=1")
    #expect(systemd.watchdogDeadline == start + Milliseconds(15_000))
    systemd.pingWatchdog(at: start + Milliseconds(14_999))
    #expect(receiver.next() == nil)
    systemd.pingWatchdog(at: start + Milliseconds(15_000))
    #expect(receiver.next() == "WATCHDOG=1")
  }

  @Test("Without a watchdog no ping is due")
  func noPings() {
    var systemd = Self.systemd([:])
    #expect(systemd.watchdogDeadline == nil)
    systemd.pingWatchdog(at: .zero)
    #expect(systemd.watchdogDeadline == nil)
  }

  @Test("A path that is too long for a socket is not used")
  func longPath() {
    Self.systemd(["NOTIFY_SOCKET": "/" + String(repeating: "x", count: 200)]).notify("READY=1")
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
