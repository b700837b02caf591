import MonotonicTime

/// Says when a line need not be listened to, because nothing is worth waking for: between the end of an epoch and just
/// before the expected end of the next, and within an epoch as long as the bytes that it still lacks cannot be there.
///
///     learning ── three epochs at a steady pace ──▶ resting ── shortly before the end ──▶ listening ⇄ napping
///         ▲                                            ▲                                      │
///         └──── the pace breaks ───────────────────────┴──────────── the epoch ends ──────────┘
///
/// A line of 115200 baud brings 12 bytes a millisecond, and each wakes a process that listens. The kernel keeps them
/// meanwhile (64 KiB, tty_buffer.c), so that a process that sleeps until just before an epoch's last byte wakes two or
/// three times an epoch and hands it out as early as one that wakes each millisecond.
///
/// Epochs end at a steady pace, or begin at one and end earlier or later as they have fewer or more messages: what was
/// steadier of late counts. What is left of an epoch takes its bytes' time, so that one that comes late, or has more messages
/// than the last, is napped through until its next possible end.
///
/// An answer is listened for at once. One that is overdue may never come: the line is then read in pieces, with a nap after
/// each, until the epoch is about to end.
public struct ReadScheduler: Sendable {
  /// What the line is listened to for.
  public enum Expectation: Sendable, Equatable {
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
  static var shortestIdle: Double { 0.002 }
  /// How long the line is left alone after each piece while an answer is overdue, seconds: the longest delay of an answer.
  static var idleInterval: Double { 0.05 }
  /// Bytes of an epoch that a kernel is trusted to keep.
  static var mostKept: Int { 16_384 }

  /// Until when the line can be left alone; nil to listen.
  public private(set) var idleUntil: Instant?

  private var ends = EpochPace()
  /// Counted back from the ends, by the time that the epochs' bytes take.
  private var beginnings = EpochPace()
  private var rate = ByteRate()
  private var lengths = EpochLengths()
  /// Bytes since the last end.
  private var bytes = 0
  /// Whether answers may be among them.
  private var isMixed = false
  private var lastExpectation = Expectation.epochs
  /// What the present rest is, or the last one was.
  private var rest = IdleInterval.betweenEpochs
  /// Whether a rest has just ended: what is read now came in it.
  private var hasIdled = false
  /// Whether the rest ended before its time, for the session's deadline, and goes on when the line has been looked at.
  private var isCut = false
  /// Whether nothing was read since the last rest.
  private var isQuiet = false

  private enum IdleInterval {
    case betweenEpochs
    case withinEpoch
  }

  public init() {}

  /// Bytes were read.
  ///
  /// - Parameters:
  ///   - count: how many.
  ///   - endsEpoch: whether an epoch was handed out with them, or more of one that was.
  ///   - now: the present instant.
  public mutating func receive(bytes count: Int, endsEpoch: Bool, at now: Instant) {
    bytes += count
    let over = hasIdled ? rest : nil
    hasIdled = false
    isQuiet = false
    keepingEnd { $0.receive(bytes: count, afterIdle: over != nil, endsEpoch: endsEpoch, at: now) }
    guard endsEpoch else {
      if idleUntil == nil, !isCut { idleInterval(at: now) }
      return
    }
    end(over, at: now)
    bytes = 0
    isMixed = lastExpectation != .epochs
    takeIdle(at: now)
  }

  /// Any time: a rest may be over.
  public mutating func wake(at now: Instant) {
    guard let until = idleUntil, now >= until else { return }
    idleUntil = nil
    hasIdled = true
    isQuiet = !isCut
  }

  /// A piece was read, or something was said: rests as far as what is waited for allows.
  ///
  /// - Parameters:
  ///   - attention: what is waited for.
  ///   - deadline: when the session concludes something from what has not come; nil when it does not. The line is looked at
  ///     before, as what is not read is not silence.
  ///   - now: the present instant.
  public mutating func attend(to expectation: Expectation, before deadline: Instant?, at now: Instant) {
    defer {
      lastExpectation = expectation
      cut(at: deadline, now)
    }
    hasIdled = false
    switch expectation {
    case .epochs:
      // The question is over, in the middle of an epoch or of a nap: the rest of the epoch is not listened to either.
      if lastExpectation != .epochs || isCut { takeIdle(at: now) }
      if idleUntil != nil { isQuiet = false }
    case .answer:
      idleUntil = nil
      isQuiet = false
      isMixed = true
    case .overdueAnswer:
      isMixed = true
      // Nothing was read since the last nap: the next byte is waited for, not the next nap.
      guard !isQuiet else { return }
      if idleUntil == nil { takeIdle(at: now) }
      if let until = idleUntil { idleUntil = min(until, now.moved(by: Self.idleInterval)) }
    }
  }

