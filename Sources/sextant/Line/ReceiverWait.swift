// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import MonotonicTime
import SerialPort

/// The present ports by device events, for a command that waits for a receiver.
struct PresentPorts {
  private var ports: [String: ReceiverPort] = [:]

  /// Takes the next events. Returns the present ports, best first, if one was added or has changed.
  mutating func receive(_ events: [DeviceEvent]) -> [ReceiverPort]? {
    for event in events { ports[event.port.node] = event.change == .removed ? nil : event.port }
    return events.contains { $0.change != .removed } ? ReceiverPorts.sortedByLikelihood(Array(ports.values)) : nil
  }
}

/// The wait of a command for the first receiver that is plugged in.
struct ReceiverWait {
  var choice: Source.Choice
  /// The rest of the time limit; nil for no limit.
  var secondsLeft: Double?

  /// Waits until a receiver is plugged in.
  ///
  /// - Parameters:
  ///   - seconds: the time limit; nil for no limit.
  ///   - choose: chooses among the ports of the machine; nil without a receiver.
  /// - Throws: ``CommandFailure`` with exit code 69 after the time limit or a signal.
  static func run(seconds: Double?, _ choose: ([ReceiverPort]) throws -> Source.Choice?) throws -> ReceiverWait {
    printNotice("no receiver found; waiting for one (plug it in, name it with --device or GNSS_DEVICE, or try --demo)")
    var poller = try Poller(catching: [.interrupt, .terminate, .hangUp])
    let list = try installedList()
    var monitor = DeviceMonitor(list: list)
    if let descriptor = monitor.fileDescriptor { try poller.add(descriptor, token: Poller.Token(rawValue: 1)) }
    let end = seconds.map { SystemClock.monotonic + Milliseconds(seconds: $0) }
    var ports = PresentPorts()
    while true {
      let now = SystemClock.monotonic
      if let present = ports.receive(monitor.drain(at: now)), let choice = try choose(present) {
        var wait = ReceiverWait(choice: choice, secondsLeft: nil)
        if let end { wait.secondsLeft = max(0.001, end.seconds(since: now)) }
        return wait
      }
      if let end, now >= end { throw failure("no receiver was plugged in") }
      let events = try poller.wait(deadline: Instant.earlier(monitor.deadline, end)?.nanoseconds)
      for event in events {
        if case .signal = event { throw failure("interrupted before one was plugged in") }
      }
    }
  }

  private static func failure(_ reason: String) -> CommandFailure {
    CommandFailure(.unavailable, "no receiver found: \(reason)")
  }
}
