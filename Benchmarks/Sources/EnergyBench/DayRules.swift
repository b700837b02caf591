// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Positioning
import Power

/// The rules for any day, checked from the outside of the policy: by its events and its actions.
final class DayRules {
  private(set) var violations: [String] = []
  private let isHonest: Bool
  private let capabilities: ReceiverCapabilities
  private var demands: Set<ClientID> = []
  private var demandSince = 0.0
  private var lastFix: Double?
  private var lastTrouble = 0.0
  private var hasReceiver = false
  private var hasLostSky = false
  private var isDeaf = false
  private var isFixedSinceFound = false
  private var skyLostSinceFound = false
  private var commands = Hourly()

  init(isHonest: Bool, capabilities: ReceiverCapabilities) {
    self.isHonest = isHonest
    self.capabilities = capabilities
  }

  private func broken(_ text: String, at seconds: Double) {
    violations.append("at \(Int(seconds)) s, \(capabilities.name): \(text)")
  }

  func receive(_ event: PowerEvent, at seconds: Double) {
    switch event {
    case .demand(let id, let demand):
      if demand == nil {
        demands.remove(id)
      } else {
        if demands.isEmpty { demandSince = seconds }
        demands.insert(id)
      }
    case .fix:
      lastFix = seconds
      isFixedSinceFound = true
      hasLostSky = false
    case .receiverFound:
      hasReceiver = true
      isFixedSinceFound = false
      skyLostSinceFound = hasLostSky
      isDeaf = false
      lastTrouble = seconds
    case .receiverLost:
      hasReceiver = false
      lastTrouble = seconds
    case .rebooted, .wakeFailed, .wakesByTimer, .refused, .retrievalCut, .hostSuspending, .hostResumed:
      lastTrouble = seconds
    case .noFix, .entered, .wakeConfirmed, .batchRetrieved, .orbits, .assistance, .movementHint, .accelerometer: break
    }
  }

  func receive(_ action: PowerAction, at seconds: Double) {
    switch action {
    case .enter(let wanted): entered(wanted, at: seconds)
    case .wakeAgain, .reset: lastTrouble = seconds
    case .retrieveBatch, .cutRetrieval: break
    case .report(let report): received(report, at: seconds)
    }
  }

  private func entered(_ wanted: WantedState, at seconds: Double) {
    commands.count(at: seconds)
    guard isHonest else { return }
    if wanted.mode.isAsleep, !demands.isEmpty, !isFixedSinceFound, !skyLostSinceFound {
      if case .unread = wanted.mode { return }
      broken("power saving before the first fix", at: seconds)
    }
    if wanted.mode.isAsleep, wanted.batching != nil { broken("collecting asleep", at: seconds) }
    if wanted.batching != nil, capabilities.batching == nil { broken("collecting without the capability", at: seconds) }
    if case .cyclicTracking = wanted.mode, capabilities.cyclicLongestSeconds == nil {
      broken("cyclic tracking without the capability", at: seconds)
    }
    if case .backup = wanted.mode, capabilities.backup == nil { broken("backup without the capability", at: seconds) }
  }

  private func received(_ report: PowerReport, at seconds: Double) {
    switch report {
    case .skyLost:
      if hasLostSky { broken("the sky lost twice", at: seconds) }
      hasLostSky = true
      skyLostSinceFound = true
    case .skyBack: break
    case .doesNotWake:
      if isDeaf { broken("does not wake, reported twice", at: seconds) }
      isDeaf = true
    case .answersAgain: isDeaf = false
    case .refused, .doesNotSleep, .wakesByItself, .batchGone: lastTrouble = seconds
    case .deferralDue, .deferralKeptByHost, .fixesLost, .hostIsNeeded, .noReceiver: break
    }
  }

  func check(_ run: borrowing Run) {
    let seconds = run.seconds
    guard hasReceiver else { return }
    let mode = run.power.wanted.mode
    if case .backup(until: nil) = mode, capabilities.backup?.wakesByLine == false {
      broken("asleep without a wake-up source", at: seconds)
    }
    if !demands.isEmpty, !run.day.hasAccelerometer, isHonest, run.power.deadline == nil {
      broken("a demand waits and nothing is planned", at: seconds)
    }
    if let deadline = run.power.deadline, Double(deadline.nanoseconds) / 1e9 > seconds + 6 * 3600, !demands.isEmpty {
      broken("nothing is planned for hours", at: seconds)
    }
    if isHonest { checkFix(run, at: seconds) }
  }

  /// A request has a fix in bounded time, once sky and receiver have been good for two hours.
  private func checkFix(_ run: borrowing Run, at seconds: Double) {
    guard !demands.isEmpty, run.power.wanted.batching == nil, !run.day.hasAccelerometer else { return }
    let clouded = run.day.sky.last { $0.fromSeconds <= seconds && $0.sky == .none }
    let skySince =
      clouded.map { none in run.day.sky.first { $0.fromSeconds > none.fromSeconds }?.fromSeconds ?? seconds } ?? 0
    let wellSince = max(max(demandSince, lastTrouble), max(max(skySince, 0), lastFix ?? 0))
    if run.day.sky(at: seconds) != .none, seconds - wellSince > 3600 + 300 {
      broken("no fix for \(Int(seconds - wellSince)) s", at: seconds)
      lastTrouble = seconds
    }
  }

  func close(_ run: borrowing Run) {
    if run.overruns > 0 { broken("looped \(run.overruns) times", at: run.seconds) }
    // The shortest sleep and the shortest start take four seconds together.
    if run.switchesInWorstHour > 1800 {
      broken("\(run.switchesInWorstHour) switches in an hour", at: run.seconds)
    }
    if commands.worst > 2400 { broken("\(commands.worst) commands in an hour", at: run.seconds) }
    if isHonest, run.plant.overrun > 0 { broken("a batch overran by \(run.plant.overrun)", at: run.seconds) }
  }
}
