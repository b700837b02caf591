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

  var epochPeriod: Milliseconds { Milliseconds(UInt64(desired?.wantedMeasurementPeriod ?? 1000)) }

  private var silenceLimit: Milliseconds {
    // In on/off operation nothing is sent between two fixes, and a fix takes its time.
    if case .onOff(let seconds)? = desired?.powerSave { return Milliseconds(UInt64(seconds) * 2000 + 120_000) }
    return max(Self.silence, epochPeriod * 3)
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
    if case .identifyingFamily = stage, !line.hasEpochs { return nil }
    guard isReceiving, !end.isRequested, !expectsSilence, !listener.isSearching else { return nil }
    let sends = line.hasEpochs || desired?.messages.contains { $0.rate > 0 } ?? (description == nil)
    return sends ? max(listener.lastByte, health.silenceEnded) + silenceLimit + configuringTime : nil
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
      return listener.search(from: rate, likely: likely, polling: .soon, at: now)
    }
    loseTouch(on: .silence)
    if memory.description != nil { scheduleRetry(from: now) }
  }

  /// Whether the received bytes are garbage: much of it, or a little for long, as a burst at a rate far too low is a few
  /// bytes. A long frame does not count as garbage.
  func isGarbage(at now: Instant) -> Bool {
    guard !end.isRequested, !listener.isSearching, now >= health.lastFrame + Self.garbageTime else { return false }
    // Such a receiver sends lines and frames that the stream does not know, in reply and of its own.
    if description?.family != nil, !line.hasEpochs { return false }
    let skipped = Int(listener.counters.skippedBytes - listener.skippedAtLastFrame)
    return skipped >= Self.garbageBytes || skipped >= 8 && now >= health.lastFrame + silenceLimit
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
    listener.search(from: rate, likely: likely, polling: polls ? .soon : .never, at: now)
  }
}
