// SPDX-License-Identifier: Apache-2.0

import LinuxIO
import Messages
import MonotonicTime
import Positioning
import SerialPort

/// The system's bus while there is a demand for it: suspends from logind, beacons from BlueZ. Runs on the poller's thread.
final class BusSource {
  enum Event {
    case log(String)
    case input(ServiceInput)
  }

  private static let token = Poller.Token(rawValue: 6)
  private static let socket = "/run/dbus/system_bus_socket"
  /// The folder that logind and elogind create.
  private static let seats = "/run/systemd/seats"

  private let hasLogind: () -> Bool
  private let makeConnection: (inout Poller) throws -> BusConnection
  private var demand = SensorDemand()
  private var connection: BusConnection?
  private var suspend = SuspendWatch()
  private var beacons = BeaconScan()
  private var clock = SuspendClock()
  /// Delays a suspend while it is open.
  private var inhibitor: BusFile?
  private var attempts = BusAttempts()
  private var isFailureLogged = false
  private var events: [Event] = []

  init(
    hasLogind: @escaping () -> Bool = { BusSource.mayHaveLogind },
    connect: @escaping (inout Poller) throws -> BusConnection = { try BusConnection(token: BusSource.token, &$0) }
  ) {
    self.hasLogind = hasLogind
    makeConnection = connect
  }

  /// Whether the host probably has a bus.
  static var mayHaveBus: Bool { System.variable("DBUS_SYSTEM_BUS_ADDRESS") != nil || FileLookup.exists(socket) }

  private static var mayHaveLogind: Bool {
    mayHaveBus && (System.variable("DBUS_SYSTEM_BUS_ADDRESS") != nil || FileLookup.exists(seats))
  }

  func nextEvent() -> Event? { events.isEmpty ? nil : events.removeFirst() }

  var deadline: Instant? {
    var next = Instant.earlier(attempts.deadline, suspend.deadline)
    next = .earlier(next, beacons.deadline)
    return .earlier(next, connection?.deadline)
  }

  /// Sets the demand from now on.
  func set(_ demand: SensorDemand, _ poller: inout Poller, at now: Instant) {
    self.demand = demand
    beacons.setWanted(demand.beacons, at: now)
    if connection == nil, isNeeded { connect(&poller, at: now) }
    settle(&poller, at: now)
    if !isNeeded { close(&poller) }
  }

  /// Records that the receiver is ready for the suspend.
  func allowSuspend(_ poller: inout Poller, at now: Instant) {
    suspend.allow()
    settle(&poller, at: now)
  }

  /// Handles the received messages and performs the actions that are due.
  func wake(_ poller: inout Poller, at now: Instant) {
    if let seconds = clock.receive(differenceNanoseconds: SuspendClock.differenceNanoseconds()) {
      report(.resumed(suspendedSeconds: seconds))
    }
    if attempts.deadline != nil, attempts.begin(isNeeded: isNeeded, at: now) { connect(&poller, at: now) }
    suspend.wake(at: now)
    beacons.wake(at: now)
    settle(&poller, at: now)
  }

  // MARK: The connection

  private var isNeeded: Bool { demand.beacons || demand.suspends && hasLogind() }

  private func connect(_ poller: inout Poller, at now: Instant) {
    attempts = BusAttempts()
    guard isNeeded, connection == nil else { return }
    do {
      connection = try makeConnection(&poller)
      if demand.suspends, hasLogind() { suspend.connected() }
      beacons.connected()
      isFailureLogged = false
    } catch is BusConnection.NoDescriptor {
      retry(nil, at: now)
    } catch {
      retry("\(error)", at: now)
    }
  }

  /// Plans the next attempt. A lack of suspends is not reported.
  private func retry(_ reason: String?, at now: Instant) {
    guard isNeeded else { return }
    attempts.failed(at: now)
    guard demand.beacons else { return }
    if let reason, !isFailureLogged {
      isFailureLogged = true
      events.append(.log("beacons cannot be received: \(reason)"))
    }
    report(.canReceiveBeacons(false))
  }

  private func close(_ poller: inout Poller) {
    attempts = BusAttempts()
    guard let connection else { return }
    connection.close(&poller)
    self.connection = nil
    suspend.disconnected()
    beacons.disconnected()
    dropOutputs()
    inhibitor = nil
    report(.canReceiveBeacons(nil))
  }

  // MARK: Messages

  /// Sends and receives messages until there are none.
  private func settle(_ poller: inout Poller, at now: Instant) {
    guard let connection else { return dropOutputs() }
    do {
      try connection.process(&poller, sendAll: { try sendAll(connection) }, receive: { receive($0, at: now) })
    } catch {
      close(&poller)
      retry("\(error)", at: now)
    }
  }

  /// Drops calls that have no connection.
  private func dropOutputs() {
    while suspend.nextOutput() != nil {}
    while beacons.nextOutput() != nil {}
  }

  private func receive(_ message: BusMessage, at now: Instant) {
    switch message.kind {
    case .reply(let token), .refusal(let token, _, _):
      switch token.owner {
      case .suspend: suspend.receive(message, at: now)
      case .beacons: beacons.receive(message, at: now)
      case .units, .announcements, .modems: break
      }
    case .signal:
      suspend.receive(message, at: now)
      beacons.receive(message, at: now)
    }
  }

  private func report(_ input: SensingInput) { events.append(.input(.sensing(input))) }
  private func report(_ input: ServiceInput) { events.append(.input(input)) }

  private func sendAll(_ connection: BusConnection) throws(SystemBus.Failure) {
    while let output = suspend.nextOutput() {
      switch output {
      case .call(let call): try connection.send(call)
      case .inhibit(let file): inhibitor = file
      case .release: inhibitor = nil
      case .suspending: report(.suspending)
      // The duration follows from the clocks.
      case .resumed: report(.resumed(suspendedSeconds: 0))
      }
    }
    while let output = beacons.nextOutput() {
      switch output {
      case .call(let call): try connection.send(call)
      case .available(let can): report(.canReceiveBeacons(can))
      case .received(let beacon, let strength): report(.beacon(beacon, strengthDecibelMilliwatts: strength))
      case .log(let text): if demand.beacons { events.append(.log(text)) }
      }
    }
  }
}

/// When a bus that could not be reached, or whose connection has ended, is tried again.
package struct BusAttempts: Equatable, Sendable {
  private static let retry = Milliseconds(10_000)

  /// The time of the next attempt after a failure.
  package private(set) var deadline: Instant?

  package init() {}

  /// Begins an attempt if one is due. Returns whether to connect now. A bus that nothing needs is not tried again.
  package mutating func begin(isNeeded: Bool, at now: Instant) -> Bool {
    if isNeeded, let deadline, now < deadline { return false }
    deadline = nil
    return isNeeded
  }

  package mutating func failed(at now: Instant) { deadline = now + Self.retry }
}

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
