import Hotplug
import MonotonicTime

/// Which of the receivers that are plugged in stand by, where nobody names one: every one that says itself that it is a
/// receiver, beside the first. What is wired to a bridge nobody knows, and is opened only as the first.
///
///     plugged in ──3 s──▶ stands by, for good: its own roster follows it when it goes and comes back
///         └──gone, or opened by one that was known before──▶ forgotten
///
/// The wait is for receivers that come back under another name: theirs is no other receiver, and who lost it opens it sooner.
struct StandbyReceivers: Sendable {
  /// How long a port has to be there.
  static var patience: Milliseconds { Milliseconds(3000) }
  /// More than that nobody has.
  static var most: Int { 4 }

  /// Ports that are there and not ours, and since when.
  private var seen: [(port: ReceiverPort, since: Instant)] = []
  private var count = 0

  /// When `ripe` has to be asked again.
  private(set) var deadline: Instant?

  init() {}

  /// A device came, changed or went.
  mutating func receive(_ event: DeviceEvent, at now: Instant) {
    let index = seen.firstIndex { $0.port.node == event.port.node }
    guard event.change != .removed, event.port.likelihood == .receiver else {
      if let index { seen.remove(at: index) }
      return schedule()
    }
    if let index { seen[index].port = event.port } else { seen.append((event.port, now)) }
    schedule()
  }

  /// The nodes of receivers that stand by from now on.
  ///
  /// - Parameter isOurs: whether a receiver that is known already holds this port, or waits for its return.
  mutating func ripe(at now: Instant, isOurs: (ReceiverPort) -> Bool) -> [String] {
    guard let deadline, now >= deadline else { return [] }
    var nodes: [String] = []
    for (port, since) in seen where now >= since + Self.patience {
      guard count < Self.most, !isOurs(port) else { continue }
      count += 1
      nodes.append(port.node)
    }
    seen.removeAll { now >= $0.since + Self.patience }
    schedule()
    return nodes
  }

  private mutating func schedule() { deadline = seen.map(\.since).min().map { $0 + Self.patience } }
}
