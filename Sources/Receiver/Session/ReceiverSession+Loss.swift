// SPDX-License-Identifier: Apache-2.0

import MonotonicTime
import ReceiverStream
import UBX

/// How silence and garbage are noticed, and what follows.
extension ReceiverSession {
  /// Bytes outside of frames, and the time without a frame, that show another rate.
  static var garbageBytes: Int { 60 }
  private static var garbageTime: Milliseconds { Milliseconds(1500) }
  /// The shortest silence that counts.
  private static var silence: Milliseconds { Milliseconds(3000) }
  /// The assumed epoch period of a receiver that has not sent enough to show it: at 0.1 Hz its next epoch comes before the silence
  /// limit.
  private static var unknownPeriod: Milliseconds { Milliseconds(4000) }

  /// The time between two epochs: the longer one of the desired and the observed time.
  var epochPeriod: Milliseconds { epochPeriod(unknown: Self.unknownPeriod) }

  func epochPeriod(unknown: Milliseconds) -> Milliseconds {
    let wanted = desired?.wantedMeasurementPeriod.map { Milliseconds(UInt64($0)) }
    return max(wanted ?? Milliseconds(0), health.spacing.period(unknown: wanted ?? unknown))
  }

  private var silenceLimit: Milliseconds { silenceLimit(unknown: Self.unknownPeriod) }

  private func silenceLimit(unknown: Milliseconds) -> Milliseconds {
    // In on/off operation nothing is sent between two fixes, and a fix takes its time.
    if case .onOff(let seconds)? = desired?.powerSave { return Milliseconds(UInt64(seconds) * 2000 + 120_000) }
    return max(Self.silence, epochPeriod(unknown: unknown) * 3)
  }

  /// Whether silence is normal.
  var expectsSilence: Bool {
    switch stage {
    case .asleep, .waking: true
    default: isFallingAsleep || desired?.isSilent ?? false
    }
  }

  /// When silence is a fault; nil where the receiver may send nothing by itself.
  var silenceDeadline: Instant? {
    // A change of the rate polls a silent receiver at both rates, and ends by itself; interrupted, it would leave one of them.
    if case .changingRate = stage { return nil }
    // The identification of a receiver that sends only replies ends by itself too.
    if case .identifyingFamily = stage, !line.hasEpochs || !identity.hasOutput { return nil }
    if identity.doubtsKnown, !line.hasEpochs { return nil }
    guard isReceiving, !end.isRequested, !expectsSilence, !listener.isSearching else { return nil }
    let sends = line.hasEpochs || desired?.messages.contains { $0.rate > 0 } ?? (description == nil)
    guard sends else { return nil }
    let since = max(listener.lastByte, health.silenceEnded)
    // An observation ends by itself, and can show that nothing is sent any more.
    if stage.name == .configuring, let request = requests.inFlight, request.isObservation {
      return max(since, request.deadline) + silenceLimit
    }
    return since + silenceLimit + configuringTime
  }

  /// The time of the request in flight while the receiver is configured: between two protocols it sends nothing by itself, and
  /// nothing with its output off.
  private var configuringTime: Milliseconds {
    guard stage.name == .configuring, let request = requests.inFlight else { return Milliseconds(0) }
    return request.longestWait(backlog: line.backlog, bitRate: rate)
  }

  /// A silent receiver is waited for at its rate, where it was received last. Another rate would show as garbage.
  ///
  /// A receiver that is silent before it was identified is searched as at the start: commands that a killed program had sent, or
  /// left in the line's buffer, may have changed its rate and switched its output off.
  mutating func noticeSilence(at now: Instant) {
    let isUnidentified = memory.description == nil && !memory.isUnanswering && identity.evidence.verdict != .other
    reportFault(.silent, .silent)
    if isUnidentified, settings.intent != .readOnly, settings.line == .serial, let rate {
      loseTouch(on: .silence)
      retry.cancel()
      let likely = [settings.recovery?.rate, settings.recovery?.foundRate].compactMap(\.self) + settings.likelyRates
      return listener.search(
        from: rate, likely: likely, polling: .soon, pollsOthers: pollsOthers, replyTime: replyTime, at: now)
    }
    loseTouch(on: .silence)
    if memory.description != nil { scheduleRetry(from: now) }
  }

  /// Whether the received bytes are garbage: much of it, or a little for long, as a burst at a rate far too low is a few
  /// bytes. A long frame does not count as garbage.
  func isGarbage(at now: Instant) -> Bool {
    guard !end.isRequested || stage.name == .waking, !listener.isSearching,
      now >= health.lastFrame + Self.garbageTime
    else { return false }
    // Such a receiver sends lines and frames that the stream does not know, in reply and of its own; when it wakes,
    // it sends text.
    if description?.family != nil, !line.hasEpochs, stage.name != .waking { return false }
    let skipped = Int(listener.counters.skippedBytes - listener.skippedAtLastFrame)
    return skipped >= Self.garbageBytes
      || skipped >= 8 && now >= health.lastFrame + silenceLimit(unknown: Milliseconds(1000))
      || listener.bytesSinceFrame >= UBXFrame.longestPayload
  }

  mutating func noticeGarbage(at now: Instant) {
    if line.isRecovered { return abandonRecovery(on: .garbage, at: now) }
    guard isReceiving || health.fault != nil else { return }
    if health.fault != .silent { reportFault(.notUnderstood, .notUnderstood) }
    searchAgain(on: .garbage, at: now)
  }

  /// Reports a fault once, until frames were received for a while.
  private mutating func reportFault(_ fault: LineHealth.Fault, _ what: SessionReport) {
    if health.begin(fault) { report(what) }
  }

