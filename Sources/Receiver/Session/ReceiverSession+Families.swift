// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// Receivers of other makers: how they are identified, configured and restored.
extension ReceiverSession {
  /// The time in which an unknown receiver of a serving session shows its family by itself.
  static var showingTime: Milliseconds { Milliseconds(3000) }

  /// The family of an identified receiver, or the one that its sentences prove.
  public var family: ReceiverFamily? {
    memory.description?.family ?? (memory.description == nil ? identity.evidence.family : nil)
  }

  /// Whether the sentences of the receiver are observed: until it is steady.
  var observesOutput: Bool {
    switch stage {
    case .searching, .listening, .identifying, .identifyingFamily, .working: true
    default: false
    }
  }

  // MARK: Identification

  /// Whether an unknown receiver may be probed.
  var mayProbeFamilies: Bool {
    guard settings.intent != .readOnly, !isKnown, !identity.hasProbedFamilies else { return false }
    return isReceiving || !hasRateSearch
  }

  /// Whether a family whose form the sentences have is to be probed before all others.
  var hasLikelyFamilies: Bool {
    mayProbeFamilies && !identity.hasProbedLikely && !identity.evidence.likely.isEmpty
  }

  /// Whether sentences have proved another maker's family of an unknown receiver.
  var isProvedMeanwhile: Bool {
    settings.intent != .readOnly && !isKnown && knownFamily == nil && !end.isRequested
      && identity.evidence.verdict == .other && identity.evidence.family?.language != nil
  }

  /// Starts the probes of families: of one, if its sentences prove it; then of those that the sentences' form suggests;
  /// then of the others.
  mutating func startIdentifyingFamilies(at now: Instant) {
    let proved = knownFamily ?? identity.evidence.family
    let likely = identity.evidence.likely
    let families: [ReceiverFamily]
    var isExpected = false
    if let proved {
      families = [proved]
      identity.hasProbedFamilies = true
    } else if hasLikelyFamilies || identity.evidence.hasPQTM && !identity.hasProbedLikely {
      families = likely
      isExpected = true
      identity.probedLikely = likely
    } else {
      families = ReceiverFamily.probed(at: rate).filter { identity.probedLikely?.contains($0) != true }
      identity.hasProbedFamilies = true
    }
    if isReceiving, memory.description == nil, let language = knownLanguage {
      // Bytes that were sent before a standby may wait to be read: they do not show that the receiver is awake.
      actions.append(.send(language.wakingBytes))
      requests.wait(until: now + WakeUp.oscillatorStart)
    }
    line.measureLoad(at: now)
    replies.reset()
    let isLineFull = line.load.isFull(at: rate)
    let identification = FamilyIdentification(
      families, isProved: proved != nil || isExpected && identity.evidence.hasPQTM, isLineFull: isLineFull,
      isExpected: isExpected)
    enter(.identifyingFamily(identification), on: .poll)
  }

  mutating func finishIdentifyingFamily(_ identification: FamilyIdentification, at now: Instant) {
    if let found = identification.description {
      // A program may have stopped its engine: some receivers reply without it.
      var identification = identification
      if !identity.hasOutput, identification.startEngine() { return update(.identifyingFamily(identification)) }
      identity.doubtful = nil
      return finishIdentifying(as: found, at: now)
    }
    line.measureLoad(at: now)
    // The load of a line is known some time after its first byte.
    if let onFullLine = identification.onFullLine, line.load.isFull(at: rate) {
      replies.reset()
      return enter(.identifyingFamily(onFullLine), on: .poll)
    }
    if let doubtful = identity.doubtful {
      // The families that are less likely.
      if mayProbeFamilies { return startIdentifyingFamilies(at: now) }
      identity.doubtful = nil
      return finishIdentifying(doubtful, at: now)
    }
    guard knownFamily == nil, expected == nil, identity.evidence.family == nil else {
      return finishUnidentified(at: now)
    }
    // The polls of u-blox receivers follow the probes of likely families.
    let isNext = !identity.hasProbedFamilies && identity.evidence.verdict != .other
    if isNext, isReceiving || !hasRateSearch { return startIdentifying(at: now) }
    finishUnidentified(at: now)
  }

  /// Whether the bytes of a receiver are searched for frames that prove its family.
  var searchesFamilies: Bool {
    guard settings.intent != .readOnly, !identity.isPassive else { return false }
    // A known receiver may have lost its power, and with it its output: its reply to the poll is the first frame.
    if let expected { return stage.name == .searching && expected.family != nil }
    switch stage {
    // The reply to a probe may come during the polls of u-blox.
    case .searching, .listening, .identifying:
      return identity.evidence.verdict == .unknown || identity.evidence.verdict == .perhapsUBlox
    default: return false
    }
  }

  // MARK: Configuration

  /// The values of the desired configuration.
  var desiredValues: [ReceiverTask] {
    guard let desired else { return [] }
    var values: [ReceiverValue] = []
    // Values that the last configuration had and this one leaves out are as they were found.
    // The mode without sentences is restored at the end alone: a session receives nothing in it.
    let keepsMode = description?.family?.language?.sentenceMode != nil
    for one in memory.foundValues where one.kind != .mode || !keepsMode { values.append(one) }
    func replace(_ value: ReceiverValue) {
      let found = values.first { $0.kind == value.kind }
      values.removeAll { $0.kind == value.kind }
      values.append(found.map { value.adding($0) } ?? value)
    }
    // The mode is first: the messages depend on it.
    let base = desired.base.flatMap { description?.family?.language?.values(ofBase: $0) } ?? []
    if let period = desired.measurementPeriodMilliseconds { replace(.period(period)) }
    // Before the messages: while they are observed nothing is changed yet.
    if let measurements = desired.measurements { replace(.measurements(measurements)) }
    if base.isEmpty, let sentences = desired.sentences { replace(.messages(sentences)) }
    for value in base { replace(value) }
    if desired.sendsAnySentences, base.isEmpty, desired.sentences == nil, !desired.isSilent, lackedPositions {
      // The sentences that an earlier configuration switched on stay on.
      values = values.map { $0.removing(FamilyWork.usualOutput) }.filter { $0 != .messages([]) }
      if let mode = description?.family?.language?.sentenceMode { replace(.mode(mode)) }
      values.append(.output(true))
    }
    if let constellations = desired.constellations { replace(.constellations(constellations)) }
    addLogger(to: &values)
    return values.map { .set($0) }
  }

