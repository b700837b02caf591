// SPDX-License-Identifier: Apache-2.0

import LinuxIO
import LocationService
import Messages
import MonotonicTime
import SystemPackage

/// `sextantd --launcher`: starts the units of its user for the location service, using org.sextant.Launch and the
/// user's bus.
///
/// A service of another user cannot reach a user's service manager; therefore a process of that user requests the units
/// to start.
package struct UserLauncher: ~Copyable {
  private static let service = Poller.Token(rawValue: 1)
  private static let bus = Poller.Token(rawValue: 2)

  private let log: (String) -> Void
  private let socket: UnixSocket
  private var varlink = VarlinkClientConnection()
  private let path: String
  private let units = UnitBus(.user, token: Self.bus)
  private var buffer = [UInt8](repeating: 0, count: 16_384)

  private init(_ path: String, _ socket: consuming UnixSocket, _ log: @escaping (String) -> Void) {
    self.path = path
    self.socket = socket
    self.log = log
  }

  /// Runs until SIGTERM, or until the location service ends. Returns the exit code.
  package static func run(_ path: String) -> SystemExitCode {
    let log: (String) -> Void = { Console.log($0) }
    do {
      var launcher = UserLauncher(path, try UnixSocket(connectingTo: path), log)
      return try launcher.run()
    } catch {
      log("\(path): \(error); start the location service with `systemctl start sextantd`")
      return .unavailable
    }
  }

  private mutating func run() throws -> SystemExitCode {
    var poller = try Poller(catching: [.terminate, .interrupt])
    try poller.add(socket.descriptor, token: Self.service)
    _ = try varlink.call(VarlinkCall("org.sextant.Launch.Watch", .empty, .more))
    while true {
      write()
      let now = SystemClock.monotonic
      units.settle(&poller, at: now)
      while let event = units.nextEvent() { report(event) }
      for event in try poller.wait(deadline: units.deadline?.nanoseconds) {
        if case .signal = event { return .success }
        units.handle(event)
      }
      switch socket.read(into: &buffer) {
      case .bytes(let count):
        let bytes = buffer
        varlink.receive(bytes.span.extracting(0..<count))
      case .wouldWait: break
      case .ended:
        log("\(path): the location service has ended")
        return .unavailable
      }
      while let event = varlink.nextEvent() {
        guard case .reply(_, .success(let parameters, _)) = event else {
          log("\(path): the location service has no launches; update sextantd")
          return .unavailable
        }
        units.watch(Set(Self.names(parameters["units"])))
        for unit in Self.names(parameters["start"]) {
          log("\(unit) is started")
          units.start(unit)
        }
      }
    }
  }

  /// Writes the call, which is short enough for an empty socket.
  private mutating func write() {
    while varlink.outputBytesWaiting > 0 {
      switch socket.write(varlink.output) {
      case .bytes(let count): varlink.didWrite(count)
      case .wouldWait, .ended: return
      }
    }
  }

  private static func names(_ json: JSON?) -> [String] {
    guard case .array(let names)? = json else { return [] }
    return names.compactMap(\.string)
  }

  /// Reports on a separate connection, because the first one waits for replies.
  private func report(_ event: UnitBus.Event) {
    let call: VarlinkCall
    switch event {
    case .startEnded(let unit, let failure):
      if let failure { log("\(unit): \(failure)") }
      call = VarlinkCall(
        "org.sextant.Launch.StartEnded",
        ["unit": .string(unit), "failure": failure.map { .string($0) } ?? .null], .oneway)
    case .stopped(let unit): call = VarlinkCall("org.sextant.Launch.Stopped", ["unit": .string(unit)], .oneway)
    }
    var connection = VarlinkClientConnection()
    guard let other = try? UnixSocket(connectingTo: path), (try? connection.call(call)) != nil else { return }
    // A call of this length fits into the socket at once.
    _ = other.write(connection.output)
  }
}

/// A bus while units are started or watched there: ``UnitControl`` decides, and this type connects, sends and receives,
/// on the poller's thread.
package final class UnitBus {
  package enum Event: Equatable, Sendable {
    case startEnded(unit: String, failure: String?)
    case stopped(unit: String)
  }

  private let kind: SystemBus.Kind
  private let token: Poller.Token
  private var control = UnitControl()
  private var connection: BusConnection?
  private var attempts = BusAttempts()
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
    .earlier(attempts.deadline, connection?.deadline)
  }

  /// Sends the pending messages, and handles the received ones.
  package func settle(_ poller: inout Poller, at now: Instant) {
    guard isDue || deadline.map({ now >= $0 }) ?? false else { return }
    isDue = false
    if connection == nil, attempts.begin(isNeeded: control.isNeeded, at: now) { connect(&poller, at: now) }
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
    attempts.failed(at: now)
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
