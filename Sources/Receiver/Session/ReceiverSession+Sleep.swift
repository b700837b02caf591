// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import ReceiverStream
import UBX

/// How the receiver falls asleep, and wakes.
extension ReceiverSession {
  var usablePort: ReceiverPortNumber? { settings.line == .usb ? .usb : port }

  /// Begins the requested sleep. Returns whether there is one.
  mutating func startSleeping(at now: Instant) -> Bool {
    guard let pending = sleepPlan.pending, let description else { return false }
    guard let command = SleepRequest.command(pending.duration, for: description, port: usablePort) else {
      sleepPlan.cancel()
      report(.cannotSleep)
      return false
    }
    guard description.family != nil || sleepPlan.isStored(settingsToSend) else {
      startStoring()
      return true
    }
    sleepPlan.begin(skippedBytes: listener.counters.skippedBytes)
    let sentBy = now + RequestInFlight.time(of: command.bytes.count, rate)
    if description.family != nil {
      sleepPlan.begin(at: sentBy, for: pending.duration)
      return requests.begin(command, for: .sleep)
    }
    fallAsleep(at: sentBy, for: pending.duration)
    actions.append(.send(command.bytes))
    return true
  }

  /// Whether another maker's receiver has the request to sleep, and has not acknowledged it.
  var isFallingAsleep: Bool { requests.owner == .sleep }

  /// The receiver refused the request, acknowledged it, or may have lost the time for that by its sleep.
  mutating func finishSleepRequest(_ outcome: Outcome, at now: Instant) {
    guard let requested = sleepPlan.takeRequested(), case .steady = stage else { return }
    switch outcome {
    case .refused(.unsupported), .refused(.invalid): report(.cannotSleep)
    case .refused: report(.doesNotSleep)
    default: fallAsleep(at: requested.at, for: requested.duration)
    }
  }

  /// The request counts as heard: the session goes on before its acknowledgement.
  mutating func assumeSleep() {
    guard isFallingAsleep else { return }
    interruptRequest()
    guard let requested = sleepPlan.takeRequested(), case .steady = stage else { return }
    fallAsleep(at: requested.at, for: requested.duration)
  }

  private mutating func fallAsleep(at sentBy: Instant, for duration: Milliseconds?) {
    guard let description else { return }
    watch = nil
    familyWatch = nil
    let sleep = SleepWatch(
      requestedAt: sentBy, duration: SleepRequest.clamped(duration, for: description), epoch: epochPeriod,
      isWokenByHost: description.can(.standby))
    enter(.asleep(sleep), on: .sleep)
    health.stopReceiving()
    health.interruptRecovery()
    report(.asleep(until: sleep.wakesAt))
  }

  // MARK: Storing

  mutating func startStoring() {
    let last = description.flatMap { desired?.powerSave?.switching(for: $0) }
    let store = BackupStore(before: memory.backup, usesItems: usesItems, own: memory.found, last: last)
    enter(.storing(store), on: .store)
  }

  mutating func storeNext(of store: BackupStore, at now: Instant) {
    if store.isSwitching, let description {
      // The end restores continuous operation.
      var before = DesiredConfiguration()
      before.powerSave = .continuous
      memory.keep(usesItems ? before.itemSettings(port ?? .uart1) : before.messageSettings(for: description))
    }
    if !begin(store.next()) { finishStoring(store, at: now) }
  }

  private mutating func finishStoring(_ store: BackupStore, at now: Instant) {
    memory.backup = store.before
    enter(.steady, on: .stored)
    let obstacle: SessionReport? =
      switch store.result {
      case .kept, .refused(losesRAM: false): nil
      case .refused(losesRAM: true): .refusesSaving
      case .silent: .doesNotSleep
      }
    if let obstacle {
      // A wake-up may have withdrawn the request meanwhile.
      if sleepPlan.pending != nil || obstacle == .refusesSaving { report(obstacle) }
      sleepPlan.cancel()
    } else {
      sleepPlan.store(settingsToSend)
    }
    if desired?.powerSave?.sleepsBetweenFixes == true {
      // Firmware before protocol version 18 refuses it while it receives GLONASS (M8 interface description, CFG-RXM).
      if store.isLastRefused { configuration.abandonPowerSave() }
      report(.configured(refused: configuration.refusedCount))
    }
    retry.restart()
    startWatch(at: now)
  }

