import UBX
import WireBytes

/// Turns a stream that arrives in pieces of any size into frames.
///
/// Frames are found in the caller's bytes, in place. Only a frame that a piece cuts in two is copied, into a buffer
/// that is allocated once; so how the stream is cut never changes what comes out of it.
public struct FrameStream: ~Copyable {
  /// What was found and skipped so far.
  public internal(set) var counters = StreamCounters()
  /// Bytes of the stream that are settled: belonging to a frame that was delivered, or skipped.
  public internal(set) var offset: UInt64 = 0
  @usableFromInline var carry: CarryBuffer
  @usableFromInline let protocols: Frame.Protocols

  public init(protocols: Frame.Protocols = .ofReceivers) {
    self.protocols = protocols
    // The longest frame cut at its end, and as much again to look behind a false start.
    carry = CarryBuffer(capacity: 2 * (UBXFrame.longestPayload + UBXFrame.overhead))
  }

  /// Whether a frame has begun and is not whole.
  public var isInsideFrame: Bool { carry.count > 0 }

  // What takes a body is compiled into who gives it: a call for each frame costs as much as a tenth of its fix.

  /// Takes the next piece of the stream and hands out each frame that is whole with it.
  @inlinable @inline(__always)
  public mutating func receive(_ bytes: RawSpan, _ body: (borrowing Frame) -> Void) {
    var used = 0
    while carry.count > 0 {
      // The frame that the last piece began is in the carry; its rest comes from this one.
      let before = carry.count
      let taken = min(carry.room, bytes.byteCount - used)
      carry.append(bytes.extracting(used..<used + taken))
      used += taken
      let settled = scanCarry(isEnd: false, body)
      if settled >= before {
        // The rest is whole again in the caller's bytes.
        used -= carry.count - settled
        carry.removeFirst(carry.count)
        break
      }
      carry.removeFirst(settled)
      if used == bytes.byteCount { return }
    }
    let rest = bytes.extracting(used..<bytes.byteCount)
    let settled = take(Self.scan(rest, isEnd: false, counters, offset, protocols, body))
    carry.append(rest.extracting(settled..<rest.byteCount))
  }

  /// Says that nothing follows what was received, or that the line is silent for so long that a frame that has begun
  /// will not be finished: what is kept is searched for frames behind its false start, and forgotten.
  @inlinable
  public mutating func finish(_ body: (borrowing Frame) -> Void) {
    guard carry.count > 0 else { return }
    _ = scanCarry(isEnd: true, body)
    carry.removeFirst(carry.count)
  }

  /// Forgets a frame that has begun, without looking at it: after the baud rate was changed, say.
  public mutating func reset() {
    counters.skippedBytes += UInt64(carry.count)
    offset += UInt64(carry.count)
    carry.removeFirst(carry.count)
  }

  /// Goes through what is in the carry; how much of it is settled.
  @usableFromInline
  mutating func scanCarry(isEnd: Bool, _ body: (borrowing Frame) -> Void) -> Int {
    take(Self.scan(carry.bytes, isEnd: isEnd, counters, offset, protocols, body))
  }

  /// What a scan leaves behind, apart from the frames.
  @usableFromInline
  struct Progress {
    @usableFromInline var counters: StreamCounters
    @usableFromInline var offset: UInt64
    @usableFromInline var settled: Int

    @inlinable
    init(_ counters: StreamCounters, offset: UInt64, settled: Int) {
      self.counters = counters
      self.offset = offset
      self.settled = settled
    }
  }

  @inlinable @inline(__always)
  static func scan(
    _ bytes: RawSpan, isEnd: Bool, _ counters: StreamCounters, _ offset: UInt64, _ protocols: Frame.Protocols,
    _ body: (borrowing Frame) -> Void
  ) -> Progress {
    var cursor = FrameCursor(bytes, offset: offset, isEnd: isEnd, counters: counters, protocols: protocols)
    while let frame = cursor.next() { body(frame) }
    return Progress(cursor.counters, offset: offset + UInt64(cursor.position), settled: cursor.position)
  }

  @usableFromInline
  mutating func take(_ progress: Progress) -> Int {
    counters = progress.counters
    offset = progress.offset
    return progress.settled
  }
}
