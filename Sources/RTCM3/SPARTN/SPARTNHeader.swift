// SPDX-License-Identifier: Apache-2.0

import WireBytes

/// The fields before the payload of a SPARTN frame (SPARTN 2.0 interface control document, TF002…TF015).
public struct SPARTNHeader: Equatable, Sendable {
  /// The time of the correction, in the time of its satellite system.
  public enum Time: Equatable, Sendable {
    /// Seconds of the half day.
    case ofHalfDay(UInt16)
    /// Seconds since 2010-01-01.
    case since2010(UInt32)
  }

  /// Encryption of the payload and authentication of the message.
  public struct Encryption: Equatable, Sendable {
    /// The number of the key, 0…15. Traps when set to another number.
    public var keyID: UInt8 { didSet { precondition(keyID < 16) } }
    /// The sequence number within the time of the key, 0…63. Traps when set to another number.
    public var sequence: UInt8 { didSet { precondition(sequence < 64) } }
    /// 0 none, 1 outside of the message, 2 or more within it; 0…7. Traps when set to another number, or to 2 or more
    /// where `authenticationLength` is invalid.
    public var authenticationIndicator: UInt8 {
      didSet { precondition(authenticationIndicator < 8 && (authenticationIndicator < 2 || authenticationLength < 5)) }
    }
    /// 0…4: 8, 12, 16, 32 or 64 bytes of authentication, if they are within the message. Traps when set to another
    /// number.
    public var authenticationLength: UInt8 { didSet { precondition(authenticationLength < 5) } }

    /// Traps when a number is not in its range.
    public init(keyID: UInt8, sequence: UInt8, authenticationIndicator: UInt8 = 0, authenticationLength: UInt8 = 0) {
      precondition(keyID < 16 && sequence < 64 && authenticationIndicator < 8 && authenticationLength < 5)
      self.keyID = keyID
      self.sequence = sequence
      self.authenticationIndicator = authenticationIndicator
      self.authenticationLength = authenticationLength
    }

    init(bits: UInt16) {
      keyID = UInt8(bits >> 12)
      sequence = UInt8(bits >> 6 & 63)
      authenticationIndicator = UInt8(bits >> 3 & 7)
      authenticationLength = UInt8(bits & 7)
    }

    var bits: UInt16 {
      UInt16(keyID) << 12 | UInt16(sequence) << 6 | UInt16(authenticationIndicator) << 3 | UInt16(authenticationLength)
    }

    /// The number of authentication bytes after the payload.
    public var authenticationBytes: Int { Self.authenticationLength(UInt8(truncatingIfNeeded: bits)) ?? 0 }

    /// The number of authentication bytes, from the last byte of the header; nil for a reserved length.
    static func authenticationLength(_ last: UInt8) -> Int? {
      guard last >> 3 & 7 > 1 else { return 0 }
      switch last & 7 {
      case 0: return 8
      case 1: return 12
      case 2: return 16
      case 3: return 32
      case 4: return 64
      default: return nil
      }
    }
  }

  /// The type: 0…4, or 120 for proprietary messages. Traps when set to another number.
  public var messageType: UInt8 { didSet { precondition(SPARTNFrame.isType(messageType)) } }
  /// The subtype, 0…15. Traps when set to another number.
  public var subtype: UInt8 { didSet { precondition(subtype < 16) } }
  public var check: MessageCheck
  public var time: Time
  /// The provider of the corrections, 0…127. Traps when set to another number.
  public var solutionID: UInt8 { didSet { precondition(solutionID < 128) } }
  /// The computer of the provider, 0…15. Traps when set to another number.
  public var processorID: UInt8 { didSet { precondition(processorID < 16) } }
  /// Nil when the payload is neither encrypted nor authenticated.
  public var encryption: Encryption?

  /// Traps when a number is not in its range.
  public init(
    messageType: UInt8, subtype: UInt8, check: MessageCheck = .crc24, time: Time, solutionID: UInt8 = 0,
    processorID: UInt8 = 0, encryption: Encryption? = nil
  ) {
    precondition(SPARTNFrame.isType(messageType) && subtype < 16 && solutionID < 128 && processorID < 16)
    self.messageType = messageType
    self.subtype = subtype
    self.check = check
    self.time = time
    self.solutionID = solutionID
    self.processorID = processorID
    self.encryption = encryption
  }

  /// The header of a frame.
  init(_ bytes: RawSpan) {
    messageType = bytes.u1(1) >> 1
    check = MessageCheck(header: bytes.u1(3))
    subtype = bytes.u1(4) >> 4
    // The bits of the time begin in the middle of a byte, after five bits of subtype and kind of time.
    let start: Int
    let last: UInt64
    if bytes.u1(4) & 0x08 == 0 {
      last = UInt64(bytes.bigEndian(4, as: UInt32.self))
      time = .ofHalfDay(UInt16(truncatingIfNeeded: last >> 11))
      start = 8
    } else {
      last = UInt64(bytes.bigEndian(4, as: UInt32.self)) << 16 | UInt64(bytes.bigEndian(8, as: UInt16.self))
      time = .since2010(UInt32(truncatingIfNeeded: last >> 11))
      start = 10
    }
    solutionID = UInt8(last >> 4 & 127)
    processorID = UInt8(last & 15)
    encryption = bytes.u1(3) & 0x40 == 0 ? nil : Encryption(bits: bytes.bigEndian(start, as: UInt16.self))
  }

