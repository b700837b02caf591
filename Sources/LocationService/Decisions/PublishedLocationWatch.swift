// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// The locations that another program publishes, for a program whose receiver that program has open.
///
///     off ──the receiver is held──▶ on ──the receiver is open, or lost──▶ off
///
/// A location is fresh if its file changed between two polls a second apart. Its time is not compared with the computer's
/// clock, which may be wrong.
struct PublishedLocationWatch<Mark: Equatable & Sendable>: Sendable {
  /// The time between two polls.
  static var interval: Milliseconds { Milliseconds(1000) }

  private enum State: Sendable {
    case off
    case on(seen: Mark, next: Instant)
  }
  private var state = State.off

  /// The time of the next poll.
  var deadline: Instant? { if case .on(_, let next) = state { next } else { nil } }

  /// Handles whether another program has the receiver open.
  ///
  /// - Parameter mark: a value that changes with the published location; here its previous value.
  mutating func setHeld(_ isHeld: Bool, mark: @autoclosure () -> Mark, at now: Instant) {
    switch (state, isHeld) {
    case (.off, true): state = .on(seen: mark(), next: now + Self.interval)
    case (.on, false): state = .off
    case (.off, false), (.on, true): break
    }
  }

  /// Polls if a poll is due, and returns whether there is a fresh location.
  mutating func poll(mark: @autoclosure () -> Mark, at now: Instant) -> Bool {
    guard case .on(let seen, let next) = state, now >= next else { return false }
    let mark = mark()
    state = .on(seen: mark, next: now + Self.interval)
    return mark != seen
  }
}
