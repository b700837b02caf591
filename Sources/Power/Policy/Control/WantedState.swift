// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// The state that the receiver should have. The session applies it as often as necessary and reports the outcome.
public struct WantedState: Hashable, Sendable {
  public var mode: PowerMode
  /// The smaller set of constellations is good enough.
  public var reducedConstellations: Bool
  /// The receiver collects fixes and sends none by itself.
  public var batching: Batch?

  public init(mode: PowerMode, reducedConstellations: Bool = false, batching: Batch? = nil) {
    self.mode = mode
    self.reducedConstellations = reducedConstellations
    self.batching = batching
  }

  /// Full power, a fix a second: the state in which a receiver wakes.
  public static let fullPower = WantedState(mode: .continuous(everySeconds: 1))

  /// Whether no navigation output is expected: the line stays silent and the host asleep.
  public var isSilent: Bool { batching != nil || mode.isAsleep }

  /// The receiver's collecting.
  public struct Batch: Hashable, Sendable {
    /// The number of epochs to reserve.
    public var epochs: Int
    /// With heights above sea level and all accuracies.
    public var extended: Bool

    public init(epochs: Int, extended: Bool) {
      self.epochs = epochs
      self.extended = extended
    }
  }
}

/// The power states, from the dearest to the cheapest.
public enum PowerMode: Hashable, Sendable {
  /// Full power, with the interval between fixes.
  case continuous(everySeconds: Int)
  /// Power-optimised tracking, with the interval between fixes.
  case cyclicTracking(everySeconds: Int)
  /// The receiver's own on/off operation with this period.
  case onOff(periodSeconds: Int)
  /// The receiver runs and cannot be stopped; its line is not read until then (nil: until there is a demand).
  case unread(until: Instant?)
  /// Backup by request, until then or until it is woken.
  case backup(until: Instant?)
  /// The supply is switched off until then.
  case off(until: Instant?)

  /// Whether neither fixes nor signal reports come in this mode.
  public var isAsleep: Bool {
    switch self {
    case .continuous, .cyclicTracking, .onOff: false
    case .unread, .backup, .off: true
    }
  }
}

// Fixes at a rate: continuous or cyclic tracking, and its period.
extension PowerControl {
  /// The cheapest state that gives fixes at this rate. A cheaper state waits for a time, a dearer one is chosen at
  /// once.
  func liveState(cyclic: Bool, periodSeconds: Int) -> WantedState {
    var state = fullPower
    let settled = now.seconds(since: modes.since) >= policy.cyclicAfterSeconds
    let period = settled ? periodSeconds : min(periodSeconds, presentPeriod ?? 1)
    state.mode = .continuous(everySeconds: period)
    guard cyclic, let longest = capabilities?.cyclicLongestSeconds, !isRefused(.cyclicTracking), let newestFix else {
      return state
    }
    let isCyclic = if case .cyclicTracking = wanted.mode { true } else { false }
    // The limit to begin is stricter than the limit to stay.
    guard newestFix.observation.errorMetres <= policy.cyclicFixMetres * (isCyclic ? 1.5 : 1) else { return state }
    let mayTry = modes.cyclicEnded.map { now.seconds(since: $0) >= policy.cyclicAfterSeconds } ?? true
    guard isCyclic || (mayTry && orbits.isUsable(at: now)) else { return state }
    state.mode = .cyclicTracking(everySeconds: min(period, Int(longest)))
    return state
  }

  private var presentPeriod: Int? {
    switch wanted.mode {
    case .continuous(let seconds), .cyclicTracking(let seconds): seconds
    default: nil
    }
  }
}
