// SPDX-License-Identifier: Apache-2.0

// Serves the receivers that its arguments name in one process and one thread until it gets SIGTERM, and then prints the
// number of epochs of each. Tests/peers/many_receivers.py measures it.
import LinuxIO
import MonotonicTime
import Receiver
import ReceiverRuntime
import SerialPort

@main
struct ManyReceivers {
  static func main() throws {
    let paths = CommandLine.arguments.dropFirst()
    var poller = try Poller(catching: [.interrupt, .terminate])
    var connections: [ReceiverConnection] = []
    for (index, path) in paths.enumerated() {
      let connection = ReceiverConnection(
        path: path, settings: SessionSettings(intent: .readOnly, line: .serial), baud: 115_200,
        token: Poller.Token(rawValue: UInt32(index)), reference: { nil })
      try connection.open(&poller, at: SystemClock.monotonic)
      connections.append(connection)
    }
    var epochs = [Int](repeating: 0, count: connections.count)
    serving: while true {
      var due: Instant?
      for connection in connections { due = Instant.earlier(due, connection.deadline) }
      let events = try poller.wait(deadline: due?.nanoseconds)
      let now = SystemClock.monotonic
      for event in events {
        switch event {
        case .signal: break serving
        case .readable(let token), .writable(let token), .hangUp(let token):
          let index = Int(token.rawValue)
          connections[index].handle(event, &poller, at: now) { report, _ in if !report.isUpdate { epochs[index] += 1 } }
        case .timeout, .woken: break
        }
      }
      for (index, connection) in connections.enumerated() {
        if let due = connection.deadline, now >= due {
          connection.wake(&poller, at: now) { report, _ in if !report.isUpdate { epochs[index] += 1 } }
        }
        while connection.nextEvent() != nil {}
      }
    }
    print(epochs.map { String($0) }.joined(separator: " "))
  }
}
