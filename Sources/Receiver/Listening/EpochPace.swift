// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// Predicts when the next epoch ends, or begins. Period and phase are tracked as for a clock: each error moves them
/// by a part of itself.
///
/// One epoch that is far off has no effect; two in a row with the same error mean that the phase has changed. An epoch
/// out of step, such as receivers send after a change of signals, has no effect either; a second one as far from its
/// neighbours, or a third one, means that the pace has changed.
struct EpochPace: Sendable {
  /// The longest pause between parts of one epoch, in seconds.
  static var longestPart: Double { 0.02 }

  /// The least scatter that is assumed after few epochs, in seconds.
  private static var leastScatterLearned: Double { 0.001 }

  private enum Pace {
    /// No epoch has ended yet: the next one can have begun at any time.
    case none
    case unknown(last: Instant?, period: Double, count: Int)
    case known(period: Double, expected: Instant)
  }

  /// The error of the last epoch.
  private enum Last {
    case inTime
    /// Far off, by this many seconds.
    case off(Double)
    /// Received before the line was read again, with the number of such epochs in a row.
    case early(Int)
  }

  /// The last epoch out of step: between two others, or after missing ones.
  private struct OutOfStep {
    /// The seconds since the epoch before it, or after the time at which it was expected.
    var error: Double
    var at: Instant
    /// Epochs out of step without two in time in a row.
    var count: Int
    /// Epochs in time since then.
    var inTime = 0
  }

  private var pace = Pace.none
  private var outOfStep: OutOfStep?
  private var last = Last.inTime
  /// The mean error of the epochs, in seconds.
  private(set) var scatter = leastScatterLearned

  /// Whether the next epoch is received from its beginning on.
  var isBegun: Bool { if case .none = pace { false } else { true } }

  /// When the next epoch is expected; nil while the pace is unknown.
  var expected: Instant? {
    guard case .known(_, let expected) = pace else { return nil }
    return expected
  }

  /// The time before the expected one from which on the line is read, in seconds.
  var margin: Double {
    guard case .known(let period, _) = pace else { return ReadScheduler.shortestMargin }
    let usual = max(ReadScheduler.shortestMargin, min(2.5 * scatter, period / 4))
    switch last {
    case .early(1): return max(usual, period / 16)
    case .early: return max(usual, period / 4)
    case .inTime, .off: return usual
    }
  }

  /// The largest error that counts as scatter, in seconds.
  private var most: Double { 4 * scatter + ReadScheduler.shortestMargin }

  /// Whether `now` is still a part of the epoch that ended last.
  func isPart(_ now: Instant) -> Bool {
    switch pace {
    case .none: false
    case .unknown(let last, _, _): last.map { now.seconds(since: $0) < Self.longestPart } ?? false
    case .known(let period, let expected): now.seconds(since: expected) < -period / 2
    }
  }

  /// Handles an epoch at a known time.
  mutating func follow(_ now: Instant) {
    switch pace {
    case .none: clear(nil)
    case .unknown(let last, let period, let count): learn(now, last, period, count)
    case .known(let period, let expected): follow(now, period, expected)
    }
  }

  /// Moves the last epoch to `now`: there was more of it.
  ///
  /// - Returns: false for an epoch out of step, which is not a part of it and has no effect.
  mutating func amend(_ now: Instant) -> Bool {
    switch pace {
    case .none: return true
    case .unknown(_, let period, let count): pace = .unknown(last: now, period: period, count: count)
    case .known(let period, let expected):
      let error = now.seconds(since: expected) + period
      if abs(error) > max(most, Self.longestPart) {
        switch step(error, at: now) {
        case .once: return false
        case .again: break
        case .often:
          clear(now)
          return true
        }
      }
      guard abs(error) < period / 3 else {
        clear(now)
        return true
      }
      pace = .known(period: period, expected: expected.moved(by: error / 3))
    }
    return true
  }

  private enum Step {
    case once
    /// As far off as the last one.
    case again
    case often
  }

