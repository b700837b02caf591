// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import ReceiverStream
import UBX

/// The rate of the line: found, raised, and restored.
extension ReceiverSession {
  mutating func carryOut(_ action: Listener.Action, at now: Instant) {
    switch action {
    case .none: break
    case .found(let found):
      line.find(found)
      if health.fault == nil || memory.rate != found { report(.rateFound(found)) }
      if line.inherited == nil { memory.rate = found }
    case .setRate(let next):
      line.set(next, at: now)
      actions.append(.setRate(next))
    case .poll(let next):
      line.set(next, at: now)
      actions.append(.setRate(next))
      let known = (memory.description?.family ?? settings.recovery?.family)?.language
      let poll = known.map { $0.wakingBytes + $0.probes[0].bytes } ?? []
      actions.append(.send(knownLanguage == nil ? poll + frameBytes(.monVER, []) : poll))
    case .pollOther(let poll):
      doubtKnownInSearch()
      replies.reset()
      actions.append(.send(poll))
    case .pollAtRate(let next, let poll):
      doubtKnownInSearch()
      replies.reset()
      line.set(next, at: now)
      actions.append(.setRate(next))
      actions.append(.send(poll))
    case .adviseOnSilence:
      // An identified one sends no frame that is decoded.
      if description?.family == nil { report(.adviseOnSilence) }
    }
  }

  /// Returns whether the rate is changed, once that is over.
  mutating func carryOut(_ action: PortRateChange.Action, at now: Instant) -> Bool? {
    switch action {
    case .send(let command): begin(command)
    case .setRate(let next):
      line.set(next, at: now)
      actions.append(.setRate(next))
      listener.follow(rate: next)
      requests.wait(until: now + Milliseconds(20))
    case .finished(let isChanged): return isChanged
    }
    return nil
  }

  /// Whether the receiver is at a port without a rate, such as USB. The line may have one all the same: a pseudo-terminal, a bridge.
  var isPortWithoutRate: Bool { port?.hasRate == false }

  private var keepsPortRate: Bool { desired?.keepsPortRate == true }

  /// Raises the rate if that is desired, now or once the line is quiet. Returns whether it is.
  mutating func raiseRate(at now: Instant) -> Bool {
    // The rate that was raised for a while is desired permanently.
    if keepsPortRate, desired?.portRate == rate { memory.foundRate = nil }
    guard let wanted = desired?.portRate, let rate, wanted != rate,
      keepsPortRate || memory.foundRate == nil && !line.isRaiseAbandoned
    else { return false }
    if isPortWithoutRate {
      if keepsPortRate { report(.rateNotChanged(wanted)) }
      configuration.abandonPortRate()
      return false
    }
    // A serving session would lose an epoch; a line in a dialogue may be full, and never quiet.
    if keepsPortRate || settings.intent == .identify { startChangingRate() } else { line.scheduleRaise(from: now) }
    return true
  }

  mutating func startChangingRate() {
    line.cancelRaise()
    guard let wanted = desired?.portRate, let rate else { return }
    if !keepsPortRate { memory.foundRate = rate }
    let change = PortRateChange(
      from: rate, to: wanted, port: port, usesItems: usesItems, family: description?.family,
      isLogging: description?.runningLog != nil)
    enter(.changingRate(change), on: .raiseRate)
  }

  mutating func finishChangingRate(_ isChanged: Bool, _ change: PortRateChange, at now: Instant) {
    if change.isReceiverLost, !keepsPortRate { return search(after: change, at: now) }
    if description == nil { return finishMakingRoom(isChanged, change, at: now) }
    enter(.steady, on: .rateDone)
    port = port ?? change.portFound
    if isChanged {
      (memory.rate, memory.raisedPort) = (rate, change.familyPort)
      sleepPlan.clearStored()
    } else {
      configuration.abandonPortRate()
    }
    if isChanged == keepsPortRate { memory.foundRate = nil }
    if isChanged || keepsPortRate || !isPortWithoutRate {
      report(isChanged ? .rateFound(change.to) : .rateNotChanged(change.to))
    }
    if end.isRequested { return }
    retry.restart()
    startWatch(at: now)
    finishConfigured()
  }

  /// Searches the receiver, at the new rate first, from which the end then restores the found one.
  private mutating func search(after change: PortRateChange, at now: Instant) {
    enter(description == nil ? .listening(pollAt: nil) : .steady, on: .rateDone)
    port = port ?? change.portFound
    configuration.abandonPortRate()
    (memory.rate, memory.raisedPort) = (change.to, change.familyPort)
    line.set(change.to, at: now)
    actions.append(.setRate(change.to))
    report(.rateNotChanged(change.to))
    searchAgain(on: .silence, at: now)
  }

  /// The rate was raised for a receiver whose identity had no room on the line.
  private mutating func finishMakingRoom(_ isChanged: Bool, _ change: PortRateChange, at now: Instant) {
    enter(.listening(pollAt: nil), on: .rateDone)
    guard isChanged else {
      memory.foundRate = nil
      report(.notIdentified(isOtherVendor: false))
      return scheduleRetry(from: now)
    }
    memory.rate = rate
    report(.rateFound(change.to))
    if !end.isRequested { startIdentifying(at: now) }
  }
}
