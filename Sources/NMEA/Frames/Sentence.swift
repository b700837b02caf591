// SPDX-License-Identifier: Apache-2.0
import WireBytes

/// The talker of a sentence: the two characters after the `$`, or `P` for a proprietary sentence.
public struct Talker: Hashable, Sendable {
  /// The characters as one number, the first in the high byte.
  public var code: UInt16

  @inlinable public init(code: UInt16) { self.code = code }
  /// A talker by its two characters, such as "GP".
  @inlinable
  public init(_ characters: StaticString) {
    precondition(characters.utf8CodeUnitCount == 2)
    self.code = unsafe UInt16(characters.utf8Start[0]) << 8 | UInt16(characters.utf8Start[1])
  }

  @inlinable public static var gps: Talker { Talker(code: 0x4750) }
  @inlinable public static var glonass: Talker { Talker(code: 0x474C) }
  @inlinable public static var galileo: Talker { Talker(code: 0x4741) }
  /// BeiDou since NMEA 4.10. Some receivers write BD.
  @inlinable public static var beiDou: Talker { Talker(code: 0x4742) }
  @inlinable public static var beiDouOld: Talker { Talker(code: 0x4244) }
  @inlinable public static var qzss: Talker { Talker(code: 0x4751) }
  @inlinable public static var qzssOld: Talker { Talker(code: 0x515A) }
  @inlinable public static var navIC: Talker { Talker(code: 0x4749) }
  /// A solution of several constellations.
  @inlinable public static var combined: Talker { Talker(code: 0x474E) }
  /// A proprietary sentence: the first character is P.
  @inlinable public static var proprietary: Talker { Talker(code: 0x5000) }
}

/// The formatter of a sentence: the characters after the talker. Up to four characters, the last in the low byte.
public struct Formatter: Hashable, Sendable {
  public var code: UInt32

  @inlinable public init(code: UInt32) { self.code = code }
  /// A formatter by its three characters, such as "RMC".
  @inlinable
  public init(_ characters: StaticString) {
    var code: UInt32 = 0
    for index in 0..<min(4, characters.utf8CodeUnitCount) {
      code = unsafe code << 8 | UInt32(characters.utf8Start[index])
    }
    self.code = code
  }
}

/// The name of a sentence by value: up to sixteen characters.
public struct SentenceName: Hashable, Sendable {
  private var first: UInt64 = 0
  private var second: UInt64 = 0
  public private(set) var count = 0

  public init() {}

  /// Adds a character; a seventeenth is dropped.
  mutating func append(_ character: UInt8) {
    guard count < 16 else { return }
    let place = UInt64(count & 7) &* 8
    if count < 8 { first |= UInt64(character) &<< place } else { second |= UInt64(character) &<< place }
    count += 1
  }

  /// A character, 0 ..< `count`.
  public subscript(_ index: Int) -> UInt8 {
    UInt8(truncatingIfNeeded: (index < 8 ? first : second) &>> (UInt64(index & 7) &* 8))
  }
}

/// A whole sentence with a correct checksum: a view without a copy.
public struct Sentence: ~Escapable {
  /// All bytes from `$` to the end of the line.
  public let bytes: RawSpan
  /// The ends of its fields.
  public let ends: FieldEnds

  /// The sentence that `scan` found in `bytes`.
  @inlinable
  @_lifetime(copy bytes)
  public init(checked bytes: RawSpan) { self.init(checked: bytes, ends: FieldEnds(in: bytes)) }

  /// The sentence that `fastScan` found in `bytes`.
  @inlinable @inline(__always)
  @_lifetime(copy bytes)
  public init(checked bytes: RawSpan, ends: FieldEnds) {
    self.bytes = bytes
    self.ends = ends
  }

  /// The length of the address, the characters between `$` and the first comma.
  @inlinable public var addressLength: Int {
    // The first end is after the address. No receiver sends an address so long that this end is missing.
    @inline(__always)
    get { (ends.low != 0 ? ends.low.trailingZeroBitCount : Sentence.laterEnd(bytes, ends)) &- 1 }
  }

  /// The comma or `*` after an address of more than 62 characters.
  @inlinable @inline(never)
  static func laterEnd(_ bytes: RawSpan, _ ends: FieldEnds) -> Int {
    if ends.high != 0 { return 64 &+ ends.high.trailingZeroBitCount }
    var at = 1
    while at < bytes.byteCount, bytes.u1(at) != UInt8(ascii: ","), bytes.u1(at) != UInt8(ascii: "*") { at &+= 1 }
    return at
  }

  /// A sentence that fills `bytes`; nil when `bytes` is not one whole sentence with a correct checksum.
  @inlinable
  @_lifetime(copy bytes)
  public init?(_ bytes: RawSpan) {
    guard Self.scan(bytes, isEnd: true) == .sentence(bytes.byteCount) else { return nil }
    self.init(checked: bytes)
  }

  /// An address of a talker of two characters and a formatter of three as one number, the last character in the low byte;
  /// 0 for other addresses and for proprietary sentences.
  @inlinable public var shortAddress: UInt64 {
    @inline(__always) get {
      // The first end is six characters after the `$`.
      guard ends.low & 0x7F == 0x40, bytes.byteCount >= 8 else { return 0 }
      let address = bytes.bigEndian(0, as: UInt64.self) &>> 16 & 0xFF_FFFF_FFFF
      return address &>> 32 == UInt64(UInt8(ascii: "P")) ? 0 : address
    }
  }

  /// Whether the sentence is proprietary: its address begins with P.
  @inlinable @inline(__always)
  public var isProprietary: Bool { bytes.u1(1) == UInt8(ascii: "P") }

  /// The talker.
  @inlinable @inline(__always)
  public var talker: Talker {
    if isProprietary { return .proprietary }
    return addressLength >= 2 ? Talker(code: bytes.bigEndian(1, as: UInt16.self)) : Talker(code: 0)
  }

  /// The formatter: three characters, or three or four of a manufacturer; 0 when the address is too short.
  @inlinable @inline(__always)
  public var formatter: Formatter {
    if addressLength == 5, !isProprietary {
      return Formatter(code: bytes.bigEndian(2, as: UInt32.self) & 0xFF_FFFF)
    }
    let skip = isProprietary ? 1 : 2
    var code: UInt32 = 0
    var at = 1 &+ skip
    let end = min(1 &+ addressLength, at &+ 4)
    while at < end {
      code = code << 8 | UInt32(bytes.u1(at))
      at &+= 1
    }
    return Formatter(code: code)
  }

  /// The name of the sentence, up to sixteen characters: its address, with the number of a sentence of u-blox
  /// (PUBX,00).
  public var name: SentenceName {
    var name = SentenceName()
    for index in 0..<addressLength { name.append(bytes.u1(1 &+ index)) }
    guard addressLength == 4, isProprietary, formatter == Formatter(code: 0x554258) else { return name }
    var at = 2 &+ addressLength
    while at < bytes.byteCount, bytes.u1(at) &- UInt8(ascii: "0") < 10 {
      name.append(bytes.u1(at))
      at &+= 1
    }
    return name
  }

  /// A reader of the fields, before the first field after the address.
  @inlinable
  public var fields: FieldReader {
    @inline(__always) @_lifetime(copy self) get { FieldReader(bytes, from: 1 &+ addressLength, ends: ends) }
  }
}
