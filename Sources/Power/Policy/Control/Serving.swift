// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

// The receiver is awake: chooses its next state.
extension PowerControl {
  /// Serves the present need. True when the phase has changed.
  mutating func serve(_ awake: Phase.Awake, _ actions: inout [PowerAction]) -> Bool {
    let need = need()
    trackCoarseness(need)
    if let since = batch?.readingSince { return awaitRead(since: since, &actions) }
    guard need.isAny else { return leaveIdle(awake, need, &actions) }
    if let run = batch { return serveBatch(run, awake, need, &actions) }
    guard hasFix(awake) else { return search(awake, need, &actions) }
    if let live = need.live {
      want(liveState(cyclic: live.cyclic, periodSeconds: live.periodSeconds), &actions)
      reportHostBatching(&actions)
      reportDue(&actions)
      return false
    }
    if let collect = need.collect { return serveCollect(collect, awake, need, &actions) }
    if holdsAwake(awake, need) {
      want(fullPower, &actions)
      return false
    }
    if let periodSeconds = onOffPeriod(need) {
      want(WantedState(mode: .onOff(periodSeconds: periodSeconds), reducedConstellations: wantsReduced), &actions)
      return false
    }
    if let sleep = worthSleeping(need) { return leave(to: .betweenChecks, until: sleep.until, need, &actions) }
    want(liveState(cyclic: true, periodSeconds: spacing(need)), &actions)
    return false
  }

  /// Whether fixes arrive.
  func hasFix(_ awake: Phase.Awake) -> Bool {
    guard awake.firstFix != nil else { return false }
    if let fixless = awake.fixless { return now.seconds(since: fixless) < policy.lostAfterSeconds }
    return newestFix.map { now.seconds(since: max($0.at, listeningSince)) < silenceSeconds } ?? false
  }

  var fullPower: WantedState {
    WantedState(mode: .continuous(everySeconds: 1), reducedConstellations: wantsReduced)
  }

  /// Seconds between fixes (1, 2 or 5) while none is due soon and sleeping is not worth it.
  private func spacing(_ need: Need) -> Int {
    guard let due = need.due, let newestFix else { return 1 }
    let seconds = due.seconds(since: newestFix.at)
    return seconds >= 6 ? 5 : seconds >= 3 ? 2 : 1
  }

  // MARK: Reasons to stay awake although no fix is due

  func holdsAwake(_ awake: Phase.Awake, _ need: Need) -> Bool {
    holdUntil(awake, need).map { now < $0 } ?? false
  }

  /// The end of the time that the receiver stays at full power, to confirm a movement hint, to improve a poor fix or to
  /// receive orbits.
  private func holdUntil(_ awake: Phase.Awake, _ need: Need) -> Instant? {
    guard let firstFix = awake.firstFix, let newestFix else { return nil }
    var until: Instant?
    if let hold = hints.holdUntil, hold > now, !isMovementConfirmed(newestFix.observation) { until = hold }
    if newestFix.observation.errorMetres > policy.goodFixMetres {
      until = max(until ?? now, firstFix + Milliseconds(seconds: policy.settleSeconds))
    }
    if wantsOrbits(need) {
      let since = max(firstFix, orbits.collectingSince ?? firstFix)
      until = max(until ?? now, since + Milliseconds(seconds: policy.orbitsTimeoutSeconds))
    }
    return until
  }

  /// Whether fixes confirm the hint's movement and no client waits for one: the demands alone decide then.
  private func isMovementConfirmed(_ fix: FixObservation) -> Bool {
    moves(fix) && !clients.contains(where: \.demand.isPaused)
  }

  /// Whether the next position check needs a hot start and the orbits do not last until then.
  private func wantsOrbits(_ need: Need) -> Bool {
    guard canSleep else { return false }
    guard let next = nextCheck(need) else { return false }
    // With checks that are rarer than orbits last every start is cold: renewing would cost more than it saves.
    guard next.seconds(since: now) < policy.orbitsValidSeconds else { return false }
    let by = next + Milliseconds(seconds: policy.orbitsMarginSeconds + policy.orbitsCollectSeconds)
    // A client that waits for a movement is promised a hot start at any time.
    if need.waitsForHint { return sureOrbitsEnd.map { $0 <= by } ?? true }
    return !orbits.isUsable(at: by)
  }

