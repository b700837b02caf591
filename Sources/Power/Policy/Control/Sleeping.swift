// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

// Falling asleep, staying asleep, and waking up.
extension PowerControl {
  /// The sleep mode of this receiver, or `unread` if it has none, or none so short; nil without a receiver.
  func sleepMode(until: Instant?) -> PowerMode? {
    guard let capabilities else { return nil }
    if let backup = capabilities.backup, !isRefused(.backup), canEnd(backup, by: until) {
      let longest = now + Milliseconds(seconds: backup.longestSeconds)
      // If the line cannot wake the receiver, it must wake by itself soon: a demand may come at any time.
      let latest = backup.wakesByLine ? nil : now + Milliseconds(seconds: policy.blindSleepSeconds)
      guard let until else { return .backup(until: latest) }
      return .backup(until: min(until, min(longest, latest ?? longest)))
    }
    if capabilities.powerSwitch != .none, !isRefused(.powerSwitch) {
      // A receiver that loses its memory starts cold each time: only a long sleep is worth that.
      let pays = until.map { $0.seconds(since: now) >= switchOffSeconds(capabilities) } ?? true
      if pays { return .off(until: until) }
    }
    return .unread(until: until)
  }

  /// Whether a backup ends by an instant: nothing wakes a receiver whose line does not before its shortest sleep is over.
  private func canEnd(_ backup: ReceiverCapabilities.Backup, by until: Instant?) -> Bool {
    guard !backup.wakesByLine, let until else { return true }
    return until.seconds(since: now) >= backup.shortestSeconds + policy.wakeSeconds
  }

  private func switchOffSeconds(_ capabilities: ReceiverCapabilities) -> Double {
    capabilities.powerSwitch == .keepsMemory ? policy.shortestSleepSeconds : 5 * coldSeconds
  }

  /// Serves the absence of demands: the receiver sleeps, once repeated one-shots have what they need.
  mutating func leaveIdle(_ awake: Phase.Awake, _ need: Need, _ actions: inout [PowerAction]) -> Bool {
    if batch != nil { return leaveBatch(&actions) }
    if hasFix(awake), holdsAwake(awake, need) {
      want(fullPower, &actions)
      return false
    }
    // The next client begins a search of its own.
    outage.endSearch()
    return leave(to: .idle, until: nil, need, &actions)
  }

  mutating func leave(
    to reason: Phase.Asleep.Reason, until: Instant?, _ need: Need, _ actions: inout [PowerAction]
  ) -> Bool {
    guard let mode = sleepMode(until: until) else { return false }
    orbits.interrupted()
    hints.holdUntil = nil
    if case .off = mode, capabilities?.powerSwitch == .losesMemory { orbits.lost() }
    // A receiver that sleeps keeps the end of its sleep: it takes no request.
    let isUnderWay = if case .asleep = phase { wakesItselfAt.map { $0 > now } ?? true } else { false }
    if !isUnderWay { wakesItselfAt = mode.ownEnd }
    phase = .asleep(Phase.Asleep(since: now, until: until ?? mode.ownEnd, reason: reason))
    want(WantedState(mode: mode, reducedConstellations: wantsReduced), &actions)
    return true
  }

  /// Ends, shortens or extends a sleep. True when the receiver is woken.
  mutating func sleepEnds(_ asleep: Phase.Asleep, _ actions: inout [PowerAction]) -> Bool {
    let need = need()
    guard need.isAny else {
      if asleep.reason == .idle { return renewOwnSleep(asleep, need, &actions) }
      // The last client has ended: the sleep's end is no longer needed.
      outage.endSearch()
      return leave(to: .idle, until: nil, need, &actions) && false
    }
    if wakesNow(asleep, need) {
      beginWaking(&actions)
      return true
    }
    // A client that came or went may bring the wake-up forward but not delay it: sending a later end would cost a
    // wake-up.
    guard asleep.reason != .noSky, let wakeAt = wakeTime(need) else { return false }
    if asleep.until.map({ wakeAt < $0 }) ?? true {
      var sooner = asleep
      sooner.until = wakeAt
      phase = .asleep(sooner)
    }
    return false
  }

  /// Repeats the sleep of a receiver that only time can wake, while there is no demand.
  private mutating func renewOwnSleep(_ asleep: Phase.Asleep, _ need: Need, _ actions: inout [PowerAction]) -> Bool {
    guard let until = asleep.until, until <= now else { return false }
    return leave(to: .idle, until: nil, need, &actions) && false
  }

  private func wakesNow(_ asleep: Phase.Asleep, _ need: Need) -> Bool {
    if let until = asleep.until, until <= now { return true }
    if hints.holdUntil != nil { return asleep.reason != .noSky || searchIsAllowed }
    switch asleep.reason {
    case .idle: return true
    case .betweenChecks: return need.live != nil || need.collect != nil || (wakeTime(need).map { $0 <= now } ?? false)
    case .noSky: return clients.contains { $0.startedAt > asleep.since } && searchIsAllowed
    }
  }

  mutating func beginWaking(_ actions: inout [PowerAction]) {
    let isHot = orbits.isUsable(at: now)
    let wasUnread = if case .unread = wanted.mode { true } else { false }
    if let hold = hints.holdUntil, hold <= now { hints.holdUntil = nil }
    want(fullPower, &actions)
    if wasUnread {
      phase = .awake(Phase.Awake(since: now, isHot: isHot))
    } else {
      phase = .waking(Phase.Waking(since: now, isHot: isHot))
    }
  }

  // MARK: A receiver that is not asleep

