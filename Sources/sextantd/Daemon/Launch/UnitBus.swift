// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import LocationService
import MonotonicTime

/// A bus while units are started or watched there: ``UnitControl`` decides, and this type connects, sends and receives,
/// on the poller's thread.
package final class UnitBus {
  /// The time between two attempts to connect.
  private static let retry = Milliseconds(10_000)

  package enum Event: Equatable, Sendable {
    case startEnded(unit: String, failure: String?)
    case stopped(unit: String)
  }

  private let kind: SystemBus.Kind
  private let token: Poller.Token
  private var control = UnitControl()
  private var connection: BusConnection?
  private var nextTry: Instant?
  private var events: [Event] = []
  /// Whether there may be something to send or to read.
  private var isDue = false

  package init(_ kind: SystemBus.Kind, token: Poller.Token) {
    self.kind = kind
    self.token = token
  }

  package func start(_ unit: String) {
    control.start(unit)
    isDue = true
  }

  /// Sets the units whose stops are reported.
  package func watch(_ units: Set<String>) {
    control.watch(units)
    isDue = true
  }

  /// Handles an event of the poller.
  package func handle(_ event: Poller.Event) {
    switch event {
    case .readable(token), .writable(token), .hangUp(token): isDue = true
    default: break
    }
  }

  package func nextEvent() -> Event? { events.isEmpty ? nil : events.removeFirst() }

  package var deadline: Instant? {
    .earlier(nextTry, connection?.deadline)
  }

  /// Sends the pending messages, and handles the received ones.
  package func settle(_ poller: inout Poller, at now: Instant) {
    guard isDue || deadline.map({ now >= $0 }) ?? false else { return }
    isDue = false
    if connection == nil, control.isNeeded, nextTry.map({ now >= $0 }) ?? true { connect(&poller, at: now) }
    guard let connection else { return takeOutputs() }
    do {
      try connection.process(&poller, sendAll: { try sendAll(connection) }, receive: { control.receive($0) })
    } catch {
      connection.close(&poller)
      self.connection = nil
      failed("\(error)", at: now)
    }
  }

  private func sendAll(_ connection: BusConnection) throws(SystemBus.Failure) {
    while let output = control.nextOutput() {
      if case .call(let call) = output { try connection.send(call) } else { take(output) }
    }
  }

  private func connect(_ poller: inout Poller, at now: Instant) {
    nextTry = nil
    do {
      connection = try BusConnection(kind, token: token, &poller)
      control.connected()
    } catch {
      failed("\(error)", at: now)
    }
  }

  private func failed(_ reason: String, at now: Instant) {
    control.disconnected(reason)
    takeOutputs()
    nextTry = control.isNeeded ? now + Self.retry : nil
  }

  private func takeOutputs() {
    while let output = control.nextOutput() { take(output) }
  }

  private func take(_ output: UnitControl.Output) {
    switch output {
    // Without a connection, the next attempt starts over.
    case .call: break
    case .startEnded(let unit, let failure): events.append(.startEnded(unit: unit, failure: failure))
    case .stopped(let unit): events.append(.stopped(unit: unit))
    }
  }
}
