import MonotonicTime

/// Why a receiver is awake again.
public enum WakeCause: Sendable, Equatable {
  /// It was woken by this host.
  case requested
  /// Its time was over.
  case time
  /// Nobody woke it, and it was not yet time.
  case unrequested
}

/// Judges what comes, or does not, from a receiver that was asked to sleep. Silence is what is expected: nothing is due
/// before the time that the receiver wakes by itself.
struct SleepWatch: Sendable, Equatable {
  enum Verdict: Equatable { case sleeps, doesNotSleep, isAwake(WakeCause) }

  /// When it wakes by itself; nil for when it is woken.
  let wakesAt: Instant?
  private let requestedAt: Instant
  /// How long the pause between two of its epochs can be while it is awake.
  private let pause: Milliseconds
  private var lastFrame: Instant

  /// What was in the receiver's buffer, and a frame that was cut, come after the request.
  static var settling: Milliseconds { Milliseconds(2000) }
  /// A receiver that should be awake has this long, from its time on, to be heard before it is woken.
  static var lateness: Milliseconds { Milliseconds(2000) }

  init(requestedAt now: Instant, duration: Milliseconds?, epoch: Milliseconds) {
    requestedAt = now
    wakesAt = duration.map { now + $0 }
    pause = max(Self.settling, epoch * 2)
    lastFrame = now
  }

  /// When it is to be woken if it was not heard; nil for never.
  var deadline: Instant? { wakesAt.map { $0 + Self.lateness } }

  /// A frame came, or so much garbage that somebody speaks.
  mutating func receive(at now: Instant) -> Verdict {
    defer { lastFrame = now }
    if let wakesAt, now + tolerance(wakesAt) >= wakesAt { return .isAwake(.time) }
    guard now >= requestedAt + Self.settling else { return .sleeps }
    return now >= lastFrame + pause ? .isAwake(.unrequested) : .doesNotSleep
  }

  /// Its clock runs a little differently, and some receivers count in whole seconds.
  private func tolerance(_ wakesAt: Instant) -> Milliseconds {
    Milliseconds(1000 + wakesAt.milliseconds(since: requestedAt) / 1000)
  }
}
