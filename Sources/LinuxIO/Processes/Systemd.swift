// SPDX-License-Identifier: Apache-2.0

// The protocol of systemd with a service that it starts: sd_notify(3), sd_listen_fds(3), sd_watchdog_enabled(3). Each `unsafe` passes a
// pointer to memory that the call's frame owns, and no pointer escapes a call.
import Glibc
import MonotonicTime

/// The service manager that has started this process, if there is one: socket activation, states, and the watchdog.
package struct Systemd: Sendable {
  private let address: String?
  /// The sockets that it has opened, keyed by name.
  package let sockets: [String: Int32]
  /// All sockets in their order; several may have the same name.
  package let allSockets: [Socket]

  package struct Socket: Equatable, Sendable {
    package var name: String
    package var descriptor: Int32
  }

  /// The time after which it considers the process hung, in microseconds; nil if there is no watchdog.
  package let watchdogMicroseconds: UInt64?
  /// The time at which `pingWatchdog` is due: the start, then half of the watchdog's time after each ping; nil without a watchdog.
  package private(set) var watchdogDeadline: Instant?

  /// - Parameter variable: returns a variable of the environment.
  package init(variable: (String) -> String?) {
    func isOwn(_ name: String) -> Bool { variable(name).flatMap(Int32.init).map { $0 == getpid() } ?? false }
    address = variable("NOTIFY_SOCKET").flatMap { $0.isEmpty ? nil : $0 }
    var sockets: [String: Int32] = [:]
    var allSockets: [Socket] = []
    if isOwn("LISTEN_PID"), let count = variable("LISTEN_FDS").flatMap(Int32.init), (1...64).contains(count) {
      let names = (variable("LISTEN_FDNAMES") ?? "").split(separator: ":", omittingEmptySubsequences: false)
      for index in 0..<Int(count) {
        let name = index < names.count && !names[index].isEmpty ? String(names[index]) : "unknown"
        // SD_LISTEN_FDS_START is 3.
        sockets[name] = Int32(3 + index)
        allSockets.append(Socket(name: name, descriptor: Int32(3 + index)))
      }
    }
    self.sockets = sockets
    self.allSockets = allSockets
    watchdogMicroseconds =
      variable("WATCHDOG_PID") == nil || isOwn("WATCHDOG_PID") ? variable("WATCHDOG_USEC").flatMap(UInt64.init) : nil
    watchdogDeadline = watchdogMicroseconds.map { _ in .zero }
  }

  /// Reports to the watchdog that the process is alive, if the report is due.
  package mutating func pingWatchdog(at now: Instant) {
    guard let watchdogMicroseconds, let due = watchdogDeadline, now >= due else { return }
    notify("WATCHDOG=1")
    watchdogDeadline = now + Milliseconds(watchdogMicroseconds / 2000)
  }

  /// Sends a state, such as `READY=1`. It has no effect if there is no service manager.
  package func notify(_ state: String) {
    guard let address else { return }
    let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    var name = sockaddr_un()
    name.sun_family = sa_family_t(AF_UNIX)
    var path = Array(address.utf8)
    guard path.count < MemoryLayout.size(ofValue: name.sun_path) else { return }
    // The name of an abstract socket begins with NUL.
    if path.first == UInt8(ascii: "@") { path[0] = 0 }
    unsafe withUnsafeMutableBytes(of: &name.sun_path) { unsafe $0.copyBytes(from: path) }
    let length = socklen_t(MemoryLayout<sa_family_t>.size + path.count)
    let text = Array(state.utf8)
    unsafe withUnsafePointer(to: &name) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        _ = unsafe sendto(descriptor, text, text.count, Int32(MSG_NOSIGNAL), pointer, length)
      }
    }
  }
}
