// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// Finds the rate of a serial line: listens first, and polls where that is allowed.
///
///     listen at a rate ── a frame ──▶ found
///         │
///         ├── garbage ─────────────────────▶ next rate   (a wrong rate makes garbage of every byte)
///         ├── a burst without a frame ─────▶ next rate
///         └── silence longer than an epoch ─▶ next rate; after each round: poll
///     poll at a rate ─── a frame ──▶ found
///         └── no reply in its time ─▶ (the families of other makers that usually have the rate) ─▶ next rate
///     poll the families that can have the rate ── a frame ──▶ found       after a round of polls, if not one byte came, except the rest
///                                                                         of a line
///         └── no reply in its time ─▶ next family, next rate; after the round: poll once more
///
/// Bytes at a wrong rate show how often the line sends. If the silence before a burst was longer than the timeout, the first
/// rates were given up too early: the search returns to the first rate that no bytes refute, in the same burst, and then listens at
/// each rate for that silence and a quarter of it.
///
/// After a silence of twice the one before the last burst, and of twelve seconds, the line no longer sends: bytes from a start of the
/// receiver, or from a plug, do not exclude polls for longer.
///
/// The search never ends by itself: a receiver can be plugged in, or begin to send, at any time. It is a value without a
/// clock: bytes, frames and the time go in, actions come out.
public struct BaudRateSearch: Sendable {
  /// The rates that are tried after the likely ones: the defaults of the u-blox generations (9600, 38400), usual
  /// settings, and 4800 of NMEA (u-blox interface descriptions, CFG-PRT and CFG-UART1).
  public static let rates: [UInt32] = [9600, 38400, 115_200, 460_800, 230_400, 4800, 57600, 19200, 921_600]

  /// When the receiver may be polled.
  public enum Polling: Sendable {
    /// Not one byte is sent.
    case never
    /// After a round of listening without a byte, or a silence that shows that the line no longer sends: a receiver that
    /// sends is found before, and one whose output is off within ten seconds.
    case afterListening
    /// As soon as the line's rate is seen to be wrong: the receiver is known.
    case soon
  }

  /// An action on the line, of the search or of its listener.
  public enum Action: Equatable, Sendable {
    case none
    /// Set the line to this rate and discard what was received.
    case setRate(UInt32)
    /// Set the line to this rate, discard what was received and poll the receiver.
    case poll(UInt32)
    /// Send the poll of another maker's family at the same rate.
    case pollOther([UInt8])
    /// Set the line to this rate, discard what was received and send the poll of another maker's family.
    case pollAtRate(UInt32, [UInt8])
    /// The rate is right.
    case found(UInt32)
    /// No frame was received for `Listener.helpAfter`; the search does not return it.
    case adviseOnSilence
  }

  /// Bytes outside of frames after which the first round gives a rate up: more than noise at the start.
  static var quickGarbageLimitBytes: Int { 48 }
  /// The same for text, where a sentence that was cut ends within a line, and for all bytes in later rounds.
  static var garbageLimitBytes: Int { 400 }
  /// The time without a frame after which the first round gives a rate up: at 1 Hz an epoch begins within it.
  static var quickTimeout: Milliseconds { Milliseconds(1050) }
  /// The same in later rounds: the burst of an epoch is over by then.
  static var timeout: Milliseconds { Milliseconds(1300) }
  /// Bytes of the rest of a burst after which a slow line's rate is given up: a cut sentence is shorter (NMEA 0183).
  static var restGarbageLimitBytes: Int { 128 }
  /// The silence that ends a burst.
  static var burstEnd: Milliseconds { Milliseconds(250) }
  /// The bytes of a burst that refute a rate: fewer can be noise.
  static var refutingBytes: Int { 4 }
  /// The longest silence in which a rate of a slow line is kept.
  static var longestTimeout: Milliseconds { Milliseconds(15_000) }
  /// The shortest silence after which a line no longer sends: a fifth longer than an epoch of ten seconds.
  static var shortestEnd: Milliseconds { Milliseconds(12_000) }
  /// The time for a reply, without the time of the bytes on the line.
  public static var replyTime: Milliseconds { Milliseconds(60) }
  /// The same for a receiver of another maker: replies wait for ticks of up to 100 ms (recorded).
  public static var otherReplyTime: Milliseconds { Milliseconds(160) }
  /// The bytes of a poll and of the longest usual reply, MON-VER's.
  static var replyBytes: UInt64 { 320 }

  private static let otherReplyBytes: UInt64 = 128
  /// The longest rest of a line of text, in bytes: a sentence has at most 82 (NMEA 0183), replies some more.
  private static let longestRest = 127

  /// The rate of the line now, in baud.
  public private(set) var rate: UInt32
  /// Whether a frame was received at `rate`.
  public private(set) var isFound = false