  /// Whether the receiver sent no sentence with a position as it was found, as far as the session observed it.
  private var lackedPositions: Bool {
    if description?.family?.language?.sentenceMode != nil, memory.foundValues.contains(where: { $0.kind == .mode }) {
      return true
    }
    let found = memory.foundValues.first { $0.kind == .messages }
    return found.map { !$0.hasPositions } ?? !observed.hasPositionSentences
  }

  /// Watches from now on whether the receiver keeps what it was configured with.
  private mutating func startFamilyWatch(at now: Instant, isFalseAlarm: Bool) {
    falseAlarms = isFalseAlarm ? falseAlarms + 1 : 0
    // Values as they were found are not this program's: others change with them.
    var values: [ReceiverValue] = []
    if let period = desired?.measurementPeriodMilliseconds { values.append(.period(period)) }
    if let sentences = desired?.sentences { values.append(.messages(sentences)) }
    if let measurements = desired?.measurements { values.append(.measurements(measurements)) }
    guard desired?.isSilent != true, settings.intent == .serve, falseAlarms < FamilyWatch.mostFalseAlarms else {
      return familyWatch = nil
    }
    familyWatch = FamilyWatch(values, from: now)
  }

  /// The time between two epochs of a receiver that sends; until it is observed, a second.
  private var watchedEpoch: Milliseconds { epochPeriod(unknown: Milliseconds(1000)) }

  /// Whether frames at `now` follow missing epochs of a steady receiver of another maker, which may have restarted.
  func isAfterPause(at now: Instant) -> Bool {
    familyWatch != nil && isSteady && !isFallingAsleep
      && now >= health.lastFrame + watchedEpoch * 2 + Milliseconds(500)
  }

  /// Writes settings again that the receiver lost.
  mutating func watchFamily(at now: Instant) {
    guard familyWatch != nil, isSteady, !end.isRequested, !isFallingAsleep else { return }
    line.measureLoad(at: now)
    let (isLineFull, epoch) = (line.load.isFull(at: rate), watchedEpoch)
    guard familyWatch?.judge(at: now, epoch: epoch, isLineFull: isLineFull) == true else { return }
    familyWatch = nil
    handle(.configurationLost, at: now)
  }

  mutating func finishWork(_ done: FamilyWork, at now: Instant) {
    if let log = done.stoppedLog {
      memory.stoppedLog = log
      scheduleRetry(from: now)
    }
    if let ticket = done.ticket {
      work.undoing = done.finalResults.allSatisfy(\.isDone) ? done.undoing : []
      enter(.steady, on: .configured)
      actions.append(.finished(ticket, .performed(done.finalResults)))
      return
    }
    memory.keep(done.found)
    enter(.steady, on: .configured)
    takeLogger(done, at: now)
    if configuration.hasChanged { return startConfiguring(at: now) }
    let isWritten = done.results.contains(.written)
    startFamilyWatch(at: now, isFalseAlarm: configuration.isCheck && !isWritten)
    if isWritten, configuration.isCheck || health.wasLost && configuration.isApplied { report(.wasReset) }
    _ = configuration.endCheck()
    health.settle()
    let tried = done.results.filter { $0 != .unsupported && $0 != .withdrawn }
    if !tried.isEmpty, !tried.contains(where: \.isDone) {
      // If every value was refused, no single one is at fault.
      scheduleRetry(from: now)
      if configuration.fail() {
        report(.configurationFailed(isRefused: tried.contains(.refused)))
        if done.isWithoutOutput { report(.withoutPositions) }
      }
      return
    }
    configuration.apply()
    retry.restart()
    configuration.count(refused: done.failures)
    if !raiseRate(at: now) { finishConfigured() }
    if done.isWithoutOutput { report(.withoutPositions) }
    reportLogging(done)
  }

  /// Starts the tasks of a program. Returns whether there are some.
  mutating func startWork() -> Bool {
    guard let description, let (ticket, tasks) = work.next() else { return false }
    guard let machine = FamilyWork(tasks, on: description, .permanent, ticket: ticket) else {
      actions.append(.finished(ticket, .performed(tasks.map { _ in .unsupported })))
      return true
    }
    enter(.working(machine), on: .reconfigure)
    return true
  }

  /// Starts the next command of tasks. Returns false when they are over.
  mutating func beginNext(of machine: FamilyWork, at now: Instant) -> Bool {
    guard var command = machine.next() else { return false }
    if command.bytes.isEmpty {
      // On a full line the sentences are as old as the receiver's buffer is long.
      line.measureLoad(at: now)
      let delay = line.load.isFull(at: rate) ? FamilyIdentification.fullLineTimeout : Milliseconds(0)
      command.timeout = command.timeout + delay
      observed.restart(from: now + delay)
    }
    replies.reset()
    return begin(command)
  }

  mutating func finishRestoring(_ values: FamilyWork, at now: Instant) {
    if values.failures > 0 { end.fail() }
    finishRestoringSettings(at: now)
  }
}
