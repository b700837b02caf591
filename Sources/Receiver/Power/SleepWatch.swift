// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// The cause for which a receiver is awake again.
public enum WakeCause: Sendable, Equatable {
  /// This host woke it.
  case requested
  /// The time of its sleep was over.
  case time
  /// Neither of the two.
  case unrequested
}

/// Judges the frames of a receiver that was put to sleep. Silence is normal until the receiver wakes by itself.
struct SleepWatch: Sendable, Equatable {
  enum Verdict: Equatable { case sleeps, doesNotSleep, isAwake(WakeCause) }

  /// When the receiver wakes by itself; nil if it sleeps until it is woken.
  let wakesAt: Instant?
  private let requestedAt: Instant
  /// Whether the receiver has no timer: the host wakes it at that time.
  private let isWokenByHost: Bool
  /// The longest pause between two epochs of an awake receiver.
  private let pause: Milliseconds
  private var lastFrame: Instant
  /// The first frame after the time of settling, where the host wakes the receiver.
  private var stray: Instant?
  private var isStrayAfterSilence = false
  /// Whether a wake-up was requested that has to wait for the receiver's timer.
  private var isAwaited = false

  /// The time after the request in which the receiver's buffer still arrives.
  static var settling: Milliseconds { Milliseconds(2000) }
  /// A busy host reads the rest of what was sent before the sleep late, but at once; an awake receiver sends again later.
  private static var burst: Milliseconds { Milliseconds(500) }
  /// The time after `wakesAt` in which frames have to arrive before the receiver is woken.
  static var lateness: Milliseconds { Milliseconds(2000) }

  init(requestedAt now: Instant, duration: Milliseconds?, epoch: Milliseconds, isWokenByHost: Bool = false) {
    self.isWokenByHost = isWokenByHost
    requestedAt = now
    wakesAt = duration.map { now + $0 }
    pause = max(Self.settling, epoch * 2)
    lastFrame = now
  }

  /// When the receiver has to be woken; nil for never.
  var deadline: Instant? { wakesAt.map { isWokenByHost ? $0 : $0 + Self.lateness } }

  /// Notes a wake-up that has to wait for the receiver's timer. Returns the rest of the sleep, once a sleep.
  mutating func await(at now: Instant) -> Milliseconds? {
    guard !isAwaited, let wakesAt else { return nil }
    isAwaited = true
    return Milliseconds(wakesAt.milliseconds(since: now))
  }

  /// Handles a frame, or much garbage.
  mutating func receive(at now: Instant) -> Verdict {
    defer { lastFrame = now }
    if let wakesAt, !isWokenByHost, now + tolerance(wakesAt) >= wakesAt { return .isAwake(.time) }
    guard now >= requestedAt + Self.settling else { return .sleeps }
    let isAfterSilence = now >= lastFrame + pause
    guard isWokenByHost else { return isAfterSilence ? .isAwake(.unrequested) : .doesNotSleep }
    guard let stray, now < stray + pause else {
      (self.stray, isStrayAfterSilence) = (now, isAfterSilence)
      return .sleeps
    }
    guard now >= stray + Self.burst else { return .sleeps }
    return isStrayAfterSilence ? .isAwake(.unrequested) : .doesNotSleep
  }

  /// The error of the receiver's clock; some receivers count whole seconds.
  private func tolerance(_ wakesAt: Instant) -> Milliseconds {
    Milliseconds(1000 + wakesAt.milliseconds(since: requestedAt) / 1000)
  }
}
