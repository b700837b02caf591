// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

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
    differential = DifferentialCorrections()
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
