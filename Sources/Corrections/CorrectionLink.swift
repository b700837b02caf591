// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// The state of the connection to a source of corrections: when to connect, when to give up, and what to report.
///
///     waiting ─ time ─▶ connecting ─ connected ─▶ open ─ bytes ─▶ open
///        ▲                  │ failed, timeout      │ lost, silent
///        └──── back-off ◀───┴──────────────────────┘
///
/// A loss is reported once, until bytes arrive again. The value has no clock and no socket.
package struct CorrectionLink: Sendable {
  /// The next step of the I/O code.
  package enum Action: Equatable, Sendable {
    case connect
    case disconnect
    /// A message to the user.
    case report(String)
  }

  /// The pause between two attempts. It doubles from the first to the longest value.
  static let firstPause = Milliseconds(1000)
  static let longestPause = Milliseconds(60_000)
  /// The time limit of an attempt.
  static let connectTimeout = Milliseconds(20_000)
  /// A source without a byte for this time is lost: corrections arrive about every second.
  static let silence = Milliseconds(60_000)

  /// A connection that ends sooner is not reported if the ones before ended as soon.
  static let shortLife = Milliseconds(10_000)
  /// The number of short connections in a row that are reported like a single loss.
  static let toleratedShortLives = 3

  private enum State { case waiting(until: Instant), connecting(until: Instant), open(until: Instant) }

  private var state: State
  private var pause = CorrectionLink.firstPause
  private var isReported = false
  /// The time of the last connection, and the number of connections in a row that ended soon.
  private var connectedAt = Instant.zero
  private var shortLives = 0
  private var actions: [Action] = []
  private let name: String

  /// - Parameters:
  ///   - name: the source, for messages.
  ///   - now: the present instant.
  package init(to name: String, at now: Instant) {
    self.name = name
    state = .waiting(until: now)
  }

  /// When `wake` is due.
  package var deadline: Instant {
    switch state {
    case .waiting(let until), .connecting(let until), .open(let until): until
    }
  }

  /// The next action; nil if there is nothing to do for now.
  package mutating func nextAction() -> Action? { actions.isEmpty ? nil : actions.removeFirst() }

  /// Performs what is due. A call before the deadline has no effect.
  package mutating func wake(at now: Instant) {
    guard now >= deadline else { return }
    switch state {
    case .waiting:
      state = .connecting(until: now + Self.connectTimeout)
      actions.append(.connect)
    case .connecting: fail("does not reply; check the address and the network", at: now)
    case .open: fail("has sent nothing for \(Self.silence.count / 1000) s", at: now)
    }
  }

  /// The connection is established.
  ///
  /// - Parameters:
  ///   - awaitsReply: whether a request was sent that the source has to grant first.
  ///   - now: the present instant.
  package mutating func connected(awaitsReply: Bool = false, at now: Instant) {
    guard case .connecting = state else { return }
    connectedAt = now
    state = awaitsReply ? .connecting(until: now + Self.connectTimeout) : .open(until: now + Self.silence)
  }

  /// The source has granted the request.
  package mutating func granted(at now: Instant) {
    guard case .connecting = state else { return }
    state = .open(until: now + Self.silence)
  }

  /// Corrections arrived.
  package mutating func received(at now: Instant) {
    state = .open(until: now + Self.silence)
    if now >= connectedAt + Self.shortLife { shortLives = 0 }
    guard shortLives < Self.toleratedShortLives else { return }
    pause = Self.firstPause
    if isReported { actions.append(.report("\(name): corrections arrive again")) }
    isReported = false
  }

  /// The connection attempt failed, or the connection is lost.
  ///
  /// - Parameters:
  ///   - reason: the text for the user, with the next step if there is one.
  ///   - now: the present instant.
  package mutating func failed(_ reason: String, at now: Instant) {
    if case .waiting = state { return }
    fail(reason, at: now)
  }

  private mutating func fail(_ reason: String, at now: Instant) {
    if case .open = state { shortLives = now < connectedAt + Self.shortLife ? shortLives + 1 : 0 }
    actions.append(.disconnect)
    if !isReported { actions.append(.report("\(name): \(reason); trying again")) }
    isReported = true
    state = .waiting(until: now + pause)
    pause = min(pause * 2, Self.longestPause)
  }
}
