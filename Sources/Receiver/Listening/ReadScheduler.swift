// SPDX-License-Identifier: Apache-2.0

import MonotonicTime

/// Decides when a line need not be read: between the end of an epoch and just before the expected end of the next one,
/// and within an epoch while the missing bytes cannot have arrived.
///
///     learning ── three epochs at a steady pace ──▶ between epochs ── shortly before the end ──▶ reading ⇄ within an epoch
///         ▲                                            ▲                                           │
///         └──── the pace breaks ───────────────────────┴──────────── the epoch ends ───────────────┘
///
/// A line of 115200 baud delivers 12 bytes in a millisecond, and each read wakes the process. The kernel buffers 64 KiB
/// (tty_buffer.c): a process that idles until just before the last byte of an epoch wakes two or three times an epoch,
/// and reports it as early as one that wakes each millisecond.
///
/// Epochs end at a steady pace, or begin at one and end earlier or later with fewer or more messages: the steadier of the
/// two counts. The missing bytes of an epoch take their time on the line, so a late or a longer epoch is idled through
/// until its next possible end.
///
/// A line that brings whole epochs at once, such as one over USB, wakes the process once an epoch. An idle interval would add
/// a wake-up at its end, so the scheduler takes no interval there.
///
/// A reply is read at once. An overdue one may never come: the line is then read in pieces, with an idle interval after
/// each, until the epoch is about to end.
public struct ReadScheduler: Sendable {
  /// The input for which the session waits.
  public enum Expectation: Sendable, Equatable {
    /// Epochs alone: no request waits for a reply.
    case epochs
    /// A late reply, or one from a receiver that has not replied yet.
    case overdueAnswer
    /// A reply, or a first frame.
    case answer
  }

  /// The number of epochs at a steady pace before the first idle interval.
  static var epochsToLearn: Int { 3 }
  /// The shortest time before the expected end at which the line is read again, in seconds.
  static var shortestMargin: Double { 0.000_4 }
  /// The shortest idle interval that is worth a timer, in seconds.
  static var shortestIdle: Double { 0.002 }
  /// The idle interval after each piece while a reply is overdue, in seconds: the longest delay of a reply.
  static var idleInterval: Double { 0.05 }
  /// The bytes of an epoch that the kernel is trusted to buffer.
  static var mostKept: Int { 16_384 }

  /// The end of the idle interval; nil to read.
  public private(set) var idleUntil: Instant?

  private var ends = EpochPace()
  /// The ends minus the time of the epochs' bytes on the line.
  private var beginnings = EpochPace()
  private var rate = ByteRate()
  private var lengths = EpochLengths()
  /// The number of bytes since the last end.
  private var bytes = 0
  /// The number of epochs in a row of which one read had all bytes, while the line was read at any time.
  private var wholeReads = 0
  /// Whether replies may be among them.
  private var isMixed = false
  private var lastExpectation = Expectation.epochs
  /// The present idle interval, or the last one.
  private var interval = IdleInterval.betweenEpochs
  /// Whether an idle interval has just ended: the bytes that are read now arrived in it.
  private var hasIdled = false
  /// Whether the interval ended early for the session's deadline, and goes on once the line was read.
  private var isCut = false
  /// Whether nothing was read since the last idle interval.
  private var isQuiet = false

  private enum IdleInterval {
    case betweenEpochs
    case withinEpoch
  }

  public init() {}

  /// Handles a read.
  ///
  /// - Parameters:
  ///   - count: the number of bytes.
  ///   - endsEpoch: whether they complete an epoch, or add to one that was reported.
  ///   - now: the present instant.
  public mutating func receive(bytes count: Int, endsEpoch: Bool, at now: Instant) {
    bytes += count
    let over = hasIdled ? interval : nil
    hasIdled = false
    isQuiet = false
    keepingEnd { $0.receive(bytes: count, afterIdle: over != nil, endsEpoch: endsEpoch, at: now) }
    guard endsEpoch else {
      if idleUntil == nil, !isCut { idleWithinEpoch(at: now) }
      return
    }
    // An epoch that was complete at the end of an idle interval arrived in an unknown number of pieces.
    if over == nil { wholeReads = count == bytes ? min(wholeReads + 1, Self.epochsToLearn) : 0 }
    end(over, at: now)
    bytes = 0
    isMixed = lastExpectation != .epochs
    takeIdle(at: now)
  }

