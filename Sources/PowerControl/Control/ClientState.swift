import MonotonicTime

/// What is remembered of one client.
struct ClientState: Sendable {
  let id: ClientID
  var demand: Demand
  /// Since when something is asked for that needs a fresh fix first.
  var startedAt: Instant
  /// Since when the distance to the border stands, and the fix it was measured from.
  var borderedAt: Instant
  var borderedFix: FixObservation?
  /// The last fix that passed the distance filter.
  var filterAnchor: FixObservation?
  var stationary: StationaryDetector?
  /// While it is paused.
  var pause: Pause?
  var deferral: DeferralRun?
  var isHostBatchingReported = false
  /// Significant changes: where the last one was, the last look, and the present interval.
  var significantAnchor: FixObservation?
  var significantCheck: (observation: FixObservation, at: Instant)?
  var significantSeconds: Double

  struct Pause: Sendable {
    var reason: PauseReason
    /// The present interval of looks.
    var checkSeconds: Double
    var lastCheck: Instant
  }

  init(id: ClientID, demand: Demand, at now: Instant, newest: FixObservation?, policy: PowerPolicy) {
    self.id = id
    self.demand = demand
    startedAt = now
    borderedAt = now
    borderedFix = newest
    significantSeconds = policy.significantShortestSeconds
    if demand.updates?.deferral != nil { deferral = DeferralRun(since: now, from: newest) }
  }

  /// The client's standard updates rest, by whoever decides that.
  var isPaused: Bool {
    switch demand.updates?.pausing {
    case .automatic: pause != nil
    case .decidedElsewhere(let isPaused): isPaused
    case .never, nil: false
    }
  }
}

/// A deferral that runs.
struct DeferralRun: Sendable {
  var since: Instant
  /// Seconds that the clock did not count, because the host was suspended.
  var uncountedSeconds = 0.0
  /// Where it began; nil until the first fix.
  var from: FixObservation?
  var isDueReported = false
}
