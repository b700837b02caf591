// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import ReceiverStream
import WireBytes

/// Receives the bytes of a line: finds the rate, frames and epochs. It sends nothing.
///
/// Silence ends an epoch, gives up a frame that has begun, and makes the search try another rate. The listener has no
/// clock and no file; `wake` is due at `deadline`.
public struct Listener: ~Copyable {
  public typealias Action = BaudRateSearch.Action

  /// The numbers of the receiver's frames and of skipped bytes so far.
  public var counters: StreamCounters {
    var counters = stream.counters
    counters.nmeaFrames -= echoes.nmea
    counters.ubxFrames -= echoes.ubx
    return counters
  }
  /// The number of fields that were out of range or unreadable.
  public var rejectedFields: Int { assembler.rejectedFields }
  /// The rate that the line has to have, in baud; nil for a line without a rate, or with a bound one.
  public var rate: UInt32? { search?.rate }
  /// Whether the rate is being searched. A call would copy the listener.
  @inline(__always)
  public var isSearching: Bool { search?.isFound == false }
  /// When the last byte was received.
  public private(set) var lastByte: Instant
  /// The number of bytes since the last whole frame.
  public private(set) var bytesSinceFrame = 0
  /// The number of bytes outside of frames, up to the last whole frame.
  private(set) var skippedAtLastFrame: UInt64 = 0

  private var stream = FrameStream()
  /// The frames that are not the receiver's.
  private var echoes = Echoes()
  private var assembler: EpochAssembler
  private var search: BaudRateSearch?
  /// An incomplete frame: the number of bytes of the stream before it, and when to look for frames that it holds.
  private var begun: (offset: UInt64, checkedFrom: Instant)?
  private let started: Instant
  private var hasAdvised = false

  /// - Parameters:
  ///   - rate: the rate of the line, in baud, if others may be tried.
  ///   - likely: rates to try before the usual ones.
  ///   - polling: when the search may poll.
  ///   - pollsOthers: whether receivers of other makers are polled too.
  ///   - isKnown: whether a receiver was identified at the line: the others are polled after it.
  ///   - replyTime: the time for a reply to the first poll at a rate.
  ///   - unfinishedFrame: the beginning of a frame, perhaps empty, that was received at `rate` just before; nil for none.
  ///   - reference: the computer's time, if its clock is set.
  ///   - isLive: whether the line has a receiver now, and is not a recording.
  ///   - now: the present instant.
  public init(
    searchingFrom rate: UInt32?, likely: [UInt32] = [], polling: BaudRateSearch.Polling = .never,
    pollsOthers: Bool = false, isKnown: Bool = false, replyTime: Milliseconds = BaudRateSearch.replyTime,
    unfinishedFrame: [UInt8]? = nil, reference: UTCTime?, isLive: Bool = false, now: Instant
  ) {
    assembler = EpochAssembler(reference: reference, isLive: isLive)
    search = rate.map {
      BaudRateSearch(
        at: $0, isProven: unfinishedFrame != nil, likely: likely, polling: polling, pollsOthers: pollsOthers,
        isKnown: isKnown, replyTime: replyTime, now: now)
    }
    started = now
    lastByte = now
    if let unfinishedFrame {
      let span = unfinishedFrame.span
      unsafe stream.receive(span.bytes) { _ in }
    }
  }

  /// When `wake` is due; nil for never. A call would copy the listener, 4 kB, eighteen times an epoch.
  @inline(__always)
  public var deadline: Instant? {
    var next = search?.deadline
    if assembler.isOpen { next = .earlier(next, lastByte + Self.epochSilence) }
    if let begun {
      let isChecked = begun.checkedFrom > lastByte
      next = .earlier(next, lastByte + (isChecked ? Self.frameSilence : Self.epochSilence))
    }
    if !hasAdvised, frames == 0 { next = .earlier(next, started + Self.helpAfter) }
    return next
  }

  /// The number of the receiver's frames. Reading it copies no counters.
  private var frames: UInt64 { stream.counters.frames - echoes.count }

  /// Searches the rate again, from `rate` on.
  public mutating func search(
    from rate: UInt32, likely: [UInt32], polling: BaudRateSearch.Polling, pollsOthers: Bool = false,
    replyTime: Milliseconds = BaudRateSearch.replyTime, at now: Instant
  ) {
    search = BaudRateSearch(
      at: rate, likely: likely, polling: polling, pollsOthers: pollsOthers, isKnown: polling == .soon,
      replyTime: replyTime, now: now)
    discard()
  }

  /// Takes over a rate that both sides were set to; the search is over.
  public mutating func follow(rate: UInt32) {
    search = nil
    discard()
  }

  /// Continues after a time in which the line was not read: the beginning of a frame or an epoch has no end.
  public mutating func resume(at now: Instant) {
    if assembler.isOpen { assembler.idle { _, _ in } }
    discard()
    lastByte = now
  }

  private mutating func discard() {
    bytesSinceFrame = 0
    stream.reset()
    begun = nil
    skippedAtLastFrame = stream.counters.skippedBytes
  }

