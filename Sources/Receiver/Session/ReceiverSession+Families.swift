// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// Receivers of other makers: how they are identified, configured and restored.
extension ReceiverSession {
  /// The time in which an unknown receiver shows its family by itself.
  private static var showingTime: Milliseconds { Milliseconds(3000) }

  /// The family of an identified receiver, or the one that its sentences prove.
  public var family: ReceiverFamily? {
    memory.description?.family ?? (memory.description == nil ? identity.evidence.family : nil)
  }

  /// Whether the sentences of the receiver are observed: until it is steady.
  var observesOutput: Bool {
    switch stage {
    case .listening, .identifying, .identifyingFamily, .working: true
    default: false
    }
  }

  // MARK: Identification

  /// Whether an unknown receiver may be probed.
  var mayProbeFamilies: Bool {
    guard settings.probesFamilies, settings.intent != .readOnly, !isKnown,
      !identity.hasProbedFamilies
    else { return false }
    return isReceiving || settings.intent == .identify && !hasRateSearch
  }

  /// Starts the probes of the families; of one, if its sentences prove it.
  mutating func startIdentifyingFamilies(at now: Instant) {
    identity.hasProbedFamilies = true
    let proved = memory.description?.family ?? settings.recovery?.family ?? identity.evidence.family
    line.measureLoad(at: now)
    replies.reset()
    enter(
      .identifyingFamily(
        FamilyIdentification(
          proved.map { [$0] } ?? ReceiverFamily.probed(at: rate), isProved: proved != nil,
          isLineFull: line.load.isFull(at: rate))), on: .poll)
  }

  /// A serving session waits for sentences that show the family, and probes then.
  mutating func decideOnProbing(_ pollAt: Instant?, at now: Instant) {
    guard settings.probesFamilies, mayProbeFamilies else { return }
    guard let pollAt else { return update(.listening(pollAt: now + Self.showingTime)) }
    if now >= pollAt { startIdentifyingFamilies(at: now) }
  }

  mutating func finishIdentifyingFamily(_ identification: FamilyIdentification, at now: Instant) {
    if let found = identification.description {
      identity.doubtful = nil
      return finishIdentifying(as: found, at: now)
    }
    if let doubtful = identity.doubtful {
      identity.doubtful = nil
      return finishIdentifying(doubtful, at: now)
    }
    if settings.recovery?.family != nil, memory.description == nil {
      // The receiver of the record is not here.
      settings.recovery?.family = nil
      identity.hasProbedFamilies = false
      return finishUnidentified(at: now)
    }
    guard memory.description == nil, identity.evidence.family == nil, settings.intent == .identify else {
      return finishUnidentified(at: now)
    }
    // The polls of u-blox receivers with all their attempts.
    startIdentifying(at: now)
  }

  // MARK: Configuration

  /// The values of the desired configuration.
  var desiredValues: [ReceiverTask] {
    guard let desired else { return [] }
    var values: [ReceiverValue] = []
    // What the last configuration had and this one leaves out is as it was found.
    for one in memory.foundValues { values.append(one) }
    func replace(_ value: ReceiverValue) {
      values.removeAll { $0.kind == value.kind }
      values.append(value)
    }
    if let period = desired.measurementPeriodMilliseconds { replace(.period(period)) }
    if let sentences = desired.sentences { replace(.messages(sentences)) }
    if let constellations = desired.constellations { replace(.constellations(constellations)) }
    return values.map { .set($0) }
  }

  mutating func finishWork(_ done: FamilyWork, at now: Instant) {
    if let ticket = done.ticket {
      enter(.steady, on: .configured)
      actions.append(.finished(ticket, .performed(done.finalResults)))
      return
    }
    memory.keep(done.found)
    enter(.steady, on: .configured)
    if configuration.hasChanged { return startConfiguring(at: now) }
    let isWritten = done.results.contains(.written)
    if isWritten, configuration.isCheck || health.wasLost && configuration.isApplied { report(.wasReset) }
    _ = configuration.endCheck()
    health.settle()
    configuration.apply()
    retry.restart()
    if raiseRate(at: now) { return }
    configuration.count(refused: done.failures)
    report(.configured(refused: done.failures))
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
  mutating func beginNext(of machine: FamilyWork) -> Bool {
    guard let command = machine.next() else { return false }
    if command.bytes.isEmpty { observed.restart() }
    replies.reset()
    return begin(command)
  }

  mutating func finishRestoring(_ values: FamilyWork, at now: Instant) {
    if values.failures > 0 { end.fail() }
    finishRestoringSettings(at: now)
  }
}
