// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

// The records of the policy over its phases. A value that has a meaning in one phase alone is in that case (Phase).

/// The starts of the present receiver: their durations, and the epochs that they have to meet.
struct Starts: Sendable {
  var hot: TimeToFix
  var cold: TimeToFix
  var epochs: EpochGrid

  /// - Parameters:
  ///   - hotSeconds: the usual duration of a hot start, from the wake-up command to the fix.
  ///   - coldSeconds: the same of a cold start.
  init(hotSeconds: Double, coldSeconds: Double) {
    hot = TimeToFix(usualSeconds: hotSeconds)
    cold = TimeToFix(usualSeconds: coldSeconds)
    epochs = EpochGrid(usualSeconds: hotSeconds)
  }
}

/// The size and the read-out of batches, as far as they are known.
struct ReadOut: Sendable {
  /// The number of times that the size of a batch was halved because the receiver refused it.
  var halvings = 0
  /// Seconds for reading one fix, as the last read has measured it.
  var measuredSecondsPerFix: Double?
  /// The same by the line's rate, where that is known. It belongs to the line, not to the receiver.
  var expectedSecondsPerFix: Double?
}

/// The searches of the present outage, and the last of an earlier one.
struct Searches: Sendable {
  private(set) var lastThorough: Instant?
  private(set) var lastEnd: Instant?

  mutating func ended(at now: Instant, thorough: Bool) {
    if thorough { lastThorough = now }
    lastEnd = now
  }
}

/// Hints that the host moves, from its own sensors.
struct MovementHints: Sendable {
  /// An accelerometer reports movements, so that its silence says that nothing moves.
  var hasAccelerometer = false
  var last: Instant?
  /// The receiver stays awake until then to confirm a hint.
  var holdUntil: Instant?
}

/// The times at which the wanted mode has changed.
struct ModeHistory: Sendable {
  private(set) var since = Instant.zero
  /// The time at which cyclic tracking last ended although the receiver stayed awake.
  private(set) var cyclicEnded: Instant?

  mutating func changes(from old: PowerMode, to new: PowerMode, at now: Instant) {
    if new != old { since = now }
    if case .cyclicTracking = old, case .continuous = new { cyclicEnded = now }
    if new.isAsleep { cyclicEnded = nil }
  }
}

/// Requests for one position, which are expected to come again after the same time.
struct OneShots: Sendable {
  private(set) var last: Instant?
  /// Seconds between the last two.
  private(set) var gapSeconds: Double?

  mutating func came(at now: Instant) {
    if let last { gapSeconds = now.seconds(since: last) }
    last = now
  }
}
