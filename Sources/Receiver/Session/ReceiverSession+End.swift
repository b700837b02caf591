// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import ReceiverStream
import UBX

/// The end: the request in flight ends, the orbits are read, and settings, rate and battery-backed memory are restored.
extension ReceiverSession {
  /// The least rate for the orbits.
  private static var leastReadingRate: UInt32 { 38_400 }

  /// Whether the stage gives way to the end once no request is in flight: a reply to an earlier request would be taken for
  /// that to the next one.
  var isReadyToRestore: Bool {
    guard end.isRequested else { return false }
    return switch stage {
    case .changingRate, .readingDatabase, .restoring, .restoringValues, .restoringRate, .restoringBackup, .ended: false
    case .waking: !putsBack
    case .listening, .identifying, .identifyingFamily: !awaitsRecovery
    case .working(let machine): !machine.takesBack
    default: true
    }
  }

  /// Whether the end has something to restore, and is to do so.
  public var putsBack: Bool { isToRestore && settings.restoresAtEnd && settings.intent != .readOnly }

  /// Whether the end waits for the identity of a receiver that a killed program may have changed, and then restores it.
  public var awaitsRecovery: Bool {
    let hasRecord =
      settings.recovery != nil || settings.recoverySettings != nil
      || settings.otherRecords.contains { $0.wasAtThisLine }
    return hasRecord && description == nil && settings.restoresAtEnd && settings.intent != .readOnly
      && !identity.isPassive && !identity.isUnanswered
  }

  /// Whether something is not as it was found.
  var isToRestore: Bool {
    memory.hasChanges || memory.foundRate != nil
      || isAsleepOrWaking && description?.isWoken(at: usablePort) == true
  }

  /// Whether the receiver is asleep or being woken: it was found awake.
  private var isAsleepOrWaking: Bool { stage.name == .asleep || stage.name == .waking }

  /// Whether the receiver's port sends NMEA after the end, where the end restores that; nil where it does not.
  public var sendsNMEAAfterEnd: Bool? {
    guard putsBack else { return nil }
    let port = port ?? .uart1
    for setting in memory.found {
      switch setting {
      case .item(let pair) where pair.id == port.outputProtocolKey(2): return pair.bits != 0
      case .message(.cfgPRT, _, .portProtocols(_, let output)): return output & 2 != 0
      default: break
      }
    }
    return nil
  }

  mutating func startEnding(at now: Instant) {
    keepFoundOfStage()
    guard let description, readsDatabase else { return startRestoring(at: now) }
    let until = now + end.longestReading
    end.extend(to: until + EndPhase.longestWait)
    enter(.readingDatabase(DatabaseReading(of: description), until: until), on: .finish)
  }

  private var readsDatabase: Bool {
    isReceiving && description?.family == nil && settings.intent != .readOnly
      && settings.assistance?.readsDatabaseAtEnd == true
      && rate.map { $0 >= Self.leastReadingRate } ?? true
  }

  /// - Parameter isAwake: whether the receiver has just replied.
  mutating func startRestoring(at now: Instant, isAwake: Bool = false) {
    let sleeps = !isAwake && desired?.powerSave?.sleepsBetweenFixes == true
    guard isReceiving || sleeps, putsBack, !isOtherProved else {
      // A silent receiver may have kept its settings, and another one has settings of its own.
      if putsBack { end.fail() }
      return endSession(on: .finish)
    }
    var begin = now
    if sleeps {
      // The byte wakes the receiver and is lost; the next one has to wait until it reads.
      actions.append(.send([0xFF]))
      begin = now + WakeUp.oscillatorStart
      requests.wait(until: begin)
    }
    // It may restart at this moment, and restarts once more.
    end.startRestoring(at: begin, silence: modeChangeTime * 2)
    // The log is last: other values restart the receiver.
    let values = memory.foundValues.reversed() + [memory.stoppedLog.map { .logger($0) }].compactMap(\.self)
    if let description, description.family != nil,
      let machine = FamilyWork(values.map { .set($0) }, on: description, .restoring)
    {
      return enter(.restoringValues(machine), on: .finish)
    }
    // Without UBX output nothing else could be verified: that is restored last.
    let settings = memory.found.reversed().filter { $0 != foundWithoutUBX }
    enter(.restoring(Configuration(settings, port: port, writesAtOnce: true, rate: rate)), on: .finish)
  }