  mutating func reportRecovery(at now: Instant) { if health.endFault(at: now) { report(.back) } }

  /// Ends the work of the stage.
  mutating func loseTouch(on cause: StageTransition.Cause) {
    keepFoundOfStage()
    interruptRequest()
    line.cancelRaise()
    watch = nil
    familyWatch = nil
    cutBatch()
    health.lose()
    orbits.restart()
    // A receiver of another maker that did not reply is probed again once it sends; a silent one gets no poll of u-blox.
    let isOther = memory.description == nil && settings.recovery?.family == nil && identity.evidence.verdict == .other
    if isOther { retry.cancel() }
    identity.reset()
    if memory.isUnanswering { identity.keepUnanswered() }
    enter(.searching, on: cause)
  }

  /// Whether the search polls receivers of other makers, after the known one.
  var pollsOthers: Bool { !settings.isKnownUBlox }
  /// The time for the known receiver's reply to a poll of the search.
  var replyTime: Milliseconds {
    knownFamily == nil ? BaudRateSearch.replyTime : BaudRateSearch.otherReplyTime
  }

  /// Searches the rate. A line without a rate is polled from time to time.
  mutating func searchAgain(on cause: StageTransition.Cause, at now: Instant) {
    loseTouch(on: cause)
    guard settings.line == .serial, let rate else {
      if memory.description != nil { scheduleRetry(from: now) }
      return
    }
    retry.cancel()
    let likely = [memory.foundRate, memory.rate].compactMap(\.self) + settings.likelyRates
    let polls = settings.intent != .readOnly && isKnown
    listener.search(
      from: rate, likely: likely, polling: polls ? .soon : .never, pollsOthers: polls && pollsOthers,
      replyTime: replyTime, at: now)
  }
}

/// Whether frames are received, and which fault of the line was reported: once, not for each byte or second of it.
///
///     none ─ receive ─▶ receiving ─ lose ─▶ lost ─ receive ─▶ regained ─ settle ─▶ receiving
struct LineHealth {
  enum Fault { case silent, notUnderstood }

  private enum Contact {
    case none, receiving
    /// It was lost; the receiver may have been reset meanwhile.
    case lost
    /// It is back; the configuration is not checked yet.
    case regained
  }

  private enum Report {
    case none
    case reported(Fault)
    case recovering(Fault, until: Instant)
  }

  /// The time for which frames have to be received before a fault is over: a noisy line comes and goes.
  private static let recovery = Milliseconds(3000)

  private var contact = Contact.none
  private var report = Report.none
  private var startsCountFrom = Instant.zero
  private var hadBootText = false
  private var warning: String?
  private(set) var lastFrame: Instant
  private(set) var spacing = BurstSpacing()
  /// When the receiver was last told to send again: the silence before that was desired.
  private(set) var silenceEnded = Instant.zero
  /// Polls in a row that a known and silent receiver did not reply to.
  private(set) var failedPolls = 0

  init(at now: Instant) { lastFrame = now }

  var isReceiving: Bool { contact == .receiving || contact == .regained }
  var wasLost: Bool { contact == .lost || contact == .regained }

  var fault: Fault? {
    switch report {
    case .none: nil
    case .reported(let fault), .recovering(let fault, _): fault
    }
  }

  /// When the fault is over, if frames are received until then.
  var recoveredAt: Instant? { if case .recovering(_, let until) = report { until } else { nil } }

  /// A frame was received.
  mutating func receive(at now: Instant) {
    lastFrame = now
    switch contact {
    case .none: contact = .receiving
    case .lost: contact = .regained
    case .receiving, .regained: break
    }
  }

  /// A periodic message was received.
  mutating func receivePeriodic(at now: Instant) { spacing.receive(at: now, since: silenceEnded) }

  /// The frames came after a time without any: a reported fault ends soon.
  mutating func recover(at now: Instant) {
    if let fault { report = .recovering(fault, until: now + Self.recovery) }
  }

  mutating func endSilence(at now: Instant) { silenceEnded = now }

  /// The line is read again after a time without: garbage and silence count from now on.
  mutating func resume(at now: Instant) { (silenceEnded, lastFrame) = (now, now) }

  mutating func lose() {
    contact = .lost
    interruptRecovery()
  }

  /// Frames that follow come from an awake receiver.
  mutating func stopReceiving() { contact = wasLost ? .lost : .none }

  /// The receiver has its configuration, whatever happened before.
  mutating func settle() { contact = isReceiving ? .receiving : .none }

  /// Returns whether no fault was reported before.
  mutating func begin(_ fault: Fault) -> Bool {
    defer { report = .reported(fault) }
    return self.fault == nil
  }

  mutating func interruptRecovery() { if let fault { report = .reported(fault) } }

  /// Returns whether the fault is over by now; true once.
  mutating func endFault(at now: Instant) -> Bool {
    guard let recoveredAt, now >= recoveredAt else { return false }
    report = .none
    return true
  }

  mutating func countFailedPoll() { failedPolls += 1 }
  mutating func clearFailedPolls() { failedPolls = 0 }

  /// Notes a warning of the receiver. Returns whether it is another one than the last.
  mutating func note(warning: String) -> Bool {
    defer { self.warning = warning }
    return self.warning != warning
  }

  /// Texts of a start can be replies until then.
  mutating func ignoreStarts(until instant: Instant) { startsCountFrom = instant }

  /// - Parameter bootText: whether these frames contain boot text.
  /// - Returns: whether it begins with them.
  mutating func detectStart(_ bootText: Bool, at now: Instant) -> Bool {
    defer { hadBootText = bootText }
    return bootText && !hadBootText && now >= startsCountFrom
  }
}