  /// Takes bytes from the line.
  ///
  /// - Parameters:
  ///   - bytes: the received bytes, in their order.
  ///   - now: the present instant.
  ///   - otherFrames: the number of frames among them whose protocol the stream does not know.
  ///   - tap: gets each whole frame, before the epochs do. Returns whether it is the receiver's: others, which the host has sent, count
  ///     for nothing.
  ///   - body: gets each report that they complete.
  public mutating func receive(
    _ bytes: RawSpan, at now: Instant, otherFrames: Int = 0, frames tap: (borrowing Frame) -> Bool = { _ in true },
    _ body: (borrowing EpochAssembler.Report, borrowing Sky) -> Void
  ) -> Action {
    let pause = now.milliseconds(since: lastByte)
    if pause >= Self.shortestPause, !stream.isInsideFrame { assembler.pauses(milliseconds: UInt32(clamping: pause)) }
    lastByte = now
    let before = (frames: frames, echoes: echoes.count, skipped: stream.counters.skippedBytes)
    stream.receive(bytes) { frame in
      guard tap(frame) else { return echoes.add(frame.kind) }
      assembler.receive(frame, body)
    }
    if let begun, stream.isInsideFrame, stream.offset == begun.offset {
      if now >= begun.checkedFrom + Self.longestFrame { skipFalseStarts(at: now, tap, body) }
    } else {
      begun = stream.isInsideFrame ? (stream.offset, now) : nil
    }
    let received = Int(frames - before.frames) + otherFrames
    bytesSinceFrame = received > 0 ? 0 : bytesSinceFrame + bytes.byteCount
    if received > 0 { skippedAtLastFrame = stream.counters.skippedBytes }
    guard isSearching else { return .none }
    let skipped = Int(stream.counters.skippedBytes - before.skipped)
    // An echo has no silence before it and no rate.
    if received == 0, skipped == 0, echoes.count > before.echoes { return .none }
    return carryOut(search?.receive(frames: received, skipped: skipped, isText: Self.isText(bytes), at: now))
  }

  /// Shows the epoch as if it were over now; see `EpochAssembler.preview`.
  public mutating func preview(_ body: (borrowing EpochAssembler.Report, borrowing Sky) -> Void) {
    assembler.preview(body)
  }

  /// Does what is due at `now`.
  public mutating func wake(
    at now: Instant, frames tap: (borrowing Frame) -> Bool = { _ in true },
    _ body: (borrowing EpochAssembler.Report, borrowing Sky) -> Void
  ) -> Action {
    let silence = now.milliseconds(since: lastByte)
    var found = 0
    if let begun, begun.checkedFrom <= lastByte, silence >= Self.epochSilence.count {
      let before = frames
      skipFalseStarts(at: now, tap, body)
      found = Int(frames - before)
    }
    if assembler.isOpen, silence >= Self.epochSilence.count { assembler.idle(body) }
    if stream.isInsideFrame, silence >= Self.frameSilence.count {
      stream.finish { frame in
        guard tap(frame) else { return echoes.add(frame.kind) }
        assembler.receive(frame, body)
      }
      begun = nil
    }
    if found > 0, isSearching {
      return carryOut(search?.receive(frames: found, skipped: 0, isText: true, at: now))
    }
    if !hasAdvised, frames == 0, now >= started + Self.helpAfter {
      hasAdvised = true
      return .adviseOnSilence
    }
    return carryOut(search?.wake(at: now))
  }

  /// Reports what was collected: the line is gone, or at its end.
  public mutating func finish(_ body: (borrowing EpochAssembler.Report, borrowing Sky) -> Void) {
    stream.finish { frame in assembler.receive(frame, body) }
    assembler.finish(body)
  }

  /// Gives up the beginning of a frame that holds whole ones.
  private mutating func skipFalseStarts(
    at now: Instant, _ tap: (borrowing Frame) -> Bool, _ body: (borrowing EpochAssembler.Report, borrowing Sky) -> Void
  ) {
    stream.skipFalseStarts { frame in
      guard tap(frame) else { return echoes.add(frame.kind) }
      assembler.receive(frame, body)
      bytesSinceFrame = 0
    }
    begun = stream.isInsideFrame ? (stream.offset, now) : nil
  }

  private mutating func carryOut(_ action: Action?) -> Action {
    switch action {
    case .setRate?, .poll?, .pollAtRate?:
      // Bytes of the wrong rate are not the beginning of a frame.
      stream.reset()
      begun = nil
    default: break
    }
    return action ?? .none
  }

  /// Whether all bytes are characters of sentences.
  private static func isText(_ bytes: RawSpan) -> Bool {
    for index in 0..<bytes.byteCount {
      let byte = bytes.u1(index)
      if byte > 0x7E || byte < 0x20 && byte != 13 && byte != 10 { return false }
    }
    return true
  }
}

/// Counts of frames that the host has sent, and that came back.
private struct Echoes {
  private(set) var nmea: UInt64 = 0
  private(set) var ubx: UInt64 = 0

  var count: UInt64 { nmea + ubx }

  mutating func add(_ kind: Frame.Kind) {
    switch kind {
    case .nmea: nmea += 1
    case .ubx: ubx += 1
    // Corrections go to identified receivers alone.
    case .rtcm3, .spartn: break
    }
  }
}
