// SPDX-License-Identifier: Apache-2.0
import WireBytes

/// Reads fields of any number of bits, most significant bit first (RTCM 10403, "data types").
public struct BitReader: ~Escapable {
  @usableFromInline let bytes: RawSpan
  /// The offset of the next bit from the start.
  public private(set) var position = 0
  /// Whether a read went beyond the end. Bits beyond the end are 0.
  public private(set) var isExhausted = false

  /// Starts at the first bit of `bytes`.
  @_lifetime(copy bytes)
  public init(_ bytes: RawSpan) { self.bytes = bytes }

  /// The next `count` bits as an unsigned number; at most 64 bits.
  @_lifetime(self: copy self)
  public mutating func unsigned(_ count: Int) -> UInt64 {
    guard position + count <= bytes.byteCount * 8 else {
      isExhausted = true
      return 0
    }
    var value: UInt64 = 0
    var left = count
    while left > 0 {
      let inByte = 8 - position % 8
      let taken = min(inByte, left)
      let part = (bytes.u1(position / 8) << UInt8(8 - inByte)) >> UInt8(8 - taken)
      value = value << UInt64(taken) | UInt64(part)
      position += taken
      left -= taken
    }
    return value
  }

  /// The next `count` bits as a number in two's complement, 1 to 64.
  @_lifetime(self: copy self)
  public mutating func signed(_ count: Int) -> Int64 {
    let spare = UInt64(64 - count)
    return Int64(bitPattern: unsigned(count) << spare) >> Int64(spare)
  }

  /// The next bit.
  public mutating func flag() -> Bool { unsigned(1) != 0 }

  /// The next `count` bits as an integer that fits `Int`; at most 63 bits.
  @_lifetime(self: copy self)
  public mutating func int(_ count: Int) -> Int { Int(unsigned(count)) }

  /// The next `count` characters of eight bits. Nil when they do not begin at a byte or are not complete.
  @_lifetime(copy self)
  public mutating func characters(_ count: Int) -> RawSpan? {
    guard position % 8 == 0, position / 8 + count <= bytes.byteCount else {
      isExhausted = true
      return nil
    }
    let start = position / 8
    position += count * 8
    return bytes.extracting(start..<start + count)
  }
}
