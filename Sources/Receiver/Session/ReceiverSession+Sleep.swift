import MonotonicTime
import ReceiverStream
import UBX

/// How the receiver falls asleep, and wakes.
extension ReceiverSession {
  var usablePort: ReceiverPortNumber? { settings.line == .usb ? .usb : port }

  /// Begins the sleep that is wished; whether there is one.
  mutating func startSleeping(at now: Instant) -> Bool {
    guard let pendingSleep, let description else { return false }
    guard let command = SleepRequest.command(pendingSleep.duration, for: description, port: usablePort) else {
      self.pendingSleep = nil
      actions.append(.report(.cannotSleep))
      return false
    }
    guard stored == settingsInForce else {
      startStoring()
      return true
    }
    self.pendingSleep = nil
    watch = nil
    let duration = SleepRequest.clamped(pendingSleep.duration)
    let sentBy = now + RequestInFlight.time(of: command.bytes.count, rate)
    let sleep = SleepWatch(requestedAt: sentBy, duration: duration, epoch: epochPeriod)
    stage = .asleep(sleep)
    isHeard = false
    trouble.interrupt()
    skippedAsleep = listener.counters.skippedBytes
    actions.append(.send(command.bytes))
    actions.append(.report(.asleep(until: sleep.wakesAt)))
    return true
  }

  /// What the receiver was told, as it has to outlive its sleep: the rate of the port with it.
  var settingsInForce: [Setting] {
    guard var desired, let description else { return [] }
    desired.isPowerSaveOn = desired.powerSave?.sleepsBetweenFixes != true
    guard description.can(.valset) else { return desired.messageSettings(for: description) }
    var list = items(of: desired)
    if settingsRate != nil, let rate, let key = (port ?? .uart1).rateKey {
      list.append(.item(ConfigurationPair(id: key, bits: UInt64(rate))))
    }
    return list
  }

  mutating func startStoring() {
    let last = description.flatMap { desired?.powerSave?.switching(for: $0) }
    if last != nil, let description {
      // It was continuous, as it is when it is put back.
      var before = DesiredConfiguration()
      before.powerSave = .continuous
      let list =
        description.can(.valset) ? before.itemSettings(port ?? .uart1) : before.messageSettings(for: description)
      for setting in list where !memory.found.contains(where: { $0.setting.isOfSame(setting) }) {
        memory.found.append(Configuration.Found(setting: setting))
      }
    }
    stage = .storing(BackupStore(settingsInForce, before: memory.backup, last: last))
  }

  mutating func finishStoring(_ store: BackupStore, at now: Instant) {
    memory.backup = store.before
    // What could not be kept is written again after the sleep.
    stored = settingsInForce
    stage = .steady
    if desired?.powerSave?.sleepsBetweenFixes == true {
      // Firmware before protocol version 18 refuses it while it receives GLONASS (M8 interface description, CFG-RXM).
      if store.isLastRefused {
        desired?.powerSave = nil
        sentConfiguration = desired
        appliedConfiguration = desired
        refusedCount += 1
      }
      actions.append(.report(.configured(refused: refusedCount)))
    }
    startWatch(at: now, without: [], isMuted: false)
  }

  /// Somebody speaks who was asked to be silent.
  mutating func noticeWaking(at now: Instant) {
    guard case .asleep(var sleep) = stage else { return }
    let verdict = sleep.hear(at: now)
    stage = .asleep(sleep)
    switch verdict {
    case .sleeps: isHeard = false
    case .isAwake(let cause): becomeAwake(cause, at: now)
    case .doesNotSleep:
      actions.append(.report(.doesNotSleep))
      stage = .steady
      startWatch(at: now, without: [], isMuted: false)
    }
  }

  /// Its time is over and it is not heard: it is woken.
  mutating func wakeIfTime(at now: Instant) {
    guard case .asleep(let sleep) = stage, let due = sleep.deadline, now >= due else { return }
    stage = .waking(WakeUp(.time))
  }

  /// It answers, or speaks: what its sleep lost is written again.
  mutating func becomeAwake(_ cause: WakeCause, at now: Instant) {
    if endBy == nil { actions.append(.report(.awake(cause))) }
    isHeard = true
    lastFrame = now
    retryAfter = Self.firstRetry
    if let lost = settingsRate, rate == lost {
      settingsRate = nil
      if !keepsNoRate, let wanted = desired?.portRate { actions.append(.report(.rateNotChanged(wanted))) }
      keepsNoRate = true
    }
    stage = .steady
    quietUntil = max(quietUntil, now)
    if endBy == nil { startConfiguring(at: now) } else { startRestoring(at: now, isAwake: true) }
  }

  mutating func giveUpWaking(_ wakeUp: WakeUp, at now: Instant) {
    // It speaks, if it does not answer.
    if isHeard { return becomeAwake(wakeUp.cause, at: now) }
    if endBy != nil { return startRestoring(at: now) }
    actions.append(.report(.doesNotWake))
    _ = trouble.begin(.silent)
    loseTouch()
    scheduleRetry(from: now)
  }
}
