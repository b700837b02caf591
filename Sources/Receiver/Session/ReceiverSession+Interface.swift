// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import ReceiverStream

/// The events from outside, and the actions.
extension ReceiverSession {
  /// Takes bytes from the line; `body` gets the report of each epoch that they complete, and `tap` each whole frame before
  /// that.
  public mutating func receive(
    _ bytes: RawSpan, at now: Instant, frames tap: (borrowing Frame) -> Void = { _ in },
    _ body: (borrowing EpochAssembler.Report, borrowing Sky) -> Void
  ) {
    line.receive(bytes: bytes.byteCount, at: now)
    var received = startReceiving()
    let bitRate = rate
    if requests.expectsFamily {
      // A late reply to a probe proves the family too.
      let isUnknown = expected == nil
      let known = expected?.family
      replies.receive(bytes) { frame, family in
        received.receive(frame, of: known, at: now)
        if isUnknown, let family { received.show(family, by: frame) }
      }
    } else if searchesFamilies {
      replies.receive(bytes) { frame, family in if let family { received.show(family, by: frame) } }
    } else {
      replies.reset()
    }
    let action = listener.receive(
      bytes, at: now, otherFrames: received.familyFrames,
      frames: {
        tap($0)
        return received.receive($0, at: now, bitRate)
      }
    ) { report, sky in
      if !report.isUpdate { received.epochs += 1 }
      received.observe(report, sky)
      body(report, sky)
    }
    take(&received, at: now)
    carryOut(action, at: now)
    if isGarbage(at: now) { handle(.garbage, at: now) }
    reportRecovery(at: now)
    proceed(at: now)
  }

  /// Shows the epoch as if it were over now; see `EpochAssembler.preview`.
  public mutating func preview(_ body: (borrowing EpochAssembler.Report, borrowing Sky) -> Void) {
    listener.preview(body)
  }

  /// Does what is due at `now`; legal at any time. The silence of the line may end an epoch and a frame; see `receive`.
  public mutating func wake(
    at now: Instant, frames tap: (borrowing Frame) -> Void = { _ in },
    _ body: (borrowing EpochAssembler.Report, borrowing Sky) -> Void
  ) {
    var received = startReceiving()
    let bitRate = rate
    let action = listener.wake(
      at: now,
      frames: {
        tap($0)
        return received.receive($0, at: now, bitRate)
      }
    ) { report, sky in
      received.observe(report, sky)
      body(report, sky)
    }
    take(&received, at: now)
    carryOut(action, at: now)
    if isAsleep { sleepPlan.ignore(skippedBytes: listener.counters.skippedBytes) }
    if let due = silenceDeadline, now >= due { handle(.silence, at: now) }
    reportRecovery(at: now)
    proceed(at: now)
  }

  /// Sets whether the end restores what was changed: a caller that changes settings permanently wants it only until all of
  /// them are written.
  public mutating func restoreAtEnd(_ restores: Bool) { settings.restoresAtEnd = restores }

  /// Sets the assistance for the next start, and the computer's time if its clock is set.
  public mutating func set(_ assistance: AssistanceSettings?, time: UTCTime?, at now: Instant) {
    settings.assistance = assistance
    self.assistance.setTime(time, at: now)
  }

  /// Sets the computer's time if its clock is set.
  public mutating func set(time: UTCTime?, at now: Instant) { assistance.setTime(time, at: now) }

  /// Sets the desired configuration; the differences are sent as soon as the receiver takes commands.
  public mutating func set(_ desired: DesiredConfiguration, at now: Instant) {
    if self.desired?.isSilent == true, !desired.isSilent { health.endSilence(at: now) }
    configuration.set(desired)
    watch = nil
    handle(.newConfiguration, at: now)
    proceed(at: now)
  }

  /// Puts the receiver to sleep once it has its configuration and the submitted commands are over; before that, its
  /// settings are stored in battery-backed memory. The result is `SessionReport.asleep`, `.doesNotSleep`, `.cannotSleep` or
  /// `.refusesSaving`.
  ///
  /// - Parameters:
  ///   - duration: the time to sleep; nil for until `wakeUp`.
  ///   - now: the present instant.
  public mutating func sleep(for duration: Milliseconds?, at now: Instant) {
    guard !end.isRequested else { return }
    let isPossible =
      description.map { SleepRequest.command(duration, for: $0, port: usablePort) != nil } ?? !identity.isPassive
    guard settings.intent != .readOnly, isPossible else { return report(.cannotSleep) }
    if isAsleep || isFallingAsleep { return }
    sleepPlan.request(for: duration)
    proceed(at: now)
  }

