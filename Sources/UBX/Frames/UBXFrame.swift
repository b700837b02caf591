// SPDX-License-Identifier: Apache-2.0
import WireBytes

/// A whole UBX frame with a correct checksum: a view without a copy.
///
/// Layout: 0xB5 0x62, class U1, id U1, payload length U2, payload, CK_A, CK_B (interface descriptions, "UBX frame
/// structure").
public struct UBXFrame: ~Escapable {
  /// All bytes of the frame, from the first sync character to CK_B.
  public let bytes: RawSpan

  /// The number of bytes around the payload.
  @inlinable public static var overhead: Int { 8 }
  /// The first sync character.
  @inlinable public static var sync1: UInt8 { 0xB5 }
  /// The second sync character.
  @inlinable public static var sync2: UInt8 { 0x62 }
  /// The longest accepted payload in bytes: RXM-RAWX with 255 measurements has 8176. A longer one in a header is noise.
  @inlinable public static var longestPayload: Int { 8192 }

  /// The result of a frame scan.
  public enum Scan: Equatable, Sendable {
    /// A frame of this many bytes.
    case frame(Int)
    /// The beginning of a frame that has at least this many bytes.
    case needs(Int)
    /// No frame: the sync characters are missing.
    case noSync
    /// No frame: the length exceeds the longest accepted payload.
    case tooLong
    /// No frame: the checksum is wrong.
    case badChecksum
  }

  /// The frame scan at `offset` of `bytes`. A frame with more than `longestPayload` bytes of payload is too long.
  @inlinable @inline(__always)
  public static func scan(
    _ bytes: RawSpan, from offset: Int = 0, longestPayload: Int = UBXFrame.longestPayload
  ) -> Scan {
    let left = bytes.byteCount &- offset
    // The shortest frame has eight bytes, so the header is one load.
    guard left >= overhead else { return beginning(of: bytes, from: offset, longestPayload: longestPayload) }
    let header = bytes.littleEndian(offset, as: UInt64.self)
    guard header & 0xFFFF == 0x62B5 else { return .noSync }
    let length = Int(header &>> 32 & 0xFFFF)
    guard length <= longestPayload else { return .tooLong }
    let total = length &+ overhead
    guard left >= total else { return .needs(total) }
    let sum = checksum(of: bytes, from: offset &+ 2, count: length &+ 4)
    guard bytes.littleEndian(offset &+ total &- 2, as: UInt16.self) == sum else { return .badChecksum }
    return .frame(total)
  }

  /// The scan of fewer bytes than a frame has.
  @inlinable @inline(never)
  static func beginning(of bytes: RawSpan, from offset: Int, longestPayload: Int) -> Scan {
    let left = bytes.byteCount &- offset
    if left >= 1, bytes.u1(offset) != sync1 { return .noSync }
    if left >= 2, bytes.u1(offset &+ 1) != sync2 { return .noSync }
    guard left >= 6 else { return .needs(overhead) }
    let length = Int(bytes.littleEndian(offset &+ 4, as: UInt16.self))
    return length <= longestPayload ? .needs(length &+ overhead) : .tooLong
  }

  /// A frame that fills `bytes`; nil when `bytes` is not one whole frame with a correct checksum.
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

  /// Class and id.
  @inlinable @inline(__always)
  public var identity: MessageIdentity { MessageIdentity(bytes.u1(2), bytes.u1(3)) }

  /// The payload's bytes.
  @inlinable
  public var payload: RawSpan {
    @inline(__always) @_lifetime(copy self) get { bytes.part(6, bytes.byteCount &- 8) }
  }
}
