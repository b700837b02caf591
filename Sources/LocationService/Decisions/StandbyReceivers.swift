// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import SerialPort

/// The plugged-in receivers on standby in addition to the first one, if no receiver is named: every port whose USB
/// identity belongs to a receiver. Any device may be connected to a USB serial adapter, so its port is opened only as
/// the first receiver.
///
///     plugged in ──3 s──▶ stands by, permanently: its own reconnect policy follows it when it goes and comes back
///         └──gone, or the port of a known receiver──▶ discarded
///
/// The wait lets the reconnect policy of a known receiver that returns under another name open it first.
struct StandbyReceivers: Sendable {
  /// The time for which a port must be present.
  static var delay: Milliseconds { Milliseconds(3000) }
  /// The largest number of standby receivers.
  static var limit: Int { 4 }

  /// Ports of unknown receivers, and since when.
  private var seen: [(port: ReceiverPort, since: Instant)] = []
  private var count = 0

  /// The time of the next `takeDue`.
  private(set) var deadline: Instant?

  /// Handles a device that was added, changed or removed.
  mutating func receive(_ event: DeviceEvent, at now: Instant) {
    let index = seen.firstIndex { $0.port.node == event.port.node }
    // The engine of a modem is not switched on for a standby receiver.
    guard event.change != .removed, event.port.likelihood == .receiver, !event.port.isInModem else {
      if let index { seen.remove(at: index) }
      return schedule()
    }
    if let index { seen[index].port = event.port } else { seen.append((event.port, now)) }
    schedule()
  }

  /// Returns the nodes of receivers that are on standby from now on.
  ///
  /// - Parameter isKnown: whether a known receiver is at this port, or is expected to return there.
  mutating func takeDue(at now: Instant, isKnown: (ReceiverPort) -> Bool) -> [String] {
    guard let deadline, now >= deadline else { return [] }
    var nodes: [String] = []
    for (port, since) in seen where now >= since + Self.delay {
      guard count < Self.limit, !isKnown(port) else { continue }
      count += 1
      nodes.append(port.node)
    }
    seen.removeAll { now >= $0.since + Self.delay }
    schedule()
    return nodes
  }

  private mutating func schedule() { deadline = seen.map(\.since).min().map { $0 + Self.delay } }
}
