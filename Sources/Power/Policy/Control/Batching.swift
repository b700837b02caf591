// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

// Deferral: the receiver collects fixes while the line and the host sleep.
extension PowerControl {
  /// Serves clients of which at least one wants fixes collected and none wants them live. True when the phase has
  /// changed.
  mutating func serveCollect(
    _ collect: Need.Collect, _ awake: Phase.Awake, _ need: Need, _ actions: inout [PowerAction]
  ) -> Bool {
    let by = Instant.earlier(collect.by, need.due)
    let state = liveState(cyclic: collect.cyclic, periodSeconds: 1)
    reportDue(&actions)
    // The mode that is kept while the receiver collects is reached first, if that is worth the wait. Collecting itself
    // does not prevent it.
    let settles = !isSettled(state, cyclic: collect.cyclic) && settlingPays(by: by)
    guard !settles, let plan = batchPlan(by: by) else {
      want(state, &actions)
      if !settles { reportHostBatching(&actions) }
      return false
    }
    var batching = state
    batching.batching = plan.batch
    batching.mode = state.mode.withPeriod(plan.periodSeconds)
    batch = BatchRun(batch: plan.batch, periodSeconds: plan.periodSeconds, heldSince: now)
    want(batching, &actions)
    return false
  }

  /// Whether no cheaper mode is about to be chosen.
  private func isSettled(_ state: WantedState, cyclic: Bool) -> Bool {
    guard state.mode == wanted.mode, orbits.isUsable(at: now) else { return false }
    if case .cyclicTracking = state.mode { return true }
    guard cyclic, capabilities?.cyclicLongestSeconds != nil, !isRefused(.cyclicTracking) else { return true }
    // Cyclic tracking may be blocked by a poor fix alone; collecting does not wait for a better one.
    return now.seconds(since: modes.since) >= 2 * policy.cyclicAfterSeconds
  }

  /// Whether collecting goes on for long enough after the orbits have been received.
  private func settlingPays(by: Instant?) -> Bool {
    guard let by else { return true }
    let orbitsBy = (orbits.collectingSince ?? now) + Milliseconds(seconds: policy.orbitsCollectSeconds)
    return by.seconds(since: max(orbitsBy, now)) >= policy.settleWorthSeconds
  }

  /// Whether collecting began at full power and a cheaper mode would do by now.
  private func mayCollectCheaper(_ run: BatchRun, _ collect: Need.Collect) -> Bool {
    guard collect.cyclic, case .continuous = wanted.mode else { return false }
    if case .cyclicTracking = liveState(cyclic: true, periodSeconds: run.periodSeconds).mode { return true }
    return false
  }

  /// The smallest period with which the buffer lasts until the fixes are wanted, limited by the distance between fixes.
  private func batchPlan(by: Instant?) -> (batch: WantedState.Batch, periodSeconds: Int)? {
    guard let batching = capabilities?.batching, !isRefused(.batching) else { return nil }
    let wantedSeconds = by.map { $0.seconds(since: now) } ?? .infinity
    // With so short a time the line would not sleep.
    guard wantedSeconds >= policy.batchShortestSeconds else { return nil }
    let epochs = batching.extendedEpochs >> readOut.halvings
    guard epochs > 0 else { return nil }
    let speed = newestFix?.observation.speedMetresPerSecond ?? 1
    var period = 1
    while period < policy.batchLongestPeriodSeconds,
      Double(epochs * period) - policy.batchMarginSeconds < wantedSeconds,
      speed * Double(period + 1) <= policy.batchSpacingMetres
    {
      period += 1
    }
    return (WantedState.Batch(epochs: epochs, extended: true), period)
  }

  /// Indices of the clients whose fixes the host keeps, because the receiver cannot collect or another client needs
  /// live fixes.
  func clientsKept() -> [Int] {
    clients.indices.filter {
      clients[$0].deferral != nil && !clients[$0].isHostBatchingReported
    }
  }

