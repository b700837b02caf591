// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// When the identity is polled, and what follows from the reply.
extension ReceiverSession {
  /// The time for another make to show its own sentences before the poll.
  private static var listeningTime: Milliseconds { Milliseconds(300) }
  /// The time in which the other replies to a repeated probe arrive.
  private static var laterReplies: Milliseconds { Milliseconds(1500) }
  /// After this many polls without a reply all rates are searched: a watchdog may have set another one, at which the
  /// receiver sends nothing by itself.
  private static var mostFailedPolls: Int { 3 }
  /// The longest burst that is still on its way when the polls begin.
  private static var longestBurst: Milliseconds { Milliseconds(2000) }
  /// The rate for a line that is too full for the reply: all families and most boards have it.
  private static var roomyRate: UInt32 { 115_200 }

  /// The receiver that was identified at the line; nil if it may be another one by now.
  var expected: ReceiverDescription? { identity.doubtsKnown ? nil : memory.description }

  /// The family of that receiver or of the one of the crash-recovery record; nil for u-blox.
  var knownFamily: ReceiverFamily? {
    identity.doubtsKnown ? nil : memory.description?.family ?? settings.recovery?.family
  }

  /// Whether only the known receiver is polled.
  var isKnown: Bool { expected != nil || settings.isKnownUBlox }

  /// Whether the frames prove that another receiver than the one that was identified is at the line.
  var isOtherProved: Bool {
    guard let known = memory.description, identity.doubtsKnown || identity.isUnanswered else { return false }
    if identity.evidence.verdict == .uBlox { return known.family != nil }
    return identity.evidence.family != nil && identity.evidence.family != known.family
  }

  mutating func pollSilentReceiver(at now: Instant) {
    guard retry.isDue(at: now), settings.intent != .readOnly, !listener.isSearching else { return }
    if health.failedPolls >= Self.mostFailedPolls, settings.line == .serial {
      health.clearFailedPolls()
      return searchAgain(on: .silence, at: now)
    }
    // The first byte to a sleeping receiver wakes it and is lost (interface descriptions, "wake-up by UART RX").
    actions.append(.send(knownLanguage?.wakingBytes ?? [0xFF]))
    retry.cancel()
    if line.isRecovered || knownLanguage != nil { requests.wait(until: now + WakeUp.oscillatorStart) }
    startIdentifying(at: now)
  }

  mutating func decideOnPolling(_ pollAt: Instant?, at now: Instant) {
    guard settings.intent != .readOnly else { return }
    // An attempt that may not be made does not stay due.
    guard knownLanguage != nil || identity.resume() else { return retry.cancel() }
    if retry.at != nil {
      guard retry.isDue(at: now) else { return }
      retry.cancel()
      // Its sentences prove another maker: it gets no poll of u-blox.
      let isOther = identity.evidence.family?.language != nil || identity.evidence.hasPQTM
      if expected == nil, isOther { return startIdentifyingFamilies(at: now) }
      return startIdentifying(at: now)
    }
    if expected != nil || knownLanguage != nil { return startIdentifying(at: now) }
    switch identity.evidence.verdict {
    case .uBlox: startIdentifying(at: now)
    case .unknown where isKnown, .perhapsUBlox where isKnown: startIdentifying(at: now)
    case .other where mayProbeFamilies && (identity.evidence.family?.language != nil || hasLikelyFamilies):
      startIdentifyingFamilies(at: now)
    case .other:
      identity.stop()
      update(.listening(pollAt: nil))
      report(.notIdentified(isOtherVendor: true))
    case .perhapsUBlox: if hasLikelyFamilies { startIdentifyingFamilies(at: now) } else { startIdentifying(at: now) }
    case .unknown:
      let time = settings.intent == .identify ? Self.listeningTime : Self.showingTime
      guard let pollAt else { return update(.listening(pollAt: now + time)) }
      if now < pollAt { return }
      if hasLikelyFamilies { startIdentifyingFamilies(at: now) } else { startIdentifying(at: now) }
    }
  }

  /// The language of the known receiver of another maker; nil for others.
  var knownLanguage: (any FamilyLanguage)? { knownFamily?.language }

  mutating func startIdentifying(at now: Instant) {
    if knownLanguage != nil { return startIdentifyingFamilies(at: now) }
    let isProved = identity.evidence.verdict == .uBlox || isKnown
    identity.polledAt = now
    identity.wasPolledUnknown = identity.evidence.verdict == .unknown
    enter(
      .identifying(
        Identification(
          isProved: isProved && settings.maySwitchUBXOn, switchedPort: identity.switchedPort,
          isRepeated: identity.isUnanswered, port: port, rate: rate,
          wantsID: expected.map { $0.uniqueID != nil } ?? true, mayRaiseRate: mayRaiseUnknown)),
      on: .poll)
  }