  /// Writes preamble and header for a payload of `length` bytes and returns the offset of the payload.
  func write(_ length: Int, into output: inout MutableRawSpan) -> Int {
    let first = messageType << 1 | UInt8(length >> 9)
    let second = UInt8(length >> 1 & 0xFF)
    let flags = UInt8(length & 1) << 7 | (encryption == nil ? 0 : 0x40) | check.rawValue << 4
    output.setLittleEndian(SPARTNFrame.preamble, at: 0)
    output.setLittleEndian(first, at: 1)
    output.setLittleEndian(second, at: 2)
    output.setLittleEndian(flags | headerCheck(headerCheck(headerCheck(0, first), second), flags), at: 3)
    let last = UInt16(solutionID) << 4 | UInt16(processorID)
    var end: Int
    switch time {
    case .ofHalfDay(let seconds):
      let bits = UInt32(subtype) << 28 | UInt32(seconds) << 11 | UInt32(last)
      output.setLittleEndian(bits.byteSwapped, at: 4)
      end = 8
    case .since2010(let seconds):
      let bits = UInt64(subtype) << 44 | 1 << 43 | UInt64(seconds) << 11 | UInt64(last)
      output.setLittleEndian(UInt32(truncatingIfNeeded: bits >> 16).byteSwapped, at: 4)
      output.setLittleEndian(UInt16(truncatingIfNeeded: bits).byteSwapped, at: 8)
      end = 10
    }
    if let encryption {
      output.setLittleEndian(encryption.bits.byteSwapped, at: end)
      end += 2
    }
    return end
  }
}

/// The cyclic redundancy checks at the end of SPARTN messages, most significant bit first. The header selects one
/// (SPARTN 2.0 interface control document, TF005 and TF018).
public enum MessageCheck: UInt8, Sendable, CaseIterable {
  /// Polynomial 0x07, start value 0.
  case crc8
  /// Polynomial 0x1021, start value 0.
  case crc16
  /// Polynomial 0x864CFB, start value 0: the check of RTCM 3. The corrections that u-blox broadcasts use it.
  case crc24
  /// Polynomial 0x04C11DB7, start value and final exclusive or 0xFFFFFFFF.
  case crc32

  /// The length of the check in bytes.
  @inlinable public var size: Int { Int(rawValue) &+ 1 }

  /// The check of `count` bytes from `offset`.
  public func value(of bytes: RawSpan, from offset: Int, count: Int) -> UInt32 {
    // The remainder is in the upper bits of the word, so one loop serves all widths. It takes four bits at a time:
    // corrections arrive at 600 bytes a second, so larger tables would have no benefit.
    let steps = NibbleSteps.of(self)
    let inversion: UInt32 = self == .crc32 ? 0xFFFF_FFFF : 0
    var remainder = inversion
    for index in offset..<offset + count {
      let byte = UInt32(bytes.u1(index))
      remainder = remainder &<< 4 ^ steps[Int(remainder &>> 28 ^ byte &>> 4)]
      remainder = remainder &<< 4 ^ steps[Int(remainder &>> 28 ^ byte & 15)]
    }
    return (remainder ^ inversion) &>> UInt32(32 - 8 * size)
  }
}

/// The remainders of four bits, by polynomial.
private enum NibbleSteps {
  typealias Table = InlineArray<16, UInt32>

  static func of(_ check: MessageCheck) -> Table {
    switch check {
    case .crc8: crc8
    case .crc16: crc16
    case .crc24: crc24
    case .crc32: crc32
    }
  }

  private static let crc8 = table(0x0700_0000)
  private static let crc16 = table(0x1021_0000)
  private static let crc24 = table(0x864C_FB00)
  private static let crc32 = table(0x04C1_1DB7)

  /// - Parameter polynomial: the polynomial in the upper bits.
  private static func table(_ polynomial: UInt32) -> Table {
    var table = Table(repeating: 0)
    for value in 0..<16 {
      var word = UInt32(value) << 28
      for _ in 0..<4 { word = word & 0x8000_0000 != 0 ? word << 1 ^ polynomial : word << 1 }
      table[value] = word
    }
    return table
  }
}

/// The four-bit check of a frame's start after one more byte: polynomial 0x9, start value 0, least significant bit
/// first (SPARTN 2.0 interface control document, TF006).
@inlinable
func headerCheck(_ remainder: UInt8, _ byte: UInt8) -> UInt8 {
  // The remainders of four bits: the remainder of 0 in the lowest digit, of 15 in the highest.
  let steps: UInt64 = 0x5BA4_8679_C23D_1FE0
  let half = UInt8(truncatingIfNeeded: steps &>> UInt64((remainder ^ byte & 15) &* 4)) & 15
  return UInt8(truncatingIfNeeded: steps &>> UInt64((half ^ byte &>> 4) &* 4)) & 15
}

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

  /// The authentication bytes; empty if there is none.
  public var authentication: RawSpan {
    @_lifetime(copy self) get {
      let start = Self.headerLength(bytes, 0) + payload.byteCount
      return bytes.extracting(start..<bytes.byteCount - MessageCheck(header: bytes.u1(3)).size)
    }
  }
}

extension MessageCheck {
  /// The kind of message check, from the fourth byte of a frame.
  init(header flags: UInt8) {
    switch flags >> 4 & 3 {
    case 0: self = .crc8
    case 1: self = .crc16
    case 2: self = .crc24
    default: self = .crc32
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
