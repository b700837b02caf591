import MonotonicTime
import ReceiverStream
import UBX

/// Crash recovery: what the next program needs if this one is killed, and what this one takes over from a killed one.
extension ReceiverSession {
  /// The record for the next program; nil while the receiver can be found without it.
  public var recovery: CrashRecoveryRecord? {
    guard hasRateSearch, description != nil, let rate else { return nil }
    let isRaised = memory.foundRate.map { $0 != rate } ?? false
    let without = excludedConstellations
    // The time for the end can be too short: the rest is for the next program too.
    guard isRaised || expectsSilence || !without.isEmpty || end.isRequested && putsBack else { return nil }
    return CrashRecoveryRecord(rate: rate, foundRate: memory.foundRate ?? rate, without: without)
  }

  /// The changed settings for the next program; nil while it does not need them, as with `recovery`.
  public var recoverySettings: CrashRecoverySettings? {
    guard recovery != nil, settings.restoresAtEnd, let description else { return nil }
    return CrashRecoverySettings(memory, of: description)
  }

  /// The end restores what a killed program changed at the same receiver.
  mutating func takeRecoverySettings() {
    guard let recovery = settings.recoverySettings, let description else { return }
    settings.recoverySettings = nil
    guard recovery.receiver == CrashRecoverySettings.name(description), memory.found.isEmpty, memory.backup.isEmpty
    else { return }
    memory.found = recovery.found
    memory.backup = recovery.backup
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
      from: rate, likely: settings.likelyRates, polling: isKnown ? .soon : .afterListening, at: now)
  }
}
