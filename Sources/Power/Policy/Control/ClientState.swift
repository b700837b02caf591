// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Positioning

/// The policy's record of one client.
struct ClientState: Sendable {
  let id: ClientID
  var demand: Demand
  /// The time of the last request that needs a fresh fix first.
  var startedAt: Instant
  /// The fix that the distance to the border was measured from.
  var borderedFix: FixObservation?
  /// The time since when a possible crossing of the border is in progress.
  var crossingSince: Instant?
  /// The last fix that passed the distance filter.
  var filterAnchor: FixObservation?
  /// Nil while the client does not wait for a movement.
  var movementChecks: MovementChecks?
  var deferral: DeferralRun?
  var isHostBatchingReported = false
  /// Significant changes: the place of the last one, the last position check, and the present interval.
  var significantAnchor: FixObservation?
  var significantCheck: (observation: FixObservation, at: Instant)?
  var significantSeconds: Double

  /// The position checks of a client that waits for a movement.
  struct MovementChecks: Sendable {
    /// The present interval.
    var seconds: Double
    var last: Instant
  }

  init(id: ClientID, demand: Demand, at now: Instant, newest: FixObservation?, policy: PowerPolicy) {
    self.id = id
    self.demand = demand
    startedAt = now
    borderedFix = newest
    significantSeconds = policy.significantShortestSeconds
    if demand.deferral != nil { deferral = DeferralRun(from: newest) }
    follow(at: now, policy: policy)
  }

  /// Begins or ends the checks for a movement, and a crossing, with the demand.
  mutating func follow(at now: Instant, policy: PowerPolicy) {
    crossingSince = demand.border?.isCrossing == true ? crossingSince ?? now : nil
    guard demand.isPaused else { return movementChecks = nil }
    movementChecks = movementChecks ?? MovementChecks(seconds: policy.movementCheckSeconds, last: now)
  }
}

/// A deferral that is running.
struct DeferralRun: Sendable {
  /// Seconds that the clock did not count, because the host was suspended.
  var uncountedSeconds = 0.0
  /// The start of the deferral; nil until the first fix.
  var from: FixObservation?
  var isDueReported = false

  /// The time at which the fixes are read; nil: the time never ends the deferral.
  func readTime(of deferral: Demand.Deferral, _ policy: PowerPolicy) -> Instant? {
    deferral.ends.map { $0.moved(by: -(policy.deferralEarlySeconds + uncountedSeconds)) }
  }
}
