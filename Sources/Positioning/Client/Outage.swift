import MonotonicTime

/// Whether the receiver's silence means anything.
public enum SourceActivity: Hashable, Sendable {
  /// It is on, or there is none: fixes are missed when they do not come.
  case searching
  /// It sleeps, or keeps its fixes in its memory, by plan.
  case idle
}

/// When a client is told that there is no fix (SU-17): once an outage, half a minute after the start or the loss.
///
/// Only the time counts in which a receiver searches: one that sleeps by plan has lost nothing.
struct Outage: Sendable {
  /// The contract's 30 s.
  static var patience: Milliseconds { Milliseconds(30_000) }

  private(set) var isReported = false
  /// Since when fixes are missed; nil while nobody waits, or the source rests.
  private var waitingSince: Instant?
  /// What was waited before the source rested.
  private var waited = Milliseconds(0)
  private var isWatching = false

  init() {}

  var deadline: Instant? {
    guard isWatching, !isReported, let waitingSince else { return nil }
    return waitingSince + (waited < Self.patience ? Milliseconds(Self.patience.count - waited.count) : Milliseconds(0))
  }

  /// Somebody waits for fixes from now on.
  mutating func start(_ activity: SourceActivity, at now: Instant) {
    guard !isWatching else { return }
    self = Outage()
    isWatching = true
    waitingSince = activity == .searching ? now : nil
  }

  /// Nobody waits any longer.
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

  /// Whether the client is to be told now.
  mutating func wake(at now: Instant) -> Bool {
    guard let due = deadline, now >= due else { return false }
    isReported = true
    return true
  }
}
