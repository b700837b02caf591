// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// One attempt to reach a host: its addresses are looked up and tried in turn, and the time for a server to grant a
/// request is limited.
///
///     resolving  ── found ──▶ connecting ── connected ──▶ established
///         │                    │   ▲ refused, timeout: the next address
///         │                    │   └──────────┐   │ a reply is awaited
///         │                    └──────────────┘   ▼
///         │ not found, timeout   no address left  awaiting ── granted ──▶ established
///         └──────────▶ failed ◀────────────────────┘ refused, timeout
///
/// The value does not use a clock or sockets.
package struct HostConnecting: Sendable {
  /// The reason why the host cannot be reached.
  package enum Failure: Error, Equatable, Sendable {
    /// The name service has no address; its message.
    case noSuchHost(String)
    /// Every address refused the connection; the last reason.
    case refused(String)
    /// No address replied in time.
    case noReply
    /// The server replied and does not grant the request; its message and the next step.
    case notGranted(String)
    /// The server has closed the connection before it granted the request.
    case closed

    /// The problem and the next step.
    package var text: String {
      switch self {
      case .noSuchHost(let reason): "the host is not found (\(reason)); check its name and the network"
      case .refused(let reason): "cannot be connected to (\(reason)); check host and port, and that the server runs"
      case .noReply: "does not reply; check the address and the network"
      case .notGranted(let text): text
      case .closed: "the server closed the connection; does it serve another client?"
      }
    }
  }

  /// The next step of the I/O code.
  package enum Action: Equatable, Sendable {
    case resolve
    /// Connect to the address with this index.
    case connect(Int)
    /// Close the socket of the last address.
    case close
  }

  private enum State: Sendable {
    case resolving(until: Instant)
    case connecting(index: Int, count: Int, until: Instant)
    case awaiting(until: Instant)
    case established
    case failed(Failure)
  }

  /// The time limit of the lookup; resolv.conf(5): 5 s for a name server, two attempts.
  static let lookupTimeout = Milliseconds(12_000)
  /// The time limit for an address. The first retransmission of a lost SYN comes after 1 s, the third after 7 s (RFC
  /// 6298).
  static let addressTimeout = Milliseconds(8000)
  /// The time limit for the reply to a request.
  static let replyTimeout = Milliseconds(10_000)

  private var state: State
  private var actions: [Action] = [.resolve]

  package init(at now: Instant) { state = .resolving(until: now + Self.lookupTimeout) }

  /// The next action; nil if there is nothing to do for now.
  package mutating func nextAction() -> Action? { actions.isEmpty ? nil : actions.removeFirst() }

  /// The time at which `wake` is due; nil after the end of the attempt.
  package var deadline: Instant? {
    switch state {
    case .resolving(let until), .connecting(_, _, let until), .awaiting(let until): until
    case .established, .failed: nil
    }
  }

  /// The failure; nil during the attempt and after a success.
  package var failure: Failure? { if case .failed(let failure) = state { failure } else { nil } }
  package var isEstablished: Bool { if case .established = state { true } else { false } }

  /// Performs the actions that are due.
  package mutating func wake(at now: Instant) {
    guard let deadline, now >= deadline else { return }
    switch state {
    case .connecting(let index, let count, _): next(after: index, of: count, .noReply, at: now)
    default: fail(.noReply)
    }
  }

  /// Records that the addresses of the host were found.
  package mutating func found(count: Int, at now: Instant) {
    guard case .resolving = state else { return }
    next(after: -1, of: count, .noSuchHost("no address"), at: now)
  }

  /// Records that the host has no address; `reason` is the name service's message.
  package mutating func notFound(_ reason: String) {
    guard case .resolving = state else { return }
    fail(.noSuchHost(reason))
  }

  /// Records that the connection to the last address is established.
  ///
  /// - Parameter awaitsReply: whether the server must grant a request first.
  package mutating func connected(awaitsReply: Bool, at now: Instant) {
    guard case .connecting = state else { return }
    state = awaitsReply ? .awaiting(until: now + Self.replyTimeout) : .established
  }

  /// Records that the connection to the last address has failed.
  package mutating func refused(_ reason: String, at now: Instant) {
    guard case .connecting(let index, let count, _) = state else { return }
    next(after: index, of: count, .refused(reason), at: now)
  }

  /// Records that the server has granted the request.
  package mutating func granted() { if case .awaiting = state { state = .established } }

  /// Records that the server refuses the request, or has closed the connection.
  package mutating func ended(_ failure: Failure) { if case .awaiting = state { fail(failure) } }

  private mutating func next(after index: Int, of count: Int, _ failure: Failure, at now: Instant) {
    if index >= 0 { actions.append(.close) }
    guard index + 1 < count else {
      state = .failed(failure)
      return
    }
    state = .connecting(index: index + 1, count: count, until: now + Self.addressTimeout)
    actions.append(.connect(index + 1))
  }

  private mutating func fail(_ failure: Failure) {
    actions.append(.close)
    state = .failed(failure)
  }
}

/// The pauses between attempts to reach a host again.
package enum HostRetry {
  static let first = Milliseconds(500)
  static let longest = Milliseconds(30_000)

  /// Returns the pause after a number of consecutive failed attempts, at least 1: 0.5, 1, 2, … 30 s.
  package static func pause(afterFailures failures: Int) -> Milliseconds {
    min(longest, first * (1 << UInt64(min(max(failures - 1, 0), 6))))
  }
}