  private mutating func cut(at deadline: Instant?, _ now: Instant) {
    isCut = false
    guard let deadline, let until = idleUntil, deadline > now, deadline < until else { return }
    idleUntil = deadline
    isCut = true
  }

  /// The line changed: its pace has to be learned anew.
  public mutating func reset() { self = ReadScheduler() }

  private mutating func end(_ over: IdleInterval?, at now: Instant) {
    let isWhole = ends.isBegun
    switch over {
    case nil:
      if ends.isPart(now) {
        lengths.lengthenLast(by: bytes)
        ends.amend(now)
        beginnings.amend(beginning(of: lengths.last ?? bytes, ending: now))
        return
      }
      ends.follow(now)
      beginnings.follow(beginning(of: bytes, ending: now))
    case .betweenEpochs:
      // The whole rest of the epoch was there when the line was listened to again: it ended earlier, nobody knows when.
      // An epoch that is shorter than all before need not have come early.
      let isShort = lengths.shortest.map { bytes < $0 } ?? false
      ends.followEarly(isExplained: isShort)
      beginnings.followEarly(isExplained: isShort)
    case .withinEpoch:
      // The time of its end is not known; of its bytes there were as many as expected, so they come faster.
      if lengths.has(bytes) { keepingEnd { $0.hasComeFaster() } }
      ends.skip()
      beginnings.skip()
    }
    if isWhole { lengths.append(bytes) }
  }

  private func beginning(of length: Int, ending now: Instant) -> Instant {
    now.moved(by: -Double(length) * rate.secondsPerByte)
  }

  /// Changes what is known of the rate; the next end is expected when it was, and its beginning as much later.
  private mutating func keepingEnd(_ change: (inout ByteRate) -> Void) {
    let before = rate.secondsPerByte
    change(&rate)
    if rate.secondsPerByte == before { return }
    beginnings.move(by: Double(lengths.shortest ?? bytes) * (before - rate.secondsPerByte))
  }

  /// When the next epoch ends at the earliest, and how long before it is to be listened for, seconds.
  private var expectedEnd: (at: Instant, margin: Double)? {
    let end = ends.expected
    if let beginning = beginnings.expected, let shortest = lengths.shortest, rate.secondsPerByte > 0,
      end == nil || beginnings.scatter < ends.scatter
    {
      return (beginning.moved(by: Double(shortest) * rate.secondsPerByte), beginnings.margin)
    }
    return end.map { ($0, ends.margin) }
  }

  /// Rests until shortly before the earliest end that the next epoch can have, or what can be rested of this one.
  private mutating func takeIdle(at now: Instant) {
    idleUntil = nil
    guard lengths.longest < Self.mostKept, let (end, margin) = expectedEnd else { return }
    // Where nobody can say when the first byte comes, it is waited for.
    let duration = Double(lengths.shortest ?? 0) * rate.secondsPerByte
    if bytes == 0, duration > Self.shortestIdle, margin > duration { return }
    let until = end.moved(by: -margin)
    if until.seconds(since: now) > Self.shortestIdle {
      idleUntil = until
      rest = .betweenEpochs
    } else {
      idleInterval(at: now)
    }
  }

  /// Rests as long as the bytes take that the epoch lacks until its next possible end: not around the time at which it is
  /// expected, as some of its bytes may have been of something else.
  private mutating func idleInterval(at now: Instant) {
    guard bytes > 0, !isMixed, lengths.longest < Self.mostKept, let next = lengths.next(after: bytes) else { return }
    if let (end, margin) = expectedEnd, margin <= Self.shortestIdle, now < end.moved(by: margin) { return }
    let seconds = rate.seconds(of: next - bytes) - Self.shortestMargin
    guard seconds > Self.shortestIdle else { return }
    idleUntil = now.moved(by: seconds)
    rest = .withinEpoch
  }
}
