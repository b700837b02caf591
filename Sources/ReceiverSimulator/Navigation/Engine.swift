import MonotonicTime

/// How much a receiver knew when it began to search.
public enum StartKind: String, Sendable {
  case cold, warm, hot, aided
}

/// Finds and keeps satellites: from switching on to a fix, and how a fix is lost.
///
///     stopped ── start ──▶ searching ── progress is complete ──▶ fixed
///                             ▲                                    │
///                             └────────── no sky for a moment ─────┘
///
/// The search goes on at a speed that the sky allows, so that the moment of the fix is known until the sky changes.
/// The engine is told each change of the sky and each epoch; in between nothing happens.
struct Engine: Sendable {
  /// Seconds without a signal until a fix is given up.
  static let holdSeconds = 1.5

  private(set) var isRunning = false
  private(set) var startKind = StartKind.cold
  private(set) var sky = SkyView.open
  private(set) var hasFix = false
  /// When it began to search, or to search again.
  private(set) var searchingSince = Instant.zero
  /// When the present fix began.
  private(set) var fixedSince = Instant.zero
  /// When the last signal was there.
  private(set) var signalUntil = Instant.zero
  /// The time to first fix of this start; nil until it is there.
  private(set) var timeToFirstFix: Milliseconds?
  /// When it was switched on.
  private(set) var startedAt = Instant.zero
  /// Since when each satellite is tracked without a break.
  private(set) var trackedSince = [Instant?](repeating: nil, count: VisibleSatellite.slots)

  /// The share of the search that is done.
  private var progress = 0.0
  private var progressAt = Instant.zero
  /// Seconds that the search takes under an open sky.
  private var neededSeconds = 1.0

  /// When something happens by itself: the fix, or its loss.
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

  /// Begins to search with what is known now.
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
    neededSeconds = seconds * spread
  }

  /// The host told something: a search that is on goes on as one that knows more, if that is faster.
  mutating func improve(_ kind: StartKind, _ firstFix: ModelTraits.FirstFix, spread: Double, at now: Instant) {
    guard isRunning, !hasFix else { return }
    addProgress(at: now)
    var other = self
    other.search(kind, firstFix, spread: spread, at: now)
    guard other.neededSeconds < (1 - progress) * neededSeconds || speed == 0 else { return }
    let since = searchingSince
    self = other
    searchingSince = since
  }

  /// The sky is another one from now on.
  mutating func setSky(_ sky: SkyView, at now: Instant) {
    addProgress(at: now)
    if self.sky != .none { signalUntil = now }
    self.sky = sky
    if sky == .none { trackedSince = Array(repeating: nil, count: VisibleSatellite.slots) }
  }

  /// The deadline has come; whether the fix came or went.
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

  /// Whether there is a signal at all.
  func hasSignal(at now: Instant) -> Bool { sky != .none }

  /// Notes which satellites are heard; those that are no longer are forgotten.
  mutating func track(_ heard: [Int], at now: Instant) {
    var next = [Instant?](repeating: nil, count: VisibleSatellite.slots)
    for slot in heard { next[slot] = trackedSince[slot] ?? now }
    trackedSince = next
  }

  private mutating func addProgress(at now: Instant) {
    if sky == .none {
      // What was found is lost; what is known is not.
      progress = 0
    } else if now > progressAt {
      progress = min(1, progress + now.seconds(since: progressAt) * speed / neededSeconds)
    }
    progressAt = now
  }

  /// How fast the search goes on, of 1 under an open sky. Orbits cannot be collected from signals as weak as indoors
  /// (integration manuals: some 25 dBHz are needed).
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
