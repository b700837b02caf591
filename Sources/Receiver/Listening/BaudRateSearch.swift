import MonotonicTime

/// Finds the rate of a serial line: it listens first, and asks where it may.
///
///     listen at a rate ── a frame ──▶ found
///         │
///         ├── garbage ─────────────────────▶ next rate   (a wrong rate makes garbage of every byte)
///         └── silence longer than an epoch ─▶ next rate; after each round: ask
///     ask at a rate ──── a frame ──▶ found
///         └── no answer in the time of one ─▶ next rate
///
/// The search goes round for ever: a receiver may be plugged in, or begin to speak, at any time. It is a value without a
/// clock: bytes, frames and the time go in, what to do comes out.
public struct BaudRateSearch: Sendable {
  /// The rates that are tried after those that are likely: the defaults of the u-blox generations (9600, 38400), what
  /// people set, and NMEA's own 4800 (u-blox interface descriptions, CFG-PRT and CFG-UART1).
  public static let rates: [UInt32] = [9600, 38400, 115_200, 460_800, 230_400, 4800, 57600, 19200, 921_600]

  /// Whether the receiver may be asked for a sign of life.
  public enum Polling: Sendable {
    /// Not one byte is sent.
    case never
    /// After all rates were listened at and not one byte came: who speaks is heard before, and one whose output is off is
    /// found within ten seconds.
    case afterListening
    /// As soon as the rate that is set is not the right one: a u-blox receiver is known to be there.
    case soon
  }

  /// What to do.
  public enum Action: Equatable, Sendable {
    case none
    /// Set the line to this rate and forget what was received.
    case setRate(UInt32)
    /// Set the line to this rate, forget what was received and ask.
    case poll(UInt32)
    /// The rate is right.
    case found(UInt32)
  }

  /// Bytes that belong to no frame, after which a rate is given up in the first round: more than noise at the start.
  static var quickPatienceBytes: Int { 48 }
  /// The same for text, in which a sentence begun in its middle ends within a line; and in later rounds for all.
  static var patienceBytes: Int { 400 }
  /// Time without a frame after which a rate is given up, in the first round: an epoch a second begins within it.
  static var quickPatience: Milliseconds { Milliseconds(1050) }
  /// The same in later rounds: a burst of an epoch is over by then.
  static var patience: Milliseconds { Milliseconds(1300) }
  /// What a receiver takes to answer, apart from the bytes' time on the line.
  static var answerTime: Milliseconds { Milliseconds(60) }
  /// The bytes of a question and of the longest usual answer to it, MON-VER's.
  static var answerBytes: UInt64 { 320 }

  /// The rate that is listened at.
  public private(set) var rate: UInt32
  /// Whether a frame was received at `rate`.
  public private(set) var isFound = false

  private enum Round { case listeningQuickly, listening, polling }

  private let polling: Polling
  private let order: [UInt32]
  private var isProvenRate: Bool
  private var index = 0
  private var round: Round
  private var rounds = 0
  private var since: Instant
  private var garbage = 0
  private var isText = true
  private var quickIsDue = false
  private var hasHeard = false

  /// Starts listening at `rate`, the one the line is set to.
  ///
  /// - Parameters:
  ///   - rate: baud.
  ///   - isProven: whether frames came at this rate just before: then the rest of one is no reason to leave it.
  ///   - likely: rates to try before the usual ones: what the receiver had before.
  ///   - polling: whether bytes may be sent.
  ///   - now: the present instant.
  public init(
    at rate: UInt32, isProven: Bool = false, likely: [UInt32] = [], polling: Polling = .never, now: Instant
  ) {
    self.rate = rate
    isProvenRate = isProven
    self.polling = polling
    since = now
    var order = [rate]
    for other in likely + Self.rates where !order.contains(other) { order.append(other) }
    self.order = order
    round = .listeningQuickly
  }

  /// When the rate is given up if nothing comes; nil when it is found.
  public var deadline: Instant? {
    guard !isFound else { return nil }
    return switch round {
    case .listeningQuickly: since + Self.quickPatience
    case .listening: since + Self.patience
    case .polling: since + Self.answerTime + Milliseconds(1 + Self.answerBytes * 10_000 / UInt64(rate))
    }
  }

  /// Bytes came.
  ///
  /// - Parameters:
  ///   - frames: how many whole frames are among them.
  ///   - skipped: how many belong to no frame, nor to one that has begun.
  ///   - isText: whether all are characters of a sentence.
  ///   - now: the present instant.
  public mutating func receive(frames: Int, skipped: Int, isText: Bool, at now: Instant) -> Action {
    guard !isFound else { return .none }
    if frames > 0 {
      isFound = true
      return .found(rate)
    }
    if skipped > 0 { hasHeard = true }
    garbage += skipped
    self.isText = self.isText && isText
    guard round != .polling else { return .none }
    let isQuick = round == .listeningQuickly && !self.isText && !isProvenRate
    let patience = isQuick ? Self.quickPatienceBytes : Self.patienceBytes
    return garbage >= patience ? next(now) : .none
  }

  /// The deadline has come.
  public mutating func wake(at now: Instant) -> Action {
    guard let deadline, now >= deadline else { return .none }
    return next(now)
  }

  private mutating func next(_ now: Instant) -> Action {
    isProvenRate = false
    index += 1
    if index == order.count || mayPollEarly { startRound() }
    rate = order[index]
    since = now
    garbage = 0
    isText = true
    return round == .polling ? .poll(rate) : .setRate(rate)
  }

  private var mayPoll: Bool {
    switch polling {
    case .never: false
    case .afterListening: rounds >= 1 && !hasHeard
    case .soon: true
    }
  }

  private var mayPollEarly: Bool { polling == .soon && round == .listeningQuickly && rounds == 0 }

  /// Listening and asking take turns; where asking came early, the quick listening is made up for after it.
  private mutating func startRound() {
    if index < order.count { quickIsDue = true }
    index = 0
    rounds += 1
    switch round {
    case .listeningQuickly, .listening: round = mayPoll ? .polling : .listening
    case .polling:
      round = quickIsDue ? .listeningQuickly : .listening
      quickIsDue = false
    }
  }
}