  mutating func reportHostBatching(_ actions: inout [PowerAction]) {
    for index in clientsKept() {
      clients[index].isHostBatchingReported = true
      actions.append(.report(.deferralKeptByHost(clients[index].id)))
    }
  }

  /// Reports the deferrals whose time is over or whose distance is covered.
  mutating func reportDue(_ actions: inout [PowerAction]) {
    for index in clients.indices {
      guard let run = clients[index].deferral, !run.isDueReported,
        let deferral = clients[index].demand.deferral
      else {
        continue
      }
      let isTime = run.readTime(of: deferral, policy).map { now >= $0 } ?? false
      let covered = run.from.flatMap { from in newestFix.map { groundMetres(from, $0.observation) } } ?? 0
      let isFar = deferral.remainingMetres.map { covered >= $0 && newestFix != nil } ?? false
      guard isTime || isFar else { continue }
      clients[index].deferral?.isDueReported = true
      actions.append(.report(.deferralDue(clients[index].id)))
    }
  }

  // MARK: While the receiver collects

  /// Waits for the answer of a read, whoever still needs it; a read without an answer counts as cut. True when the
  /// batch has ended.
  mutating func awaitRead(since: Instant, _ actions: inout [PowerAction]) -> Bool {
    if now.seconds(since: since) >= policy.readOutTimeoutSeconds { retrievalCut(&actions) }
    // Until then the session goes on with a slow one.
    if batch == nil { actions.append(.cutRetrieval) }
    return batch == nil
  }

  /// Continues or ends a batch. True when a change has to be decided upon again.
  mutating func serveBatch(
    _ run: BatchRun, _ awake: Phase.Awake, _ need: Need, _ actions: inout [PowerAction]
  ) -> Bool {
    let isLost = awake.fixless.map { now.seconds(since: $0) >= policy.lostAfterSeconds } ?? false
    guard need.live == nil, let collect = need.collect, !isLost else { return leaveBatch(&actions) }
    batch?.ending = .no
    // Shortly before a deferral ends nothing is changed: the next deferral may take over the batch.
    if run.progress == .justRead, batchPlan(by: Instant.earlier(collect.by, need.due)) != nil {
      batch?.progress = .read
      if mayCollectCheaper(run, collect) {
        endBatch()
        return true
      }
    }
    guard readDue(run, collect, need) <= now else { return false }
    // A deferral that ends right after a read has its fixes already.
    let before = actions.count
    if collect.by.map({ $0 <= now && isFresh(run, at: $0) }) ?? false { reportDue(&actions) }
    if actions.count == before { readOut(&actions) }
    return false
  }

  private func readDue(_ run: BatchRun, _ collect: Need.Collect, _ need: Need) -> Instant {
    let full = run.fullAt(marginSeconds: policy.batchMarginSeconds)
    let due = min(full, Instant.earlier(collect.by.map { readBegin(run, for: $0) }, need.due) ?? full)
    return max(due, run.nextRead)
  }

  /// Sets the time that the line needs for one fix of a batch, in seconds. It is used until a read has measured the
  /// time; nil if unknown.
  public mutating func expectReadOut(secondsPerFix: Double?) {
    guard secondsPerFix != readOut.expectedSecondsPerFix else { return }
    readOut.expectedSecondsPerFix = secondsPerFix
    // The measured time belongs to another line.
    readOut.measuredSecondsPerFix = nil
  }

  /// The time to begin a read that ends at an instant. The read takes longer the more fixes are held by then.
  func readBegin(_ run: BatchRun, for by: Instant) -> Instant {
    guard !isFresh(run, at: by) else { return by }
    let held = by.seconds(since: run.heldSince) + run.uncountedSeconds
    let share =
      (readOut.measuredSecondsPerFix ?? readOut.expectedSecondsPerFix ?? policy.readOutSecondsPerFix)
      / Double(run.periodSeconds)
    let seconds = (share * held + policy.readOutSeconds) / (1 + share)
    return before(by, min(seconds, by.seconds(since: run.heldSince)))
  }

