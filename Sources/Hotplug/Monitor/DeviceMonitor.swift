import MonotonicTime

/// Hears of ports that come and go.
///
/// Give ``fileDescriptor`` to a poller and wake at ``deadline``; after either, and once at the start, ``drain(at:)``
/// tells what happened. The first call tells of all ports that are there. Nothing that happens between two calls is
/// lost: when the kernel had to drop messages, the list of devices is read and compared.
public struct DeviceMonitor: ~Copyable {
  /// Where the news comes from.
  public let source: MonitorSource

  private let list: DeviceList
  private let subscription: Udev.Subscription?
  private var table = PortTable()
  private var nextScan: Instant? = .zero

  /// Begins to listen.
  ///
  /// - Parameters:
  ///   - list: the user's own list of devices.
  ///   - wanted: where to listen; nil takes the best that the machine has. One that cannot be had becomes `polling`.
  public init(list: DeviceList = DeviceList(), source wanted: MonitorSource? = nil) {
    let best =
      wanted
      ?? MonitorSource.best(
        udevIsHeard: UdevDaemon.isHeard, isInitialUserNamespace: Namespaces.isInitialUserNamespace)
    // The subscription stands before the first list is read, so that nothing is missed between the two.
    let subscription: Udev.Subscription? =
      switch best {
      case .udev: Udev.Subscription(to: .udev)
      case .kernel: Udev.Subscription(to: .kernel)
      case .polling: nil
      }
    self.list = list
    source = subscription == nil ? .polling : best
    self.subscription = subscription
  }

  /// Readable when something happened; nil where devices are looked for by time alone. It belongs to the monitor.
  public var fileDescriptor: Int32? {
    switch subscription {
    case .some(let subscription): subscription.descriptor
    case nil: nil
    }
  }

  /// When ``drain(at:)`` is due without news from the descriptor; nil for never.
  public var deadline: Instant? { nextScan }

  /// Whether the deadline has come.
  public func isDue(at now: Instant) -> Bool { nextScan.map { $0 <= now } ?? false }

  /// What happened since the last call, in order.
  ///
  /// - Parameter now: the time, on the clock that ``deadline`` is meant on.
  public mutating func drain(at now: Instant) -> [DeviceEvent] {
    var changes: [(DeviceEvent.Change, DeviceAttributes)] = []
    var isListWanted = nextScan.map { $0 <= now } ?? false
    while let message = next() {
      switch message {
      case .device(let change, let attributes) where source == .udev: changes += table.receive(change, attributes)
      case .device, .overrun: isListWanted = true
      case .irrelevant: break
      }
    }
    if isListWanted {
      changes += table.replace(with: Udev.deviceAttributes())
      nextScan = source.rescanInterval.map { now + $0 }
    }
    return changes.map { DeviceEvent($0.0, ReceiverPort($0.1, list: list)) }
  }

  private func next() -> Udev.Message? {
    switch subscription {
    case .some(let subscription): subscription.next()
    case nil: nil
    }
  }
}
