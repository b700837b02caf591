// SPDX-License-Identifier: Apache-2.0

import LinuxIO
import MonotonicTime
import SerialPort

/// Finds receivers if none is named: the first one of a machine that had none when the program started, which makes
/// positions available (GE-6), and additional standby receivers.
struct HotplugWatcher {
  static let token = Poller.Token(rawValue: 5)

  private var monitor: DeviceMonitorHandle?
  /// Whether the first receiver is still missing.
  private var isFirstAwaited: Bool
  private var standby = StandbyReceivers()

  /// - Parameters:
  ///   - isNeeded: whether no receiver is named.
  ///   - hasReceiver: whether one was found when the program started.
  init(isNeeded: Bool, hasReceiver: Bool, _ poller: inout Poller, at now: Instant) {
    isFirstAwaited = !hasReceiver
    guard isNeeded, let list = try? DeviceList.installed() else { return }
    let monitor = DeviceMonitorHandle(list: list)
    if let descriptor = monitor.fileDescriptor { try? poller.add(descriptor, token: Self.token) }
    self.monitor = monitor
    for event in monitor.drain(at: now) { standby.receive(event, at: now) }
    endIfCostly(&poller)
  }

  var deadline: Instant? { .earlier(monitor?.deadline, standby.deadline) }

  struct Found {
    /// Whether the first receiver of this machine was connected; true once.
    var isFirst = false
    /// The nodes of receivers that are on standby from now on.
    var standby: [String] = []
  }

  /// Handles device events, and returns the receivers that were found.
  ///
  /// - Parameter isKnown: whether a known receiver is at this port, or is expected to return there.
  mutating func drain(
    _ events: [Poller.Event], _ poller: inout Poller, at now: Instant, isKnown: (ReceiverPort) -> Bool
  ) -> Found {
    var found = Found()
    if let monitor, events.contains(.readable(Self.token)) || monitor.isDue(at: now) {
      for event in monitor.drain(at: now) {
        standby.receive(event, at: now)
        if isFirstAwaited, event.change != .removed, event.port.likelihood.isPlausible {
          isFirstAwaited = false
          found.isFirst = true
        }
      }
      endIfCostly(&poller)
    }
    found.standby = standby.takeDue(at: now, isKnown: isKnown)
    return found
  }

  /// Once the first receiver is found, ends a monitor that polls the list of devices every second: a standby receiver
  /// does not justify these wake-ups.
  private mutating func endIfCostly(_ poller: inout Poller) {
    guard let monitor, monitor.fileDescriptor == nil, !isFirstAwaited else { return }
    self.monitor = nil
  }
}

/// A reference to a monitor, whose value cannot be copied.
final class DeviceMonitorHandle {
  private var monitor: DeviceMonitor

  init(list: DeviceList) { monitor = DeviceMonitor(list: list) }

  var source: MonitorSource { monitor.source }
  var fileDescriptor: Int32? { monitor.fileDescriptor }
  var deadline: Instant? { monitor.deadline }
  func isDue(at now: Instant) -> Bool { monitor.isDue(at: now) }
  func drain(at now: Instant) -> [DeviceEvent] { monitor.drain(at: now) }
}
