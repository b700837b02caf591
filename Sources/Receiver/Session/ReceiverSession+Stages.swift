// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// The reaction of each stage to each event: the only place that combines the two.
extension ReceiverSession {
  /// Returns whether something was done. False on `idle` if the session has no request to send.
  @discardableResult
  mutating func handle(_ event: StageEvent, at now: Instant) -> Bool {
    switch (stage, event) {
    case (.ended, _): return false
    case (_, .lineLost):
      keepFoundOfStage()
      endNow(on: .lineLost)
    case (_, .timeout):
      keepFoundOfStage()
      if putsBack { end.fail() }
      endNow(on: .timeout)

    // The end. A rate that is changing is known again after that; a sleeping receiver is woken first.
    case (.asleep, .finish) where putsBack:
      end.extend(to: now + EndPhase.longestRestoring)
      enter(.waking(WakeUp(.requested, family: description?.family)), on: .finish)
    case (.changingRate, .finish): end.extend(to: now + EndPhase.longestRestoring)
    case (.waking, .finish) where putsBack: end.extend(to: now + EndPhase.longestRestoring)
    case (.listening, .finish) where awaitsRecovery:
      end.extend(to: now + EndPhase.longestRestoring)
      update(.listening(pollAt: now))
    case (.identifying, .finish) where awaitsRecovery, (.identifyingFamily, .finish) where awaitsRecovery:
      end.extend(to: now + EndPhase.longestRestoring)
    case (.working(let machine), .finish) where machine.takesBack:
      end.extend(to: now + EndPhase.longestRestoring)
    case (.working, .finish) where requests.isWait: interruptRequest()
    case (.configuring, .finish), (.working, .finish), (.storing, .finish): requests.stopRepeating()
    case (_, .finish): if isToRestore { requests.stopRepeating() } else { interruptRequest() }
    case (_, .idle) where isReadyToRestore: startEnding(at: now)

    case (.searching, .frames): if !end.isRequested { enter(.listening(pollAt: nil), on: .frames) }
    case (.searching, .time): pollSilentReceiver(at: now)
    case (.searching, .wakeUp): if !end.isRequested { retry.advance(to: now) }

    case (.listening(let pollAt), .time): if isReceiving { decideOnPolling(pollAt, at: now) }
    case (.listening, .idle): return canSend && beginSubmitted()
    case (.listening, .version(let payload)): if expected == nil { identify(by: payload) }

    case (.identifying(let identification), .idle):
      if begin(identification.next()) { return true }
      if waitsForFrame(after: identification, at: now) { return false }
      finishIdentifying(identification, at: now)
    case (.identifying(var identification), .reply(let outcome)):
      identification.receive(
        outcome, isLineFull: measureFullLine(at: now), mayHaveNoUBXOutput: mayHaveNoUBXOutput)
      update(.identifying(identification))

    // A late reply to a probe, or a banner, proves the family: no other is probed, and u-blox is not polled.
    case (.identifying, .frames):
      guard isProvedMeanwhile else { return false }
      interruptRequest()
      startIdentifyingFamilies(at: now)
    case (.identifyingFamily(let identification), .frames):
      guard isProvedMeanwhile, let family = identity.evidence.family, !identification.isAnswered(or: family) else {
        return false
      }
      interruptRequest()
      startIdentifyingFamilies(at: now)

    case (.identifyingFamily, .version(let payload)):
      // A late reply: of a u-blox receiver, if it names a generation.
      guard expected == nil, identity.evidence.verdict == .uBlox else { return false }
      interruptRequest()
      identify(by: payload)
    case (.identifyingFamily(let identification), .idle):
      replies.reset()
      if identity.evidence.verdict == .uBlox, !isKnown, knownLanguage == nil {
        startIdentifying(at: now)
      } else if !begin(identification.next()) {
        finishIdentifyingFamily(identification, at: now)
      }
    case (.identifyingFamily(var identification), .reply(let outcome)):
      identification.receive(outcome)
      update(.identifyingFamily(identification))

    case (.working(let machine), .configurationLost):
      guard machine.ticket == nil, !machine.takesBack, !end.isRequested else { return false }
      keepFoundOfStage()
      interruptRequest()
      startConfiguring(at: now)

    case (.working(let machine), .idle): if !beginNext(of: machine, at: now) { finishWork(machine, at: now) }
    case (.working(var machine), .reply(let outcome)):
      let isBound = machine.takesBack
      machine.receive(outcome, observed: observed)
      if end.isRequested, machine.takesBack, !isBound { end.extend(to: now + EndPhase.longestRestoring) }
      update(.working(machine))

    case (.configuring(let configuration), .idle):
      if !begin(configuration.next()) { finishConfiguring(configuration, at: now) }
    case (.configuring(var configuration), .reply(let outcome)):
      configuration.receive(outcome)
      update(.configuring(configuration))

    case (.changingRate(var change), .idle):
      let action = change.next()
      update(.changingRate(change))
      if let isChanged = carryOut(action, at: now) { finishChangingRate(isChanged, change, at: now) }
    case (.changingRate(var change), .reply(let outcome)):
      change.receive(outcome)
      update(.changingRate(change))
    case (.changingRate, .garbage): break

    case (.steady, .idle): return startNextOfSteady(at: now)
    // A receiver that falls asleep gets it when it is awake.
    case (.steady, .newConfiguration): if !isFallingAsleep { startConfiguring(at: now) }
    case (.steady, .configurationLost): if !isFallingAsleep { checkConfiguration(at: now) }

    case (.storing(let store), .idle): storeNext(of: store, at: now)
    case (.storing(var store), .reply(let outcome)):
      store.receive(outcome)
      update(.storing(store))

    case (.asleep(let sleep), .time):
      if let due = sleep.deadline, now >= due { enter(.waking(WakeUp(.time, family: description?.family)), on: .wake) }
    case (.asleep, .idle): return false
    case (.asleep(let sleep), .frames): judge(sleep, at: now)
    case (.asleep(let sleep), .garbage): judgeGarbage(sleep, at: now)
    case (.asleep(let sleep), .wakeUp):
      guard !end.isRequested else { return false }
      if endsByTimerAlone(sleep) { return waitForTimer(of: sleep, at: now) }
      enter(.waking(WakeUp(.requested, family: description?.family)), on: .wake)

    case (.waking(let wakeUp), .idle):
      // A search at the end sends its own polls.
      guard !listener.isSearching else { return false }
      send(wakeUp, at: now)
    case (.waking(var wakeUp), .reply(let outcome)):
      let isAwake = wakeUp.receive(outcome)
      update(.waking(wakeUp))
      if isAwake { becomeAwake(wakeUp.cause, at: now) }
    case (.waking(let wakeUp), .frames):
      guard wakeUp.isJudgedByFrames else { return false }
      becomeAwake(wakeUp.cause, at: now)
    case (.waking(let wakeUp), .garbage):
      guard isMuchGarbage else { return false }
      if end.isRequested { searchRate(wakeUp, at: now) } else { searchAgain(on: .garbage, at: now) }

    case (.readingDatabase(_, let until), .time):
      guard now >= until else { return false }
      _ = requests.interrupt()
      startRestoring(at: now)
    case (.readingDatabase(let reading, _), .idle):
      if !begin(reading.next()) {
        memory.database = reading.messages
        startRestoring(at: now)
      }
    case (.readingDatabase(var reading, let until), .reply(let outcome)):
      reading.receive(outcome)
      update(.readingDatabase(reading, until: until))

    case (.restoring(let configuration), .idle): restoreNext(of: configuration, at: now)
    case (.restoring(var configuration), .reply(let outcome)):
      configuration.receive(outcome)
      update(.restoring(configuration))

    case (.restoringValues(let machine), .idle):
      if !beginNext(of: machine, at: now) { finishRestoring(machine, at: now) }
    case (.restoringValues(var machine), .reply(let outcome)):
      machine.receive(outcome, observed: observed)
      update(.restoringValues(machine))

    case (.restoringRate(var change), .idle):
      let action = change.next()
      update(.restoringRate(change))
      if let isChanged = carryOut(action, at: now) { finishRestoringRate(isChanged) }
    case (.restoringRate(var change), .reply(let outcome)):
      change.receive(outcome)
      update(.restoringRate(change))
    case (.restoringRate(var change), .frames):
      // Frames at the found rate are enough: the reply may be queued behind much else.
      guard line.isSettled(at: now), change.receiveFrame() else { return false }
      _ = requests.interrupt()
      update(.restoringRate(change))

    case (.restoringBackup(let store), .idle):
      if !begin(store.next()) {
        if store.result != .kept { end.fail() }
        memory.backup = store.before
        endSession(on: .restored)
      }
    case (.restoringBackup(var store), .reply(let outcome)):
      store.receive(outcome)
      update(.restoringBackup(store))

    case (_, .silence): noticeSilence(at: now)
    case (_, .garbage): noticeGarbage(at: now)
    // All others: (searching, idle), and time, frames, a version, a reply, a configuration or a wake-up that the stage ignores.
    default: return false
    }
    return true
  }

  /// Starts the first thing that is due in a steady session.
  private mutating func startNextOfSteady(at now: Instant) -> Bool {
    if retry.isDue(at: now) {
      retry.cancel()
      startConfiguring(at: now)
    } else if configuration.hasChanged {
      startConfiguring(at: now)
    } else if let raiseAt = line.raiseAt(lastByte: listener.lastByte) {
      guard now >= raiseAt else { return false }
      startChangingRate()
    } else {
      return requests.begin(batch.next(at: now), for: .retrieval) || beginSubmitted()
        || startWork() || startAssisting(at: now) || startSleeping(at: now) || startPollingOrbits()
    }
    return true
  }
}
