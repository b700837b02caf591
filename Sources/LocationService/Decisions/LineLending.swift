// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// The user of a receiver's line: the service, or the program with the lease.
///
///     served ──lend──▶ ending ──the session is over──▶ lent ──takeBack──▶ returning ──opened, or a time──▶ served
///                        └──takeBack──▶ ending, taken back ──the session is over──▶ returning
///
/// The kernel closes the descriptors of a killed program one by one. Therefore the line may still be in use for a
/// moment after it was taken back, which is not a fault of the receiver.
struct LineLending: Equatable, Sendable {
  /// The time during which opening a line in use is retried without a log line.
  static var timeout: Milliseconds { Milliseconds(3000) }
  /// The time between two of these attempts.
  static var retry: Milliseconds { Milliseconds(50) }

  private enum State: Equatable, Sendable {
    case served
    /// The service's session restores the receiver.
    case ending(isTakenBack: Bool)
    case lent
    case returning(until: Instant)
  }

  private var state = State.served

  var use: LineUse {
    switch state {
    case .served: .served
    case .ending: .ending
    case .lent: .lent
    case .returning: .returning
    }
  }

  /// Whether the service may open the line.
  var mayOpen: Bool {
    switch state {
    case .served, .returning: true
    case .ending, .lent: false
    }
  }

  /// Whether the service's session must end.
  var isEnding: Bool { if case .ending = state { true } else { false } }

  /// Reserves the line for a program. Returns false if a program has the line, or is about to get it.
  mutating func lend() -> Bool {
    switch state {
    case .served, .returning:
      state = .ending(isTakenBack: false)
      return true
    case .ending, .lent: return false
    }
  }

  /// Records that the service's session is over and its port is closed.
  mutating func released(at now: Instant) {
    switch state {
    case .ending(isTakenBack: false): state = .lent
    case .ending(isTakenBack: true): state = .returning(until: now + Self.timeout)
    case .served, .lent, .returning: break
    }
  }

  /// Records that the program has ended or no longer needs the line.
  mutating func takeBack(at now: Instant) {
    switch state {
    case .ending: state = .ending(isTakenBack: true)
    case .lent: state = .returning(until: now + Self.timeout)
    case .served, .returning: break
    }
  }

  /// Records that the service has opened the line.
  mutating func opened() { if case .returning = state { state = .served } }

  /// Handles a line that another program has open. Returns whether to retry without a log line.
  mutating func held(at now: Instant) -> Bool {
    guard case .returning(let until) = state else { return false }
    if now < until { return true }
    state = .served
    return false
  }
}

/// The use of a receiver's line, as reported to programs.
package enum LineUse: Sendable {
  /// The service uses it.
  case served
  /// The service restores the receiver for a program that the line is lent to.
  case ending
  /// A program has it.
  case lent
  /// The program has ended; the service opens the line again.
  case returning
}
