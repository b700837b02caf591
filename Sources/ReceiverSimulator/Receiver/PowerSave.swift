// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import WireBytes

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
