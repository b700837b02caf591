// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import MonotonicTime

/// A connection to a bus on the poller's thread: the state machines that use the bus decide what to send, and this type
/// sends and receives it.
package final class BusConnection {
  /// There is no descriptor to wait for.
  package struct NoDescriptor: Error, CustomStringConvertible {
    package var description: String { "the bus has no connection" }
  }

  private var bus: SystemBus
  private let descriptor: Int32
  private let token: Poller.Token
  private var isWriting = false

  package init(_ kind: SystemBus.Kind = .system, token: Poller.Token, _ poller: inout Poller) throws {
    let bus = try SystemBus(kind)
    guard let descriptor = bus.descriptor else { throw NoDescriptor() }
    try poller.add(descriptor, token: token)
    self.bus = bus
    self.descriptor = descriptor
    self.token = token
  }

  /// Whether this machine probably has the system's bus.
  package static var mayHaveSystemBus: Bool { BusSource.mayHaveBus }

  package var deadline: Instant? { bus.deadlineNanoseconds.map { Instant(nanoseconds: $0) } }

  package func send(_ call: BusCall) throws(SystemBus.Failure) { try bus.send(call) }

  /// Sends and receives messages until none is pending.
  ///
  /// - Parameters:
  ///   - sendAll: sends the pending calls, with ``send(_:)``.
  ///   - receive: handles a message, which may cause calls.
  package func process(
    _ poller: inout Poller, sendAll: () throws -> Void, receive: (BusMessage) -> Void
  ) throws {
    var hasReceived = true
    while hasReceived {
      try sendAll()
      hasReceived = false
      while let step = try bus.process() {
        guard let message = step else { continue }
        receive(message)
        hasReceived = true
      }
    }
    guard bus.wantsToWrite != isWriting else { return }
    isWriting.toggle()
    try poller.change(descriptor, token: token, interest: isWriting ? [.readable, .writable] : .readable)
  }

  package func close(_ poller: inout Poller) { poller.remove(descriptor) }
}
