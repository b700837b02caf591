import NMEA
import RTCM3
import SPARTN
import UBX
import WireBytes

/// Finds the frames of several protocols in a span of bytes, in one pass and in place.
///
///     var cursor = FrameCursor(bytes)
///     while let frame = cursor.next() { … }
///
/// What is not a frame is skipped and counted. When a frame turns out to be none (wrong checksum, absurd length), the
/// search goes on at the byte behind its first one, so that a false start hides no frame behind it.
public struct FrameCursor: ~Escapable {
  @usableFromInline let bytes: RawSpan
  @usableFromInline let end: Int
  @usableFromInline var at: Int
  /// The next byte to look at: everything before it is settled.
  @inlinable public var position: Int { at }
  /// What was found and skipped so far.
  public var counters: StreamCounters
  @usableFromInline let base: UInt64
  @usableFromInline let isEnd: Bool
  @usableFromInline let protocols: Frame.Protocols

  /// - Parameters:
  ///   - bytes: where to look.
  ///   - offset: bytes of the stream before `bytes`, for the frames' offsets.
  ///   - isEnd: whether no bytes follow. If not, the cursor stops before a frame that is not whole.
  ///   - counters: what was found and skipped before.
  ///   - protocols: what is looked for.
  @inlinable
  @_lifetime(copy bytes)
  public init(
    _ bytes: RawSpan, offset: UInt64 = 0, isEnd: Bool = true, counters: StreamCounters = StreamCounters(),
    protocols: Frame.Protocols = .ofReceivers
  ) {
    self.bytes = bytes
    self.end = bytes.byteCount
    self.at = 0
    self.counters = counters
    self.base = offset
    self.isEnd = isEnd
    self.protocols = protocols
  }

  /// What the bytes at a place are.
  @usableFromInline enum Verdict {
    case frame(Frame.Kind, Int)
    case incomplete
    case skip(Int)
  }

  /// The next frame; nil when there is none in the bytes that are left.
  @inlinable @inline(always)
  @_lifetime(copy self)
  public mutating func next() -> Frame? {
    while at < end {
      // Nearly all frames are found here.
      let first = bytes.u1(at)
      if first == UInt8(ascii: "$"), let sentence = quickLook(at: bytes, from: at) {
        let start = at
        at &+= sentence.length
        counters.nmeaFrames &+= 1
        return Frame(
          bytes.part(start, sentence.length), .nmea, offset: base &+ UInt64(start), ends: sentence.ends)
      }
      if first == UBXFrame.sync1, case .frame(let length) = UBXFrame.look(at: bytes, from: at) {
        let start = at
        at &+= length
        counters.ubxFrames &+= 1
        return Frame(bytes.part(start, length), .ubx, offset: base &+ UInt64(start), ends: .none)
      }
      if first == RTCM3Frame.preamble, case .frame(let length) = RTCM3Frame.look(at: bytes, from: at) {
        let start = at
        at &+= length
        counters.rtcm3Frames &+= 1
        return Frame(bytes.part(start, length), .rtcm3, offset: base &+ UInt64(start), ends: .none)
      }
      switch verdict() {
      case .frame(let kind, let length):
        let start = at
        at &+= length
        count(kind)
        let frame = bytes.part(start, length)
        return Frame(
          frame, kind, offset: base &+ UInt64(start), ends: kind == .nmea ? FieldEnds(in: frame) : .none)
      case .skip(let length):
        at &+= length
        counters.skippedBytes &+= UInt64(length)
      case .incomplete:
        guard isEnd else { return nil }
        counters.cutFrames &+= 1
        counters.skippedBytes &+= 1
        at &+= 1
      }
    }
    return nil
  }

  @inlinable @inline(always)
  mutating func count(_ kind: Frame.Kind) {
    switch kind {
    case .nmea: counters.nmeaFrames &+= 1
    case .ubx: counters.ubxFrames &+= 1
    case .rtcm3: counters.rtcm3Frames &+= 1
    case .spartn: counters.spartnFrames &+= 1
    }
  }

  @inlinable @inline(always)
  mutating func verdict() -> Verdict {
    switch bytes.u1(at) {
    case UBXFrame.sync1: ubxVerdict()
    case UInt8(ascii: "$"), UInt8(ascii: "!"): nmeaVerdict()
    case RTCM3Frame.preamble: rtcm3Verdict()
    case SPARTNFrame.preamble: protocols == .ofReceivers ? .skip(1) : spartnVerdict()
    default: .skip(1)
    }
  }

  @inlinable @inline(always)
  mutating func ubxVerdict() -> Verdict {
    switch UBXFrame.look(at: bytes, from: at) {
    case .frame(let length): return .frame(.ubx, length)
    case .needs: return .incomplete
    case .noSync: return .skip(1)
    case .tooLong: counters.tooLong &+= 1
    case .badChecksum: counters.badChecksums &+= 1
    }
    return .skip(1)
  }

  @inlinable @inline(always)
  mutating func rtcm3Verdict() -> Verdict {
    switch RTCM3Frame.look(at: bytes, from: at) {
    case .frame(let length): return .frame(.rtcm3, length)
    case .needs: return .incomplete
    case .noSync: return .skip(1)
    case .badChecksum:
      counters.badChecksums &+= 1
      return .skip(1)
    }
  }

  @inlinable @inline(always)
  mutating func spartnVerdict() -> Verdict {
    switch FrameCursor.spartnLook(bytes, at) {
    case .frame(let length): return .frame(.spartn, length)
    case .needs: return .incomplete
    case .noSync: return .skip(1)
    case .badChecksum:
      counters.badChecksums &+= 1
      return .skip(1)
    }
  }

  // Not inlined, and without the cursor: where SPARTN is not looked for, it shall cost the loop nothing.
  @inlinable @inline(never)
  static func spartnLook(_ bytes: RawSpan, _ at: Int) -> SPARTNFrame.Look { SPARTNFrame.look(at: bytes, from: at) }

  @inlinable @inline(always)
  mutating func nmeaVerdict() -> Verdict {
    switch NMEA.look(at: bytes, from: at, isEnd: isEnd) {
    case .sentence(let length): return .frame(.nmea, length)
    case .needsMore: return .incomplete
    case .noStart: return .skip(1)
    case .tooLong: counters.tooLong &+= 1
    case .broken: counters.brokenSentences &+= 1
    case .noChecksum: counters.withoutChecksum &+= 1
    case .badChecksum: counters.badChecksums &+= 1
    }
    return .skip(1)
  }
}
