import MonotonicTime

/// When the next epoch ends, or begins, by when the last ones did: period and phase are followed as a clock's are, and moved
/// by a part of each error.
///
/// One epoch that is far out says nothing of the next; two in a row that are out alike say that the phase has changed.
struct EpochPace: Sendable {
  /// Parts of an epoch come closer together than this, seconds.
  static var longestPart: Double { 0.02 }

  /// What is assumed when few are known, seconds.
  private static var leastScatterLearned: Double { 0.001 }

  private enum Pace {
    /// Nothing has ended yet: what ends next may have begun at any time.
    case none
    case unknown(last: Instant?, period: Double, count: Int)
    case known(period: Double, expected: Instant)
  }

  /// What the last epoch was like.
  private enum Last {
    case inTime
    /// Far out, by so many seconds.
    case out(Double)
    /// There before it was listened for, as so many before it were.
    case early(Int)
  }

  private var pace = Pace.none
  private var last = Last.inTime
  /// How far the epochs are from when they were expected, seconds.
  private(set) var scatter = leastScatterLearned

  /// Whether the epoch that comes next is seen from its beginning on.
  var isBegun: Bool { if case .none = pace { false } else { true } }

  /// When the next one is expected; nil as long as nobody knows.
  var expected: Instant? {
    guard case .known(_, let expected) = pace else { return nil }
    return expected
  }

  /// How long before its expected time an epoch is to be listened for, seconds.
  var margin: Double {
    guard case .known(let period, _) = pace else { return ReadScheduler.shortestMargin }
    let usual = max(ReadScheduler.shortestMargin, min(2.5 * scatter, period / 4))
    switch last {
    case .early(1): return max(usual, period / 16)
    case .early: return max(usual, period / 4)
    case .inTime, .out: return usual
    }
  }

  /// An error beyond this is no scatter, seconds.
  private var most: Double { 4 * scatter + ReadScheduler.shortestMargin }

  /// Whether what ended then is more of the epoch that was over.
  func isPart(_ now: Instant) -> Bool {
    switch pace {
    case .none: false
    case .unknown(let last, _, _): last.map { now.seconds(since: $0) < Self.longestPart } ?? false
    case .known(let period, let expected): now.seconds(since: expected) < -period / 2
    }
  }

  /// An epoch came.
  mutating func follow(_ now: Instant) {
    switch pace {
    case .none: forget(nil)
    case .unknown(let last, let period, let count): learn(now, last, period, count)
    case .known(let period, let expected): follow(now, period, expected)
    }
  }

  /// The last one came then: there was more of it.
  mutating func amend(_ now: Instant) {
    switch pace {
    case .none: break
    case .unknown(_, let period, let count): pace = .unknown(last: now, period: period, count: count)
    case .known(let period, let expected):
      let error = now.seconds(since: expected) + period
      guard abs(error) < period / 3 else { return forget(now) }
      pace = .known(period: period, expected: expected.moved(by: error / 3))
    }
  }

  /// An epoch was there as a whole when it was listened for. Whether something else than its time explains that.
  mutating func followEarly(isExplained: Bool) {
    guard case .known(let period, let expected) = pace else { return }
    let next = expected.moved(by: period)
    if isExplained {
      pace = .known(period: period, expected: next)
      return
    }
    let before = if case .early(let count) = last { count } else { 0 }
    if before >= 2 { return forget(nil) }
    let step = before == 0 ? -margin / 4 : 0
    scatter = min(scatter * 1.25, period / 16)
    pace = .known(period: period, expected: next.moved(by: step))
    last = .early(before + 1)
  }

  /// An epoch came, and nobody knows when.
  mutating func skip() {
    guard case .known(let period, let expected) = pace else { return }
    pace = .known(period: period, expected: expected.moved(by: period))
  }

  /// What is followed is another moment of the epochs from now on.
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
    guard abs(error) < period / 2 else { return forget(now) }
    if abs(error) <= most {
      scatter += (abs(error) - scatter) / 8
      pace = .known(period: period + error / 64, expected: expected.moved(by: period + error / 4))
      last = .inTime
      return
    }
    let isAlike =
      switch last {
      case .inTime: false
      case .out(let before): abs(error - before) <= most
      case .early: error < 0
      }
    if isAlike {
      pace = .known(period: period, expected: now.moved(by: period))
      last = .inTime
    } else {
      scatter = min(scatter + (most - scatter) / 8, period / 8)
      pace = .known(period: period, expected: expected.moved(by: period))
      last = .out(error)
    }
  }

  private mutating func forget(_ now: Instant?) {
    pace = .unknown(last: now, period: 0, count: 0)
    last = .inTime
  }
}
