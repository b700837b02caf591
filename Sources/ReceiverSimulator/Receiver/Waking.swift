// SPDX-License-Identifier: Apache-2.0

import MonotonicTime
import WireBytes

/// The cause of a receiver's start.
enum StartCause: Sendable {
  case power
  case reset
  /// From software standby.
  case standby
  /// From the off phase of power save mode.
  case inactive
}

// Start, sleep and wake-up.
extension VirtualReceiver {
  /// Starts the oscillator and the processor.
  mutating func start(_ cause: StartCause, after milliseconds: Milliseconds) {
    hasSupply = true
    startCause = cause
    wakesAt = nil
    startsAt = now + milliseconds
    enter(.starting)
  }

  /// Completes a start: loads the stored settings and begins to search for satellites.
  mutating func finishStart() {
    startsAt = nil
    bootedAt = now
    odometerMetres = 0
    epochs = 0
    // The last solution was in RAM: until the first epoch a poll returns at most the time of the clock.
    solution = Solution()
    solution.utcMilliseconds = utcMilliseconds(at: now)
    solution.hasTime = memory.hasTime
    mode = PowerSaveState()
    input = InputBuffer()
    receivedBytes = 0
    reception = UARTReception()
    parsedMessages = ParsedMessages()
    differential = DifferentialCorrections()
    spartnKeys = SPARTNKeyMemory()
    configuration.restart()
    timeMode.restart()
    settings = configuration.settings(port: port, traits)
    if family != nil { restartFamily() }
    receiveRate = settings.baudRate
    transmitter.rate = settings.baudRate
    pendingRate = nil
    restoreSavedMemory()
    if family != nil {
      sendBanner()
    } else {
      if startCause != .inactive { sendBootText() }
      if startCause == .standby || startCause == .inactive { sendAwake(true) }
    }
    startEngine()
  }

  /// Switches the search for satellites on.
  mutating func startEngine() {
    let seconds = now.seconds(since: origin)
    visibleAt = nil
    engine.start(
      currentStartKind, traits.firstFix, spread: random.number(in: 0.9...1.2), sky: scenario.sky(atSeconds: seconds),
      at: now)
    skyChangesAt = instant(ofSecond: scenario.nextSkyChange(afterSeconds: seconds))
    mode.beginSearch(at: now)
    scheduleEpoch()
    showPowerState()
  }

  /// Restarts GNSS: an epoch out of step, without a fix, comes before those at full seconds.
  mutating func restartNavigation(isAnnounced: Bool) {
    if isAnnounced { sendText("Stopping GNSS", severity: 2) }
    startEngine()
    if isAnnounced { sendText("Starting GNSS", severity: 2) }
    nextEpoch = now + Milliseconds(traits.restartMilliseconds)
  }

  /// Switches the search off; the processor continues.
  mutating func stopEngine() {
    engine.stop()
    nextEpoch = nil
    skyChangesAt = nil
    mode.deadline = nil
    lastEpoch = nil
  }

  /// Stops everything at once: no further byte is sent, and the contents of RAM are lost.
  mutating func halt() {
    stopEngine()
    startsAt = nil
    wakesAt = nil
    pendingRate = nil
    spool = []
    emissions = []
    input = InputBuffer()
    reception = UARTReception()
    batch.clear()
    family?.halt()
    transmitter.cut(at: now)
  }

  /// Sleeps for a time, or until a wake-up.
  mutating func sleep(_ state: VirtualPowerState, for milliseconds: Milliseconds?, byUART: Bool) {
    halt()
    canWakeByUART = byUART
    wakesAt = milliseconds.map { now + $0 }
    enter(state)
  }

  /// Wakes up at the end of the time, or at an edge.
  mutating func wake() {
    start(powerState == .standby ? .standby : .inactive, after: wakeTime)
  }

  /// The time from an edge until it reads.
  var wakeTime: Milliseconds {
    Milliseconds(traits.wakeMilliseconds + (family?.quirks.contains(.slowWake) == true ? 4000 : 0))
  }

  /// A reset by the host or by the watchdog.
  mutating func reset() {
    halt()
    start(.reset, after: Milliseconds(traits.family?.restartMilliseconds ?? traits.bootMilliseconds))
  }

  /// Removes the main supply.
  mutating func cutSupply(losingBackup: Bool) {
    halt()
    hasSupply = false
    if losingBackup || !traits.hasBackup || family?.hasBackup == false {
      memory = NavigationMemory()
      memory.hasAlmanac = false
      configuration.clearBackup()
      family?.loseBackup()
      enter(.off)
    } else {
      enter(.hardwareBackup)
    }
  }

  /// Restores the main supply.
  mutating func restoreSupply() {
    if !hasSupply { start(.power, after: Milliseconds(traits.bootMilliseconds)) }
  }

  mutating func enter(_ state: VirtualPowerState) { meter.enter(state, traits.currents, settings.systems, at: now) }

  /// Enters the power state that follows from the engine's state.
  mutating func showPowerState() {
    guard startsAt == nil, hasSupply, !powerState.isAsleep || engine.isRunning else { return }
    if !engine.isRunning {
      enter(.stopped)
    } else if !engine.hasFix {
      enter(.acquisition)
    } else {
      enter(mode.isOptimised ? .optimisedTracking : .tracking)
    }
  }

  func instant(ofSecond seconds: Double?) -> Instant? {
    seconds.map { origin.moved(by: max(0, $0)) }
  }

  mutating func changeSky() {
    let seconds = max(now.seconds(since: origin), 0)
    // The addition ensures that the change is in force: it is at exactly this second.
    engine.setSky(scenario.sky(atSeconds: seconds + 1e-6), at: now)
    skyChangesAt = instant(ofSecond: scenario.nextSkyChange(afterSeconds: seconds + 1e-6))
    showPowerState()
  }

