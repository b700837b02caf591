import MonotonicTime
import ReceiverStream
import UBX

/// The rate of the line: found, raised, and given back.
extension ReceiverSession {
  mutating func carryOut(_ action: Listener.Action, at now: Instant) {
    switch action {
    case .none: break
    case .found(let found):
      rate = found
      if trouble.kind == nil || memory.rate != found { actions.append(.report(.rateFound(found))) }
      memory.rate = found
    case .setRate(let next):
      rate = next
      load.restart()
      actions.append(.setRate(next))
    case .ask(let next):
      rate = next
      load.restart()
      actions.append(.setRate(next))
      actions.append(.send(frameBytes(.monVER, [])))
    case .adviseOnSilence:
      actions.append(.report(.adviseOnSilence))
    }
  }

  /// A receiver that lost power while it was away is at its own rate again, and another one is at another's: only one that is
  /// still at the raised rate gets back what it was found at.
  mutating func settleInheritedRate() {
    if inheritsRate, rate != memory.rate { settingsRate = nil }
    inheritsRate = false
  }

  mutating func store(_ change: PortRateChange) {
    if case .restoringRate = stage { stage = .restoringRate(change) } else { stage = .changingRate(change) }
  }

  var rateChangeAt: Instant? { rateChangeBy.map { min($0, listener.lastByte + Self.quietTime) } }

  mutating func startChangingRate() {
    rateChangeBy = nil
    guard let wanted = desired?.portRate, let rate else { return }
    if !keepsPortRate { settingsRate = rate }
    stage = .changingRate(
      PortRateChange(from: rate, to: wanted, port: port, usesItems: description?.can(.valset) ?? false))
  }

  /// At the end, a frame at the rate that was found is enough to know that it is back.
  mutating func noticeReturnOfRate(at now: Instant) {
    guard case .restoringRate(var change) = stage, now >= rateSetAt + Self.staleBytes, change.hearFrame() else {
      return
    }
    request = nil
    stage = .restoringRate(change)
  }

  /// The line has another rate by itself, as a recording's has where the recorder has set it. What had begun at the old one is
  /// the beginning of nothing.
  public mutating func follow(rate next: UInt32, at now: Instant) {
    rate = next
    rateSetAt = now
    listener.follow(rate: next)
    if isHeard { memory.rate = next }
  }

  mutating func setRate(_ next: UInt32, at now: Instant) {
    rate = next
    load.restart()
    rateSetAt = now
    actions.append(.setRate(next))
    listener.follow(rate: next)
    quietUntil = now + Milliseconds(20)
  }

  /// The line was made faster for a receiver that had no room to say who it is.
  private mutating func finishMakingRoom(_ isChanged: Bool, _ change: PortRateChange, at now: Instant) {
    stage = .listening(askAt: nil)
    guard isChanged else {
      settingsRate = nil
      actions.append(.report(.notIdentified(isOtherVendor: false)))
      return scheduleRetry(from: now)
    }
    memory.rate = rate
    actions.append(.report(.rateFound(change.to)))
    if endBy == nil { startIdentifying() }
  }

  var keepsPortRate: Bool { desired?.keepsPortRate == true }

  mutating func finishChangingRate(_ isChanged: Bool, _ change: PortRateChange, at now: Instant) {
    if case .restoringRate = stage {
      if !isChanged { hasUnrestoredChanges = true }
      stage = .restoringBackup(BackupStore(undoing: memory.backup, inForce: foundInForce))
      return
    }
    if description == nil { return finishMakingRoom(isChanged, change, at: now) }
    stage = .steady
    port = port ?? change.portFound
    if isChanged {
      memory.rate = rate
      if keepsPortRate { settingsRate = nil }
      actions.append(.report(.rateFound(change.to)))
    } else {
      if !keepsPortRate { settingsRate = nil }
      desired?.portRate = nil
      sentConfiguration?.portRate = nil
      actions.append(.report(.rateNotChanged(change.to)))
    }
    if endBy != nil { return }
    startWatch(at: now, without: [], isMuted: false)
    actions.append(.report(.configured(refused: 0)))
    if desired?.powerSave?.sleepsBetweenFixes == true { startStoring() }
  }
}
