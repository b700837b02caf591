import MonotonicTime
import Testing

@testable import Hotplug

@Suite("Where the news comes from")
struct MonitorTests {
  @Test("udevd first, then the kernel, then looking; only udevd needs no looking")
  func choice() {
    #expect(MonitorSource.best(udevIsActive: true, isInitialUserNamespace: false) == .udev)
    #expect(MonitorSource.best(udevIsActive: false, isInitialUserNamespace: true) == .kernel)
    #expect(MonitorSource.best(udevIsActive: false, isInitialUserNamespace: false) == .polling)
    #expect(MonitorSource.udev.rescanInterval == nil && MonitorSource.udev.notice == nil)
    #expect(MonitorSource.kernel.notice != nil && MonitorSource.polling.notice != nil)
  }

  @Test("A container with users of its own is told from the machine")
  func namespaces() {
    #expect(Namespaces.isInitial(userMap: "         0          0 4294967295\n"))
    #expect(!Namespaces.isInitial(userMap: "         0     100000      65536\n"))
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
