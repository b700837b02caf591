// SPDX-License-Identifier: Apache-2.0

import NMEA
import RTCM3
import UBX
import WireBytes

/// Finds the frames of several protocols in a span of bytes, in one pass and in place.
///
///     var cursor = FrameCursor(bytes)
///     while let frame = cursor.next() { … }
///
/// Bytes outside of frames are skipped and counted. After a false start (wrong checksum, absurd length) the scan
/// continues at the byte after the start, so that no frame after it is lost.
public struct FrameCursor: ~Escapable {
  @usableFromInline let bytes: SizedBytes
  @usableFromInline var at: Int
  /// The next byte to scan. Everything before it is in a frame or skipped.
  @inlinable public var position: Int { at }
  /// The counts of frames and skipped bytes so far.
  public var counters: StreamCounters
  @usableFromInline let base: UInt64
  @usableFromInline let isEnd: Bool
  @usableFromInline let protocols: Frame.Protocols
  @usableFromInline let longestUBXPayload: Int

  /// - Parameters:
  ///   - bytes: the bytes to scan.
  ///   - offset: the number of bytes of the stream before `bytes`, for the frames' offsets.
  ///   - isEnd: whether no bytes follow. If not, the cursor stops before an incomplete frame.
  ///   - counters: the previous counts.
  ///   - protocols: the protocols to find.
  ///   - longestUBXPayload: the longest accepted payload in bytes, up to `UBXFrame.longestPayload`.
  @inlinable
  @_lifetime(copy bytes)
  public init(
    _ bytes: RawSpan, offset: UInt64 = 0, isEnd: Bool = true, counters: StreamCounters = StreamCounters(),
    protocols: Frame.Protocols = .ofReceivers, longestUBXPayload: Int = UBXFrame.longestPayload
  ) {
    self.bytes = SizedBytes(bytes)
    self.at = 0
    self.counters = counters
    self.base = offset
    self.isEnd = isEnd
    self.protocols = protocols
    self.longestUBXPayload = longestUBXPayload
  }

  /// The result of a frame scan.
  @usableFromInline enum ScanResult {
    case frame(Frame.Kind, Int)
    case incomplete
    /// No frame begins here.
    case nothing
    case tooLong, brokenSentence, withoutChecksum, badChecksum
  }

  /// The next frame; nil when the rest of the bytes has none.
  @inlinable
  #if SMALL_CODE
    @inline(never)
  #else
    @inline(__always)
  #endif
  @_lifetime(copy self)
  public mutating func next() -> Frame? {
    while at < bytes.size {
      let first = bytes.u1(at)
      #if !SMALL_CODE
        // The fast path: nearly all frames.
        if first == UInt8(ascii: "$"), let sentence = NMEA.Sentence.fastScan(bytes.bytes, from: at) {
          let start = at
          at &+= sentence.length
          counters.nmeaFrames &+= 1
          return Frame(
            bytes.part(start, sentence.length), .nmea, offset: base &+ UInt64(start), ends: sentence.ends,
            isOfCutStream: counters.head.isCut)
        }
        if first == UBXFrame.sync1,
          case .frame(let length) = UBXFrame.scan(bytes.bytes, from: at, longestPayload: longestUBXPayload)
        {
          let start = at
          at &+= length
          counters.ubxFrames &+= 1
          return Frame(
            bytes.part(start, length), .ubx, offset: base &+ UInt64(start), ends: .none,
            isOfCutStream: counters.head.isCut)
        }
        if first == RTCM3Frame.preamble, case .frame(let length) = RTCM3Frame.scan(bytes.bytes, from: at) {
          let start = at
          at &+= length
          counters.rtcm3Frames &+= 1
          return Frame(
            bytes.part(start, length), .rtcm3, offset: base &+ UInt64(start), ends: .none,
            isOfCutStream: counters.head.isCut)
        }
      #endif
      guard FrameCursor.mayBegin(first) else {
        let start = at
        repeat { at &+= 1 } while at < bytes.size && !FrameCursor.mayBegin(bytes.u1(at))
        counters.skip(bytes.part(start, at &- start))
        continue
      }
      switch FrameCursor.slowScan(bytes.bytes, at, isEnd: isEnd, protocols, longestUBXPayload) {
      case .frame(let kind, let length):
        let start = at
        at &+= length
        count(kind)
        let frame = bytes.part(start, length)
        return Frame(
          frame, kind, offset: base &+ UInt64(start), ends: kind == .nmea ? FieldEnds(in: frame) : .none,
          isOfCutStream: counters.head.isCut)
      case .incomplete:
        guard isEnd else { return nil }
        counters.cutFrames &+= 1
      case .nothing: break
      case .tooLong: counters.tooLong &+= 1
      case .brokenSentence: counters.brokenSentences &+= 1
      case .withoutChecksum: counters.withoutChecksum &+= 1
      case .badChecksum: counters.badChecksums &+= 1
      }
      counters.skip(bytes.part(at, 1))
      at &+= 1
    }
    return nil
  }

