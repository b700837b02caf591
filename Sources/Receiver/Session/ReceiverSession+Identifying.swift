import MonotonicTime

/// Who is asked who it is, and what the answer means.
extension ReceiverSession {
  /// Whether it is a u-blox receiver for sure.
  var isKnown: Bool { memory.description != nil || settings.isKnownUBlox }

  mutating func decideOnListening(at now: Instant) {
    guard isHeard, case .listening(let askAt) = stage else {
      if case .searching = stage, let retryAt, now >= retryAt, settings.intent != .readOnly, !listener.isSearching {
        if failedPolls >= Self.mostFailedPolls, settings.line == .serial {
          failedPolls = 0
          return searchAgain(at: now)
        }
        // It may be asleep: the byte that wakes a receiver is lost (interface descriptions, "wake-up by UART RX").
        actions.append(.send([0xFF]))
        self.retryAt = nil
        if isTryingRecovery { quietUntil = now + WakeUp.oscillatorStart }
        startIdentifying()
      }
      return
    }
    if settings.intent == .readOnly || isPassive && evidence.verdict != .uBlox { return }
    isPassive = false
    if let retryAt {
      guard now >= retryAt else { return }
      self.retryAt = nil
      return startIdentifying()
    }
    if memory.description != nil { return startIdentifying() }
    switch evidence.verdict {
    case .uBlox, .perhapsUBlox: startIdentifying()
    case .other:
      isPassive = true
      // It is not asked any more when it was to be.
      stage = .listening(askAt: nil)
      actions.append(.report(.notIdentified(isOtherVendor: true)))
    case .unknown:
      if settings.isKnownUBlox { return startIdentifying() }
      guard settings.intent == .identify else { return }
      if let askAt {
        if now >= askAt { startIdentifying() }
      } else {
        stage = .listening(askAt: now + Self.listeningBeforeAsking)
      }
    }
  }

  mutating func startIdentifying() {
    let isProved = evidence.verdict == .uBlox || settings.isKnownUBlox || memory.description != nil
    stage = .identifying(
      Identification(
        isProved: isProved && settings.maySwitchUBXOn, isRepeated: isUnanswered, port: port, rate: rate,
        wantsID: memory.description.map { $0.uniqueID != nil } ?? true, mayRaiseRate: mayRaiseUnknown))
  }

  /// Whether a receiver that has no room to say who it is may be given a faster line. It is not where nothing may be changed, or
  /// nothing is put back.
  private var mayRaiseUnknown: Bool {
    settings.intent == .identify && settings.restoresAtEnd && settings.maySwitchUBXOn && hasRateSearch
      && rate.map { $0 < Self.roomyRate } ?? false
  }

  mutating func finishIdentifying(_ identification: Identification, at now: Instant) {
    port = port ?? identification.port
    if let language = identification.needsRoom, let rate {
      settingsRate = rate
      stage = .changingRate(
        PortRateChange(from: rate, to: Self.roomyRate, port: nil, usesItems: language == .items))
      return
    }
    guard var description = identification.description else {
      if isTryingRecovery, !isHeard { return abandonRecovery(at: now) }
      if memory.description == nil, !isUnanswered { actions.append(.report(.notIdentified(isOtherVendor: false))) }
      isUnanswered = isHeard && memory.description == nil
      // What it says is used; it is asked again later, more and more seldom, if it is sure to be a u-blox one.
      stage = isHeard ? .listening(askAt: nil) : .searching
      if !isHeard, memory.description != nil { failedPolls += 1 }
      switch evidence.verdict {
      case .unknown where !isKnown, .other where !isKnown: isPassive = true
      case .perhapsUBlox where !isKnown:
        retryAfter = max(retryAfter, Self.firstRetryOfUnsure)
        scheduleRetry(from: now)
      default: scheduleRetry(from: now)
      }
      return
    }
    isUnanswered = false
    isTryingRecovery = false
    failedPolls = 0
    let isSame = memory.description.map { Self.isSame($0, description) } ?? true
    if isSame, description.uniqueID == nil { description.uniqueID = memory.description?.uniqueID }
    if description != memory.description {
      // Another receiver at the same place has settings of its own.
      if !isSame {
        memory.found = []
        memory.backup = BackupStore.Before()
        stored = []
        settingsRate = nil
        desired = nil
      }
      memory.description = description
      actions.append(.report(.identified(description)))
    } else if !wasLost {
      actions.append(.report(.identified(description)))
    }
    takeRecoverySettings(description)
    if desired == nil {
      desired = settings.desired(description).adapted(to: rate, isBound: settings.line == .bound)
      takeBackConstellations(description)
    }
    prepareAssisting(at: now)
    startConfiguring(at: now)
  }

  /// Whether two answers are one receiver's. Its id has an answer of its own, which may be lost: what was changed is not forgotten
  /// for that.
  private static func isSame(_ known: ReceiverDescription, _ sent: ReceiverDescription) -> Bool {
    guard let id = known.uniqueID, let toldID = sent.uniqueID else {
      return known.uniqueID == sent.uniqueID ? known.hardware == sent.hardware : known.strings == sent.strings
    }
    return id == toldID && known.hardware == sent.hardware
  }

  /// What an earlier program has changed is put back at this one's end, of the same receiver.
  private mutating func takeRecoverySettings(_ description: ReceiverDescription) {
    guard let recovery = settings.recoverySettings, !hasTakenRecovery else { return }
    hasTakenRecovery = true
    guard recovery.receiver == CrashRecoverySettings.name(description), memory.found.isEmpty, memory.backup.isEmpty
    else { return }
    memory.found = recovery.found.map { Configuration.Found(setting: $0) }
    memory.backup = recovery.backup
  }
}