  /// The receiver was commanded into a mode and no failure was reported.
  mutating func entered(_ mode: PowerMode, _ actions: inout [PowerAction]) {
    if !mode.isAsleep { answered(&actions) }
  }

  /// An epoch arrived although the receiver should sleep.
  mutating func receivedUnexpectedEpoch(_ asleep: Phase.Asleep, _ actions: inout [PowerAction]) {
    switch wanted.mode {
    case .backup, .off: break
    default: return
    }
    let quiet = now.seconds(since: asleep.lastUnexpectedEpoch ?? asleep.since)
    var asleep = asleep
    asleep.lastUnexpectedEpoch = now
    phase = .asleep(asleep)
    // The epoch was on its way when the receiver fell asleep.
    guard now.seconds(since: asleep.since) > policy.sleepGraceSeconds else { return }
    if let until = asleep.until, until <= now { return }
    // The end of its sleep, which was requested for a client that is gone by now: it sleeps again.
    if let end = wakesItselfAt, end.seconds(since: now) <= policy.sleepGraceSeconds,
      asleep.until.map({ $0 > end }) ?? true
    {
      // Once for each end: a mode whose end is over has no other one.
      wakesItselfAt = wanted.mode.ownEnd.flatMap { $0 > end ? $0 : nil }
      asleep.since = now
      actions.append(.enter(wanted))
      phase = .asleep(asleep)
      return
    }
    // A receiver that ignored the request sends an epoch a second; this one slept and woke by itself.
    if quiet > 1.5 * policy.sleepGraceSeconds {
      reportOnce(.wakesByItself, &actions)
      asleep.repeats = 0
    }
    // The request is repeated every other second at most, because the answer takes its time.
    if asleep.repeats >= policy.sleepAttempts {
      reportOnce(.doesNotSleep, &actions)
      let isSwitch = if case .off = wanted.mode { true } else { false }
      refusedUntil[isSwitch ? .powerSwitch : .backup] = now + Milliseconds(seconds: policy.refusedSeconds)
      phase = .awake(Phase.Awake(since: now, isHot: orbits.isUsable(at: now)))
      return
    }
    if asleep.repeats == 0 || now.seconds(since: asleep.since) > policy.sleepGraceSeconds {
      asleep.repeats += 1
      asleep.since = now
      wakesItselfAt = wanted.mode.ownEnd
      actions.append(.enter(wanted))
    }
    phase = .asleep(asleep)
  }
}

// A receiver that was woken has to answer. Otherwise it is woken again, reset, reported, and tried at growing
// intervals.
extension PowerControl {
  func wakeDeadline(_ waking: Phase.Waking) -> Instant {
    max(waking.since, waking.timerEnd ?? .zero) + Milliseconds(seconds: wakeTimeoutSeconds(waking))
  }

  /// The receiver cannot answer before the end of its sleep.
  mutating func wakesByTimer(at end: Instant) {
    guard case .waking(var waking) = phase else { return }
    waking.timerEnd = end
    phase = .waking(waking)
  }

  private func wakeTimeoutSeconds(_ waking: Phase.Waking) -> Double {
    waking.retrySeconds ?? (waking.attempts == 0 ? policy.resetTimeoutSeconds : policy.wakeTimeoutSeconds)
  }

  /// True when the phase has changed.
  mutating func wakeStep(_ waking: Phase.Waking, _ actions: inout [PowerAction]) -> Bool {
    guard wakeDeadline(waking) <= now else { return false }
    wakeAgain(waking, &actions)
    return false
  }

  mutating func wakeFailed(_ actions: inout [PowerAction]) {
    guard case .waking(let waking) = phase, waking.retrySeconds == nil else { return }
    wakeAgain(waking, &actions)
  }

  private mutating func wakeAgain(_ waking: Phase.Waking, _ actions: inout [PowerAction]) {
    var waking = waking
    waking.since = now
    if let seconds = waking.retrySeconds {
      waking.retrySeconds = min(seconds * 2, policy.longestRetrySeconds)
      actions.append(.wakeAgain(attempt: waking.attempts))
      waking.attempts += 1
    } else if waking.attempts < policy.wakeAttempts {
      waking.attempts += 1
      actions.append(.wakeAgain(attempt: waking.attempts))
    } else if waking.resets < policy.resetAttempts {
      waking.resets += 1
      waking.attempts = 0
      actions.append(.reset)
    } else {
      waking.retrySeconds = policy.retrySeconds
      reportOnce(.doesNotWake, &actions)
    }
    phase = .waking(waking)
  }

  /// The receiver has shown any activity.
  mutating func answered(_ actions: inout [PowerAction]) {
    guard case .waking(let waking) = phase else { return }
    if end(.doesNotWake) { actions.append(.report(.answersAgain)) }
    // A reset may have cleared the receiver's memory.
    if waking.resets > 0 { orbits.lost() }
    // A search begins with the wake-up, or with the end of a sleep that the wake-up did not end.
    let since = waking.resets > 0 ? now : max(waking.since, min(waking.timerEnd ?? waking.since, now))
    phase = .awake(Phase.Awake(since: since, isHot: waking.isHot && waking.resets == 0))
    if waking.resets > 0 { actions.append(.enter(wanted)) }
  }
}

extension PowerMode {
  /// The time at which the receiver wakes by itself.
  fileprivate var ownEnd: Instant? {
    switch self {
    case .backup(let until), .off(let until), .unread(let until): until
    case .continuous, .cyclicTracking, .onOff: nil
    }
  }
}