  /// Whether so little is held at an instant that a read is not worth it. A read leaves up to two fixes.
  private func isFresh(_ run: BatchRun, at instant: Instant) -> Bool {
    run.progress != .unread
      && instant.seconds(since: run.heldSince) + run.uncountedSeconds < 2.5 * Double(run.periodSeconds)
  }

  private mutating func readOut(_ actions: inout [PowerAction]) {
    batch?.reading = .running(since: now)
    actions.append(.retrieveBatch)
  }

  /// Reads the batch out and then ends collecting. True when collecting has ended.
  mutating func leaveBatch(_ actions: inout [PowerAction]) -> Bool {
    guard let run = batch else { return false }
    switch run.ending {
    case .no: batch?.ending = .lingering(since: now)
    case .lingering(let since):
      let linger = since + Milliseconds(seconds: policy.batchLingerSeconds)
      if max(linger, run.nextRead) <= now { readOut(&actions) }
    case .wasRead:
      endBatch()
      return true
    }
    return false
  }

  func batchDeadline(_ run: BatchRun, _ awake: Phase.Awake, _ need: Need) -> Instant? {
    if let since = run.readingSince { return since + Milliseconds(seconds: policy.readOutTimeoutSeconds) }
    switch run.ending {
    case .no: break
    case .lingering(let since):
      return max(since + Milliseconds(seconds: policy.batchLingerSeconds), run.nextRead)
    case .wasRead: return now
    }
    guard need.live == nil, let collect = need.collect else { return now }
    let lost = awake.fixless.map { $0 + Milliseconds(seconds: policy.lostAfterSeconds) }
    return Instant.earlier(readDue(run, collect, need), lost)
  }

  mutating func batchRetrieved(count: Int, lost: Int, _ actions: inout [PowerAction]) {
    if lost > 0 { actions.append(.report(.fixesLost(lost))) }
    guard var run = batch else { return }
    if let since = run.readingSince, count >= policy.readOutLearnedFrom {
      readOut.measuredSecondsPerFix = min(now.seconds(since: since) / Double(count), 1)
    }
    // The read included fixes that were collected meanwhile, except for the last one or two.
    run.heldSince = max(run.readingSince ?? now, before(now, Double(run.periodSeconds)))
    run.progress = .justRead
    run.uncountedSeconds = 0
    run.reading = .idle(notBefore: nil)
    run.cuts = 0
    if case .lingering = run.ending { run.ending = .wasRead }
    batch = run
    reportDue(&actions)
    if capabilities?.batching?.endsWithRead == true { endBatch() }
  }

  mutating func retrievalCut(_ actions: inout [PowerAction]) {
    guard var run = batch, run.readingSince != nil else { return }
    run.cuts += 1
    run.reading = .idle(notBefore: now + Milliseconds(seconds: policy.batchLingerSeconds))
    batch = run
    guard run.cuts >= policy.readOutAttempts else { return }
    loseBatch(&actions)
    refuse(.batching, &actions)
  }

  /// Ends a batch whose fixes are lost.
  mutating func loseBatch(_ actions: inout [PowerAction]) {
    guard let run = batch else { return }
    endBatch()
    let seconds = min(now.seconds(since: run.heldSince) + run.uncountedSeconds, 1e6)
    let fixes = Int(seconds) / run.periodSeconds + 1
    actions.append(.report(.batchGone(atMost: min(fixes, run.batch.epochs))))
  }

  /// Ends a batch. Fixes arrive live again; the time without them was not an outage.
  mutating func endBatch() {
    batch = nil
    listeningSince = now
  }

  mutating func refuse(_ refusal: Refusal, _ actions: inout [PowerAction]) {
    refusedUntil[refusal] = now + Milliseconds(seconds: policy.refusedSeconds)
    reportOnce(.refused(refusal), &actions)
  }
}

extension PowerMode {
  fileprivate func withPeriod(_ seconds: Int) -> PowerMode {
    switch self {
    case .continuous: .continuous(everySeconds: seconds)
    case .cyclicTracking: .cyclicTracking(everySeconds: seconds)
    case .onOff, .unread, .backup, .off: self
    }
  }
}