  /// Notes an epoch out of step.
  private mutating func step(_ error: Double, at now: Instant) -> Step {
    // Epochs that came early are a sign of another pace too.
    if case .early = self.last { return .often }
    guard var last = outOfStep else {
      outOfStep = OutOfStep(error: error, at: now, count: 1)
      return .once
    }
    // More of the same epoch.
    let isSame = now.seconds(since: last.at) < Self.longestPart
    let isAlike = abs(error - last.error) <= max(most, Self.longestPart)
    if !isSame { last.count += 1 }
    outOfStep = OutOfStep(error: isSame ? last.error : error, at: now, count: last.count)
    if isSame { return .once }
    return isAlike ? .again : last.count > 2 ? .often : .once
  }

  private mutating func countInTime() {
    guard var last = outOfStep else { return }
    last.inTime += 1
    outOfStep = last.inTime < 2 ? last : nil
  }

  /// Handles an epoch that was complete when the line was read again.
  ///
  /// - Parameter isExplained: whether it is explained by something else than its time.
  mutating func followEarly(isExplained: Bool) {
    guard case .known(let period, let expected) = pace else { return }
    let next = expected.moved(by: period)
    if isExplained {
      pace = .known(period: period, expected: next)
      return
    }
    let before = if case .early(let count) = last { count } else { 0 }
    if before >= 2 { return clear(nil) }
    let step = before == 0 ? -margin / 4 : 0
    scatter = min(scatter * 1.25, period / 16)
    pace = .known(period: period, expected: next.moved(by: step))
    last = .early(before + 1)
  }

  /// Handles an epoch at an unknown time.
  mutating func skip() {
    guard case .known(let period, let expected) = pace else { return }
    pace = .known(period: period, expected: expected.moved(by: period))
  }

  /// Tracks another moment of the epochs from now on.
  mutating func move(by seconds: Double) {
    switch pace {
    case .none: break
    case .unknown(let last, let period, let count):
      pace = .unknown(last: last?.moved(by: seconds), period: period, count: count)
    case .known(let period, let expected): pace = .known(period: period, expected: expected.moved(by: seconds))
    }
  }

  private mutating func learn(_ now: Instant, _ last: Instant?, _ period: Double, _ count: Int) {
    guard let last else {
      pace = .unknown(last: now, period: 0, count: 0)
      return
    }
    let distance = now.seconds(since: last)
    if period == 0 || abs(distance - period) > period / 4 {
      pace = .unknown(last: now, period: distance, count: 0)
      scatter = Self.leastScatterLearned
      return
    }
    scatter = max(scatter, abs(distance - period))
    if count + 1 < ReadScheduler.epochsToLearn {
      pace = .unknown(last: now, period: (period + distance) / 2, count: count + 1)
    } else {
      let period = (period + distance) / 2
      pace = .known(period: period, expected: now.moved(by: period))
    }
  }

  private mutating func follow(_ now: Instant, _ period: Double, _ expected: Instant) {
    let error = now.seconds(since: expected)
    guard abs(error) < period / 2 else {
      guard step(error, at: now) == .once else { return clear(now) }
      // Epochs are missing: this one is compared with the nearest.
      let missing = (error / period).rounded()
      if missing >= 1 { follow(now, period, expected.moved(by: missing * period)) }
      return
    }
    if abs(error) <= most {
      countInTime()
      scatter += (abs(error) - scatter) / 8
      pace = .known(period: period + error / 64, expected: expected.moved(by: period + error / 4))
      last = .inTime
      return
    }
    let isAlike =
      switch last {
      case .inTime: false
      case .off(let before): abs(error - before) <= most
      case .early: error < 0
      }
    if isAlike {
      pace = .known(period: period, expected: now.moved(by: period))
      last = .inTime
    } else {
      scatter = min(scatter + (most - scatter) / 8, period / 8)
      pace = .known(period: period, expected: expected.moved(by: period))
      last = .off(error)
    }
  }

  private mutating func clear(_ now: Instant?) {
    pace = .unknown(last: now, period: 0, count: 0)
    last = .inTime
    outOfStep = nil
  }
}
