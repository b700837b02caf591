// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// The end of a session: when it is over at the latest, and whether everything was restored.
///
///     running ─ request ─▶ ending(by) ─ startRestoring ─▶ restoring(by, latest) ─ extend ─▶ ending(by): the rate is next
struct EndPhase {
  private enum State {
    case running
    case ending(by: Instant)
    /// `by` moves with each reply, up to `latest`.
    case restoring(by: Instant, latest: Instant)
  }

  /// The longest wait without a reply.
  static var longestWait: Milliseconds { Milliseconds(4000) }
  /// The longest time for settings, on a slow line that loses requests and replies; then for the rate.
  static var longestRestoring: Milliseconds { Milliseconds(8000) }

  /// The longest time for a logger's memory that is on its way: the replies to other commands come after it.
  static var longestDump: Milliseconds { Milliseconds(60_000) }

  private var state = State.running
  /// The longest time for the orbits: some hundred messages of 172 bytes at the most.
  private(set) var longestReading = Milliseconds(0)
  /// Whether some change could not be restored.
  private(set) var isIncomplete = false

  var isRequested: Bool { deadline != nil }

  var deadline: Instant? {
    switch state {
    case .running: nil
    case .ending(let by), .restoring(let by, _): by
    }
  }

  mutating func request(at now: Instant, readingOrbitsFor limit: Milliseconds) {
    state = .ending(by: now + Self.longestWait)
    longestReading = limit
  }

  mutating func extend(to instant: Instant) { state = .ending(by: instant) }

  /// - Parameter silence: the longest time for which the receiver does not reply meanwhile.
  mutating func startRestoring(at now: Instant, silence: Milliseconds) {
    state = .restoring(
      by: now + Self.longestWait + silence, latest: now + Self.longestRestoring + silence)
  }

  mutating func receiveReply(at now: Instant) {
    // The reply before a silence does not shorten it.
    guard case .restoring(let by, let latest) = state else { return }
    state = .restoring(by: max(by, min(now + Self.longestWait, latest)), latest: latest)
  }

  mutating func fail() { isIncomplete = true }
}
