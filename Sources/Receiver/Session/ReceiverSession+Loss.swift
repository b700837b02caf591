import MonotonicTime
import ReceiverStream
import UBX

/// How silence and garbage are noticed, and what becomes of what was going on.
extension ReceiverSession {
  var silenceLimit: Milliseconds {
    // In on/off operation nothing comes between two fixes, and a fix may take its time.
    if case .onOff(let seconds)? = desired?.powerSave { return Milliseconds(UInt64(seconds) * 2000 + 120_000) }
    return max(Self.silence, epochPeriod * 3)
  }

  var epochPeriod: Milliseconds { Milliseconds(UInt64(desired?.wantedMeasurementPeriod ?? 1000)) }

  /// Whether that nothing comes is as it should be.
  var expectsSilence: Bool {
    switch stage {
    case .asleep, .waking: true
    default: desired?.isSilent ?? false
    }
  }

  /// When silence becomes news; nil where none is expected to speak by itself: its output may be off.
  var silenceDeadline: Instant? {
    guard isHeard, endBy == nil, !expectsSilence, !listener.isSearching else { return nil }
    let speaks = hasHadEpoch || desired?.messages.contains { $0.rate > 0 } ?? (description == nil)
    return speaks ? listener.lastByte + silenceLimit : nil
  }

  /// A silent receiver is waited for at its rate: it speaks again where it spoke. If it has another rate then, that shows
  /// as garbage.
  mutating func noticeSilence(at now: Instant) {
    guard let due = silenceDeadline, now >= due else { return }
    tell(.silent, .silent)
    loseTouch()
    if memory.description != nil { scheduleRetry(from: now) }
  }

  mutating func noticeGarbage(at now: Instant) {
    guard endBy == nil, !listener.isSearching, now >= lastFrame + Self.garbageTime else { return }
    if case .changingRate = stage { return }
    // Much garbage, or a little for long: at a rate far too low a burst is a few bytes. A long frame is no garbage.
    let isMuch = skippedSince >= Self.garbageBytes
    let isLong = skippedSince >= 8 && now >= lastFrame + silenceLimit
    guard isMuch || isLong || listener.bytesSinceFrame >= UBXFrame.longestPayload else { return }
    switch stage {
    case .asleep, .waking:
      // The rest of what it said when it fell asleep is none.
      guard listener.counters.skippedBytes >= skippedAsleep + UInt64(Self.garbageBytes) else { return }
    default: break
    }
    switch stage {
    case .asleep(var watch):
      // It speaks at the rate of its start: it is awake, or was never asleep.
      guard case .isAwake(let cause) = watch.hear(at: now) else { return }
      actions.append(.report(.awake(cause)))
      return searchAgain(at: now)
    case .waking: return searchAgain(at: now)
    default: break
    }
    guard isHeard || trouble.kind != nil || isTryingRecovery else { return }
    if isTryingRecovery { return abandonRecovery(at: now) }
    if trouble.kind != .silent { tell(.notUnderstood, .notUnderstood) }
    searchAgain(at: now)
  }

  /// Bytes that were skipped since the last frame, as far as the stream has given them up.
  var skippedSince: Int { Int(listener.counters.skippedBytes - skippedAtLastFrame) }
  var skippedAtLastFrame: UInt64 { listener.skippedAtLastFrame }

  /// What was going on is over.
  mutating func loseTouch() {
    keepFoundOfStage()
    interruptRequest()
    rateChangeBy = nil
    watch = nil
    cutRetrieval()
    wasLost = true
    isHeard = false
    isUnanswered = false
    trouble.interrupt()
    stage = .searching
    evidence = VendorEvidence()
  }

  /// Nothing is understood any more: the rate is looked for; where there is none, the receiver is asked at times.
  mutating func searchAgain(at now: Instant) {
    loseTouch()
    guard settings.line == .serial, let rate else {
      if memory.description != nil { scheduleRetry(from: now) }
      return
    }
    retryAt = nil
    let asking: BaudRateSearch.Asking =
      settings.intent == .readOnly || !isKnown ? .never : .soon
    var likely: [UInt32] = []
    if let settingsRate { likely.append(settingsRate) }
    if let known = memory.rate { likely.append(known) }
    listener.search(from: rate, likely: likely + settings.likelyRates, asking: asking, at: now)
  }

  /// It is not where an earlier program has left it.
  mutating func abandonRecovery(at now: Instant) {
    isTryingRecovery = false
    settingsRate = nil
    loseTouch()
    wasLost = false
    guard let rate else { return }
    // Something else may be on this line by now: it is not asked before it was listened to.
    listener.search(
      from: rate, likely: settings.likelyRates, asking: isKnown ? .soon : .afterListening, at: now)
  }

  mutating func interruptRequest() {
    request = nil
    isAssistingInFlight = false
    isRetrievalInFlight = false
    if let current { actions.append(.finished(current, .silent)) }
    current = nil
  }

  mutating func scheduleRetry(from now: Instant) {
    // Who sends nothing has nothing to try again, and would be woken for it without end.
    guard settings.intent != .readOnly else { return }
    retryAt = now + retryAfter
    retryAfter = min(retryAfter * 2, Self.longestRetry)
  }
}
