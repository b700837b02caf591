// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// The policy's record of one client.
struct ClientState: Sendable {
  let id: ClientID
  var demand: Demand
  /// The time of the last request that needs a fresh fix first.
  var startedAt: Instant
  /// The time at which the distance to the border was set, and the fix that it was measured from.
  var borderedAt: Instant
  var borderedFix: FixObservation?
  /// The last fix that passed the distance filter.
  var filterAnchor: FixObservation?
  var stationary: StationaryDetector?
  /// Nil while the client is not paused.
  var pause: Pause?
  var deferral: DeferralRun?
  var isHostBatchingReported = false
  /// Significant changes: the place of the last one, the last position check, and the present interval.
  var significantAnchor: FixObservation?
  var significantCheck: (observation: FixObservation, at: Instant)?
  var significantSeconds: Double

  struct Pause: Sendable {
    var reason: PauseReason
    /// The present interval of position checks.
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

  /// Whether the client's standard updates are paused, by the policy or by its caller.
  var isPaused: Bool {
    switch demand.updates?.pausing {
    case .automatic: pause != nil
    case .decidedElsewhere(let isPaused): isPaused
    case .never, nil: false
    }
  }
}

/// A deferral that is running.
struct DeferralRun: Sendable {
  var since: Instant
  /// Seconds that the clock did not count, because the host was suspended.
  var uncountedSeconds = 0.0
  /// The start of the deferral; nil until the first fix.
  var from: FixObservation?
  var isDueReported = false
}
