// SPDX-License-Identifier: Apache-2.0

import MonotonicTime
import Positioning

// Combines the demands into one need.
extension PowerControl {
  func need() -> Need {
    var need = Need()
    for client in clients where client.demand.needsPosition {
      need.isAny = true
      addOccasional(client, &need)
      if let checks = client.movementChecks { addMovement(checks, &need) }
      if let updates = client.demand.running { addUpdates(updates, client, &need) }
    }
    return need
  }

  /// The newest fix, if it is newer than the client's start; else nil, and the client needs a fresh one.
  private func freshFix(_ client: ClientState) -> (observation: FixObservation, at: Instant)? {
    guard let newestFix, newestFix.at >= client.startedAt else { return nil }
    // A service that a program starts while it handles a fix needs the next one.
    if let startedAt = client.demand.startedAt, newestFix.at <= startedAt { return nil }
    return newestFix
  }

  /// Adds every demand but standard updates.
  private func addOccasional(_ client: ClientState, _ need: inout Need) {
    let demand = client.demand
    if demand.oneShot != nil {
      need.isCoarse = false
      need.addLive(cyclic: false, periodSeconds: 1)
    }
    guard demand.everySeconds != nil || demand.significantChange || demand.border != nil else { return }
    guard let fix = freshFix(client) else { return need.addDue(.zero) }
    if let seconds = demand.everySeconds {
      need.addDue(fix.at + Milliseconds(seconds: early(seconds)))
    }
    if demand.significantChange {
      need.addDue(
        fix.at + Milliseconds(seconds: isStationary ? policy.stationaryCheckSeconds : client.significantSeconds))
      need.waitsForHint = need.waitsForHint || isStationary
    }
    if let border = demand.border { addBorder(border, client, fix, &need) }
  }

  private func addBorder(
    _ border: Demand.Border, _ client: ClientState, _ fix: (observation: FixObservation, at: Instant),
    _ need: inout Need
  ) {
    if let since = client.crossingSince {
      return need.addDue(since + Milliseconds(seconds: policy.crossingCheckSeconds))
    }
    if isStationary {
      need.waitsForHint = true
      return need.addDue(fix.at + Milliseconds(seconds: policy.stationaryCheckSeconds))
    }
    let moved = client.borderedFix.map { groundMetres($0, fix.observation) } ?? 0
    let metres = (border.metres ?? 0) - moved - fix.observation.errorMetres
    let speed = presentSpeed(fix.observation, bound: policy.borderMetresPerSecond)
    let reach = Reach(speed: speed, bound: policy.borderMetresPerSecond).earliestSeconds(metres)
    // If the fix does not determine the side, the border may have been crossed already.
    let after = metres > 0 ? borderSeconds : borderSeconds / 2
    need.addDue(fix.at + Milliseconds(seconds: reach + after))
  }

  /// Seconds after the earliest possible crossing at which a position check still detects it in time. This check and
  /// the one at the end of the dwell may take the longest of the usual starts, and one of them may miss its epoch.
  private var borderSeconds: Double {
    let slowStart = hotSeconds - starts.hot.meanSeconds(at: now)
    return max(policy.crossingSeconds - policy.dwellSeconds - 2 * slowStart - 1, 1)
  }

  private func addUpdates(_ updates: Demand.Updates, _ client: ClientState, _ need: inout Need) {
    if updates.accuracy.coarsenessMetres < policy.reducedFromMetres { need.isCoarse = false }
    let filter = updates.spacingMetres
    let isLive = filter == 0 || !updates.allowsSavingWhileMoving
    guard let fix = freshFix(client) else {
      need.addDue(.zero)
      // The first fix is sought as long as a lost one.
      if isLive { need.addLive(cyclic: updates.allowsSavingWhileMoving, periodSeconds: 1) }
      return
    }
    if case .deferred(let deferral) = updates.delivery, let run = client.deferral {
      return addCollect(deferral, run, updates, fix, &need)
    }
    if isLive { return need.addLive(cyclic: updates.allowsSavingWhileMoving, periodSeconds: 1) }
    if isStationary {
      need.waitsForHint = true
      return need.addDue(fix.at + Milliseconds(seconds: policy.stationaryCheckSeconds))
    }
    let moved = client.filterAnchor.map { groundMetres($0, fix.observation) } ?? 0
    let bound = updates.activity.speedBoundMetresPerSecond
    let reach = Reach(speed: presentSpeed(fix.observation, bound: bound), bound: bound).earliestSeconds(filter - moved)
    // Where position checks are as rare as allowed, the usual start counts and not the slow one.
    let late = updates.lateSeconds + hotSeconds - starts.hot.meanSeconds(at: now) + policy.marginSeconds
    need.addDue(fix.at + Milliseconds(seconds: max(reach, late)))
  }