  /// A reply to a poll that was given up, or to another program's.
  mutating func identify(by monVER: [UInt8]) {
    retry.cancel()
    enter(
      .identifying(
        Identification(lateAnswer: monVER, switchedPort: identity.switchedPort, port: port, rate: rate)), on: .poll)
  }

  /// Whether it can be a u-blox receiver whose UBX output is off: its frames are received, and no UBX message among them.
  var mayHaveNoUBXOutput: Bool {
    guard isReceiving, listener.counters.ubxFrames == 0 else { return false }
    return switch identity.evidence.verdict {
    case .uBlox, .perhapsUBlox: true
    case .unknown, .other: isKnown
    }
  }

  /// Whether the rate may be raised before the receiver is identified: only where that can be restored.
  private var mayRaiseUnknown: Bool {
    settings.intent == .identify && settings.restoresAtEnd && settings.maySwitchUBXOn && hasRateSearch
      && rate.map { $0 < Self.roomyRate } ?? false
  }

  /// Measures the load of the line. Returns whether more polls are needed for a reply to find room. A serving session uses the received frames meanwhile, and
  /// polls again later.
  mutating func measureFullLine(at now: Instant) -> Bool {
    line.measureLoad(at: now)
    return settings.intent == .identify && line.load.isFull(at: rate)
  }

  /// Whether the polls of an unknown receiver had no reply, and it has sent nothing since: its next frame shows that it does not reply.
  /// Without one it may have another rate by now.
  func waitsForFrame(after identification: Identification, at now: Instant) -> Bool {
    guard identification.description == nil, identification.needsRoom == nil, expected == nil,
      !identity.isUnanswered, requests.isEmpty, let silenceDeadline
    else { return false }
    return now < silenceDeadline && health.lastFrame < identity.polledAt + Self.longestBurst
  }

  mutating func finishIdentifying(_ identification: Identification, at now: Instant) {
    port = port ?? identification.port
    identity.switchedPort = identification.switchedPort
    if let language = identification.needsRoom, let rate {
      let recovered = settings.recovery.flatMap { $0.rate == rate ? $0.foundRate : nil }
      memory.foundRate = memory.foundRate ?? recovered ?? rate
      let change = PortRateChange(from: rate, to: Self.roomyRate, port: nil, usesItems: language == .items)
      return enter(.changingRate(change), on: .noRoom)
    }
    guard let found = identification.description else {
      noteNoReply()
      guard mayProbeFamilies, identity.evidence.verdict != .uBlox else { return finishUnidentified(at: now) }
      // The probes of other makers do not delay the next poll of what looks like a u-blox receiver.
      if memory.description == nil, identity.evidence.verdict == .perhapsUBlox {
        scheduleRetry(from: now, isUnsure: true)
      }
      return startIdentifyingFamilies(at: now)
    }
    if found.generation == nil, mayProbeFamilies {
      identity.doubtful = identification
      return startIdentifyingFamilies(at: now)
    }
    finishIdentifying(as: found, foundSilent: identification.foundSilent, at: now)
  }

  mutating func finishIdentifying(
    as found: ReceiverDescription, foundSilent: Setting? = nil, at now: Instant
  ) {
    identity.finish(isUnanswered: false)
    identity.trustKnown()
    identity.hasNoReply = false
    retry.cancel()
    // A reply at the rate that was found: the receiver was not raised.
    if line.inherited != nil { (memory.rate, memory.foundRate) = (rate, nil) }
    line.confirm()
    health.clearFailedPolls()
    if found.family != nil, !identity.hasOutput {
      // It sends nothing now, whatever it sent before it was lost: another program may have switched its sentences off.
      line.forgetEpochs()
      observed.restart()
    }
    if found.family?.language?.repliesWithStartText == true {
      // A probe that was repeated has more replies.
      let isLineFull = line.load.isFull(at: rate)
      health.ignoreStarts(until: now + (isLineFull ? FamilyIdentification.fullLineTimeout : Self.laterReplies))
    }
    take(found)
    takeRecoverySettings()
    if let foundSilent { memory.keep([foundSilent]) }
    if desired == nil {
      configuration.set(settings.desired(memory.description!).adapted(to: rate, isBound: settings.line == .bound))
      takeRecoveredConstellations()
    }
    settings.recovery = nil
    if found.family == nil { assistance.prepare(settings.assistance, for: description, at: now) }
    startConfiguring(on: .identified, at: now)
  }

