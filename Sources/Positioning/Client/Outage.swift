// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// Whether the receiver's silence counts as an outage.
public enum SourceActivity: Hashable, Sendable {
  /// The receiver is on, missing, or idle between two searches for satellites: the absence of fixes counts.
  case searching
  /// The receiver sleeps as planned, or stores its fixes in its memory.
  case idle
}

/// The report that there is no fix (SU-17): once per outage, half a minute after the start or the loss.
///
/// Planned sleep of the receiver does not count. The idle time between two unsuccessful searches does.
struct Outage: Sendable {
  /// 30 s, from the contract.
  static var timeout: Milliseconds { Milliseconds(30_000) }

  private(set) var isReported = false
  /// The time since when fixes are missing; nil while no client waits, or the source is idle.
  private var waitingSince: Instant?
  /// The time waited before the source became idle.
  private var waited = Milliseconds(0)
  private var isWatching = false

  init() {}

  var deadline: Instant? {
    guard isWatching, !isReported, let waitingSince else { return nil }
    return waitingSince + (waited < Self.timeout ? Milliseconds(Self.timeout.count - waited.count) : Milliseconds(0))
  }

  /// Starts to wait for fixes.
  mutating func start(_ activity: SourceActivity, at now: Instant) {
    guard !isWatching else { return }
    self = Outage()
    isWatching = true
    waitingSince = activity == .searching ? now : nil
  }

  /// Ends waiting.
  mutating func stop() { self = Outage() }

  mutating func fixArrived(at now: Instant) {
    guard isWatching else { return }
    isReported = false
    waited = Milliseconds(0)
    if waitingSince != nil { waitingSince = now }
  }

  mutating func sourceBecame(_ activity: SourceActivity, at now: Instant) {
    guard isWatching else { return }
    switch activity {
    case .searching: if waitingSince == nil { waitingSince = now }
    case .idle:
      if let waitingSince { waited = waited + Milliseconds(now.milliseconds(since: waitingSince)) }
      waitingSince = nil
    }
  }

  /// Whether to report the outage now.
  mutating func wake(at now: Instant) -> Bool {
    guard let due = deadline, now >= due else { return false }
    isReported = true
    return true
  }
}
