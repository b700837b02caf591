// SPDX-License-Identifier: Apache-2.0

import MonotonicTime
import ReceiverStream
import UBX
import WireBytes

/// Crash recovery: what the next program needs if this one is killed, and what this one takes over from a killed one.
extension ReceiverSession {
  /// The record for the next program; nil while the receiver is as it was found. It is complete before the bytes of a
  /// change are sent.
  public var recovery: CrashRecoveryRecord? {
    guard settings.intent != .readOnly, !isEnded || end.isIncomplete else { return nil }
    let changed = recoverySettings
    let sleeps = expectsSilence && description?.family != nil
    guard let rate else {
      return changed == nil && !sleeps
        ? nil : CrashRecoveryRecord(rate: nil, foundRate: nil, family: description?.family)
    }
    let (used, port) = changingRate(from: rate)
    let found = memory.foundRate ?? rate
    if description == nil, used == rate, settings.recovery != nil {
      // The receiver of the record has not replied yet.
      return settings.recovery
    }
    let without = excludedConstellations
    let isRaised = settings.restoresAtEnd && used != found
    // A silent receiver is found by its rate, also if its settings were changed permanently.
    let isSilent = expectsSilence && description != nil && (hasRateSearch || description?.family != nil)
    guard isRaised || isSilent || !without.isEmpty || changed != nil else { return nil }
    return CrashRecoveryRecord(
      rate: used, foundRate: found, without: without, family: description?.family, port: isRaised ? port : nil)
  }

  /// The changed settings for the next program; nil without a change, and if they are changed permanently.
  public var recoverySettings: CrashRecoverySettings? {
    // The receiver of the record has not replied yet.
    if let pending = settings.recoverySettings { return pending }
    guard settings.restoresAtEnd, settings.intent != .readOnly else { return nil }
    if let description { return CrashRecoverySettings(memoryIfKilled, of: description, on: settings.line) }
    guard case .identifying(let identification) = stage, !isUnanswered || identification.description != nil else {
      return nil
    }
    return CrashRecoverySettings(ofUnidentified: identification.foundOfUnidentified)
  }

  /// The names of the receiver in records; empty before it is identified.
  public var recordNames: [String] { description.map { CrashRecoverySettings.names($0) } ?? [] }

  /// Whether a receiver whose frames are received replied to no poll, also after its UBX output was switched on. A record
  /// without a name is then obsolete: another receiver made it, or something other than the output prevents replies.
  public var isUnanswered: Bool {
    identity.hasNoReply && description == nil && settings.recoverySettings == nil
  }

  /// No poll had a reply.
  mutating func noteNoReply() {
    guard isReceiving, description == nil else { return }
    identity.hasNoReply = true
    guard settings.recoverySettings?.isUnidentified == true else { return }
    settings.recoverySettings = nil
    if settings.recovery?.rate == settings.recovery?.foundRate { settings.recovery = nil }
  }

  /// Whether the receiver replied and the end restored all changes, so that the crash-recovery record is obsolete.
  public var isRestored: Bool {
    isEnded && !end.isIncomplete && !leavesAsleep && description != nil && settings.recoverySettings == nil
      && raisedRate == nil
  }

  /// The memory with the changes of the present stage.
  private var memoryIfKilled: SessionMemory {
    var memory = memory
    switch stage {
    case .configuring(let configuration): memory.keep(configuration.undoing)
    case .working(let machine): if machine.ticket == nil { memory.keep(machine.found) }
    case .storing(let store): memory.backup = store.beforeIfKilled
    default: break
    }
    memory.keep(assistance.found)
    memory.stoppedLog = memory.stoppedLog ?? stoppedLogOfStage
    return memory
  }

  /// The rate that the receiver may have by now, in baud, and the family's port with it. The record has the rate that differs from the
  /// found one: the found rate is searched as usual.
  private func changingRate(from rate: UInt32) -> (UInt32, port: String?) {
    switch stage {
    case .changingRate(let change): (change.to, change.familyPort)
    case .restoringRate(let change): (change.from, memory.raisedPort)
    default: (line.inherited ?? rate, memory.raisedPort)
    }
  }

  /// The end restores what a killed program changed at the same receiver. The records of others stay for their next program.
  mutating func takeRecoverySettings() {
    guard let description else { return }
    let isOfOther =
      settings.recoverySettings.map { !$0.isOf(description) }
      ?? settings.recovery.map { $0.family != description.family } ?? false
    if isOfOther { leaveRecord() }
    if settings.recovery == nil,
      let index = settings.otherRecords.firstIndex(where: { $0.isOf(description, on: settings.line) })
    {
      let record = settings.otherRecords.remove(at: index)
      (settings.recovery, settings.recoverySettings) = (record.recovery, record.settings)
    }
    if let recovered = settings.recovery?.foundRate, let rate, rate == settings.recovery?.rate, rate != recovered {
      memory.foundRate = memory.foundRate ?? recovered
      memory.raisedPort = memory.raisedPort ?? settings.recovery?.port
    }
    guard let recovery = settings.recoverySettings else { return }
    settings.recoverySettings = nil
    guard !memory.hasChanges else { return }
    if description.runningLog == nil, let log = recovery.stoppedLog {
      memory.stoppedLog = log
      // A restart until then starts it too.
      memory.description?.runningLog = log
    }
    memory.foundValues = recovery.values
    memory.found = recovery.found(on: description)
    memory.backup = recovery.backup
  }

  /// The record is of another receiver, which had other rates.
  private mutating func leaveRecord() {
    if let recovery = settings.recovery, rate == recovery.rate, memory.foundRate == recovery.foundRate {
      (memory.foundRate, memory.raisedPort) = (nil, nil)
    }
    (settings.recovery, settings.recoverySettings) = (nil, nil)
  }

  /// Constellations that a killed program switched off were on when it found the receiver.
  mutating func takeRecoveredConstellations() {
    guard let recovery = settings.recovery, !recovery.without.isEmpty, usesItems else { return }
    for one in recovery.without {
      let pair = ConfigurationPair(id: one.enablingKey, bits: 1)
      // This program switched it off, before the line was lost.
      if memory.found.contains(where: { $0.isOfSame(.item(pair)) }) { continue }
      memory.found.append(.item(pair))
      // Battery-backed memory has them off.
      memory.backup.kept.append(pair)
    }
    configuration.useAllConstellations()
  }

  /// The receiver does not have the rate of the crash-recovery record.
  mutating func abandonRecovery(on cause: StageTransition.Cause, at now: Instant) {
    line.confirm()
    memory.foundRate = nil
    loseTouch(on: cause)
    health.settle()
    guard let rate else { return }
    // Another device may be on this line by now: it is not polled before it was listened to.
    listener.search(
      from: rate, likely: settings.likelyRates, polling: isKnown ? .soon : .afterListening, pollsOthers: pollsOthers,
      replyTime: replyTime, at: now)
  }
}
