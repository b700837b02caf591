import MonotonicTime

/// Whose turn it is to be said: the exchange in flight, the stage's next command, a submitted one.
extension ReceiverSession {
  var canSend: Bool {
    guard settings.intent != .readOnly, isHeard || !hasRateSearch else { return false }
    switch stage {
    case .searching: return false
    case .listening: return memory.description != nil || evidence.verdict == .uBlox
    default: return true
    }
  }

  /// Whether bytes may be lost on the way to a receiver that is known to understand UBX.
  var mayLoseBytes: Bool { description != nil && rate != nil && (settings.line == .serial || settings.line == .bound) }

  var hasRateSearch: Bool { settings.line == .serial && rate != nil }

  /// Does what is due: the exchange in flight, the stage's next command, a submitted one.
  mutating func proceed(at now: Instant) {
    if let endBy, now >= endBy { runOutOfTime() }
    if case .keeping(_, let until) = stage, now >= until {
      request = nil
      startRestoring(at: now)
    }
    defer { reportRetrieval() }
    for _ in 0..<64 {
      if isEnded { return }
      wakeIfTime(at: now)
      decideOnListening(at: now)
      if request == nil {
        guard startNext(at: now) else { return }
        // One stage is over and the next has not spoken yet: on a silent line nothing else would bring it on.
        if request == nil { continue }
      }
      guard request != nil, now >= request!.deadline else { return }
      let backlog = RequestInFlight.time(of: min(bytesPerEpoch, 4096), rate)
      let (bytes, outcome) = request!.wake(at: now, backlog: backlog, bitRate: rate, fills: mayLoseBytes)
      if let bytes { actions.append(.send(bytes)) }
      if let outcome { finishRequest(outcome, at: now) }
    }
  }

  /// Starts the next command of the stage, or a submitted one; false when there is none.
  mutating func startNext(at now: Instant) -> Bool {
    if isToEnd {
      startEnding(at: now)
      return true
    }
    switch stage {
    case .searching, .ended: return false
    case .listening:
      return canSend && startSubmitted()
    case .identifying(let identification):
      guard let command = identification.next() else {
        finishIdentifying(identification, at: now)
        return true
      }
      begin(command)
    case .configuring(let configuration):
      guard let command = configuration.next() else {
        finishConfiguring(configuration, at: now)
        return true
      }
      begin(command)
    case .keeping(let reading, _):
      guard let command = reading.next() else {
        memory.database = reading.messages
        startRestoring(at: now)
        return true
      }
      begin(command)
    case .restoring(let configuration):
      guard var command = configuration.next() else {
        finishRestoring(configuration, at: now)
        return true
      }
      // The time is short: what is not heard leaves some to the others.
      command.attempts = 3
      begin(command)
    case .restoringBackup(let store):
      guard let command = store.next() else {
        if !store.isKept { hasUnrestoredChanges = true }
        end()
        return true
      }
      begin(command)
    case .storing(let store):
      guard let command = store.next() else {
        finishStoring(store, at: now)
        return true
      }
      begin(command)
    case .asleep: return false
    case .waking(let wakeUp):
      switch wakeUp.next() {
      case .send(let command): begin(command)
      case .reset(let command):
        actions.append(.report(.resetToWake))
        begin(command)
      case .failed: giveUpWaking(wakeUp, at: now)
      }
    case .changingRate(var change), .restoringRate(var change):
      let action = change.next()
      store(change)
      switch action {
      case .send(let command): begin(command)
      case .setRate(let next): setRate(next, at: now)
      case .finished(let isChanged): finishChangingRate(isChanged, change, at: now)
      }
    case .steady:
      if let retryAt, now >= retryAt {
        self.retryAt = nil
        startConfiguring(at: now)
        return true
      }
      if hasNewConfiguration {
        startConfiguring(at: now)
        return true
      }
      if let rateChangeAt {
        guard now >= rateChangeAt else { return false }
        startChangingRate()
        return true
      }
      return startRetrieving(at: now) || startSubmitted() || startSleeping(at: now) || startAssisting(at: now)
    }
    return true
  }

  mutating func startSubmitted() -> Bool {
    guard !submitted.isEmpty else { return false }
    let (ticket, command) = submitted.removeFirst()
    current = ticket
    begin(command)
    return true
  }

  mutating func begin(_ command: Command) { request = RequestInFlight(command, earliest: quietUntil) }

  mutating func finishRequest(_ outcome: Outcome, at now: Instant) {
    guard let command = request?.command, let wasOverdue = request?.isOverdue else { return }
    request = nil
    quietUntil = now + command.pause
    // It may have heard each attempt: the other answers are not taken for the next command's, which ACK-ACK does not tell apart.
    if wasOverdue, outcome == .acknowledged { quietUntil = now + max(command.pause, Self.staleBytes) }
    if isAssistingInFlight {
      isAssistingInFlight = false
      assisting?.receive(outcome)
      return
    }
    if isRetrievalInFlight {
      isRetrievalInFlight = false
      retrieval?.receive(outcome, at: now)
      return
    }
    if let ticket = current {
      current = nil
      actions.append(.finished(ticket, outcome))
      return
    }
    switch stage {
    case .identifying(var identification):
      load.measure(at: now)
      // Who serves uses what is sent meanwhile, and asks again later.
      let insists = settings.intent == .identify && load.isFull(at: rate)
      identification.receive(outcome, isLineFull: insists)
      stage = .identifying(identification)
    case .configuring(var configuration):
      configuration.receive(outcome)
      stage = .configuring(configuration)
    case .keeping(var reading, let until):
      reading.receive(outcome)
      stage = .keeping(reading, until: until)
    case .restoring(var configuration):
      configuration.receive(outcome)
      stage = .restoring(configuration)
      if outcome != .silent, let restoringBy { endBy = min(now + Self.longestEnding, restoringBy) }
    case .changingRate(var change), .restoringRate(var change):
      change.receive(outcome)
      store(change)
    case .storing(var store):
      store.receive(outcome)
      stage = .storing(store)
    case .restoringBackup(var store):
      store.receive(outcome)
      stage = .restoringBackup(store)
    case .waking(var wakeUp):
      let isAwake = wakeUp.receive(outcome)
      stage = .waking(wakeUp)
      if isAwake { becomeAwake(wakeUp.cause, at: now) }
    case .searching, .listening, .steady, .asleep, .ended: break
    }
  }
}
