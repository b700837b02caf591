import MonotonicTime

/// Why a receiver starts.
enum StartCause: Sendable {
  case power
  case reset
  /// From software standby.
  case standby
  /// From the off phase of power save mode.
  case inactive
}

// Starting, sleeping and waking.
extension VirtualReceiver {
  /// Starts the oscillator and the processor.
  mutating func start(_ cause: StartCause, after milliseconds: Milliseconds) {
    hasSupply = true
    startCause = cause
    wakesAt = nil
    startsAt = now + milliseconds
    enter(.starting)
  }

  /// The processor runs: the settings are read from where they are kept, and satellites are searched.
  mutating func finishStart() {
    startsAt = nil
    bootedAt = now
    odometerMetres = 0
    epochs = 0
    // What was solved before was in RAM: until the first epoch a poll is answered with a clock's time at most.
    solution = Solution()
    solution.utcMilliseconds = utcMilliseconds(at: now)
    solution.hasTime = memory.hasTime
    mode = PowerSaveState()
    input = InputBuffer()
    receivedBytes = 0
    hears = Hearing()
    configuration.restart()
    settings = configuration.settings(port: port, traits)
    receiveRate = settings.baudRate
    transmitter.rate = settings.baudRate
    pendingRate = nil
    restoreSavedMemory()
    if startCause != .inactive { sendBootText() }
    if startCause == .standby || startCause == .inactive { sendAwake(true) }
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

  /// Switches it off; the processor goes on.
  mutating func stopEngine() {
    engine.stop()
    nextEpoch = nil
    skyChangesAt = nil
    mode.deadline = nil
    lastEpoch = nil
  }

  /// Everything stops at once: no byte more is sent, and what was in RAM is lost.
  mutating func halt() {
    stopEngine()
    startsAt = nil
    wakesAt = nil
    pendingRate = nil
    spool = []
    emissions = []
    input = InputBuffer()
    hears = Hearing()
    batch.clear()
    transmitter.cut(at: now)
  }

  /// Sleeps for a time, or until it is woken.
  mutating func sleep(_ state: VirtualPowerState, for milliseconds: Milliseconds?, byUART: Bool) {
    halt()
    canWakeByUART = byUART
    wakesAt = milliseconds.map { now + $0 }
    enter(state)
  }

  /// The time is over, or an edge came.
  mutating func wake() {
    start(powerState == .standby ? .standby : .inactive, after: Milliseconds(traits.wakeMilliseconds))
  }

  /// A reset: by the host, or because the watchdog bit.
  mutating func reset() {
    halt()
    start(.reset, after: Milliseconds(traits.bootMilliseconds))
  }

  /// The main supply is taken away.
  mutating func cutSupply(losingBackup: Bool) {
    halt()
    hasSupply = false
    if losingBackup || !traits.hasBackup {
      memory = NavigationMemory()
      memory.hasAlmanac = false
      configuration.forgetBackup()
      enter(.off)
    } else {
      enter(.hardwareBackup)
    }
  }

  /// The main supply is back.
  mutating func restoreSupply() {
    if !hasSupply { start(.power, after: Milliseconds(traits.bootMilliseconds)) }
  }

  mutating func enter(_ state: VirtualPowerState) { meter.enter(state, traits.currents, settings.systems, at: now) }

  /// The state that the engine's state means.
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
    seconds.map { Instant(nanoseconds: origin.nanoseconds + UInt64(max(0, $0) * 1e9)) }
  }

  mutating func changeSky() {
    let seconds = max(now.seconds(since: origin), 0)
    // The change stands at this second; a little later it holds for certain.
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
