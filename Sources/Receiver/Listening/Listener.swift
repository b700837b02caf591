import MonotonicTime
import ReceiverStream
import WireBytes

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
    /// The same, and then ask the receiver for a sign of life (only where asking is allowed).
    case poll(UInt32)
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
  /// Whether the rate is being looked for.
  public var isSearching: Bool { search.map { !$0.isFound } ?? false }
  /// When the last byte came.
  public private(set) var lastByte: Instant
  /// Bytes since the last whole frame.
  public private(set) var bytesSinceFrame = 0
  /// Bytes that belonged to no frame, up to the last whole one.
  private(set) var skippedAtLastFrame: UInt64 = 0

  private var stream = FrameStream()
  private var assembler: EpochAssembler
  private var search: BaudRateSearch?
  private let started: Instant
  private var hasAdvised = false

  /// - Parameters:
  ///   - rate: the rate the line is set to, if others may be tried.
  ///   - likely: rates to try before the usual ones.
  ///   - polling: whether the search may ask.
  ///   - unfinishedFrame: the beginning of a frame, perhaps empty, that was received at `rate` just before; nil for none.
  ///   - reference: the computer's time, if its clock is set.
  ///   - now: the present instant.
  public init(
    searchingFrom rate: UInt32?, likely: [UInt32] = [], polling: BaudRateSearch.Polling = .never,
    unfinishedFrame: [UInt8]? = nil, reference: UTCTime?, now: Instant
  ) {
    assembler = EpochAssembler(reference: reference)
    search = rate.map {
      BaudRateSearch(at: $0, isProven: unfinishedFrame != nil, likely: likely, polling: polling, now: now)
    }
    started = now
    lastByte = now
    if let unfinishedFrame {
      let span = unfinishedFrame.span
      unsafe stream.receive(span.bytes) { _ in }
    }
  }

  /// When `wake` is due; nil when there is nothing to wait for.
  public var deadline: Instant? {
    var next = search?.deadline
    if assembler.isOpen { next = .earlier(next, lastByte + Self.epochSilence) }
    if stream.isInsideFrame { next = .earlier(next, lastByte + Self.frameSilence) }
    if !hasAdvised, stream.counters.frames == 0 { next = .earlier(next, started + Self.helpAfter) }
    return next
  }

  /// Looks for the rate anew, from `rate` on: nothing is understood any more.
  public mutating func search(from rate: UInt32, likely: [UInt32], polling: BaudRateSearch.Polling, at now: Instant) {
    search = BaudRateSearch(at: rate, likely: likely, polling: polling, now: now)
    forget()
  }

  /// The line has this rate now, because both sides were told so.
  public mutating func follow(rate: UInt32) {
    search = nil
    forget()
  }

  private mutating func forget() {
    bytesSinceFrame = 0
    stream.reset()
    skippedAtLastFrame = stream.counters.skippedBytes
  }

  /// Takes bytes from the line.
  ///
  /// - Parameters:
  ///   - bytes: what came, in order.
  ///   - now: the present instant.
  ///   - tap: gets each whole frame, before the epochs do.
  ///   - body: gets each report that follows.
  public mutating func receive(
    _ bytes: RawSpan, at now: Instant, frames tap: (borrowing Frame) -> Void = { _ in },
    _ body: (borrowing EpochAssembler.Report, borrowing Sky) -> Void
  ) -> Action {
    lastByte = now
    let before = stream.counters
    stream.receive(bytes) { frame in
      tap(frame)
      assembler.receive(frame, body)
    }
    let frames = Int(stream.counters.frames - before.frames)
    bytesSinceFrame = frames > 0 ? 0 : bytesSinceFrame + bytes.byteCount
    if frames > 0 { skippedAtLastFrame = stream.counters.skippedBytes }
    guard search != nil, isSearching else { return .none }
    let skipped = Int(stream.counters.skippedBytes - before.skippedBytes)
    return carryOut(search?.receive(frames: frames, skipped: skipped, isText: Self.isText(bytes), at: now))
  }

  /// What the epoch would be were it over now; see `EpochAssembler.preview`.
  public mutating func preview(_ body: (borrowing EpochAssembler.Report, borrowing Sky) -> Void) {
    assembler.preview(body)
  }

  /// The deadline has come.
  public mutating func wake(
    at now: Instant, frames tap: (borrowing Frame) -> Void = { _ in },
    _ body: (borrowing EpochAssembler.Report, borrowing Sky) -> Void
  ) -> Action {
    let silence = now.milliseconds(since: lastByte)
    if assembler.isOpen, silence >= Self.epochSilence.count { assembler.idle(body) }
    if stream.isInsideFrame, silence >= Self.frameSilence.count {
      stream.finish { frame in
        tap(frame)
        assembler.receive(frame, body)
      }
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
    case .poll(let rate)?:
      stream.reset()
      return .poll(rate)
    }
  }

  /// Whether all bytes can stand in sentences.
  private static func isText(_ bytes: RawSpan) -> Bool {
    for index in 0..<bytes.byteCount {
      let byte = bytes.u1(index)
      if byte > 0x7E || byte < 0x20 && byte != 13 && byte != 10 { return false }
    }
    return true
  }
}
