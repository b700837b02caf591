// SPDX-License-Identifier: Apache-2.0
import WireBytes

/// A whole RTCM 3 frame with a correct CRC: a view without a copy.
///
/// Layout (RTCM 10403, transport layer): 0xD3, six zero bits and a ten-bit payload length, payload, CRC-24Q. The
/// payload begins with the twelve-bit message number.
public struct RTCM3Frame: ~Escapable {
  /// All bytes of the frame.
  public let bytes: RawSpan

  /// The first byte of a frame.
  @inlinable public static var preamble: UInt8 { 0xD3 }
  /// The number of bytes around the payload.
  @inlinable public static var overhead: Int { 6 }

  /// The result of a frame scan.
  public enum Scan: Equatable, Sendable {
    /// A frame of this many bytes.
    case frame(Int)
    /// The beginning of a frame that has at least this many bytes.
    case needs(Int)
    /// No frame: the preamble or the reserved bits do not match.
    case noSync
    /// No frame: the CRC is wrong.
    case badChecksum
  }

  /// The frame scan at `offset` of `bytes`.
  @inlinable @inline(__always)
  public static func scan(_ bytes: RawSpan, from offset: Int = 0) -> Scan {
    let left = bytes.byteCount &- offset
    if left >= 1, bytes.u1(offset) != preamble { return .noSync }
    // The reserved bits are the cheapest way to reject a stray 0xD3.
    if left >= 2, bytes.u1(offset &+ 1) & 0xFC != 0 { return .noSync }
    guard left >= 3 else { return .needs(overhead) }
    let total = Int(bytes.bigEndian(offset &+ 1, as: UInt16.self)) &+ overhead
    guard left >= total else { return .needs(total) }
    let sum = crc24q(of: bytes, from: offset, count: total &- 3)
    let sent =
      UInt32(bytes.bigEndian(offset &+ total &- 3, as: UInt16.self)) << 8 | UInt32(bytes.u1(offset &+ total &- 1))
    return sum == sent ? .frame(total) : .badChecksum
  }

  /// A frame that fills `bytes`; nil when `bytes` is not one whole frame with a correct CRC.
  @inlinable
  @_lifetime(copy bytes)
  public init?(_ bytes: RawSpan) {
    guard Self.scan(bytes) == .frame(bytes.byteCount) else { return nil }
    self.bytes = bytes
  }

  /// The frame that `scan` found in `bytes`. Traps when `bytes` is shorter than a frame.
  @inlinable
  @_lifetime(copy bytes)
  public init(checked bytes: RawSpan) {
    precondition(bytes.byteCount >= Self.overhead)
    self.bytes = bytes
  }

  /// The payload's bytes.
  @inlinable
  public var payload: RawSpan {
    @_lifetime(copy self) get { bytes.extracting(3..<bytes.byteCount &- 3) }
  }

  /// The message number, 0…4095; nil when the payload is too short for one.
  @inlinable
  public var messageNumber: Int? {
    guard bytes.byteCount >= Self.overhead &+ 2 else { return nil }
    return Int(bytes.bigEndian(3, as: UInt16.self) >> 4)
  }
}

/// Writes a frame around `payload` (0…1023 bytes) at the start of `output` and returns its length in bytes. Traps when
/// the payload is longer or does not fit.
@_lifetime(output: copy output)
public func encodeFrame(payload: RawSpan, into output: inout MutableRawSpan) -> Int {
  let count = payload.byteCount
  precondition(count <= 1023)
  output.setLittleEndian(RTCM3Frame.preamble, at: 0)
  output.setLittleEndian(UInt16(count).byteSwapped, at: 1)
  output.copy(payload, to: 3)
  let sum = crc24q(of: output.bytes, from: 0, count: count + 3)
  output.setLittleEndian(UInt16(truncatingIfNeeded: sum >> 8).byteSwapped, at: count + 3)
  output.setLittleEndian(UInt8(truncatingIfNeeded: sum), at: count + 5)
  return count + RTCM3Frame.overhead
}