  /// Wakes the receiver; the result is `SessionReport.awake`. A receiver that did not wake before is tried again now.
  public mutating func wakeUp(at now: Instant) {
    sleepPlan.cancel()
    assumeSleep()
    let wasAsleep = isAsleep
    handle(.wakeUp, at: now)
    if wasAsleep { proceed(at: now) }
  }

  /// Searches the rate of the line: the caller has restarted the receiver, which may have another rate and send nothing by itself.
  public mutating func searchRate(at now: Instant) {
    guard !isClosed, settings.line == .serial, !listener.isSearching, stage.name == .steady else { return }
    searchAgain(on: .silence, at: now)
    proceed(at: now)
  }

  /// Performs tasks on an identified receiver of another maker, permanently; the outcome is `.performed`. Either all values
  /// are changed, or none.
  ///
  /// - Parameters:
  ///   - tasks: the tasks, in their order.
  ///   - values: the values as they were found that the tasks may lose, as by a restart: the end restores them, and the next program
  ///     does after a kill.
  ///   - now: the present instant.
  public mutating func perform(
    _ tasks: [ReceiverTask], restoring values: [ReceiverValue] = [], at now: Instant
  ) -> SessionTicket {
    let ticket = requests.makeTicket()
    if !isClosed { memory.keep(values) }
    if isClosed || description?.family == nil {
      let result: ReceiverTask.Result = description?.family == nil ? .unsupported : .withdrawn
      actions.append(.finished(ticket, .performed(tasks.map { _ in result })))
    } else {
      work.submit(tasks, ticket)
      proceed(at: now)
    }
    return ticket
  }

  /// The tasks that undo what the last `perform` changed; empty if it changed nothing.
  public var undoingTasks: [ReceiverTask] { work.undoing }

  /// Reads the receiver's batch, or its log in flash if it has no batch; `SessionAction.batch` has the results.
  ///
  /// - Parameters:
  ///   - journal: what was delivered of it before.
  ///   - earlier: LOG-BATCH payloads that were received before and perhaps not delivered, oldest first; see `BatchLog`.
  ///   - now: the present instant.
  public mutating func retrieveBatch(_ journal: BatchJournal, earlier: [[UInt8]] = [], at now: Instant) {
    guard !batch.isActive else { return }
    if description?.family != nil, let retrieval = loggerRetrieval(journal) {
      batch.start(retrieval, at: now)
    } else if let description, !description.can(.batching), description.can(.flashLog) {
      batch.start(FlashRetrieval(journal, usesItems: description.can(.valset)), at: now)
    } else {
      batch.start(BatchRetrieval(journal, earlier: earlier), at: now)
    }
    if isClosed || description?.family != nil && description?.can(.logger) != true { cutBatch() }
    proceed(at: now)
  }

  /// Gives up the retrieval, also in the middle of a list; its journal has the delivered fixes.
  public mutating func cutRetrieval(at now: Instant) {
    guard batch.isActive else { return }
    if requests.owner == .retrieval { interruptRequest() }
    cutBatch()
    proceed(at: now)
  }

  /// Sends a command when its turn comes; `SessionAction.finished` has the outcome. It is silent at once in a read-only
  /// session, while the receiver sleeps, and during the end.
  public mutating func submit(_ command: Command, at now: Instant) -> SessionTicket {
    let ticket = requests.makeTicket()
    if description?.family != nil, command.bytes.starts(with: [0xB5, 0x62]) {
      // UBX is not a language of another maker's receiver.
      actions.append(.finished(ticket, .refused(.unsupported)))
    } else if isClosed {
      actions.append(.finished(ticket, .silent))
    } else {
      requests.submit(waitingLonger(command, at: now), ticket)
      proceed(at: now)
    }
    return ticket
  }

  /// Whether a submitted command, tasks or a new configuration are not over.
  public var isCarryingOut: Bool { requests.hasSubmitted || !work.isEmpty || stage.name == .configuring }

  /// The line is read again after a time without: that was not a silence of the receiver.
  public mutating func resume(at now: Instant) {
    listener.resume(at: now)
    health.resume(at: now)
  }

  /// The bytes of submitted commands that wait for their turn.
  public var submittedCount: Int { requests.submittedCount }