  mutating func advanceEngine() {
    switch engine.wake(at: now) {
    case .none: return
    case .fixed: becomeFixed()
    case .lost:
      engine.search(currentStartKind, traits.firstFix, spread: random.number(in: 0.9...1.2), at: now)
      mode.beginSearch(at: now)
    }
    showPowerState()
  }
}

/// The state of power save mode.
///
///     acquisition ── fix, and long enough ──▶ tracking ──▶ cyclic: optimised tracking
///         │                                       │
///         │ no fix in time, or no signal          └── on/off: on time is over ──▶ inactive until the next fix is due
///         └──▶ inactive until the next search is due
struct PowerSaveState: Sendable {
  /// The next time to decide whether the receiver can sleep.
  var deadline: Instant?
  /// Whether satellites are tracked in intervals.
  var isOptimised = false
  var searchBegan = Instant.zero

  /// Seconds without any signal after which a search ends (integration manuals, power save mode).
  static let silentSkySeconds = 15.0
  /// Seconds from a fix until cyclic tracking begins, if all ephemerides are collected.
  static let settleSeconds = 10.0
  /// The age in seconds at which an ephemeris is renewed, if updates are enabled: the receiver wakes each half hour.
  static let renewalSeconds: Int64 = 1800

  mutating func beginSearch(at now: Instant) {
    searchBegan = now
    isOptimised = false
    deadline = nil
  }
}

extension VirtualReceiver {
  /// NAV-PVT's code: 0 off, 1 enabled without a fix, 2 acquisition, 3 tracking, 4 optimised tracking.
  var powerSaveCode: UInt8 {
    guard settings.powerSave.mode != .continuous else { return 0 }
    if !engine.hasFix { return engine.timeToFirstFix == nil ? 1 : 2 }
    return mode.isOptimised ? 4 : 3
  }

  /// Decides at each epoch, and at each limit, whether the receiver can sleep.
  mutating func advancePowerSave() {
    mode.deadline = nil
    let save = settings.powerSave
    guard engine.isRunning, save.mode != .continuous else {
      if mode.isOptimised {
        mode.isOptimised = false
        showPowerState()
      }
      return
    }
    if engine.hasFix { rest(save) } else { giveUp(save) }
  }

  private mutating func rest(_ save: Settings.PowerSave) {
    let fixed = engine.fixedSince
    let searched = mode.searchBegan
    switch save.mode {
    case .continuous: break
    case .cyclic:
      let ready = max(
        fixed + Milliseconds(seconds: PowerSaveState.settleSeconds),
        searched + Milliseconds(seconds: save.minimumAcquisitionSeconds))
      guard now >= ready else { return mode.deadline = ready }
      if !mode.isOptimised, isEphemerisComplete(atMost: .max) {
        mode.isOptimised = true
        showPowerState()
      }
    case .onOff:
      let time = save.waitsForTime ? 2.0 : 0
      let ready = max(
        fixed + Milliseconds(seconds: max(save.onSeconds, time)),
        searched + Milliseconds(seconds: save.minimumAcquisitionSeconds))
      guard now >= ready else { return mode.deadline = ready }
      guard !save.updatesEphemeris || isEphemerisComplete(atMost: PowerSaveState.renewalSeconds), lastEpoch != nil,
        lastEpoch! >= fixed
      else { return }
      becomeInactive(save.updateSeconds > 0 ? save.updateSeconds : nil, save)
    }
  }

  private mutating func giveUp(_ save: Settings.PowerSave) {
    guard save.mode == .onOff, !save.doesNotEnterOff else { return }
    var limit: Instant?
    if save.maximumAcquisitionSeconds > 0 {
      limit = mode.searchBegan + Milliseconds(seconds: save.maximumAcquisitionSeconds)
    }
    if engine.sky == .none {
      let silent = max(engine.signalUntil, mode.searchBegan) + Milliseconds(seconds: PowerSaveState.silentSkySeconds)
      limit = Instant.earlier(limit, silent)
    }
    guard let limit else { return }
    guard now >= limit else { return mode.deadline = limit }
    becomeInactive(save.searchSeconds > 0 ? save.searchSeconds : nil, save)
  }

  /// Sleeps until the next point of the grid.
  private mutating func becomeInactive(_ period: Double?, _ save: Settings.PowerSave) {
    // The output in progress is completed first.
    guard emissions.isEmpty, spool.isEmpty, transmitter.freeAt <= now else {
      return mode.deadline = max(now + Milliseconds(10), transmitter.freeAt)
    }
    guard let period else { return sleep(.inactive, for: nil, byUART: true) }
    let milliseconds = Int64(clamping: max(1000, period * 1000))
    let since = utcMilliseconds(at: now) - Int64(clamping: save.gridOffsetSeconds * 1000)
    let left = milliseconds - (since % milliseconds + milliseconds) % milliseconds
    sleep(.inactive, for: Milliseconds(UInt64(left)), byUART: true)
  }

  /// Whether an ephemeris of at most this age is available for each satellite in use.
  private func isEphemerisComplete(atMost seconds: Int64) -> Bool {
    let utc = utcMilliseconds(at: now)
    let used = solution.satellites.filter(\.isUsed)
    return used.count >= 4
      && used.allSatisfy { state in
        guard let collected = memory.ephemeris[state.satellite.slot] else { return false }
        return (utc - collected) / 1000 <= min(seconds, NavigationMemory.validSeconds(ofSlot: state.satellite.slot))
      }
  }
}
