// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import UBX

/// How the receiver gets the desired configuration, and keeps it.
extension ReceiverSession {
  var usesItems: Bool { description?.can(.valset) ?? false }

  mutating func startConfiguring(on cause: StageTransition.Cause = .reconfigure, at now: Instant) {
    guard desired != nil, description != nil else { return }
    line.cancelRaise()
    configuration.begin()
    if let description, description.family != nil {
      guard let machine = FamilyWork(desiredValues, on: description, .session) else { return }
      return enter(.working(machine), on: cause)
    }
    enter(.configuring(Configuration(settingsToSend, port: port, arriving: arriving)), on: cause)
  }

  /// The settings of the desired configuration, without on/off operation: that is switched on last.
  var settingsToSend: [Setting] {
    guard var desired, let description else { return [] }
    desired.isPowerSaveOn = desired.powerSave?.sleepsBetweenFixes != true
    return usesItems ? items(of: desired) : desired.messageSettings(for: description)
  }

  mutating func checkConfiguration(at now: Instant) {
    guard !end.isRequested, desired != nil, description != nil else { return }
    watch = nil
    configuration.startCheck()
    if batch.isActive {
      // The receiver lost the batch with its configuration.
      if case .ticket? = requests.owner {} else { interruptRequest() }
      cutBatch()
    }
    startConfiguring(at: now)
  }

  mutating func finishConfiguring(_ sent: Configuration, at now: Instant) {
    if let found = sent.portFound, port == nil, !usesItems { port = found }
    memory.keep(sent.undoing)
    enter(.steady, on: .configured)
    if configuration.hasChanged { return startConfiguring(at: now) }
    let results = sent.results
    let isWritten = results.contains(.written)
    // A receiver that had all of it before the line was lost was reset meanwhile. A setting that was written without a reply to its
    // poll does not show that.
    if isWritten, !sent.found.isEmpty, configuration.isCheck || health.wasLost && configuration.isApplied {
      report(.wasReset)
      orbits.restart()
      assistance.prepare(settings.assistance, for: description, at: now)
    }
    // If every setting was refused, no single one is at fault.
    let isHeeded = results.contains { $0 == .wasThere || $0 == .written }
    if isHeeded, fallBack(sent.refused) { return startConfiguring(at: now) }
    let isCheck = configuration.endCheck()
    health.settle()
    if isWritten { sleepPlan.clearStored() }
    if !results.isEmpty, !isHeeded {
      scheduleRetry(from: now)
      if configuration.fail() { report(.configurationFailed(isRefused: results.contains(.refused))) }
      return
    }
    configuration.apply()
    configuration.keep(refused: sent.refused)
    // The receiver has what it accepts, and the frames still look as if not: it is checked more and more rarely.
    let isFalseAlarm = isCheck && results.allSatisfy { $0 == .wasThere || $0 == .refused || $0 == .notVerified }
    startWatch(at: isFalseAlarm ? now + retry.nextDelay() : now)
    if isFalseAlarm { return }
    retry.restart()
    if !raiseRate(at: now) { finishConfigured() }
  }

  /// Reports the configuration, once the line has its rate.
  mutating func finishConfigured() {
    let isFamily = description?.family != nil
    let switchesOn = !isFamily && desired?.powerSave?.sleepsBetweenFixes == true && !isModeRefused
    if !switchesOn { report(.configured(refused: configuration.refusedCount)) }
    if !isFamily, let batch = desired?.batch, batch.isOn { report(.batching(epochs: batch.epochs)) }
    if switchesOn { startStoring() }
  }

  /// Returns whether there is something else to try for what was refused.
  private mutating func fallBack(_ refused: [Setting]) -> Bool {
    if configuration.useOlderMessages(refused: refused, usesItems: usesItems) { return true }
    guard configuration.useSmallerBatch(refused: refused) else { return false }
    if desired?.batch == nil { report(.batching(epochs: 0)) }
    return true
  }

  /// Whether the receiver refused the desired power save mode.
  private var isModeRefused: Bool {
    guard let mode = desired?.powerSave, let description else { return false }
    let settings =
      usesItems
      ? mode.items(isOn: true).map { Setting.item($0) } : mode.messageSettings(for: description, isOn: true)
    return configuration.refused.contains { one in settings.contains { $0.isOfSame(one) } }
  }

  /// Watches from `start` on whether the receiver keeps its configuration.
  mutating func startWatch(at start: Instant) {
    guard let desired else { return }
    let refused = configuration.refused
    // In on/off operation no message comes regularly.
    let isRegular = desired.powerSave?.sleepsBetweenFixes != true
    let message = desired.messages.first { wanted in
      isRegular && wanted.rate > 0 && !refused.contains { $0.isRate(of: wanted.message) }
    }
    watch = ConfigurationWatch(desired, message: message, from: start)
  }

  // MARK: Constellations

  /// The items of a configuration; constellations that it no longer leaves out are as they were found.
  private func items(of desired: DesiredConfiguration) -> [Setting] {
    var desired = desired
    // Without a crash-recovery record no later program would switch them on again.
    if !hasRateSearch { desired.withoutConstellations = nil }
    var list = desired.itemSettings(port ?? .uart1)
    guard let without = desired.withoutConstellations else { return list }
    for one in foundConstellations where !without.contains(one) {
      list.append(.item(ConfigurationPair(id: one.enablingKey, bits: 1)))
    }
    return list
  }

  /// The constellations that were on before this session switched them off.
  private var foundConstellations: [DesiredConfiguration.Constellation] {
    DesiredConfiguration.Constellation.allCases.filter { one in
      memory.found.contains { $0 == .item(ConfigurationPair(id: one.enablingKey, bits: 1)) }
    }
  }

  /// Those of them that the desired configuration leaves out.
  var excludedConstellations: [DesiredConfiguration.Constellation] {
    guard let without = desired?.withoutConstellations else { return [] }
    return foundConstellations.filter { without.contains($0) }
  }
}
