// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

// Refusals, restarts, the loss and return of the receiver, and a host that suspends.
extension PowerControl {
  mutating func refused(_ refusal: Refusal, _ actions: inout [PowerAction]) {
    switch refusal {
    case .batching:
      if batch != nil { endBatch() }
      // The size may be too large for this firmware: smaller ones are tried first.
      if batchHalvings < policy.batchHalvings {
        batchHalvings += 1
      } else {
        refuse(.batching, &actions)
      }
    case .backup, .powerSwitch:
      refuse(refusal, &actions)
      if case .asleep = phase { phase = .awake(Phase.Awake(since: now, isHot: orbits.isUsable(at: now))) }
    case .cyclicTracking, .onOff, .constellations:
      refuse(refusal, &actions)
    }
  }

  mutating func rebooted(_ actions: inout [PowerAction]) {
    switch phase {
    case .absent, .suspended: return
    case .awake, .asleep, .waking: break
    }
    answered(&actions)
    loseBatch(&actions)
    orbits.interrupted()
    mustReportAgain = true
    phase = .awake(Phase.Awake(since: now, isHot: orbits.isUsable(at: now)))
  }

  mutating func receiverLost(_ actions: inout [PowerAction]) {
    loseBatch(&actions)
    orbits.interrupted()
    hintHold = nil
    phase = .absent
  }

  mutating func receiverFound(_ found: ReceiverCapabilities, _ actions: inout [PowerAction]) {
    loseBatch(&actions)
    if capabilities != found {
      hotStarts = TimeToFix(usualSeconds: found.startTimes.hotSeconds + policy.wakeSeconds)
      coldStarts = TimeToFix(usualSeconds: found.startTimes.coldSeconds + policy.wakeSeconds)
      epochs = EpochGrid(usualSeconds: found.startTimes.hotSeconds + policy.wakeSeconds)
      refusedUntil = [:]
      batchHalvings = 0
      measuredSecondsPerFix = nil
    }
    capabilities = found
    activeReports = []
    // The receiver may have kept its orbits; if so, it reports them.
    orbits.lost()
    mustReportAgain = true
    phase = .awake(Phase.Awake(since: now, isHot: false))
  }

  mutating func hostSuspends(_ actions: inout [PowerAction]) {
    guard capabilities != nil else { return }
    switch phase {
    case .absent, .suspended: return
    case .asleep, .awake, .waking: break
    }
    let need = need()
    if let run = batch, let collect = need.collect, need.live == nil {
      // The receiver collects without the host.
      let full = run.fullAt(marginSeconds: policy.batchMarginSeconds)
      actions.append(.report(.hostIsNeeded(by: min(full, collect.by.map { readBegin(run, for: $0) } ?? full))))
      return
    }
    if let wakeAt = wakeTime(need) { actions.append(.report(.hostIsNeeded(by: max(wakeAt, now)))) }
    loseBatch(&actions)
    orbits.interrupted()
    phase = .suspended(since: now)
    if let mode = sleepMode(until: nil) { want(WantedState(mode: mode, reducedConstellations: wantsReduced), &actions) }
  }

  mutating func hostResumed(after seconds: Double, _ actions: inout [PowerAction]) {
    orbits.aged(seconds: seconds)
    if seconds > 0 {
      batch?.uncountedSeconds += seconds
      for index in clients.indices { clients[index].deferral?.uncountedSeconds += seconds }
    }
    guard case .suspended = phase else { return }
    if clients.contains(where: { $0.demand.needsPosition }) {
      // Everything that fell due during the suspend is due now.
      for index in clients.indices { clients[index].startedAt = now }
      beginWaking(&actions)
    } else {
      phase = .asleep(Phase.Asleep(since: now, until: nil, reason: .idle))
    }
  }
}
