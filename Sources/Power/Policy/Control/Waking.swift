// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

// A receiver that was woken has to answer. Otherwise it is woken again, reset, reported, and tried at growing
// intervals.
extension PowerControl {
  func wakeDeadline(_ waking: Phase.Waking) -> Instant {
    waking.since + Milliseconds(seconds: wakePatience(waking))
  }

  private func wakePatience(_ waking: Phase.Waking) -> Double {
    waking.reviveSeconds ?? (waking.attempts == 0 ? policy.resetPatienceSeconds : policy.wakePatienceSeconds)
  }

  /// True when the phase has changed.
  mutating func wakeStep(_ waking: Phase.Waking, _ actions: inout [PowerAction]) -> Bool {
    guard wakeDeadline(waking) <= now else { return false }
    wakeAgain(waking, &actions)
    return false
  }

  mutating func wakeFailed(_ actions: inout [PowerAction]) {
    guard case .waking(let waking) = phase, waking.reviveSeconds == nil else { return }
    wakeAgain(waking, &actions)
  }

  private mutating func wakeAgain(_ waking: Phase.Waking, _ actions: inout [PowerAction]) {
    var waking = waking
    waking.since = now
    if let seconds = waking.reviveSeconds {
      waking.reviveSeconds = min(seconds * 2, policy.reviveLongestSeconds)
      actions.append(.wakeAgain(attempt: waking.attempts))
      waking.attempts += 1
    } else if waking.attempts < policy.wakeAttempts {
      waking.attempts += 1
      actions.append(.wakeAgain(attempt: waking.attempts))
    } else if waking.resets < policy.resetAttempts {
      waking.resets += 1
      waking.attempts = 0
      actions.append(.reset)
    } else {
      waking.reviveSeconds = policy.reviveSeconds
      reportOnce(.doesNotWake, &actions)
    }
    phase = .waking(waking)
  }

  /// The receiver has shown any activity.
  mutating func answered(_ actions: inout [PowerAction]) {
    guard case .waking(let waking) = phase else { return }
    if end(.doesNotWake) { actions.append(.report(.answersAgain)) }
    // A reset may have cleared the receiver's memory.
    if waking.resets > 0 { orbits.lost() }
    phase = .awake(
      Phase.Awake(since: waking.resets > 0 ? now : waking.since, isHot: waking.isHot && waking.resets == 0))
    if waking.resets > 0 { actions.append(.enter(wanted)) }
  }
}