  @inlinable @inline(__always)
  @_lifetime(self: copy self)
  mutating func count(_ kind: Frame.Kind) {
    switch kind {
    case .nmea: counters.nmeaFrames &+= 1
    case .ubx: counters.ubxFrames &+= 1
    case .rtcm3: counters.rtcm3Frames &+= 1
    case .spartn: counters.spartnFrames &+= 1
    }
  }

  /// Whether a byte is the first byte of a frame in some protocol. Most bytes between frames are not.
  @inlinable @inline(__always)
  static func mayBegin(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "$") || byte == UInt8(ascii: "!") || byte == UInt8(ascii: "#") || byte == UBXFrame.sync1
      || byte == RTCM3Frame.preamble || byte == SPARTNFrame.preamble
  }

  // The slow path. Not inlined, and independent of the cursor, so that the loop is short and the cursor stays in
  // registers.
  @inlinable @inline(never)
  static func slowScan(
    _ bytes: RawSpan, _ at: Int, isEnd: Bool, _ protocols: Frame.Protocols, _ longestUBXPayload: Int
  ) -> ScanResult {
    switch bytes.u1(at) {
    case UBXFrame.sync1: scanUBX(bytes, at, longestPayload: longestUBXPayload)
    case UInt8(ascii: "$"), UInt8(ascii: "!"), UInt8(ascii: "#"): scanNMEA(bytes, at, isEnd: isEnd)
    case RTCM3Frame.preamble: scanRTCM3(bytes, at)
    case SPARTNFrame.preamble: protocols == .ofReceivers ? .nothing : scanSPARTN(bytes, at)
    default: .nothing
    }
  }

  @inlinable @inline(__always)
  static func scanUBX(_ bytes: RawSpan, _ at: Int, longestPayload: Int) -> ScanResult {
    switch UBXFrame.scan(bytes, from: at, longestPayload: longestPayload) {
    case .frame(let length): .frame(.ubx, length)
    case .needs: .incomplete
    case .noSync: .nothing
    case .tooLong: .tooLong
    case .badChecksum: .badChecksum
    }
  }

  @inlinable @inline(__always)
  static func scanRTCM3(_ bytes: RawSpan, _ at: Int) -> ScanResult {
    switch RTCM3Frame.scan(bytes, from: at) {
    case .frame(let length): .frame(.rtcm3, length)
    case .needs: .incomplete
    case .noSync: .nothing
    case .badChecksum: .badChecksum
    }
  }

  @inlinable @inline(__always)
  static func scanSPARTN(_ bytes: RawSpan, _ at: Int) -> ScanResult {
    switch SPARTNFrame.scan(bytes, from: at) {
    case .frame(let length): .frame(.spartn, length)
    case .needs: .incomplete
    case .noSync: .nothing
    case .badChecksum: .badChecksum
    }
  }

  @inlinable @inline(__always)
  static func scanNMEA(_ bytes: RawSpan, _ at: Int, isEnd: Bool) -> ScanResult {
    switch NMEA.Sentence.scan(bytes, from: at, isEnd: isEnd) {
    case .sentence(let length): .frame(.nmea, length)
    case .needsMore: .incomplete
    case .noStart: .nothing
    case .tooLong: .tooLong
    case .broken: .brokenSentence
    case .noChecksum: .withoutChecksum
    case .badChecksum: .badChecksum
    }
  }
}

/// Counts of the frames of a stream, and the reasons of skipped bytes.
public struct StreamCounters: Equatable, Sendable {
  /// Frames by protocol.
  public var nmeaFrames: UInt64 = 0
  public var ubxFrames: UInt64 = 0
  public var rtcm3Frames: UInt64 = 0
  public var spartnFrames: UInt64 = 0
  /// Bytes outside of frames.
  public var skippedBytes: UInt64 = 0
  /// Frames with a wrong checksum.
  public var badChecksums: UInt64 = 0
  /// Frames longer than their protocol allows.
  public var tooLong: UInt64 = 0
  /// Sentences that are broken off by a control character, a new `$` or a byte that is not ASCII.
  public var brokenSentences: UInt64 = 0
  /// Sentences without a checksum.
  public var withoutChecksum: UInt64 = 0
  /// Frames that were incomplete when the stream ended or stalled.
  public var cutFrames: UInt64 = 0
  /// The bytes before the first frame.
  @usableFromInline var head = StreamHead()

  @inlinable public init() {}

  /// Counts bytes outside of frames.
  @inlinable @inline(__always)
  mutating func skip(_ bytes: RawSpan) {
    skippedBytes &+= UInt64(bytes.byteCount)
    if frames == 0 { head.add(bytes) }
  }

  /// Frames of all protocols.
  @inlinable public var frames: UInt64 { nmeaFrames + ubxFrames + rtcm3Frames + spartnFrames }
}
