import Hotplug
import MonotonicTime
import SerialPort

/// Looks out for the first receiver of a machine that had none when the program began; from then on there is something to
/// measure with (GE-6). One that goes again is waited for.
struct ReceiverLookout {
  static let token = Poller.Token(rawValue: 5)

  private var monitor: MonitorBox?

  /// - Parameter isNeeded: no receiver is named, and none was found.
  init(isNeeded: Bool, _ poller: inout Poller) {
    guard isNeeded, let list = try? DeviceList.installed() else { return }
    let monitor = MonitorBox(list: list)
    if let descriptor = monitor.fileDescriptor { try? poller.add(descriptor, token: Self.token) }
    self.monitor = monitor
  }

  var deadline: Instant? { monitor?.deadline }

  /// Whether a receiver has come; tells of it once.
  mutating func sees(_ events: [Poller.Event], _ poller: inout Poller, at now: Instant) -> Bool {
    guard let monitor, events.contains(.readable(Self.token)) || monitor.isDue(at: now) else { return false }
    let events = monitor.drain(at: now)
    guard events.contains(where: { $0.change != .removed && $0.port.likelihood.isPlausible }) else { return false }
    if let descriptor = monitor.fileDescriptor { poller.remove(descriptor) }
    self.monitor = nil
    return true
  }
}
