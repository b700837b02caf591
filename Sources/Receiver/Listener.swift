import MonotonicTime
import ReceiverStream

/// Listens to a receiver: bytes and the time go in, fixes and what to do come out. It sends nothing.
///
/// What it knows of time: when an epoch is over because the line is silent, when a frame that has begun will not be
/// finished, and when another baud rate has to be tried. It has no clock and no file; `deadline` says when `wake` is
/// due.
public struct Listener: ~Copyable {
  /// What the one who holds the line has to do.
  public enum Action: Equatable, Sendable {
    case none
    /// Set the line to this rate and discard what is waiting.
    case setRate(UInt32)
    /// Tell that frames are received at this rate.
    case found(UInt32)
    /// Tell that nothing was understood for `Listener.helpAfter`.
    case adviseOnSilence
  }

  /// Silence after which nothing more of an epoch comes: receivers write an epoch without pauses.
  static var epochSilence: Milliseconds { Milliseconds(100) }
  /// Silence after which a frame that has begun is given up: a receiver was unplugged or fell asleep in it.
  static var frameSilence: Milliseconds { Milliseconds(2000) }
  /// Time without a frame after which the user is told.
  public static var helpAfter: Milliseconds { Milliseconds(5000) }

  /// Frames and skipped bytes so far.
  public var counters: StreamCounters { stream.counters }
  /// Fields that were out of range or unreadable.
  public var rejectedFields: Int { assembler.rejectedFields }
  /// The rate that the line has to have; nil for what has no rate, or when it is bound.
  public var rate: UInt32? { search?.rate }

  private var stream = FrameStream()
  private var assembler: EpochAssembler
  private var search: BaudRateSearch?
  private let started: Instant
  private var lastByte: Instant
  private var hasAdvised = false

  /// - Parameters:
  ///   - searchingFrom: the rate the line is set to, if others may be tried.
  ///   - reference: the computer's time, if its clock is set.
  public init(searchingFrom rate: UInt32?, reference: UTCTime?, now: Instant) {
    assembler = EpochAssembler(reference: reference)
    search = rate.map { BaudRateSearch(at: $0, now: now) }
    started = now
    lastByte = now
  }

  /// When `wake` is due; nil when there is nothing to wait for.
  public var deadline: Instant? {
    var next = search?.deadline
    if assembler.isOpen { next = earlier(next, lastByte + Self.epochSilence) }
    if stream.isInsideFrame { next = earlier(next, lastByte + Self.frameSilence) }
    if !hasAdvised, stream.counters.frames == 0 { next = earlier(next, started + Self.helpAfter) }
    return next
  }

  /// Takes bytes from the line; `body` gets each report that follows from them.
  public mutating func receive(
    _ bytes: RawSpan, at now: Instant, _ body: (borrowing EpochAssembler.Report, borrowing Sky) -> Void
  ) -> Action {
    lastByte = now
    let before = stream.counters.frames
    stream.receive(bytes) { frame in assembler.receive(frame, body) }
    let frames = Int(stream.counters.frames - before)
    return carryOut(search?.receive(bytes: bytes.byteCount, frames: frames, at: now))
  }

  /// The deadline has come.
  public mutating func wake(
    at now: Instant, _ body: (borrowing EpochAssembler.Report, borrowing Sky) -> Void
  ) -> Action {
    let silence = now.milliseconds(since: lastByte)
    if assembler.isOpen, silence >= Self.epochSilence.count { assembler.idle(body) }
    if stream.isInsideFrame, silence >= Self.frameSilence.count {
      stream.finish { frame in assembler.receive(frame, body) }
    }
    if !hasAdvised, stream.counters.frames == 0, now >= started + Self.helpAfter {
      hasAdvised = true
      return .adviseOnSilence
    }
    return carryOut(search?.wake(at: now))
  }

  /// The line is gone or at its end: what has been collected is reported.
  public mutating func finish(_ body: (borrowing EpochAssembler.Report, borrowing Sky) -> Void) {
    stream.finish { frame in assembler.receive(frame, body) }
    assembler.finish(body)
  }

  private mutating func carryOut(_ action: BaudRateSearch.Action?) -> Action {
    switch action {
    case nil, .none?: return .none
    case .found(let rate)?: return .found(rate)
    case .setRate(let rate)?:
      // What was received at the wrong rate is no beginning of anything.
      stream.reset()
      return .setRate(rate)
    }
  }

  private func earlier(_ a: Instant?, _ b: Instant) -> Instant { a.map { min($0, b) } ?? b }
}
