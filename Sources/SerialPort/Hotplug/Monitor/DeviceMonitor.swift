// SPDX-License-Identifier: Apache-2.0

import LinuxIO
import MonotonicTime

/// Reports ports that are added, changed and removed.
///
/// Add ``fileDescriptor`` to a poller and wake at ``deadline``; after either, and once at the start, ``drain(at:)``
/// returns the events. The first call returns all present ports. No event between two calls is lost: if the kernel
/// dropped messages, the list of devices is read and compared.
public struct DeviceMonitor: ~Copyable {
  /// The source of the events.
  public let source: MonitorSource

  private let list: DeviceList
  private let subscription: Udev.Subscription?
  private var table = PortTable()
  private var nextScan: Instant? = .zero

  /// Starts to monitor.
  ///
  /// - Parameters:
  ///   - list: the user's list of devices.
  ///   - wanted: the source; nil selects the best of the machine. A source that is not available becomes `polling`.
  public init(list: DeviceList = DeviceList(), source wanted: MonitorSource? = nil) {
    let best =
      wanted
      ?? MonitorSource.best(
        udevIsReachable: UdevDaemon.isReachable, isInitialUserNamespace: Namespaces.isInitialUserNamespace)
    // The subscription precedes the first list, so that no event between the two is lost.
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

  /// The descriptor, readable when there are events; nil if devices are polled. It belongs to the monitor.
  public var fileDescriptor: Int32? {
    switch subscription {
    case .some(let subscription): subscription.descriptor
    case nil: nil
    }
  }

  /// The time at which ``drain(at:)`` is due without an event of the descriptor; nil if never.
  public var deadline: Instant? { nextScan }

  public func isDue(at now: Instant) -> Bool { nextScan.map { $0 <= now } ?? false }

  /// Returns the events since the last call, in order.
  ///
  /// - Parameter now: the time, on the clock of ``deadline``.
  public mutating func drain(at now: Instant) -> [DeviceEvent] {
    var changes: [(DeviceEvent.Change, DeviceAttributes)] = []
    var needsList = isDue(at: now)
    while let message = next() {
      switch message {
      case .device(let change, let attributes) where source == .udev: changes += table.receive(change, attributes)
      case .device, .overrun: needsList = true
      case .irrelevant: break
      }
    }
    if needsList {
      if let devices = Udev.deviceAttributes() {
        changes += table.replace(with: devices)
        nextScan = source.rescanInterval.map { now + $0 }
      } else {
        // Without a list no device is reported as removed.
        nextScan = now + Self.retry
      }
    }
    return changes.map { DeviceEvent($0.0, ReceiverPort($0.1, list: list)) }
  }

  /// The time until the next attempt after the system could not provide a list, for example for lack of descriptors.
  private static var retry: Milliseconds { Milliseconds(1000) }

  private func next() -> Udev.Message? {
    switch subscription {
    case .some(let subscription): subscription.next()
    case nil: nil
    }
  }
}

/// The namespaces of this process.
enum Namespaces {
  /// Whether the user ids of this process are the machine's own; user_namespaces(7).
  static var isInitialUserNamespace: Bool {
    // A kernel without user namespaces has no such file.
    guard let map = try? UserFile.read("/proc/self/uid_map") else { return true }
    return isInitial(userMap: map)
  }

  /// Whether a map belongs to the initial namespace, which maps all user ids onto themselves.
  static func isInitial(userMap: String) -> Bool {
    userMap.split { $0 == " " || $0 == "\n" } == ["0", "0", "4294967295"]
  }
}

/// The reachability of udevd.
enum UdevDaemon {
  /// Whether a process listens at the control socket of udevd in the network namespace of this process, which is the
  /// only one that udevd's messages reach. The socket's file is not sufficient: it remains after udevd ends, and
  /// containers mount it.
  static var isReachable: Bool {
    guard let sockets = try? UserFile.read("/proc/net/unix", limit: 1 << 24) else { return false }
    return isListening(in: sockets)
  }

  /// Reads /proc/net/unix, proc(5): `Num: RefCount Protocol Flags Type St Inode Path`.
  static func isListening(in sockets: String) -> Bool {
    // SO_ACCEPTCON of include/linux/net.h: the socket accepts connections.
    let accepts: UInt32 = 0x10000
    return sockets.split(separator: "\n").contains { line in
      let fields = line.split(separator: " ")
      guard fields.count == 8, fields[7] == "/run/udev/control", let flags = UInt32(fields[3], radix: 16) else {
        return false
      }
      return flags & accepts != 0
    }
  }
}

/// A change of a port.
public struct DeviceEvent: Sendable, Hashable {
  public enum Change: Sendable, Hashable {
    /// The port is now present.
    case added
    /// The port is still present, with other attributes, links or permissions.
    case changed
    /// The port was removed. It has its last known attributes.
    case removed
  }

  public let change: Change
  public let port: ReceiverPort

  public init(_ change: Change, _ port: ReceiverPort) {
    self.change = change
    self.port = port
  }
}