  // MARK: Waking

  /// Whether no byte ends the sleep before its time: of another maker's receiver, or at a port that does not wake a u-blox one.
  func endsByTimerAlone(_ sleep: SleepWatch) -> Bool {
    guard let description, sleep.wakesAt != nil else { return false }
    return !description.isWoken(at: usablePort)
  }

  /// Waits for the end of the sleep: bytes would be lost. Returns whether that is new.
  mutating func waitForTimer(of sleep: SleepWatch, at now: Instant) -> Bool {
    var sleep = sleep
    guard let rest = sleep.await(at: now) else { return false }
    update(.asleep(sleep))
    report(.wakesByTimer(after: rest))
    return true
  }

  /// Frames are received from a receiver that was put to sleep.
  mutating func judge(_ sleep: SleepWatch, at now: Instant) {
    var sleep = sleep
    let verdict = sleep.receive(at: now)
    update(.asleep(sleep))
    switch verdict {
    case .sleeps: health.stopReceiving()
    case .isAwake(let cause): becomeAwake(cause, at: now)
    case .doesNotSleep:
      report(.doesNotSleep)
      enter(.steady, on: .doesNotSleep)
      retry.restart()
      startWatch(at: now)
    }
  }

  /// Much garbage is a receiver at the rate of its start: it is awake, or never slept.
  mutating func judgeGarbage(_ sleep: SleepWatch, at now: Instant) {
    guard isMuchGarbage else { return }
    var sleep = sleep
    let verdict = sleep.receive(at: now)
    update(.asleep(sleep))
    switch verdict {
    case .sleeps: return
    case .isAwake(let cause): report(.awake(cause))
    case .doesNotSleep: report(.doesNotSleep)
    }
    searchAgain(on: .garbage, at: now)
  }

  /// Garbage at the end, from a receiver that was woken: it has another rate than before its sleep.
  mutating func searchRate(_ wakeUp: WakeUp, at now: Instant) {
    guard settings.line == .serial, let rate, !listener.isSearching else { return }
    interruptRequest()
    var wakeUp = wakeUp
    wakeUp.search()
    update(.waking(wakeUp))
    let likely = [memory.foundRate].compactMap(\.self) + settings.likelyRates
    listener.search(from: rate, likely: likely, polling: .soon, replyTime: replyTime, at: now)
  }

  /// Whether there is more garbage than the rest of what the receiver sent before its sleep.
  var isMuchGarbage: Bool {
    sleepPlan.bytesSkipped(of: listener.counters.skippedBytes) >= UInt64(Self.garbageBytes)
  }

  mutating func send(_ wakeUp: WakeUp, at now: Instant) {
    switch wakeUp.next() {
    case .send(let command): begin(command)
    case .reset(let command):
      report(.resetToWake)
      orbits.restart()
      begin(command)
    case .failed: giveUpWaking(wakeUp, at: now)
    }
  }

  /// The receiver sends frames: settings that the sleep lost are written again.
  mutating func becomeAwake(_ cause: WakeCause, at now: Instant) {
    _ = description?.family == nil ? nil : requests.interrupt()
    if !end.isRequested { report(.awake(cause)) }
    health.receive(at: now)
    health.endSilence(at: now)
    retry.restart()
    if let found = memory.foundRate, rate == found {
      memory.foundRate = nil
      if !line.isRaiseAbandoned, let wanted = desired?.portRate { report(.rateNotChanged(wanted)) }
      line.abandonRaise()
    }
    enter(.steady, on: .awake)
    requests.waitAtLeast(until: now)
    if end.isRequested { return startRestoring(at: now, isAwake: true) }
    if description?.family == nil { assistance.wake(settings.assistance, for: description, at: now) }
    startConfiguring(at: now)
  }

  private mutating func giveUpWaking(_ wakeUp: WakeUp, at now: Instant) {
    // The receiver sends frames, if no replies.
    if isReceiving { return becomeAwake(wakeUp.cause, at: now) }
    if end.isRequested { return startRestoring(at: now) }
    report(.doesNotWake)
    _ = health.begin(.silent)
    loseTouch(on: .doesNotWake)
    scheduleRetry(from: now)
  }
}