  /// A command with the time for a reply on a full line, where the receiver is of another maker.
  private mutating func waitingLonger(_ command: Command, at now: Instant) -> Command {
    guard description?.family != nil else { return command }
    line.measureLoad(at: now)
    guard line.load.isFull(at: rate) else { return command }
    var command = command
    command.attempts = min(command.attempts, 2)
    command.timeout = max(command.timeout, FamilyIdentification.fullLineTimeout)
    return command
  }

  /// Whether requests from outside are refused.
  private var isClosed: Bool { settings.intent == .readOnly || end.isRequested || isAsleep }

  /// Sets the records of other receivers, which may come to this line.
  public mutating func set(otherRecords: [OtherCrashRecoveryRecord]) { settings.otherRecords = otherRecords }

  /// Ends the session in order: restores what was changed. `isEnded` is true when it is complete.
  ///
  /// - Parameters:
  ///   - now: the time.
  ///   - limit: the longest time for reading the orbits before that. Orbits that are not complete by then are not kept.
  public mutating func finish(at now: Instant, readingOrbitsFor limit: Milliseconds = Milliseconds(6000)) {
    guard !end.isRequested else { return }
    assumeSleep()
    end.request(at: now, readingOrbitsFor: limit)
    cancelSubmitted()
    memory.keep(assistance.finish()?.found ?? [])
    cutBatch()
    if putsBack, requests.inFlight?.isReadingSentences == true { end.extend(to: now + EndPhase.longestDump) }
    if modeChangeTime > Milliseconds(0) { end.extend(to: now + EndPhase.longestWait + modeChangeTime) }
    handle(.finish, at: now)
    proceed(at: now)
  }

  /// The line is gone: reports what was collected and ends the session; commands are silent.
  public mutating func lost(_ body: (borrowing EpochAssembler.Report, borrowing Sky) -> Void) {
    listener.finish(body)
    cancelSubmitted()
    cutBatch()
    handle(.lineLost, at: listener.lastByte)
  }

  /// The line has another rate without the session, as a recording has. A frame that began at the old rate is discarded.
  public mutating func follow(rate next: UInt32, at now: Instant) {
    line.set(next, at: now)
    listener.follow(rate: next)
    if isReceiving { memory.rate = next }
  }

  /// The receiver was identified by another program, for a session that sends nothing; nil for a receiver that does not
  /// identify itself.
  public mutating func follow(_ description: ReceiverDescription?) {
    guard let description else { return report(.notIdentified(isOtherVendor: false)) }
    guard memory.description != description else { return }
    memory.description = description
    report(.identified(description))
  }

  /// Returns the next action; nil when there are no more for now.
  public mutating func nextAction() -> SessionAction? {
    guard !actions.isEmpty else { return nil }
    let action = lineEndInsertion.next(actions.removeFirst())
    if case .send(let bytes) = action, expected == nil { sent.note(bytes) }
    return action
  }

  /// When `wake` is due.
  public var deadline: Instant? {
    if isEnded { return nil }
    var next = listener.deadline
    next = .earlier(next, requests.deadline)
    next = .earlier(next, end.deadline)
    next = .earlier(next, silenceDeadline)
    next = .earlier(next, health.recoveredAt)
    // A retry waits while the receiver sleeps, and for the end of a search of the rate.
    if !requests.isBusy, !isAsleep {
      if !listener.isSearching { next = .earlier(next, retry.at) }
      next = .earlier(next, line.raiseAt(lastByte: listener.lastByte))
    }
    if !requests.isBusy, isSteady { next = .earlier(next, batch.deadline) }
    // Submitted commands wait for a change of the rate.
    if canSend, !line.isRaiseDue { next = .earlier(next, requests.submittedAt) }
    return switch stage {
    case .asleep(let watch): .earlier(next, watch.deadline)
    case .listening(let pollAt): .earlier(next, pollAt)
    case .readingDatabase(_, let until): .earlier(next, until)
    default: next
    }
  }

  /// Whether the session only waits for epochs.
  var isIdle: Bool {
    guard isReceiving, !listener.isSearching, requests.isEmpty, work.isEmpty, !end.isRequested, !batch.isActive else {
      return false
    }
    return switch stage {
    case .steady: true
    case .listening(let pollAt): pollAt == nil
    // Its polls are over.
    case .identifying: true
    default: false
    }
  }

  /// The input from the line for which the session waits.
  public var expectation: ReadScheduler.Expectation {
    if isIdle { return .epochs }
    let isOverdue = requests.inFlight.map { $0.isOverdue || identity.isUnanswered } ?? false
    return isOverdue && isReceiving && !end.isRequested && !listener.isSearching ? .overdueAnswer : .answer
  }
}