  /// The longest time for which the receiver is silent when its mode is restored; zero if the mode was not changed.
  var modeChangeTime: Milliseconds {
    let isChanged = desired?.base != nil || memory.foundValues.contains { $0.kind == .mode }
    return isChanged ? description?.family?.language?.modeChangeTime ?? Milliseconds(0) : Milliseconds(0)
  }

  mutating func restoreNext(of configuration: Configuration, at now: Instant) {
    guard var command = configuration.next() else { return finishRestoring(configuration, at: now) }
    // Time is short: a setting without a reply leaves some for the others.
    command.attempts = min(command.attempts, 3)
    begin(command)
  }

  private mutating func finishRestoring(_ configuration: Configuration, at now: Instant) {
    if configuration.results.contains(where: { $0 != .wasThere && $0 != .written }) { end.fail() }
    finishRestoringSettings(at: now)
  }

  /// The rate is next.
  mutating func finishRestoringSettings(at now: Instant) {
    guard let found = memory.foundRate, let rate, found != rate, !isPortWithoutRate else {
      return startRestoringBackup()
    }
    end.extend(to: now + EndPhase.longestRestoring)
    let change = PortRateChange(
      from: rate, to: found, port: port, usesItems: usesItems, isRestored: true, family: description?.family,
      familyPort: memory.raisedPort, isLogging: description?.runningLog != nil)
    enter(.restoringRate(change), on: .restored)
  }

  mutating func finishRestoringRate(_ isChanged: Bool) {
    if !isChanged { end.fail() }
    startRestoringBackup()
  }

  private mutating func startRestoringBackup() {
    enter(.restoringBackup(BackupStore(undoing: memory.backup, usesItems: usesItems)), on: .restored)
  }

  /// Ends the session whatever is under way.
  mutating func endNow(on cause: StageTransition.Cause) {
    interruptRequest()
    endSession(on: cause)
  }

  mutating func endSession(on cause: StageTransition.Cause) {
    if cause != .lineLost, putsBack, foundWithoutUBX != nil,
      let bytes = (port ?? .uart1).switchingUBXOutput(false, usesItems: usesItems, rate: rate)
    {
      // A receiver without UBX output sends no ACK-ACK.
      actions.append(.send(bytes))
      if memory.backup.endsWithRAM(usesItems: usesItems) { actions.append(.send(BackupStore.saving.bytes)) }
    }
    leavesAsleep = isAsleep && description?.family != nil
    enter(.ended, on: cause)
    if end.isIncomplete { report(.notRestored) }
  }

  /// The setting of a port that was found without UBX output.
  private var foundWithoutUBX: Setting? {
    let setting = (port ?? .uart1).withoutUBXOutput(usesItems: usesItems)
    return memory.found.contains(setting) ? setting : nil
  }

  /// Keeps what the stage found, where the end or the loss of the line cuts it off. A rate that was being raised may be
  /// the receiver's by now: if it is found there, it has to be restored.
  mutating func keepFoundOfStage() {
    memory.stoppedLog = memory.stoppedLog ?? stoppedLogOfStage
    switch stage {
    case .configuring(let configuration):
      memory.keep(requests.owner == .stage ? configuration.undoing : configuration.undoingWritten)
    case .working(let machine):
      guard let ticket = machine.ticket else { return memory.keep(machine.found) }
      actions.append(.finished(ticket, .performed(machine.interruptedResults)))
    case .identifying(let identification):
      if let found = identification.foundSilent { memory.keep([found]) }
    case .storing(let store): memory.backup = store.beforeIfKilled
    case .changingRate(let change): (memory.rate, memory.raisedPort) = (change.to, change.familyPort)
    default: break
    }
  }
}
