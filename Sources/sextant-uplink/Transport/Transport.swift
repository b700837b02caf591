// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import MonotonicTime
import Synchronization

/// A command of the program to the connection.
enum TransportCommand: Sendable {
  case connect
  /// A fix; its acknowledgement, refusal or failure comes back with the number.
  case send(UInt64, Payload)
  /// A message without an acknowledgement of its own.
  case publish(Payload)
  case disconnect
  /// Ends the thread, after the messages that were sent are acknowledged or two seconds.
  case end
}

/// A report of the connection.
enum TransportEvent: Sendable {
  case connected
  case acknowledged(UInt64)
  /// The server refuses the fix itself.
  case refused(UInt64, String)
  case failed(Delivery.Failure)
  /// The broker has answered the subscription to commands.
  case subscribed(refusal: String?)
  /// A message of the server.
  case command([UInt8])
  /// Bytes that were sent and received.
  case bytes(UInt64)
  /// The thread has ended.
  case ended
}

/// The time limit of an attempt at a server: a slow network needs more than a server that has gone should cost.
struct AttemptLimit: Equatable, Sendable {
  static let times = Milliseconds(30_000)...Milliseconds(120_000)
  private(set) var time = Self.times.lowerBound

  /// The server did not answer within the limit.
  mutating func expire() { set(time * 2) }

  /// The server has answered. The limit falls slowly: a request that is cut off may have arrived, and is sent twice.
  mutating func answered(after taken: Milliseconds) { set(max(taken * 3, Milliseconds(seconds: 0.9 * time.seconds))) }

  private mutating func set(_ time: Milliseconds) {
    self.time = min(max(time, Self.times.lowerBound), Self.times.upperBound)
  }
}

/// When a library that sends a keep-alive message an interval after its last message has to be called without an event: it does not
/// show when that was, because it acknowledges messages of the server by itself. A server disconnects after one and a half intervals
/// (MQTT 3.1.1, 3.1.2.10).
struct KeepAlive: Equatable, Sendable {
  private let interval: Milliseconds
  /// When the library is to be called.
  private(set) var deadline: Instant
  /// The earliest and the latest time at which it may have sent its last message.
  private var earliest, latest: Instant

  /// - Parameter now: the time of the connection.
  init(_ interval: Milliseconds, at now: Instant) {
    self.interval = interval
    (earliest, latest, deadline) = (now, now, now + interval)
  }

  /// The library has sent a message.
  mutating func sent(at now: Instant) { (earliest, latest, deadline) = (now, now, now + interval) }

  /// A message has come, which the library may have acknowledged.
  mutating func received(at now: Instant) { latest = now }

  /// The library was called. Its last message is then less than an interval old, because it sends one if not.
  mutating func called(at now: Instant) {
    guard earliest + interval <= now else { return }
    if latest + interval <= now { return sent(at: now) }
    latest = now
    deadline = now + Milliseconds(interval.count / 3)
  }
}

/// The thread that talks to the server: a look-up of a name and a request of libcurl block it, and nothing else.
final class Transport: Sendable {
  private struct State {
    var commands: [TransportCommand] = []
    var waker: Poller.Waker?
  }

  private let state = Mutex(State())
  private let report: @Sendable (TransportEvent) -> Void

  /// - Parameters:
  ///   - credentials: the user's password, if there is one.
  ///   - report: called on the thread.
  /// - Throws: ``UplinkFailure`` without the library, a thread or descriptors.
  init(
    _ configuration: UplinkConfiguration, _ writer: PayloadWriter, password: String?,
    report: @escaping @Sendable (TransportEvent) -> Void
  ) throws {
    self.report = report
    let isMQTT = configuration.server.isMQTT
    if isMQTT {
      try MQTTConnection.loadLibrary()
    } else {
      try HTTPConnection.loadLibrary()
    }
    let isStarted = BackgroundWork.start { [self] in
      do {
        let poller = try Poller()
        let waker = poller.waker
        state.withLock { $0.waker = waker }
        // Earlier commands wait.
        waker.wake()
        if isMQTT {
          var connection = MQTTConnection(configuration, writer, password: password, report: report)
          connection.run(poller) { take() }
        } else {
          var connection = HTTPConnection(configuration, password: password, report: report)
          connection.run(poller) { take() }
        }
      } catch {
        report(.failed(.temporary("no connection is possible: \(error)")))
      }
      report(.ended)
    }
    guard isStarted else { throw UplinkFailure(.systemResource, "the system has no thread left; end another program") }
  }

  func perform(_ command: TransportCommand) {
    let waker = state.withLock { state in
      state.commands.append(command)
      return state.waker
    }
    waker?.wake()
  }

  private func take() -> [TransportCommand] {
    state.withLock { state in
      defer { state.commands = [] }
      return state.commands
    }
  }
}