  /// Ends the idle interval if it is over.
  public mutating func wake(at now: Instant) {
    guard let until = idleUntil, now >= until else { return }
    idleUntil = nil
    hasIdled = true
    isQuiet = !isCut
  }

  /// Idles as far as the expectation allows, after a read or a request.
  ///
  /// - Parameters:
  ///   - expectation: what the session waits for.
  ///   - deadline: when the session takes silence for a result; nil for never. The line is read before: unread bytes are
  ///     not silence.
  ///   - now: the present instant.
  public mutating func attend(to expectation: Expectation, before deadline: Instant?, at now: Instant) {
    defer {
      lastExpectation = expectation
      cut(at: deadline, now)
    }
    hasIdled = false
    switch expectation {
    case .epochs:
      // The request is over in the middle of an epoch or of an idle interval: the remaining epoch is idled through too.
      if lastExpectation != .epochs || isCut { takeIdle(at: now) }
      if idleUntil != nil { isQuiet = false }
    case .answer:
      idleUntil = nil
      isQuiet = false
      isMixed = true
    case .overdueAnswer:
      isMixed = true
      // Nothing was read since the last interval: the next byte is awaited, not the next interval.
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

  /// Learns the pace anew: the line changed.
  public mutating func reset() { self = ReadScheduler() }

  private mutating func end(_ over: IdleInterval?, at now: Instant) {
    let isWhole = ends.isBegun
    switch over {
    case nil:
      if ends.isPart(now) {
        guard ends.amend(now) else { return }
        lengths.lengthenLast(by: bytes)
        _ = beginnings.amend(beginning(of: lengths.last ?? bytes, ending: now))
        return
      }
      ends.follow(now)
      beginnings.follow(beginning(of: bytes, ending: now))
    case .betweenEpochs:
      // The whole epoch was there when the line was read again: it ended earlier, at an unknown time. An epoch that is
      // shorter than all before need not be early.
      let isShort = lengths.shortest.map { bytes < $0 } ?? false
      ends.followEarly(isExplained: isShort)
      beginnings.followEarly(isExplained: isShort)
    case .withinEpoch:
      // Its end is unknown. It has as many bytes as expected, so they arrive faster.
      if lengths.has(bytes) { keepingEnd { $0.speedUp() } }
      ends.skip()
      beginnings.skip()
    }
    if isWhole { lengths.append(bytes) }
  }

  private func beginning(of length: Int, ending now: Instant) -> Instant {
    now.moved(by: -Double(length) * rate.secondsPerByte)
  }

  /// Changes the rate. The next end is still expected at its time, and its beginning moves.
  private mutating func keepingEnd(_ change: (inout ByteRate) -> Void) {
    let before = rate.secondsPerByte
    change(&rate)
    if rate.secondsPerByte == before { return }
    beginnings.move(by: Double(lengths.shortest ?? bytes) * (before - rate.secondsPerByte))
  }

  /// The earliest end of the next epoch, and the time before it from which on the line is read, in seconds.
  private var expectedEnd: (at: Instant, margin: Double)? {
    let end = ends.expected
    if let beginning = beginnings.expected, let shortest = lengths.shortest, rate.secondsPerByte > 0,
      end == nil || beginnings.scatter < ends.scatter
    {
      return (beginning.moved(by: Double(shortest) * rate.secondsPerByte), beginnings.margin)
    }
    return end.map { ($0, ends.margin) }
  }

  /// Idles until shortly before the earliest end of the next epoch, or within the present one.
  private mutating func takeIdle(at now: Instant) {
    idleUntil = nil
    if wholeReads == Self.epochsToLearn { return }
    guard lengths.longest < Self.mostKept, let (end, margin) = expectedEnd else { return }
    // The first byte is awaited if its time is unknown.
    let duration = Double(lengths.shortest ?? 0) * rate.secondsPerByte
    if bytes == 0, duration > Self.shortestIdle, margin > duration { return }
    let until = end.moved(by: -margin)
    if until.seconds(since: now) > Self.shortestIdle {
      idleUntil = until
      interval = .betweenEpochs
    } else {
      idleWithinEpoch(at: now)
    }
  }

  /// Idles for the time of the missing bytes until the next possible end. Around the expected end it does not, because
  /// some bytes may belong to something else.
  private mutating func idleWithinEpoch(at now: Instant) {
    guard bytes > 0, !isMixed, lengths.longest < Self.mostKept, let next = lengths.next(after: bytes) else { return }
    if let (end, margin) = expectedEnd, margin <= Self.shortestIdle, now < end.moved(by: margin) { return }
    let seconds = rate.seconds(of: next - bytes) - Self.shortestMargin
    guard seconds > Self.shortestIdle else { return }
    idleUntil = now.moved(by: seconds)
    interval = .withinEpoch
  }
}

/// The measured speed of a line, while it was read without a pause.
struct ByteRate: Sendable {
  /// The shortest stretch that is measured, in seconds.
  private static var shortestStretch: Double { 0.004 }

  /// The value of the fastest stretch so far; 0 for a line that delivers an epoch at once, and before a measurement.
  private(set) var secondsPerByte = 0.0
  /// The bytes that arrive at once, from a buffer or for a slow process: the larger pieces of recent reads.
  private var piece = 0
  /// The time of a read, and the bytes after it.
  private var stretch: (since: Instant, last: Instant, bytes: Int)?

  /// Handles a read.
  ///
  /// - Parameter afterIdle: whether the bytes arrived at an unknown time before.
  mutating func receive(bytes count: Int, afterIdle: Bool, endsEpoch: Bool, at now: Instant) {
    if afterIdle || stretch.map({ now.seconds(since: $0.last) > EpochPace.longestPart }) ?? true {
      if !afterIdle { measure() }
      stretch = (since: now, last: now, bytes: 0)
    } else {
      piece = max(count, piece - piece / 8)
      stretch?.bytes += count
      stretch?.last = now
    }
    if endsEpoch {
      measure()
      stretch = nil
    }
  }

  /// Returns the shortest time for this many bytes after bytes of an unknown time, in seconds; 0 if they arrive in so few
  /// pieces that an idle interval saves none.
  func seconds(of bytes: Int) -> Double {
    bytes < 3 * piece ? 0 : Double(bytes - piece) * secondsPerByte * 0.97
  }

  /// Handles bytes that arrived before they were expected.
  mutating func speedUp() { secondsPerByte *= 0.9 }

  private mutating func measure() {
    guard let stretch, stretch.bytes > 0 else { return }
    let seconds = stretch.last.seconds(since: stretch.since)
    guard seconds >= Self.shortestStretch else { return }
    let found = seconds / Double(stretch.bytes)
    if secondsPerByte == 0 || found < secondsPerByte { secondsPerByte = found }
  }
}

/// The lengths of recent epochs, in bytes. A receiver that reports satellites in every fifth epoch has two lengths.
struct EpochLengths: Sendable {
  /// The difference, in bytes, up to which two epochs have the same messages.
  private static var alike: Int { 24 }

  private var lengths = InlineArray<16, Int>(repeating: 0)
  private var count = 0
  private var at = 0

  /// The last length; nil before the first epoch.
  var last: Int? { count == 0 ? nil : lengths[(at + 15) % 16] }
  /// The shortest length; nil before the first epoch.
  private(set) var shortest: Int?
  /// The longest length.
  private(set) var longest = 0

  mutating func append(_ length: Int) {
    lengths[at] = length
    at = (at + 1) % 16
    count = min(count + 1, 16)
    span()
  }

  /// Adds bytes to the last epoch, which was not over.
  mutating func lengthenLast(by bytes: Int) {
    guard count > 0 else { return }
    lengths[(at + 15) % 16] += bytes
    span()
  }

  /// Whether an epoch had about this length.
  func has(_ length: Int) -> Bool {
    for index in 0..<count where abs(lengths[index] - length) <= Self.alike { return true }
    return false
  }

  /// Returns the shortest possible length of an epoch with this many bytes so far; nil if it may be over, or is longer than all
  /// recent ones.
  func next(after bytes: Int) -> Int? {
    var found: Int?
    for index in 0..<count {
      let length = lengths[index]
      if length > bytes {
        found = min(found ?? length, length)
      } else if bytes - length < Self.alike {
        return nil
      }
    }
    return found
  }

  private mutating func span() {
    var (least, most) = (lengths[0], lengths[0])
    for index in 1..<max(count, 1) { (least, most) = (min(least, lengths[index]), max(most, lengths[index])) }
    (shortest, longest) = (least, most)
  }
}
