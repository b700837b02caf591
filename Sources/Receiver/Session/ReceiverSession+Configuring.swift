import MonotonicTime
import UBX

/// How the receiver is brought to the wished state, and kept there.
extension ReceiverSession {
  mutating func startConfiguring(at now: Instant) {
    guard var desired, let description else { return }
    rateChangeBy = nil
    sentConfiguration = desired
    desired.isPowerSaveOn = desired.powerSave?.sleepsBetweenFixes != true
    let usesItems = description.can(.valset)
    let list = usesItems ? items(of: desired) : desired.messageSettings(for: description)
    stage = .configuring(Configuration(list, port: port))
  }

  /// The wish was changed while the receiver could not be told.
  var hasNewConfiguration: Bool {
    description != nil && sentConfiguration != nil && desired != nil && desired != sentConfiguration
  }

  mutating func finishConfiguring(_ configuration: Configuration, at now: Instant) {
    if let found = configuration.portFound, port == nil, description?.can(.valset) != true { port = found }
    keepFound(configuration)
    stage = .steady
    // It was changed meanwhile.
    if hasNewConfiguration { return startConfiguring(at: now) }
    let results = configuration.results
    // The same after a time in which nothing was heard of it, for whatever was wished then.
    if results.contains(.written), isChecking || wasLost && desired == appliedConfiguration {
      actions.append(.report(.wasReset))
      prepareAssisting(at: now)
    }
    // Who refuses all of it refuses not the message.
    let isHeeded = results.contains { $0 == .wasThere || $0 == .written }
    if isHeeded, useOlderMessages(configuration.refused) || useSmallerBatch(configuration.refused) {
      return startConfiguring(at: now)
    }
    // What it refuses, or acknowledges and does not do, it has done before.
    let isUnchanged = results.allSatisfy { $0 == .wasThere || $0 == .refused || $0 == .notVerified }
    let wasChecking = isChecking
    isChecking = false
    wasLost = false
    if results.contains(.written) { stored = [] }
    if !results.isEmpty, !isHeeded {
      scheduleRetry(from: now)
      if !isFailureReported { actions.append(.report(.configurationFailed)) }
      isFailureReported = true
      return
    }
    isFailureReported = false
    appliedConfiguration = desired
    // A receiver that has its configuration and still says something else is checked again more and more seldom.
    startWatch(at: now, without: configuration.refused, isMuted: wasChecking && isUnchanged)
    if wasChecking, isUnchanged { return }
    // The rate that the line was raised to for a while is wanted for good.
    if keepsPortRate, desired?.portRate == rate { settingsRate = nil }
    if let wanted = desired?.portRate, let rate, wanted != rate, keepsPortRate || (settingsRate == nil && !keepsNoRate)
    {
      // Who serves would lose an epoch; who talks may have found a line that is full and never quiet.
      let isAtOnce = keepsPortRate || settings.intent == .identify
      if isAtOnce { startChangingRate() } else { rateChangeBy = now + Self.longestWaitForQuiet }
      return
    }
    refusedCount = configuration.refused.count
    // On/off operation is switched on last of all, and may be refused then.
    let isToSwitch = desired?.powerSave?.sleepsBetweenFixes == true && !isModeRefused(configuration.refused)
    if !isToSwitch { actions.append(.report(.configured(refused: refusedCount))) }
    if let batch = desired?.batch, batch.isOn { actions.append(.report(.batching(epochs: batch.epochs))) }
    if isToSwitch { startStoring() }
  }

  /// Whether the receiver does not take the power save mode that is wished.
  private func isModeRefused(_ refused: [Setting]) -> Bool {
    guard let mode = desired?.powerSave, let description else { return false }
    let settings =
      description.can(.valset)
      ? mode.items(isOn: true).map { Setting.item($0) } : mode.messageSettings(for: description, isOn: true)
    return refused.contains { one in settings.contains { $0.isOfSame(one) } }
  }

  /// Firmware without NAV-PVT refuses it; position, velocity and time then come by themselves. Who refuses those too, or
  /// has no others, goes on with sentences. Whether something was done.
  mutating func useOlderMessages(_ refused: [Setting]) -> Bool {
    guard let desired else { return false }
    let isRefused = { (message: MessageIdentity) in
      desired.messages.contains { $0.message == message && $0.rate > 0 } && refused.contains { $0.isRate(of: message) }
    }
    if isRefused(.navPVT), description?.can(.valset) == false {
      self.desired = desired.withoutPVT()
      return true
    }
    guard isRefused(.navPVT) || isRefused(.navPOSLLH), desired.writesNMEA == false else { return false }
    self.desired?.writesNMEA = true
    return true
  }

  /// More than fits is refused: less is tried. When nothing fits, the receiver does not batch.
  mutating func useSmallerBatch(_ refused: [Setting]) -> Bool {
    guard let batch = desired?.batch, batch.isOn, refused.contains(where: \.isOfBatch) else { return false }
    desired?.batch = batch.smaller
    if desired?.batch == nil { actions.append(.report(.batching(epochs: 0))) }
    return true
  }

  mutating func startWatch(at now: Instant, without refused: [Setting], isMuted: Bool) {
    guard let desired else { return }
    // In on/off operation nothing is regular.
    let isRegular = desired.powerSave?.sleepsBetweenFixes != true
    let message = desired.messages.first { wanted in
      isRegular && wanted.rate > 0 && !refused.contains { $0.isRate(of: wanted.message) }
    }
    var start = now
    if isMuted {
      start = now + retryAfter
      retryAfter = min(retryAfter * 2, Self.longestRetry)
    } else {
      retryAfter = Self.firstRetry
    }
    watch = ConfigurationWatch(desired, message: message, from: start)
  }
}
