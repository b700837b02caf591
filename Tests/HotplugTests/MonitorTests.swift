// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Testing

@testable import SerialPort

@Suite("The source of device events")
struct MonitorTests {
  @Test("udevd is preferred, then the kernel, then polling; only udevd needs no rescan")
  func choice() {
    #expect(MonitorSource.best(udevIsReachable: true, isInitialUserNamespace: true) == .udev)
    #expect(MonitorSource.best(udevIsReachable: true, isInitialUserNamespace: false) == .polling)
    #expect(MonitorSource.best(udevIsReachable: false, isInitialUserNamespace: true) == .kernel)
    #expect(MonitorSource.best(udevIsReachable: false, isInitialUserNamespace: false) == .polling)
    #expect(MonitorSource.udev.rescanInterval == nil && MonitorSource.udev.notice == nil)
    #expect(MonitorSource.kernel.notice != nil && MonitorSource.polling.notice != nil)
  }

  @Test("A container with a user namespace is distinguished from the machine")
  func namespaces() {
    #expect(Namespaces.isInitial(userMap: "         0          0 4294967295\n"))
    #expect(!Namespaces.isInitial(userMap: "         0     100000      65536\n"))
  }

  @Test("udevd is reachable if a process listens at its socket; a left file is not a socket")
  func daemon() {
    let head = "Num       RefCount Protocol Flags    Type St Inode Path\n"
    let listening = "0000000000000000: 00000002 00000000 00010000 0005 01 13456 /run/udev/control\n"
    let connected = "0000000000000000: 00000003 00000000 00000000 0005 03 13457 /run/udev/control\n"
    let other = "0000000000000000: 00000002 00000000 00010000 0001 01 13458 /run/other\n"
    #expect(UdevDaemon.isListening(in: head + other + listening))
    #expect(!UdevDaemon.isListening(in: head + other + connected))
    #expect(!UdevDaemon.isListening(in: ""))
  }

  @Test("At first every port of this machine is added; then nothing", arguments: [MonitorSource.kernel, .polling])
  func first(source: MonitorSource) {
    var monitor = DeviceMonitor(source: source)
    let present = monitor.drain(at: .zero)
    #expect(Set(present.map(\.port.node)) == Set(ReceiverPorts.enumerate().map(\.node)))
    #expect(present.allSatisfy { $0.change == .added })
    let later = monitor.drain(at: Instant.zero + Milliseconds(60_000))
    #expect(later.isEmpty)
  }

  @Test("Polling has a deadline and no descriptor")
  func polling() {
    var monitor = DeviceMonitor(source: .polling)
    _ = monitor.drain(at: .zero)
    let descriptor = monitor.fileDescriptor
    let deadline = monitor.deadline
    #expect(descriptor == nil)
    #expect(deadline == Instant.zero + Milliseconds(1000))
  }
}