  private enum Round { case listeningQuickly, listening, polling, pollingOthers }

  private let polling: Polling
  private let pollsOthers: Bool
  private let isKnown: Bool
  private let replyTime: Milliseconds
  /// The number of polls of other makers at this rate.
  private var othersPolled = 0
  /// Whether the families were polled at their less usual rates.
  private var havePolledOthers = false
  private let order: [UInt32]
  private var isProvenRate: Bool
  private var index = 0
  private var round: Round
  private var rounds = 0
  private var since: Instant
  private var garbage = 0
  private var isText = true
  private var quickIsDue = false
  /// The bytes of text outside of frames, before there were too many for the rest of a line.
  private var restBytes = 0
  /// When the line was last received; the start before the first byte.
  private var lastByte: Instant
  /// The silence before the last burst.
  private var gap = Milliseconds(0)
  /// The first burst that began at this rate, and its bytes; the rest of an earlier one is not counted.
  private var burst: (start: Instant, bytes: Int)?
  /// The rates at which bytes came that were not frames, in this round.
  private var refuted: Set<UInt32> = []
  /// Whether bytes outside of frames came, other than the rest of a line: the reply to an earlier program can wait to be read.
  private var hasBytes = false

  /// Starts listening at `rate`, the one the line is set to.
  ///
  /// - Parameters:
  ///   - rate: the rate, in baud. 0, the hang-up of termios, is left out, here and among the likely ones.
  ///   - isProven: whether frames were received at this rate just before: the rest of a cut frame does not refute it.
  ///   - likely: rates to try before the usual ones, such as earlier ones of the receiver.
  ///   - polling: when bytes may be sent.
  ///   - pollsOthers: whether receivers of other makers are polled too, after a poll without a reply.
  ///   - isKnown: whether a receiver was identified at the line: the others are polled after it.
  ///   - replyTime: the time for a reply to the first poll at a rate.
  ///   - now: the present instant.
  public init(
    at rate: UInt32, isProven: Bool = false, likely: [UInt32] = [], polling: Polling = .never,
    pollsOthers: Bool = false, isKnown: Bool = false, replyTime: Milliseconds = BaudRateSearch.replyTime, now: Instant
  ) {
    var order: [UInt32] = []
    for rate in [rate] + likely + Self.rates where rate > 0 && !order.contains(rate) { order.append(rate) }
    self.order = order
    self.rate = order[0]
    isProvenRate = isProven
    self.polling = polling
    self.pollsOthers = pollsOthers
    self.isKnown = isKnown
    self.replyTime = replyTime
    since = now
    lastByte = now
    round = .listeningQuickly
  }

  /// When `wake` is due; nil once the rate is found.
  public var deadline: Instant? {
    guard !isFound else { return nil }
    return switch round {
    case .listeningQuickly, .listening: listeningDeadline
    case .polling where othersPolled == 0:
      since + replyTime + Milliseconds(1 + Self.replyBytes * 10_000 / UInt64(rate))
    case .polling, .pollingOthers:
      since + Self.otherReplyTime + Milliseconds(1 + Self.otherReplyBytes * 10_000 / UInt64(rate))
    }
  }

  /// Whether the line sends so rarely that the timeout of the first round misses its bursts.
  private var isSlow: Bool { hasBytes && gap > Self.quickTimeout }

  private var listeningDeadline: Instant {
    let usual = since + (round == .listeningQuickly ? Self.quickTimeout : Self.timeout)
    if let burst {
      let end = lastByte + Self.burstEnd
      let isRefuted = burst.bytes >= Self.refutingBytes && !isText
      return isRefuted ? min(end, max(usual, burst.start + Self.quickTimeout)) : max(usual, end)
    }
    // A known receiver is polled again soon.
    guard isSlow, polling != .soon || !isKnown else { return usual }
    return max(usual, min(since + min(Milliseconds(gap.count * 5 / 4), Self.longestTimeout), endOfLine))
  }

  /// Handles received bytes.
  ///
  /// - Parameters:
  ///   - frames: the number of whole frames among them.
  ///   - skipped: the number of bytes outside of frames, without those of a frame that has begun.
  ///   - isText: whether all are characters of sentences.
  ///   - now: the present instant.
  public mutating func receive(frames: Int, skipped: Int, isText: Bool, at now: Instant) -> Action {
    guard !isFound else { return .none }
    if frames > 0 {
      isFound = true
      return .found(rate)
    }
    if skipped > 0, !hasBytes {
      restBytes += min(skipped, Self.longestRest + 1)
      hasBytes = !isText || restBytes > Self.longestRest
    }
    noteBurst(of: skipped, at: now)
    garbage += skipped
    self.isText = self.isText && isText
    switch round {
    case .listeningQuickly, .listening: return garbage >= garbageLimit ? refute(now) : .none
    case .polling, .pollingOthers:
      // The line sends, at another rate.
      guard polling == .afterListening, !self.isText, garbage >= Self.quickGarbageLimitBytes else { return .none }
      round = .listening
      return refute(now)
    }
  }