  /// The time of the next position check, as far as it is known.
  private func nextCheck(_ need: Need) -> Instant? {
    if let due = need.due { return max(due, now) }
    if need.waitsForHint { return now }
    // One-shots that have come repeatedly are expected to come again.
    guard !need.isAny, let gap = oneShots.gapSeconds, let last = oneShots.last, gap < policy.orbitsValidSeconds else {
      return nil
    }
    return max(last + Milliseconds(seconds: gap), now)
  }

  /// The time until which a start is certainly hot.
  var sureOrbitsEnd: Instant? {
    orbits.sureUntil(capabilities?.sureOrbitsSeconds ?? policy.orbitsValidSeconds)
  }

  private func trackOrbitsEnd() -> Instant? {
    guard let until = sureOrbitsEnd else { return nil }
    let margin = Milliseconds(seconds: policy.orbitsMarginSeconds + policy.orbitsCollectSeconds)
    return until.nanoseconds > margin.count * 1_000_000
      ? Instant(nanoseconds: until.nanoseconds - margin.count * 1_000_000) : .zero
  }

  // MARK: Sleeping or not

  var canSleep: Bool { sleepMode(until: nil) != nil }

  /// A sleep that may begin now; nil: until a movement or a new demand ends it.
  private struct Sleep {
    var until: Instant?
  }

  /// The sleep until the next need, if it saves charge.
  private func worthSleeping(_ need: Need) -> Sleep? {
    guard canSleep else { return nil }
    guard let wakeAt = wakeTime(need) else { return need.waitsForHint ? Sleep(until: nil) : nil }
    guard wakeAt.seconds(since: now) >= shortestSleep(need) else { return nil }
    return Sleep(until: wakeAt)
  }

  /// The wake-up for the next due fix, or for the orbits of clients that wait for a movement; nil when neither is
  /// known.
  func wakeTime(_ need: Need) -> Instant? {
    var wakeAt = need.due.map { wakeTime(for: $0) }
    if need.waitsForHint { wakeAt = Instant.earlier(wakeAt, trackOrbitsEnd()) }
    return wakeAt
  }

  /// The time to wake the receiver for a fix by `due`.
  private func wakeTime(for due: Instant) -> Instant {
    let latest = before(due, leadSeconds(at: due))
    guard orbits.isUsable(at: due), !isUnread else { return latest }
    return wakeForEpoch(by: latest, leadSeconds: starts.epochs.leadSeconds)
  }

  /// The latest moment, up to `latest`, that is `leadSeconds` before an epoch; `latest` itself where epochs come at any
  /// time.
  func wakeForEpoch(by latest: Instant, leadSeconds: Double) -> Instant {
    starts.epochs.latest(notAfter: latest + Milliseconds(seconds: leadSeconds)).map { before($0, leadSeconds) }
      ?? latest
  }

  private var isUnread: Bool { if case .unread = wanted.mode { true } else { false } }

  func before(_ instant: Instant, _ seconds: Double) -> Instant { instant.moved(by: -max(seconds, 0)) }

  var hotSeconds: Double { starts.hot.seconds(at: now) }
  var coldSeconds: Double { starts.cold.seconds(at: now) }

  /// Seconds from the wake-up to the fix.
  func leadSeconds(at due: Instant) -> Double {
    if isUnread { return 2 }
    guard orbits.isUsable(at: due) else { return coldSeconds + policy.marginSeconds }
    // The fix comes with the epoch that the receiver was woken for, or later if recent starts were slow.
    if starts.epochs.isKnown {
      return max(starts.epochs.leadSeconds, hotSeconds > starts.epochs.leadSeconds + 0.5 ? hotSeconds : 0)
    }
    return hotSeconds + policy.marginSeconds
  }

  /// The shortest sleep in seconds that saves more than the start at the acquisition current costs.
  private func shortestSleep(_ need: Need) -> Double {
    guard let capabilities, let due = need.due else { return policy.shortestSleepSeconds }
    let currents =
      wanted.reducedConstellations ? capabilities.reducedCurrents ?? capabilities.currents : capabilities.currents
    let cheapestLive = isRefused(.cyclicTracking) ? currents.tracking : currents.cyclic ?? currents.tracking
    let isHot = orbits.isUsable(at: due)
    let mean = isHot ? starts.hot.meanSeconds(at: now) : starts.cold.meanSeconds(at: now)
    let startCost = (currents.acquisition + currents.inputOutput) * mean
    let saved = max(cheapestLive + currents.inputOutput - capabilities.standbyMilliamperes, 0.1)
    // Each second awake from this fix to the next would cost `saved`.
    return max(policy.shortestSleepSeconds, startCost / saved * policy.breakEvenFactor - leadSeconds(at: due))
  }

