// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// The sleep that a session was asked for, and what it needs for it.
struct SleepPlan {
  /// A requested sleep that has not begun; a duration of nil lasts until the receiver is woken.
  struct Pending { let duration: Milliseconds? }

  private(set) var pending: Pending?
  /// A request to another maker's receiver that is in flight: when it is sent, and the time to sleep.
  private var requested: (at: Instant, duration: Milliseconds?)?
  /// The session's settings when RAM was stored in battery-backed memory; nil if RAM was changed since, or never stored.
  private var stored: [Setting]?
  /// Bytes outside of frames before the receiver fell asleep.
  private var skippedBytes: UInt64 = 0

  mutating func request(for duration: Milliseconds?) { pending = Pending(duration: duration) }
  mutating func cancel() { pending = nil }

  mutating func begin(skippedBytes: UInt64) {
    pending = nil
    self.skippedBytes = skippedBytes
  }

  mutating func begin(at instant: Instant, for duration: Milliseconds?) { requested = (instant, duration) }

  /// Returns the request in flight, which is over.
  mutating func takeRequested() -> (at: Instant, duration: Milliseconds?)? {
    defer { requested = nil }
    return requested
  }

  /// The receiver sleeps: bytes so far are the rest of what it sent before.
  mutating func ignore(skippedBytes: UInt64) { self.skippedBytes = skippedBytes }

  func bytesSkipped(of total: UInt64) -> UInt64 { total - min(total, skippedBytes) }

  /// Whether RAM is stored. A session without settings of its own, such as one in which a user puts the receiver to sleep,
  /// stores nothing.
  func isStored(_ settings: [Setting]) -> Bool { settings.isEmpty || stored == settings }
  mutating func store(_ settings: [Setting]) { stored = settings }
  /// RAM has other settings now, or it is another receiver.
  mutating func clearStored() { stored = nil }
}
