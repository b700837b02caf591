// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// The state of the logger of another maker's receiver, as far as a session has read it.
struct LoggerUse {
  /// The number of records that the memory held before the batch.
  var before = 0
  /// Whether records of the batch have not been read yet.
  var isUnread = false
  /// Whether the logger ran when the session first read it: it is the batch of a killed program, if a record says so.
  var ran = false
  /// Whether all records of the memory belong to the batch and have been read.
  var mayErase = false
  /// When the batch began.
  var since: Instant?
}

/// Batches in the logger of another maker's receiver.
extension ReceiverSession {
  /// The time for one read (`PowerPolicy.readOutTimeoutSeconds`), with some left for the commands around it.
  private static var readingSeconds: Int { 50 }
  /// The bits of a record on the line: 16 bytes in hexadecimal digits, with a share of the sentence around them.
  private static var bitsPerRecord: Int { 440 }

  /// The logger as it was found before it was changed; nil if it was not changed.
  private var foundLogger: LoggerState? {
    for case .logger(let state) in memory.foundValues { return state }
    return nil
  }

  /// Returns the description of a receiver without the log that this program, or a killed one, has started.
  func withoutOwnLog(_ found: ReceiverDescription) -> ReceiverDescription {
    var found = found
    for case .logger(let state) in memory.foundValues + (settings.recoverySettings?.values ?? []) where !state.isOn {
      found.runningLog = nil
    }
    return found
  }

  /// The log of a user that the commands of the stage stop and start again; nil otherwise.
  var stoppedLogOfStage: LoggerState? {
    switch stage {
    case .working(let machine), .restoringValues(let machine): return machine.stoppedLog
    case .changingRate, .restoringRate:
      guard let log = description?.runningLog, description?.restartsForRate == true else { return nil }
      return .resuming(interval: log.interval)
    default: return nil
    }
  }

  /// The desired state of the logger while it stores a batch; nil where none is desired.
  private var loggingState: LoggerState? {
    // The log of a user goes on first.
    guard memory.stoppedLog == nil else { return nil }
    guard let desired, let batch = desired.batch, batch.isOn, description?.can(.logger) == true else { return nil }
    let milliseconds = UInt32(desired.measurementPeriodMilliseconds ?? 1000)
    var state = LoggerState(isOn: true, interval: UInt16(clamping: max((milliseconds + 999) / 1000, 1)))
    state.erases = !logger.isUnread && (batch.erasesEarlier || logger.mayErase)
    state.restarts = foundLogger != nil && logger.isUnread
    state.required = 1
    // A user waits for as long as it takes.
    if settings.intent == .serve {
      state.required = batch.epochs
      if let rate { state.readable = Self.readingSeconds * Int(rate) / Self.bitsPerRecord }
    }
    return state
  }

  /// Adds the logger to the values of the desired configuration: it is on before the sentences are off, and off after them.
  func addLogger(to values: inout [ReceiverValue]) {
    let found = values.first { $0.kind == .logger }
    values.removeAll { $0.kind == .logger }
    // After a restart for another value.
    if let log = memory.stoppedLog { values.append(.logger(log)) }
    if let state = loggingState {
      values.insert(.logger(state), at: 0)
      if desired?.isSilent == true {
        values.removeAll { $0.kind == .messages }
        values.append(.output(false))
      }
    } else if case .logger(var state)? = found {
      state.erases = logger.mayErase
      values.append(.logger(state))
    }
  }

  /// Takes what the work found of the logger.
  mutating func takeLogger(_ done: FamilyWork, at now: Instant) {
    if done.logger?.isOn == true { memory.stoppedLog = nil }
    guard let before = done.loggerBefore else { return }
    if let state = done.logger { noteUsersLog(state) }
    if before.isOn, !logger.isUnread { logger.ran = true }
    guard loggingState != nil, !done.isWithoutLogger, let state = done.logger, state.isOn else {
      if logger.mayErase, done.logger?.records == 0 { logger = LoggerUse() }
      return
    }
    guard !logger.isUnread else { return }
    let isErased = logger.mayErase || desired?.batch?.erasesEarlier == true
    logger = LoggerUse(before: isErased ? 0 : before.records, isUnread: true, since: now)
    report(.loggerHolds(logger.before))
  }

  /// Records whether a log runs that this program has not started.
  private mutating func noteUsersLog(_ state: LoggerState) {
    guard var found = memory.description else { return }
    let isUsers = state.isOn && foundLogger?.isOn != false
    found.runningLog = isUsers ? LoggerState(isOn: true, interval: state.interval) : nil
    memory.description = found
  }

  /// Reports the capacity of the batch.
  mutating func reportLogging(_ done: FamilyWork) {
    guard let desired, let batch = desired.batch, batch.isOn, description?.can(.logger) == true else { return }
    guard !done.isWithoutLogger, logger.isUnread, let state = done.logger, state.isOn else {
      return report(.batching(epochs: 0))
    }
    report(.batching(epochs: max(state.free + state.records - logger.before, 0)))
  }

  /// A reader of the logger's memory.
  func loggerRetrieval(_ journal: BatchJournal) -> (any Retrieval)? {
    guard let description, description.can(.logger) else { return nil }
    var resumed: LoggerState?
    // With its sentences on, the receiver ends its batch.
    if desired?.isSilent == true {
      resumed = loggingState ?? LoggerState(isOn: true, interval: 1)
      resumed?.erases = false
      resumed?.restarts = true
    }
    return LoggerRetrieval(journal, on: description, resumed: resumed, since: logger.since)
  }

  /// A whole batch was read: records of this program alone are erased when the logger is restored.
  mutating func finishReading(_ journal: BatchJournal) {
    let isOwn = logger.isUnread || logger.ran
    logger.isUnread = false
    guard let found = foundLogger, !found.isOn, found.records == 0, journal.lastNumber == 0, isOwn else { return }
    logger.mayErase = true
  }
}