  private mutating func noteBurst(of bytes: Int, at now: Instant) {
    let begins = now >= lastByte + Self.burstEnd
    if begins { gap = Milliseconds(now.milliseconds(since: lastByte)) }
    if let begun = burst {
      burst = (begun.start, begun.bytes + max(bytes, 1))
    } else if begins {
      burst = (now, max(bytes, 1))
    }
    lastByte = now
  }

  private var garbageLimit: Int {
    if isText || isProvenRate { return Self.garbageLimitBytes }
    if isSlow { return burst != nil ? Self.quickGarbageLimitBytes : Self.restGarbageLimitBytes }
    return round == .listeningQuickly ? Self.quickGarbageLimitBytes : Self.garbageLimitBytes
  }

  /// The end of the silence after which the line no longer sends.
  private var endOfLine: Instant { lastByte + max(Milliseconds(gap.count * 2), Self.shortestEnd) }

  /// Goes to the next rate if the deadline is over.
  public mutating func wake(at now: Instant) -> Action {
    guard let deadline, now >= deadline else { return .none }
    if hasBytes, now >= endOfLine {
      (hasBytes, restBytes, gap) = (false, 0, Milliseconds(0))
      // This was more than a round of listening without a byte.
      if isListening, polling == .afterListening { index = order.count - 1 }
    }
    return burst != nil && !isText ? refute(now) : next(now)
  }

  /// Gives up a rate at which bytes came that were not frames.
  private mutating func refute(_ now: Instant) -> Action {
    refuted.insert(rate)
    // The line had not sent when the first rates were given up.
    if isSlow, isListening, let first = order.firstIndex(where: { !refuted.contains($0) }) { index = first - 1 }
    return next(now)
  }

  private var isListening: Bool { round == .listeningQuickly || round == .listening }

  private mutating func next(_ now: Instant) -> Action {
    isProvenRate = false
    if let poll = nextOfOthers(now) { return poll }
    repeat {
      othersPolled = 0
      index += 1
      // A receiver that sends is found by listening.
      if index == order.count || mayPollEarly || round == .pollingOthers && hasBytes { startRound() }
      rate = order[index]
      // Not every rate has a family.
    } while round == .pollingOthers && polls.isEmpty || isListening && refuted.contains(rate)
    since = now
    garbage = 0
    burst = nil
    isText = true
    if round == .pollingOthers { othersPolled = 1 }
    return switch round {
    case .listeningQuickly, .listening: .setRate(rate)
    case .polling: .poll(rate)
    case .pollingOthers: .pollAtRate(rate, polls[0])
    }
  }

  /// The polls of other makers at this rate in this round.
  private var polls: [[UInt8]] {
    switch round {
    case .polling: ReceiverFamily.silentPolls(at: rate, isUsual: true)
    case .pollingOthers: ReceiverFamily.silentPolls(at: rate, isUsual: false)
    case .listeningQuickly, .listening: []
    }
  }

  private mutating func nextOfOthers(_ now: Instant) -> Action? {
    guard mayPollOthers, othersPolled < polls.count else { return nil }
    defer { othersPolled += 1 }
    since = now
    return .pollOther(polls[othersPolled])
  }

  /// A known receiver is polled alone in the first round of polls; the quick listening after it finds others that send.
  private var mayPollOthers: Bool { pollsOthers && !hasBytes && (!isKnown || rounds > 2) }

  private var mayPoll: Bool {
    switch polling {
    case .never: false
    case .afterListening: rounds >= 1 && !hasBytes
    case .soon: true
    }
  }

  private var mayPollEarly: Bool { polling == .soon && round == .listeningQuickly && rounds == 0 }

  /// Listening and polling alternate. After an early poll, the rest of the quick listening follows.
  private mutating func startRound() {
    if index < order.count, round == .listeningQuickly { quickIsDue = true }
    index = 0
    refuted = []
    rounds += 1
    switch round {
    case .listeningQuickly, .listening: round = mayPoll ? .polling : .listening
    // Once: most receivers that start later send something.
    case .polling where mayPollOthers && !havePolledOthers:
      round = .pollingOthers
      havePolledOthers = true
    // A receiver that was starting in the first round of polls replies now.
    case .pollingOthers where !hasBytes: round = .polling
    case .polling, .pollingOthers:
      round = quickIsDue ? .listeningQuickly : .listening
      quickIsDue = false
    }
  }
}
