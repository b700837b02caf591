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
