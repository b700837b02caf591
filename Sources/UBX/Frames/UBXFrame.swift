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

/// Writes the sync characters, class, id, length and a zeroed payload at the start of `output`. Returns the length of
/// the whole frame in bytes. Traps when `output` is shorter.
@inlinable
public func beginFrame(_ identity: MessageIdentity, length: Int, in output: inout MutableRawSpan) -> Int {
  precondition(length >= 0 && length <= 0xFFFF)
  let total = length &+ UBXFrame.overhead
  for index in 6..<total { output.setLittleEndian(0 as UInt8, at: index) }
  output.setLittleEndian(0x62B5 as UInt16, at: 0)
  output.setLittleEndian(identity.messageClass, at: 2)
  output.setLittleEndian(identity.messageID, at: 3)
  output.setLittleEndian(UInt16(length), at: 4)
  return total
}

/// Writes the checksum of a frame of `total` bytes at the start of `output`.
@inlinable
public func finishFrame(_ total: Int, in output: inout MutableRawSpan) {
  let sum = checksum(of: output.bytes, from: 2, count: total &- 4)
  output.setLittleEndian(sum, at: total &- 2)
}

/// Writes a frame around an existing payload: for messages without a layout, and for polls with an empty payload.
/// Returns the length of the frame in bytes. Traps when `output` has no room for the payload and 8 bytes more.
@inlinable
@_lifetime(output: copy output)
public func encodeFrame(_ identity: MessageIdentity, payload: RawSpan, into output: inout MutableRawSpan) -> Int {
  let total = beginFrame(identity, length: payload.byteCount, in: &output)
  output.copy(payload, to: 6)
  finishFrame(total, in: &output)
  return total
}

#if !hasFeature(Embedded)
  /// Returns the bytes of a UBX frame.
  package func frameBytes(_ identity: MessageIdentity, _ payload: [UInt8]) -> [UInt8] {
    var frame = [UBXFrame.sync1, UBXFrame.sync2, identity.messageClass, identity.messageID]
    frame.append(u2: UInt16(truncatingIfNeeded: payload.count))
    frame += payload
    // `unsafe`: only to view the bytes of an array of this function.
    frame.append(u2: unsafe checksum(of: frame.span.bytes, from: 2, count: frame.count - 2))
    return frame
  }
#endif

/// The 8-bit Fletcher checksum over `count` bytes from `offset`: CK_A in the low byte, CK_B in the high one, as a
/// little-endian load of the two bytes gives it.
///
/// CK_A is the sum of the bytes and CK_B the sum of all values of CK_A, both modulo 256: byte i of n counts once in
/// CK_A and n − i times in CK_B. Zeros in front change neither. So the bytes are processed in blocks of sixteen, the
/// first padded with zeros in front, as sixteen columns side by side. At the start of a buffer there is nothing to load
/// before the bytes, and they are summed one by one.
@inlinable @inline(__always)
public func checksum(of bytes: RawSpan, from offset: Int, count: Int) -> UInt16 {
  guard let sums = ColumnSums(of: bytes, from: offset, count: count) else {
    return fletcherChecksum(of: bytes, from: offset, count: count)
  }
  let weights = SIMD16<UInt8>(16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1)
  let b = (sums.passed &<< 4 &+ sums.columns &* weights).sum
  return UInt16(b) << 8 | UInt16(sums.columns.sum)
}

/// A typed view of a UBX payload. The views are generated from `Layouts/*.ubx`.
public protocol Message: ~Escapable {
  /// Class and id.
  static var identity: MessageIdentity { get }
  /// The shortest payload of the layout, in bytes.
  static var minimumLength: Int { get }
  /// The layout as data.
  static var layout: MessageLayout { get }
  /// A view of `payload`; nil when the layout does not fit.
  @_lifetime(copy payload)
  init?(payload: RawSpan)
}

extension UBXFrame {
  /// The frame's payload as message `M`; nil for another message and when the layout does not fit.
  ///
  ///     if let solution = frame.message(NavPVT.self) { print(solution.lat) }
  @inlinable @inline(__always)
  @_lifetime(copy self)
  public func message<M: Message & ~Escapable>(_: M.Type) -> M? {
    guard identity == M.identity else { return nil }
    return M(payload: payload)
  }
}

/// A message's class and id, the two bytes after the sync characters of a frame.
public struct MessageIdentity: Hashable, Sendable {
  /// The class, such as 0x01 for NAV.
  public var messageClass: UInt8
  /// The id within the class.
  public var messageID: UInt8

  @inlinable
  public init(_ messageClass: UInt8, _ messageID: UInt8) {
    self.messageClass = messageClass
    self.messageID = messageID
  }

  /// Class and id as one number, for tables and switches.
  @inlinable
  public var key: UInt16 { UInt16(messageClass) << 8 | UInt16(messageID) }
}
