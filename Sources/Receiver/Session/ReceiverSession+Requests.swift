// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// The next request: the one in flight, the next one of the stage, a submitted one; and assistance and batches.
extension ReceiverSession {
  var canSend: Bool {
    guard settings.intent != .readOnly, isReceiving || !hasRateSearch else { return false }
    return switch stage {
    case .searching: false
    case .listening:
      memory.description != nil || identity.evidence.verdict == .uBlox
        || settings.intent == .identify && identity.isPassive
    default: true
    }
  }

  /// Whether bytes to a receiver that is known to read UBX can be lost on the way.
  private var mayLoseBytes: Bool {
    description != nil && rate != nil && (settings.line == .serial || settings.line == .bound)
  }

  var hasRateSearch: Bool { settings.line == .serial && rate != nil }

  /// Does everything that is due.
  mutating func proceed(at now: Instant) {
    if let by = end.deadline, now >= by { handle(.timeout, at: now) }
    defer { reportBatch() }
    for _ in 0..<64 {
      if isEnded { return }
      handle(.time, at: now)
      if !requests.isBusy {
        guard handle(.idle, at: now) else { return }
        // A stage is over and the next one has no request in flight yet: a silent line would not bring it on.
        if !requests.isBusy { continue }
      }
      guard let due = requests.wake(at: now, backlog: line.backlog, bitRate: rate, fills: mayLoseBytes) else { return }
      if let bytes = due.bytes, !bytes.isEmpty { actions.append(.send(bytes)) }
      if let outcome = due.outcome { finishRequest(outcome, at: now) }
    }
  }

  /// Starts a request of the stage. Returns whether there is one.
  @discardableResult
  mutating func begin(_ command: Command?) -> Bool { requests.begin(command, for: .stage) }

  mutating func finishRequest(_ outcome: Outcome, at now: Instant) {
    switch requests.finish(outcome, at: now) {
    case nil: break
    case .stage?:
      if outcome != .silent { end.receiveReply(at: now) }
      handle(.reply(outcome), at: now)
    case .ticket(let ticket)?: actions.append(.finished(ticket, outcome))
    case .assistance?: assistance.receive(outcome)
    case .retrieval?: batch.receive(outcome, at: now)
    case .sleep?: finishSleepRequest(outcome, at: now)
    case .orbits?: if let seconds = orbits.receive(outcome) { report(.orbits(usableSeconds: seconds)) }
    }
  }

  /// Starts a submitted command. Returns whether there is one.
  mutating func beginSubmitted() -> Bool {
    guard requests.beginSubmitted(), let command = requests.inFlight?.command else { return false }
    if case .message = command.answer { return true }
    // It may change a setting in RAM.
    sleepPlan.clearStored()
    if memory.backup.isWhole, command.storesSettings { memory.backup.knowledge = .incomplete }
    return true
  }

  mutating func interruptRequest() {
    if let ticket = requests.interrupt() { actions.append(.finished(ticket, .silent)) }
  }

  mutating func cancelSubmitted() {
    for (ticket, tasks) in work.cancel() {
      actions.append(.finished(ticket, .performed(tasks.map { _ in .withdrawn })))
    }
    for ticket in requests.cancelSubmitted() { actions.append(.finished(ticket, .silent)) }
  }

  mutating func scheduleRetry(from now: Instant, isUnsure: Bool = false) {
    // Nothing is sent, so nothing can be tried again.
    if settings.intent != .readOnly { retry.schedule(from: now, isUnsure: isUnsure) }
  }

  // MARK: Assistance, orbits and batches

  mutating func startAssisting(at now: Instant) -> Bool {
    if description?.family != nil { return false }
    if requests.begin(assistance.next(at: now), for: .assistance) { return true }
    guard let delivery = assistance.finish() else { return false }
    memory.keep(delivery.found)
    if delivery.given + delivery.refused > 0 {
      report(.assisted(given: delivery.given, refused: delivery.refused))
    }
    return false
  }

  /// Polls the receiver's orbits, if that is due. Bytes would wake a receiver that sleeps between fixes.
  mutating func startPollingOrbits() -> Bool {
    guard description?.family == nil, settings.pollsOrbits, settings.intent == .serve,
      desired?.powerSave?.sleepsBetweenFixes != true
    else {
      return false
    }
    return requests.begin(orbits.next(description, bitRate: rate), for: .orbits)
  }

  mutating func cutBatch() {
    batch.cut()
    reportBatch()
  }

  private mutating func reportBatch() {
    for event in batch.takeEvents() {
      if case .finished(_, let journal) = event, description?.family != nil { finishReading(journal) }
      actions.append(.batch(event))
    }
  }
}