  // MARK: Constellations

  private mutating func trackCoarseness(_ need: Need) {
    // The start of a position check is not an outage yet.
    let isLost = outage.since.map { now.seconds(since: $0) >= policy.lostAfterSeconds } ?? false
    // The limit to begin is stricter than the limit to stay, because each change restarts the receiver's engine.
    let limit = policy.cyclicFixMetres * (wanted.reducedConstellations ? 1.5 : 1)
    guard need.isAny, need.isCoarse, !isLost, let newestFix, newestFix.observation.errorMetres <= limit,
      isFrequent(need, newestFix.at)
    else { return coarseSince = nil }
    if coarseSince == nil { coarseSince = now }
    if wantsReduced { orbits.limit(toSeconds: policy.orbitsReducedSeconds, at: now) }
  }

  /// Whether position checks are so frequent that fewer constellations save more per check than their shorter-lived
  /// orbits cost.
  private func isFrequent(_ need: Need, _ newest: Instant) -> Bool {
    need.live != nil || need.due.map { $0.seconds(since: newest) <= policy.reducedCheckSeconds } ?? false
  }

  /// Whether every client has accepted a coarse position for a while and the sky is open.
  var wantsReduced: Bool {
    guard policy.mayReduceConstellations, capabilities?.reducedCurrents != nil, !isRefused(.constellations) else {
      return false
    }
    return coarseSince.map { now.seconds(since: $0) >= policy.reducedAfterSeconds } ?? false
  }

  // MARK: The deadline while awake

  func awakeDeadline(_ awake: Phase.Awake) -> Instant? {
    let need = need()
    if let batch { return batchDeadline(batch, awake, need) }
    guard need.isAny else { return holdUntil(awake, need).map { max($0, now) } }
    guard hasFix(awake) else { return searchDeadline(awake, need) }
    // If the host keeps the fixes, a read that is overdue waits for the next fix.
    let by = need.collect?.by.flatMap { $0 > now ? $0 : nil }
    var deadline = Instant.earlier(by, modeDeadline)
    if let fixless = awake.fixless { deadline = fixless + Milliseconds(seconds: policy.lostAfterSeconds) }
    if let hold = holdUntil(awake, need), hold > now { deadline = Instant.earlier(deadline, hold) }
    if need.live == nil, let since = orbits.collectingSince {
      let collected = since + Milliseconds(seconds: policy.orbitsCollectSeconds)
      if collected > now { deadline = Instant.earlier(deadline, collected) }
    }
    // A silent receiver is an outage as well; epochs without a fix have their own time.
    guard awake.fixless == nil else { return deadline }
    let silent = max(newestFix?.at ?? awake.since, listeningSince) + Milliseconds(seconds: silenceSeconds)
    return Instant.earlier(deadline, silent)
  }

  /// The time at which a cheaper mode may be chosen.
  private var modeDeadline: Instant? {
    let settled = max(modes.since, modes.cyclicEnded ?? .zero) + Milliseconds(seconds: policy.cyclicAfterSeconds)
    return settled > now ? settled : nil
  }

  /// The longest time in seconds between two epochs of a receiver that is awake.
  private var silenceSeconds: Double {
    if case .onOff(let seconds) = wanted.mode { return policy.silenceSeconds + 2 * Double(seconds) }
    return policy.silenceSeconds
  }

  /// The period of on/off operation where the receiver refuses backup but has its own: the longest one that is short
  /// enough.
  private func onOffPeriod(_ need: Need) -> Int? {
    guard let shortest = capabilities?.onOffShortestSeconds, !isRefused(.onOff), let due = need.due, let newestFix,
      case .unread? = sleepMode(until: due)
    else { return nil }
    let seconds = due.seconds(since: newestFix.at)
    let periods = [10, 15, 20, 30, 60, 120, 300, 600, 900, 1800, 3600]
    return periods.last { Double($0) <= seconds && Double($0) >= shortest }
  }
}
