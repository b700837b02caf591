import MonotonicTime
import ReceiverStream
import UBX

/// The end: what was changed is put back.
extension ReceiverSession {
  /// The session is to end in order: what was changed is put back. It is over when `isEnded`.
  public mutating func finish(at now: Instant) {
    guard endBy == nil else { return }
    endBy = now + Self.longestEnding
    giveUpSubmitted()
    endAssisting()
    cutRetrieval()
    switch stage {
    // A rate that is being changed is known again once that is through.
    case .changingRate: endBy = now + Self.longestGivingBack
    // One that sleeps hears nothing: it is woken until it answers, as at any other time.
    case .asleep where putsBack:
      stage = .waking(WakeUp(.asked))
      endBy = now + Self.longestGivingBack
    case .waking where putsBack: endBy = now + Self.longestGivingBack
    case .configuring, .storing: request?.stopRepeating()
    default: if isToRestore { request?.stopRepeating() } else { interruptRequest() }
    }
    proceed(at: now)
  }

  /// Whether the end was asked for and waits for what is under way: the answer to what was said last would be taken for that
  /// to what is said next.
  var isToEnd: Bool {
    guard endBy != nil else { return false }
    return switch stage {
    case .changingRate, .keeping, .restoring, .restoringRate, .restoringBackup, .ended: false
    case .waking: !putsBack
    default: true
    }
  }

  /// Nothing is under way any more: what was changed is put back.
  mutating func startEnding(at now: Instant) {
    keepFoundOfStage()
    if let description, readsDatabase {
      let until = now + Self.longestKeeping
      endBy = until + Self.longestEnding
      stage = .keeping(DatabaseReading(of: description), until: until)
    } else {
      startRestoring(at: now)
    }
  }

  /// It is over, whatever was under way.
  mutating func cutEnding() {
    interruptRequest()
    end()
  }

  /// The time for putting back is over.
  mutating func runOutOfTime() {
    if putsBack { hasUnrestoredChanges = true }
    cutEnding()
  }

  /// It is over; what could not be put back is told.
  mutating func end() {
    stage = .ended
    if hasUnrestoredChanges { actions.append(.report(.notPutBack)) }
    hasUnrestoredChanges = false
  }

  var readsDatabase: Bool {
    guard isHeard, settings.intent != .readOnly, settings.assistance?.readsDatabaseAtEnd == true else { return false }
    return rate.map { $0 >= Self.leastKeepingRate } ?? true
  }

  /// - Parameter isAwake: whether it has just answered.
  mutating func startRestoring(at now: Instant, isAwake: Bool = false) {
    var begin = now
    let sleeps = !isAwake && desired?.powerSave?.sleepsBetweenFixes == true
    guard isHeard || sleeps, putsBack else {
      // Of a receiver that is silent nobody knows whether it has kept what it was told.
      if putsBack { hasUnrestoredChanges = true }
      return end()
    }
    if sleeps {
      // It wakes for each fix, and now: the byte is lost, and what follows has to wait until the receiver reads.
      actions.append(.send([0xFF]))
      begin = now + WakeUp.oscillatorStart
      quietUntil = begin
    }
    endBy = begin + Self.longestEnding
    restoringBy = begin + Self.longestGivingBack
    stage = .restoring(Configuration(memory.found.reversed().map(\.setting), port: port, writesAtOnce: true))
  }

  /// The line is gone: what was collected is reported, commands are silent.
  public mutating func lost(_ body: (borrowing EpochAssembler.Report, borrowing Sky) -> Void) {
    listener.finish(body)
    keepFoundOfStage()
    giveUpSubmitted()
    cutRetrieval()
    cutEnding()
  }

  /// What waits for its turn is not said any more.
  private mutating func giveUpSubmitted() {
    for (ticket, _) in submitted { actions.append(.finished(ticket, .silent)) }
    submitted = []
  }

  /// What was found before it was written is kept, for the end.
  mutating func keepFound(_ configuration: Configuration) {
    for found in configuration.found where !memory.found.contains(where: { $0.setting.isOfSame(found.setting) }) {
      memory.found.append(found)
    }
  }

  /// The same where it is cut off: by the end, or by the loss of the line. A rate that was being raised may be the
  /// receiver's by now: found there, it has to be given back.
  mutating func keepFoundOfStage() {
    switch stage {
    case .configuring(let configuration): keepFound(configuration)
    case .storing(let store): memory.backup = store.before
    case .changingRate(let change): memory.rate = change.to
    default: break
    }
  }

  /// Whether something is not as it was found, and is to be.
  public var putsBack: Bool { isToRestore && settings.restoresAtEnd && settings.intent != .readOnly }

  /// Whether something is not as it was found.
  var isToRestore: Bool { !memory.found.isEmpty || settingsRate != nil || !memory.backup.isEmpty }

  /// What was in force when the receiver was found, as far as it was changed.
  var foundInForce: [Setting] {
    var list = memory.found.map(\.setting)
    if let settingsRate, let key = (port ?? .uart1).rateKey {
      list.append(.item(ConfigurationPair(id: key, bits: UInt64(settingsRate))))
    }
    return list
  }

  mutating func finishRestoring(_ configuration: Configuration, at now: Instant) {
    if configuration.results.contains(where: { $0 != .wasThere && $0 != .written }) { hasUnrestoredChanges = true }
    guard let settingsRate, let rate, settingsRate != rate else {
      stage = .restoringBackup(BackupStore(undoing: memory.backup, inForce: foundInForce))
      return
    }
    endBy = now + Self.longestGivingBack
    stage = .restoringRate(
      PortRateChange(
        from: rate, to: settingsRate, port: port, usesItems: description?.can(.valset) ?? false, isGivenBack: true))
  }
}
