// SPDX-License-Identifier: Apache-2.0
import NMEA
import RTCM3
import UBX
import WireBytes

/// Finds frames in a stream that arrives in pieces of any size.
///
/// Frames are found in the caller's bytes, in place. Only a frame that is split over two pieces is copied, to a buffer
/// that is allocated once. The result does not depend on the sizes of the pieces.
public struct FrameStream: ~Copyable {
  /// The counts of frames and skipped bytes so far.
  public internal(set) var counters = StreamCounters()
  /// The number of bytes of the stream that are in a delivered frame or skipped.
  public internal(set) var offset: UInt64 = 0
  @usableFromInline var carry: CarryBuffer
  @usableFromInline let protocols: Frame.Protocols
  @usableFromInline let longestUBXPayload: Int

  public init(protocols: Frame.Protocols = .ofReceivers) {
    self.protocols = protocols
    longestUBXPayload = UBXFrame.longestPayload
    // Room for the longest incomplete frame, and the same amount for the scan after a false start.
    carry = CarryBuffer(capacity: 2 * (UBXFrame.longestPayload + UBXFrame.overhead))
  }

  /// A stream that stores an incomplete frame in memory of the caller, and does not allocate.
  ///
  /// - Parameters:
  ///   - longestUBXPayload: the longest accepted payload in bytes, up to `UBXFrame.longestPayload`.
  ///   - memory: has room for a frame with that payload and for `longestFrameButUBX`. It exists as long as the stream, and
  ///     nothing else uses it.
  @unsafe
  package init(longestUBXPayload: Int, lent memory: UnsafeMutableRawBufferPointer) {
    precondition(memory.count >= max(longestUBXPayload + UBXFrame.overhead, Self.longestFrameButUBX))
    protocols = .ofReceivers
    self.longestUBXPayload = longestUBXPayload
    carry = unsafe CarryBuffer(lent: memory)
  }

  /// The longest frame in bytes of RTCM 3 (1023 bytes and `RTCM3Frame.overhead`) and NMEA (1023 characters up to the `*`, two
  /// digits, CR and LF).
  package static var longestFrameButUBX: Int { max(1023 + RTCM3Frame.overhead, longestSentence + 4) }

  /// Whether an incomplete frame is stored.
  public var isInsideFrame: Bool { carry.count > 0 }

  // Functions with a closure are inlined into the caller: a call per frame would add a tenth to the cost of its fix.

  /// Handles the next piece of the stream. `body` receives each frame that this piece completes.
  @inlinable @inline(__always)
  public mutating func receive(_ bytes: RawSpan, _ body: (borrowing Frame) -> Void) {
    var used = 0
    while carry.count > 0 {
      // The carry buffer has the start of a frame, and this piece the rest.
      let before = carry.count
      let taken = min(carry.room, bytes.byteCount - used)
      carry.append(bytes.extracting(used..<used + taken))
      used += taken
      let settled = scanCarry(isEnd: false, body)
      if settled >= before {
        // The remaining bytes are whole in the caller's bytes.
        used -= carry.count - settled
        carry.removeFirst(carry.count)
        break
      }
      carry.removeFirst(settled)
      if used == bytes.byteCount { return }
    }
    let rest = bytes.extracting(used..<bytes.byteCount)
    let settled = take(Self.scan(rest, isEnd: false, counters, offset, protocols, longestUBXPayload, body))
    carry.append(rest.extracting(settled..<rest.byteCount))
  }

  /// Handles the end of the stream, or a silence after which the incomplete frame will not be completed: its bytes are
  /// scanned for frames after the false start, and dropped.
  @inlinable
  public mutating func finish(_ body: (borrowing Frame) -> Void) {
    guard carry.count > 0 else { return }
    _ = scanCarry(isEnd: true, body)
    carry.removeFirst(carry.count)
  }

  /// Whether whole frames are stored after the beginning of an incomplete one: it is a false start, or they are in its
  /// payload.
  public var holdsFrames: Bool {
    guard carry.count > 1, carry.bytes.u1(0) != UInt8(ascii: "$") else { return false }
    var cursor = FrameCursor(
      carry.bytes.extracting(1..<carry.count), protocols: protocols, longestUBXPayload: longestUBXPayload)
    return cursor.next() != nil
  }

  /// Drops an incomplete frame that contains whole frames, because it is a false start: its first byte is skipped, and
  /// `body` receives the frames after it.
  public mutating func skipFalseStarts(_ body: (borrowing Frame) -> Void) {
    while holdsFrames {
      counters.cutFrames += 1
      counters.skippedBytes += 1
      offset += 1
      carry.removeFirst(1)
      carry.removeFirst(scanCarry(isEnd: false, body))
    }
  }

  /// Drops an incomplete frame without a scan, for example after a change of the baud rate.
  public mutating func reset() {
    counters.skippedBytes += UInt64(carry.count)
    offset += UInt64(carry.count)
    carry.removeFirst(carry.count)
  }

  /// Scans the carry buffer and returns the number of its processed bytes.
  @usableFromInline
  mutating func scanCarry(isEnd: Bool, _ body: (borrowing Frame) -> Void) -> Int {
    take(Self.scan(carry.bytes, isEnd: isEnd, counters, offset, protocols, longestUBXPayload, body))
  }

  /// The state after a scan.
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
    _ longestUBXPayload: Int, _ body: (borrowing Frame) -> Void
  ) -> Progress {
    var cursor = FrameCursor(
      bytes, offset: offset, isEnd: isEnd, counters: counters, protocols: protocols,
      longestUBXPayload: longestUBXPayload)
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

extension FrameStream {
  /// Handles the next piece of the stream from an array, such as the bytes of a file. `body` receives each frame that
  /// this piece completes.
  @inlinable @inline(__always)
  public mutating func receive(_ bytes: [UInt8], _ body: (borrowing Frame) -> Void) {
    // Safe: bytes have no invalid bit patterns.
    unsafe receive(bytes.span.bytes, body)
  }
}
