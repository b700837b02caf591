// SPDX-License-Identifier: Apache-2.0
import WireBytes

/// A whole SPARTN frame with correct checks: a view without a copy.
///
/// Layout (SPARTN 2.0 interface control document, "transport layer"): 0x73; type 7 bits, payload length 10, encryption
/// and authentication flag 1, kind of message check 2, check of these bits 4; subtype and time (4 or 6 bytes); with the
/// flag two bytes of encryption; payload; authentication; message check. The message check covers everything before it
/// except the preamble.
///
/// The preamble is the character s. Text is not mistaken for a frame, because all printable characters are reserved
/// types, and because of the header check.
public struct SPARTNFrame: ~Escapable {
  /// All bytes of the frame.
  public let bytes: RawSpan

  /// The first byte of a frame.
  @inlinable public static var preamble: UInt8 { 0x73 }
  /// The shortest frame in bytes: no payload, a time of two bytes, a check of one.
  @inlinable public static var shortest: Int { 9 }
  /// The longest frame in bytes: a payload of 1023, a time of four bytes, encryption, 64 bytes of authentication, a
  /// check of four.
  @inlinable public static var longest: Int { 12 + 1023 + 64 + 4 }

  /// The result of a frame scan.
  public enum Scan: Equatable, Sendable {
    /// A frame of this many bytes.
    case frame(Int)
    /// The beginning of a frame that has at least this many bytes.
    case needs(Int)
    /// No frame: the preamble, the type, the header check or the length of the authentication is wrong.
    case noSync
    /// No frame: the message check is wrong.
    case badChecksum
  }

  /// The frame scan at `offset` of `bytes`.
  @inlinable
  public static func scan(_ bytes: RawSpan, from offset: Int = 0) -> Scan {
    let left = bytes.byteCount &- offset
    if left >= 1, bytes.u1(offset) != preamble { return .noSync }
    if left >= 2, !isType(bytes.u1(offset &+ 1) &>> 1) { return .noSync }
    guard left >= 4 else { return .needs(shortest) }
    return scanBehindStart(bytes, offset, left)
  }

  /// Types 5…119 and above 120 are reserved (TF002). 120 is for proprietary messages.
  @inlinable
  static func isType(_ type: UInt8) -> Bool { type <= 4 || type == 120 }

  /// The rest of the scan, for a valid type and at least four bytes.
  @usableFromInline
  static func scanBehindStart(_ bytes: RawSpan, _ offset: Int, _ left: Int) -> Scan {
    let flags = bytes.u1(offset + 3)
    let check = headerCheck(headerCheck(headerCheck(0, bytes.u1(offset + 1)), bytes.u1(offset + 2)), flags & 0xF0)
    guard check == flags & 15 else { return .noSync }
    guard left >= 5 else { return .needs(shortest) }
    let header = Self.headerLength(bytes, offset)
    guard left >= header else { return .needs(header + 1) }
    guard let authentication = Self.authenticationLength(bytes, offset, header: header) else { return .noSync }
    let sum = MessageCheck(header: flags)
    let length = Int(bytes.bigEndian(offset + 1, as: UInt16.self) & 0x1FF) << 1 | Int(flags >> 7)
    let total = header + length + authentication + sum.size
    guard left >= total else { return .needs(total) }
    let sent = trailing(bytes, offset + total - sum.size, sum.size)
    return sum.value(of: bytes, from: offset + 1, count: total - 1 - sum.size) == sent ? .frame(total) : .badChecksum
  }

  /// The number of bytes before the payload, from the first five bytes.
  static func headerLength(_ bytes: RawSpan, _ offset: Int) -> Int {
    let hasLongTime = bytes.u1(offset + 4) & 0x08 != 0
    let isEncrypted = bytes.u1(offset + 3) & 0x40 != 0
    return 8 + (hasLongTime ? 2 : 0) + (isEncrypted ? 2 : 0)
  }

  /// The number of authentication bytes after the payload; nil for a reserved length.
  static func authenticationLength(_ bytes: RawSpan, _ offset: Int, header: Int) -> Int? {
    guard bytes.u1(offset + 3) & 0x40 != 0 else { return 0 }
    return SPARTNHeader.Encryption.authenticationLength(bytes.u1(offset + header - 1))
  }

  /// The big-endian number of `size` bytes at `offset`.
  private static func trailing(_ bytes: RawSpan, _ offset: Int, _ size: Int) -> UInt32 {
    var value: UInt32 = 0
    for index in offset..<offset + size { value = value << 8 | UInt32(bytes.u1(index)) }
    return value
  }

  /// A frame that fills `bytes`; nil when `bytes` is not one whole frame with correct checks.
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
    precondition(bytes.byteCount >= Self.shortest)
    self.bytes = bytes
  }

  /// The type: 0 orbits, clocks and biases, 1 and 3 atmosphere, 2 areas, 4 keys, 120 proprietary.
  @inlinable public var messageType: Int { Int(bytes.u1(1) &>> 1) }

  /// The subtype: for corrections the satellite system.
  @inlinable public var subtype: Int { Int(bytes.u1(4) &>> 4) }

  /// The fields before the payload.
  public var header: SPARTNHeader { SPARTNHeader(bytes) }

  /// The bytes of the payload; encrypted if the header's flag is set.
  public var payload: RawSpan {
    @_lifetime(copy self) get {
      let start = Self.headerLength(bytes, 0)
      let length = Int(bytes.bigEndian(1, as: UInt16.self) & 0x1FF) << 1 | Int(bytes.u1(3) >> 7)
      return bytes.extracting(start..<start + length)
    }
  }

  /// The authentication bytes; empty without authentication.
  public var authentication: RawSpan {
    @_lifetime(copy self) get {
      let start = Self.headerLength(bytes, 0) + payload.byteCount
      return bytes.extracting(start..<bytes.byteCount - MessageCheck(header: bytes.u1(3)).size)
    }
  }
}

/// Writes a frame around `payload` (0…1023 bytes) at the start of `output` and returns its length in bytes. Traps when
/// the payload is longer, does not fit, or when the length of `authentication` differs from the header's.
@_lifetime(output: copy output)
public func encodeFrame(
  _ header: SPARTNHeader, payload: RawSpan, authentication: RawSpan = RawSpan(), into output: inout MutableRawSpan
) -> Int {
  precondition(payload.byteCount <= 1023)
  precondition(authentication.byteCount == header.encryption?.authenticationBytes ?? 0)
  let start = header.write(payload.byteCount, into: &output)
  output.copy(payload, to: start)
  output.copy(authentication, to: start + payload.byteCount)
  let end = start + payload.byteCount + authentication.byteCount
  let sum = header.check.value(of: output.bytes, from: 1, count: end - 1)
  for index in 0..<header.check.size {
    let shift = UInt32(8 * (header.check.size - 1 - index))
    output.setLittleEndian(UInt8(truncatingIfNeeded: sum >> shift), at: end + index)
  }
  return end + header.check.size
}
