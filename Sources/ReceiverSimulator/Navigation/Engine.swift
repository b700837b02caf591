// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// The kind of a start, by the data that the receiver has.
public enum StartKind: String, Sendable {
  case cold, warm, hot, aided
}

/// Acquisition and tracking: the time to a fix, and the loss of a fix.
///
///     stopped ── start ──▶ searching ── progress is complete ──▶ fixed
///                             ▲                                    │
///                             └────────── no sky for a moment ─────┘
///
/// The sky determines the speed of the search, so that the time of the fix is known until the sky changes. The engine
/// advances at each change of the sky and each epoch only.
struct Engine: Sendable {
  /// Seconds without a signal until a fix is lost.
  static let holdSeconds = 1.5

  private(set) var isRunning = false
  private(set) var startKind = StartKind.cold
  private(set) var sky = SkyView.open
  private(set) var hasFix = false
  /// The start of the current search.
  private(set) var searchingSince = Instant.zero
  /// The start of the current fix.
  private(set) var fixedSince = Instant.zero
  /// The time of the last signal.
  private(set) var signalUntil = Instant.zero
  /// The time to first fix of this start; nil before the fix.
  private(set) var timeToFirstFix: Milliseconds?
  /// The time of the start.
  private(set) var startedAt = Instant.zero
  /// The start of uninterrupted tracking of each satellite.
  private(set) var trackedSince = [Instant?](repeating: nil, count: VisibleSatellite.slots)

  /// The completed share of the search.
  private var progress = 0.0
  private var progressAt = Instant.zero
  /// The duration of the search under an open sky, seconds.
  private var neededSeconds = 1.0
  /// The duration of this search relative to the data sheet's. Aiding messages keep it: with a new number for each, the
  /// shortest search would be used.
  private var spread = 1.0

  /// The time of the next internal event: a fix, or its loss.
  var deadline: Instant? {
    guard isRunning else { return nil }
    if hasFix { return sky == .none ? signalUntil + Milliseconds(seconds: Self.holdSeconds) : nil }
    let speed = self.speed
    guard speed > 0 else { return nil }
    return progressAt + Milliseconds(seconds: max(0, 1 - progress) * neededSeconds / speed)
  }

  mutating func start(
    _ kind: StartKind, _ firstFix: ModelTraits.FirstFix, spread: Double, sky: SkyView, at now: Instant
  ) {
    isRunning = true
    hasFix = false
    timeToFirstFix = nil
    startedAt = now
    self.sky = sky
    signalUntil = now
    trackedSince = Array(repeating: nil, count: VisibleSatellite.slots)
    search(kind, firstFix, spread: spread, at: now)
  }

  mutating func stop() {
    isRunning = false
    hasFix = false
    trackedSince = Array(repeating: nil, count: VisibleSatellite.slots)
  }

  /// Begins a search with the data that is available.
  mutating func search(_ kind: StartKind, _ firstFix: ModelTraits.FirstFix, spread: Double, at now: Instant) {
    hasFix = false
    startKind = kind
    searchingSince = now
    progress = 0
    progressAt = now
    let seconds =
      switch kind {
      case .cold: firstFix.cold
      case .warm: firstFix.warm
      case .hot: firstFix.hot
      case .aided: firstFix.aided
      }
    self.spread = spread
    neededSeconds = seconds * spread
  }

  /// Uses new aiding data: a running search continues at the speed of the better start, if that is faster.
  mutating func improve(_ kind: StartKind, _ firstFix: ModelTraits.FirstFix, at now: Instant) {
    guard isRunning, !hasFix else { return }
    addProgress(at: now)
    var other = self
    other.search(kind, firstFix, spread: spread, at: now)
    guard other.neededSeconds < (1 - progress) * neededSeconds || speed == 0 else { return }
    let since = searchingSince
    self = other
    searchingSince = since
  }

  /// Changes the sky.
  mutating func setSky(_ sky: SkyView, at now: Instant) {
    addProgress(at: now)
    if self.sky != .none { signalUntil = now }
    self.sky = sky
    if sky == .none { trackedSince = Array(repeating: nil, count: VisibleSatellite.slots) }
  }

  /// Handles the deadline; returns whether a fix was gained or lost.
  enum Change { case none, fixed, lost }
  mutating func wake(at now: Instant) -> Change {
    guard let deadline, now >= deadline else { return .none }
    if hasFix {
      hasFix = false
      progressAt = now
      return .lost
    }
    hasFix = true
    fixedSince = now
    if timeToFirstFix == nil { timeToFirstFix = Milliseconds(now.milliseconds(since: startedAt)) }
    return .fixed
  }

  /// Records the satellites that are received, and resets the others.
  mutating func track(_ received: [Int], at now: Instant) {
    var next = [Instant?](repeating: nil, count: VisibleSatellite.slots)
    for slot in received { next[slot] = trackedSince[slot] ?? now }
    trackedSince = next
  }

  private mutating func addProgress(at now: Instant) {
    if sky == .none {
      // The search restarts; the navigation memory stays.
      progress = 0
    } else if now > progressAt {
      progress = min(1, progress + now.seconds(since: progressAt) * speed / neededSeconds)
    }
    progressAt = now
  }

  /// The speed of the search, 1 under an open sky. Orbits cannot be collected from the weak signals indoors
  /// (integration manuals: about 25 dBHz are needed).
  private var speed: Double {
    switch (sky, startKind) {
    case (.open, _): 1
    case (.urban, .hot), (.urban, .aided): 0.5
    case (.urban, _): 0.4
    case (.indoor, .hot), (.indoor, .aided): 0.1
    case (.indoor, _), (.none, _): 0
    }
  }
}