  private func addMovement(_ checks: ClientState.MovementChecks, _ need: inout Need) {
    if hints.hasAccelerometer {
      need.waitsForHint = true
    } else {
      need.addDue(checks.last + Milliseconds(seconds: early(checks.seconds)))
    }
  }

  /// Slightly less than a promised interval. A fix that is early by a hundredth costs a hundredth; one that is late
  /// breaks the promise.
  private func early(_ seconds: Double) -> Double { seconds - min(seconds / 100, policy.earlySeconds) }

  private func addCollect(
    _ deferral: Demand.Deferral, _ run: DeferralRun, _ updates: Demand.Updates,
    _ fix: (observation: FixObservation, at: Instant),
    _ need: inout Need
  ) {
    // The end is reported. Until the client has taken it, a memory that was read is not filled again.
    if run.isDueReported, batch == nil {
      return need.addLive(cyclic: updates.accuracy != .navigation, periodSeconds: 1)
    }
    var by =
      run.isDueReported
      ? nil
      : run.readTime(of: deferral, policy)
    if let metres = deferral.remainingMetres, !run.isDueReported {
      let covered = run.from.map { groundMetres($0, fix.observation) } ?? 0
      // A distance that may be covered before a read is worth its effort is watched live: the first criterion met ends
      // the deferral (rule DF-8). While nothing moves, a late read costs only its delay.
      let speed = presentSpeed(fix.observation, bound: 3)
      let seconds = Reach(speed: speed, bound: max(1.5 * speed, 3)).earliestSeconds(metres - covered)
      let shortest = speed > 0 ? 0 : policy.batchShortestSeconds
      by = Instant.earlier(by, fix.at + Milliseconds(seconds: covered >= metres ? 0 : max(seconds, shortest)))
    }
    let cyclic = updates.accuracy != .navigation
    need.collect = Need.Collect(
      cyclic: cyclic && need.collect?.cyclic != false, by: Instant.earlier(by, need.collect?.by))
  }

  /// The speed to calculate with: the fix's speed and its error, or the bound.
  private func presentSpeed(_ fix: FixObservation, bound: Double) -> Double {
    guard let speed = fix.speedMetresPerSecond else { return bound }
    // A lower speed is noise.
    return moves(fix) ? speed + (fix.speedErrorMetresPerSecond ?? 0) : 0
  }

  /// Whether an accelerometer is present and nothing has moved since the newest fix, which showed no movement.
  var isStationary: Bool {
    guard hints.hasAccelerometer, let newestFix, !moves(newestFix.observation) else { return false }
    guard let last = hints.last else { return true }
    return now.seconds(since: last) > policy.hintSeconds && newestFix.at >= last
  }
}

extension Demand.Updates {
  /// The distance between fixes that the client can distinguish, in metres: its filter, and a tenth of an accuracy of a
  /// kilometre and more.
  public var spacingMetres: Double {
    max(distanceFilterMetres, accuracy.coarsenessMetres >= 1000 ? accuracy.coarsenessMetres / 10 : 0)
  }

  /// Whether the first fixes after a hot start and the fixes of cyclic tracking are good enough: from ten metres on.
  public var allowsSavingWhileMoving: Bool { accuracy.coarsenessMetres >= 10 }

  /// Seconds between position checks that are allowed at any speed. A fix is late by this and one slow start at most.
  public var lateSeconds: Double { accuracy.coarsenessMetres >= 100 ? 10 : 5 }
}

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
