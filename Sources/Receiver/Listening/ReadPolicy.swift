import MonotonicTime

/// Says when a line need not be listened to, because nothing is worth waking for: between the end of an epoch and just
/// before the expected end of the next.
///
///     learning ── three epochs at a steady pace ──▶ resting ── shortly before the end ──▶ listening
///         ▲                                            ▲                                      │
///         └──── the pace breaks ───────────────────────┴──────────── the epoch ends ──────────┘
///
/// A line of 115200 baud brings 12 bytes a millisecond, and each wakes a process that listens. The kernel keeps them
/// meanwhile (64 KiB, tty_buffer.c), so that a process that sleeps until just before an epoch's last byte wakes two or
/// three times an epoch and hands it out as early as one that wakes each millisecond.
///
/// An answer is listened for at once. One that is overdue may never come: the line is then read in pieces, with a nap after
/// each, until the epoch is about to end.
public struct ReadPolicy: Sendable {
  /// What the line is listened to for.
  public enum Attention: Sendable, Equatable {
    /// Epochs alone: nothing was said that is to be answered.
    case epochs
    /// An answer that did not come in its time, or from a receiver that has not answered yet.
    case overdueAnswer
    /// An answer, or a sign of life.
    case answer
  }

  /// Epochs at a steady pace before the line is left alone.
  static var epochsToLearn: Int { 3 }
  /// The shortest time before the expected end at which the line is listened to again, seconds.
  static var shortestMargin: Double { 0.000_4 }
  /// A rest that is shorter is not worth its timer, seconds.
  static var shortestRest: Double { 0.002 }
  /// Parts of an epoch come closer together than this, seconds.
  static var longestPart: Double { 0.02 }
  /// How long the line is left alone after each piece while an answer is overdue, seconds: the longest delay of an answer.
  static var nap: Double { 0.05 }
  /// Bytes of an epoch that a kernel is trusted to keep.
  static var mostKept: Int { 16_384 }

  /// Until when the line can be left alone; nil to listen.
  public private(set) var restUntil: Instant?

  private var pace = Pace.unknown(last: nil, period: 0, count: 0)
  /// How far the ends lie from where they were expected, seconds.
  private var scatter = 0.001
  private var bytes = 0
  private var bytesPerEpoch = 0
  private var lastAttention = Attention.epochs
  /// When a rest ended, as long as nothing was read after it.
  private var rested: Instant?

  private enum Pace {
    case unknown(last: Instant?, period: Double, count: Int)
    /// Followed as a clock is: period and phase move by a part of each error.
    case known(period: Double, expected: Instant)
  }

  public init() {}

  /// Bytes were read.
  ///
  /// - Parameters:
  ///   - count: how many.
  ///   - endsEpoch: whether an epoch was handed out with them, or more of one that was.
  public mutating func receive(bytes count: Int, endsEpoch: Bool, at now: Instant) {
    bytes += count
    let wasOver = rested != nil
    rested = nil
    guard endsEpoch else { return }
    bytesPerEpoch = max(bytes, bytesPerEpoch / 2)
    bytes = 0
    switch pace {
    case .unknown(let last, let period, let count): learn(now, last, period, count)
    case .known(let period, let expected): follow(now, period, expected, wasOver: wasOver)
    }
    rest(at: now)
  }

  /// Any time: a rest may be over.
  public mutating func wake(at now: Instant) {
    guard let until = restUntil, now >= until else { return }
    restUntil = nil
    rested = now
  }

  /// A piece was read, or something was said: rests as far as what is waited for allows.
  public mutating func attend(to attention: Attention, at now: Instant) {
    defer { lastAttention = attention }
    switch attention {
    case .epochs:
      // The question is over, in the middle of an epoch or of a nap: the rest of the epoch is not listened to either.
      if lastAttention != .epochs { rest(at: now) }
      if restUntil != nil { rested = nil }
    case .answer:
      restUntil = nil
      rested = nil
    case .overdueAnswer:
      // Nothing was read since the last nap: the next byte is waited for, not the next nap.
      guard rested == nil else { return }
      if restUntil == nil { rest(at: now) }
      if let until = restUntil { restUntil = min(until, now.moved(by: Self.nap)) }
    }
  }

  /// The line changed: its pace has to be learned anew.
  public mutating func reset() { self = ReadPolicy() }

  private mutating func learn(_ now: Instant, _ last: Instant?, _ period: Double, _ count: Int) {
    guard let last else {
      pace = .unknown(last: now, period: 0, count: 0)
      return
    }
    let distance = now.seconds(since: last)
    if distance < Self.longestPart {
      pace = .unknown(last: now, period: period, count: count)
    } else if period == 0 || abs(distance - period) > period / 4 {
      pace = .unknown(last: now, period: distance, count: 0)
    } else if count + 1 < Self.epochsToLearn {
      pace = .unknown(last: now, period: (period + distance) / 2, count: count + 1)
    } else {
      pace = .known(period: (period + distance) / 2, expected: now.moved(by: (period + distance) / 2))
    }
  }

  private mutating func follow(_ now: Instant, _ period: Double, _ expected: Instant, wasOver: Bool) {
    var error = now.seconds(since: expected)
    if error < -period / 2 {
      // More of the epoch that was handed out: that is its end.
      error += period
      guard error < period / 3 else { return forget(now) }
      pace = .known(period: period, expected: expected.moved(by: error / 3))
      return
    }
    guard abs(error) < period / 3 else { return forget(now) }
    if wasOver {
      // The whole rest of the epoch was there when the line was listened to again: it ended earlier, nobody knows when.
      scatter = min(scatter * 1.25, period / 16)
      error = -margin(period)
    } else {
      scatter += (abs(error) - scatter) / 8
    }
    pace = .known(period: period + error / 64, expected: expected.moved(by: period + error / 4))
  }

  private mutating func forget(_ now: Instant) { pace = .unknown(last: now, period: 0, count: 0) }

  /// Seconds before the expected end.
  private func margin(_ period: Double) -> Double { max(Self.shortestMargin, min(2 * scatter, period / 4)) }

  private mutating func rest(at now: Instant) {
    restUntil = nil
    guard case .known(let period, let expected) = pace, bytesPerEpoch < Self.mostKept else { return }
    let until = expected.moved(by: -margin(period))
    if until.seconds(since: now) > Self.shortestRest { restUntil = until }
  }
}

extension Instant {
  /// The instant some seconds later, or earlier where they are negative.
  fileprivate func moved(by seconds: Double) -> Instant {
    let distance = (abs(seconds) * 1e9).rounded()
    if seconds >= 0 { return Instant(nanoseconds: nanoseconds + UInt64(distance)) }
    return Instant(nanoseconds: nanoseconds - min(nanoseconds, UInt64(distance)))
  }
}
