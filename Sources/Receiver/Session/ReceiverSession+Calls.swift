import MonotonicTime
import ReceiverStream

/// What comes in from outside, and what goes out.
extension ReceiverSession {
  /// Takes bytes from the line; `body` gets each report of an epoch that follows from them.
  public mutating func receive(
    _ bytes: RawSpan, at now: Instant, _ body: (borrowing EpochAssembler.Report, borrowing Sky) -> Void
  ) {
    bytesThisEpoch += bytes.byteCount
    load.receive(bytes: bytes.byteCount, at: now)
    var heard = ReceivedFrames(evidence: evidence, watch: watch, request: request, looks: looksAtEvidence)
    let bitRate = rate
    var epochs = 0
    let action = listener.receive(bytes, at: now, frames: { heard.receive($0, at: now, bitRate) }) { report, sky in
      if !report.isUpdate { epochs += 1 }
      body(report, sky)
    }
    take(&heard, epochs: epochs, at: now)
    carryOut(action, at: now)
    noticeGarbage(at: now)
    reportIfBack(at: now)
    proceed(at: now)
  }

  /// What the epoch would be were it over now; see `EpochAssembler.preview`.
  public mutating func preview(_ body: (borrowing EpochAssembler.Report, borrowing Sky) -> Void) {
    listener.preview(body)
  }

  /// The deadline has come, or any other time.
  public mutating func wake(
    at now: Instant, _ body: (borrowing EpochAssembler.Report, borrowing Sky) -> Void
  ) {
    var heard = ReceivedFrames(evidence: evidence, watch: watch, request: request, looks: looksAtEvidence)
    let bitRate = rate
    let action = listener.wake(at: now, frames: { heard.receive($0, at: now, bitRate) }, body)
    take(&heard, epochs: 0, at: now)
    carryOut(action, at: now)
    if isAsleep { skippedAsleep = listener.counters.skippedBytes }
    noticeSilence(at: now)
    reportIfBack(at: now)
    proceed(at: now)
  }

  /// Whether what was changed is put back when the session ends. Who is asked to change something wants that only as long as
  /// not all of it is done.
  public mutating func restoreAtEnd(_ restores: Bool) { settings.restoresAtEnd = restores }

  /// The wished state changes: what differs is told to the receiver as soon as it listens.
  public mutating func set(_ desired: DesiredConfiguration, at now: Instant) {
    self.desired = desired
    watch = nil
    if case .steady = stage { startConfiguring(at: now) }
    proceed(at: now)
  }

  /// The receiver is to sleep, once it is in the wished state and what was submitted is said. Its settings are put where
  /// they outlive that. Told by `SessionReport.asleep`, `.doesNotSleep` or `.cannotSleep`.
  ///
  /// - Parameters:
  ///   - duration: for how long; nil for until `wakeUp`.
  ///   - now: the present instant.
  public mutating func sleep(for duration: Milliseconds?, at now: Instant) {
    guard endBy == nil else { return }
    let isPossible =
      description.map { SleepRequest.command(duration, for: $0, port: usablePort) != nil } ?? !isPassive
    guard settings.intent != .readOnly, isPossible else { return actions.append(.report(.cannotSleep)) }
    if case .asleep = stage { return }
    pendingSleep = PendingSleep(duration: duration)
    proceed(at: now)
  }

  /// The receiver is to wake; told by `SessionReport.awake`.
  public mutating func wakeUp(at now: Instant) {
    pendingSleep = nil
    // One that was given up is tried now, and not when its turn comes.
    if case .searching = stage, retryAt != nil, endBy == nil { retryAt = now }
    guard case .asleep = stage, endBy == nil else { return }
    interruptRequest()
    stage = .waking(WakeUp(.asked))
    proceed(at: now)
  }

  /// The receiver's batch is read out, or its log in flash where it has no batch, once it listens; what comes of it is told by `SessionAction.batch`.
  ///
  /// - Parameters:
  ///   - journal: what was delivered of it before.
  ///   - earlier: LOG-BATCH payloads that were received before and perhaps not delivered, oldest first; see `BatchLog`.
  ///   - now: the present instant.
  public mutating func retrieveBatch(_ journal: BatchJournal, earlier: [[UInt8]] = [], at now: Instant) {
    guard retrieval == nil else { return }
    if let description, !description.can(.batching), description.can(.flashLog) {
      retrieval = FlashRetrieval(journal, usesItems: description.can(.valset))
    } else {
      retrieval = BatchRetrieval(journal, earlier: earlier)
    }
    for payload in unaskedBatch { retrieval?.receive(logBATCH: payload, at: now) }
    unaskedBatch = []
    if settings.intent == .readOnly || endBy != nil || isAsleep { cutRetrieval() }
    proceed(at: now)
  }

  /// Has a command said when its turn comes; the outcome is told by `SessionAction.finished`. In a read-only session,
  /// while the receiver sleeps, and once the session ends, it is silent at once.
  public mutating func submit(_ command: Command, at now: Instant) -> SessionTicket {
    tickets += 1
    let ticket = SessionTicket(number: tickets)
    if settings.intent == .readOnly || endBy != nil || isAsleep {
      actions.append(.finished(ticket, .silent))
    } else {
      submitted.append((ticket, command))
      proceed(at: now)
    }
    return ticket
  }

  /// What to do next; nil when there is nothing more for now.
  public mutating func nextAction() -> SessionAction? {
    actions.isEmpty ? nil : actions.removeFirst()
  }

  /// When `wake` is due.
  public var deadline: Instant? {
    if isEnded { return nil }
    var next = listener.deadline
    next = .earlier(next, request?.deadline)
    next = .earlier(next, endBy)
    next = .earlier(next, silenceDeadline)
    if case .asleep(let watch) = stage { next = .earlier(next, watch.deadline) }
    next = .earlier(next, trouble.backAt)
    // What was to be tried again is said once it is awake.
    if request == nil, !isAsleep { next = .earlier(.earlier(next, retryAt), rateChangeAt) }
    if isSteady, request == nil { next = .earlier(next, retrieval?.deadline) }
    if case .listening(let askAt) = stage { next = .earlier(next, askAt) }
    if case .keeping(_, let until) = stage { next = .earlier(next, until) }
    // While the rate is about to change, what was submitted waits for that.
    if request == nil, !submitted.isEmpty, canSend, rateChangeBy == nil { next = .earlier(next, quietUntil) }
    return next
  }
}
