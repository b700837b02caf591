import Hotplug
import MonotonicTime
import SerialPort

/// Looks out for receivers where none is named: for the first one of a machine that had none when the program began, from
/// which on there is something to measure with (GE-6), and for those that stand by beside the first.
struct HotplugWatcher {
  static let token = Poller.Token(rawValue: 5)

  private var monitor: DeviceMonitorHandle?
  /// Nobody has told of a first receiver yet.
  private var isFirstAwaited: Bool
  private var standby = StandbyReceivers()

  /// - Parameters:
  ///   - isNeeded: no receiver is named.
  ///   - hasReceiver: one was found when the program began.
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

  /// What was found.
  struct Found {
    /// The first receiver of this machine has come; told once.
    var isFirst = false
    /// Nodes of receivers that stand by from now on.
    var others: [String] = []
  }

  /// - Parameter isOurs: whether a receiver that is known already holds this port.
  mutating func look(
    _ events: [Poller.Event], _ poller: inout Poller, at now: Instant, isOurs: (ReceiverPort) -> Bool
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
    found.others = standby.ripe(at: now, isOurs: isOurs)
    return found
  }

  /// Where nobody tells of devices, the list of them is read each second: a program that has its receiver wakes for no
  /// other.
  private mutating func endIfCostly(_ poller: inout Poller) {
    guard let monitor, monitor.fileDescriptor == nil, !isFirstAwaited else { return }
    self.monitor = nil
  }
}
