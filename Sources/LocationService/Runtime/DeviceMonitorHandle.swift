// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import SerialPort

/// A reference to a monitor, whose value cannot be copied.
final class DeviceMonitorHandle {
  private var monitor: DeviceMonitor

  init(list: DeviceList) { monitor = DeviceMonitor(list: list) }

  var fileDescriptor: Int32? { monitor.fileDescriptor }
  var deadline: Instant? { monitor.deadline }
  func isDue(at now: Instant) -> Bool { monitor.isDue(at: now) }
  func drain(at now: Instant) -> [DeviceEvent] { monitor.drain(at: now) }
}