  /// The frames of an unidentified receiver are used; it is polled again, more and more rarely, if it can be a u-blox one.
  mutating func finishUnidentified(at now: Instant) {
    if line.isRecovered, !isReceiving { return abandonRecovery(on: .noReply, at: now) }
    // Slow epochs showed only during the polls that UBX output may have to be switched on.
    if isReceiving, expected == nil, identity.wasPolledUnknown, identity.evidence.verdict == .perhapsUBlox {
      return startIdentifying(at: now)
    }
    if mayDoubtKnown { return doubtKnown(at: now) }
    if expected == nil, !hasKnownForm, !identity.isUnanswered {
      report(.notIdentified(isOtherVendor: identity.evidence.verdict == .other))
    }
    identity.finish(isUnanswered: isReceiving && expected == nil)
    identity.trustKnown()
    enter(isReceiving ? .listening(pollAt: nil) : .searching, on: .noReply)
    if !isReceiving, memory.description != nil { health.countFailedPoll() }
    switch identity.evidence.verdict {
    // The known receiver may reply later.
    case _ where knownFamily != nil && (isReceiving || !hasRateSearch): scheduleRetry(from: now)
    case .other where !isKnown && identity.evidence.family?.language != nil && isReceiving:
      // It is of this family, and its replies were lost.
      identity.hasProbedFamilies = false
      scheduleRetry(from: now, isUnsure: true)
    case .other where !isKnown && identity.evidence.hasPQTM && isReceiving:
      // It has replied to the probe of two families, late or with a refusal.
      identity.probedLikely = nil
      scheduleRetry(from: now, isUnsure: true)
    case .unknown where !isKnown, .other where !isKnown:
      identity.stop()
      memory.isUnanswering = isReceiving
    case .perhapsUBlox where !isKnown: if retry.at == nil { scheduleRetry(from: now, isUnsure: true) }
    default: scheduleRetry(from: now)
    }
  }

  /// Whether the receiver is identified as if it were unknown after a round of polls without a reply. If the rate of the line is searched,
  /// the search does so.
  private var mayDoubtKnown: Bool {
    guard expected != nil || knownFamily != nil, !settings.isKnownUBlox, isReceiving || !hasRateSearch else {
      return false
    }
    return identity.evidence.family == nil || identity.evidence.family != knownFamily
  }

  private mutating func doubtKnown(at now: Instant) {
    identity.doubtKnown()
    enter(isReceiving ? .listening(pollAt: nil) : .searching, on: .noReply)
    if !isReceiving { scheduleRetry(from: now) }
  }

  /// The search polls other receivers than the known one.
  mutating func doubtKnownInSearch() {
    guard expected != nil || knownFamily != nil else { return }
    identity.doubtKnown()
    line.forgetEpochs()
  }

  /// Whether the frames have the form of the identified receiver's frames, or prove its family.
  private var hasKnownForm: Bool {
    let evidence = identity.evidence
    guard let known = memory.description else {
      return evidence.family != nil && evidence.family == settings.recovery?.family
    }
    guard let family = known.family else { return evidence.verdict == .uBlox || evidence.verdict == .perhapsUBlox }
    return evidence.family == family || evidence.likely.contains(family)
  }

  private mutating func take(_ found: ReceiverDescription) {
    var found = withoutOwnLog(found)
    let isSame = memory.description.map { Self.isSame($0, found) } ?? true
    if isSame, let known = memory.description { found = found.completed(by: known) }
    let isNew = found != memory.description
    if !isSame {
      // Another receiver has settings and an output of its own.
      memory.clearSettings()
      (observed, arriving) = (ObservedOutput(), [])
      sleepPlan.clearStored()
      logger = LoggerUse()
      configuration.set(nil)
    }
    memory.description = found
    memory.isUnanswering = false
    if isNew || !health.wasLost { report(.identified(found)) }
  }

  /// Whether two descriptions are of one receiver. The chip's id has a reply of its own, which can be lost: that does not
  /// discard what was changed.
  private static func isSame(_ known: ReceiverDescription, _ found: ReceiverDescription) -> Bool {
    guard known.family == found.family else { return false }
    guard let id = known.uniqueID, let foundID = found.uniqueID else {
      return known.uniqueID == found.uniqueID ? known.hardware == found.hardware : known.strings == found.strings
    }
    return id == foundID && known.hardware == found.hardware
  }
}
