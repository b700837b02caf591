// SPDX-License-Identifier: Apache-2.0
import CByteMask

/// Operations on sixteen bytes at a time. In the result of a comparison, a byte is all ones if it is true, and zero if
/// it is false.
extension SIMD16<UInt8> {
  /// The bytes as two integers, the first in the low byte of `low`.
  @inlinable @inline(__always)
  public var halves: (low: UInt64, high: UInt64) {
    // Marked unsafe because a cast can make an invalid value; integers have no invalid values.
    let words = unsafe unsafeBitCast(self, to: SIMD2<UInt64>.self)
    return (UInt64(littleEndian: words.x), UInt64(littleEndian: words.y))
  }

  /// The high bit of each byte as a mask; the first byte is in the low bit. For a comparison: a bit for each byte that
  /// satisfies it.
  @inlinable @inline(__always)
  public var highBits: UInt64 { UInt64(c_high_bits(self)) }

  /// The sum of the bytes, modulo 256.
  @inlinable @inline(__always)
  public var sum: UInt8 { c_sum(self) }

  /// All ones where the bytes are equal to `byte`.
  @inlinable @inline(__always)
  public func equal(to byte: UInt8) -> SIMD16<UInt8> {
    SIMD16(repeating: 0).replacing(with: 0xFF, where: self .== SIMD16(repeating: byte))
  }

  /// All ones where the bytes are `byte` or more.
  @inlinable @inline(__always)
  public func atLeast(_ byte: UInt8) -> SIMD16<UInt8> {
    SIMD16(repeating: 0).replacing(with: 0xFF, where: self .>= SIMD16(repeating: byte))
  }

  /// All ones where the bytes, as signed ones, are below `limit`.
  @inlinable @inline(__always)
  public func belowSigned(_ limit: Int8) -> SIMD16<UInt8> {
    // Called unsafe because a cast could make an invalid value; integers have no invalid values.
    let signed = unsafe unsafeBitCast(self, to: SIMD16<Int8>.self)
    return SIMD16(repeating: 0).replacing(with: 0xFF, where: signed .< SIMD16<Int8>(repeating: limit))
  }

  /// The first `count` bytes; zero after them.
  @inlinable @inline(__always)
  public func prefix(_ count: Int) -> SIMD16<UInt8> {
    let places = SIMD16<UInt8>(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
    return SIMD16(repeating: 0).replacing(
      with: self, where: places .< SIMD16(repeating: UInt8(truncatingIfNeeded: count)))
  }

  /// The last `count` bytes; zero before them.
  @inlinable @inline(__always)
  public func suffix(_ count: Int) -> SIMD16<UInt8> {
    let places = SIMD16<UInt8>(16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1)
    return SIMD16(repeating: 0).replacing(
      with: self, where: places .<= SIMD16(repeating: UInt8(truncatingIfNeeded: count)))
  }

  /// The exclusive or of all sixteen bytes.
  @inlinable @inline(__always)
  public var exclusiveOr: UInt8 {
    let halves = halves
    var word = halves.low ^ halves.high
    word ^= word &>> 32
    word ^= word &>> 16
    word ^= word &>> 8
    return UInt8(truncatingIfNeeded: word)
  }
}

extension SIMD4<Int16> {
  /// The lanes as an integer, the first in the low bits.
  @inlinable @inline(__always)
  public var word: UInt64 {
    // Called unsafe because a cast could make an invalid value; integers have no invalid values.
    UInt64(littleEndian: unsafe unsafeBitCast(self, to: UInt64.self))
  }

  /// The lanes of `word`, the first in the low bits.
  @inlinable @inline(__always)
  public init(word: UInt64) {
    self = unsafe unsafeBitCast(word.littleEndian, to: SIMD4<Int16>.self)
  }
}
