import WireBytes

/// The number that ends at each of 64 characters: all of a sentence's small numbers at once, wherever its fields are.
///
/// For sixteen characters at a time each digit is put together with the one before it. A field's number is what its last
/// character and the one before that have; a field that is empty has what its comma has, which is no number. So nothing
/// here depends on how long the fields are.
@usableFromInline
enum NumbersByEnd {
  /// A byte for each character: the digit in the low four bits, the digit before it in the high ones, 0 where there is
  /// none; 15 where the character is no digit.
  @usableFromInline typealias Digits = InlineArray<64, UInt8>

  /// Whether a sentence of so many bytes is long enough to be looked at in this way.
  @inlinable @inline(always)
  static func suits(_ count: Int, from base: Int) -> Bool { base >= 3 && count &- 14 >= base }

  /// Finds the digits of the 64 characters of `sentence` from the second before `base` on. Returns a bit for each of these
  /// characters that is a digit, the first in the low bit.
  @inlinable @inline(always)
  static func find(in sentence: RawSpan, from base: Int, _ digits: inout Digits) -> UInt64 {
    var span = digits.mutableSpan
    // Called unsafe because some types have invalid bit patterns; integers have none.
    var bytes = unsafe span.mutableBytes
    let first = base &- 2
    let last = sentence.byteCount &- 16
    var areDigits: UInt64 = 0
    for block in 0..<4 {
      // Behind the sentence nothing may be loaded: its last characters are gone through again.
      let at = min(first &+ 16 &* block, last)
      let ones = sentence.block16(at) ^ SIMD16(repeating: UInt8(ascii: "0"))
      let tens = sentence.block16(at &- 1) ^ SIMD16(repeating: UInt8(ascii: "0"))
      let areOnes = ~ones.atLeast(10)
      let pairs = (ones | (tens & ~tens.atLeast(10)) &<< 4) & areOnes
      bytes.setBlock16(pairs | (~areOnes & SIMD16(repeating: 15)), at: at &- first)
      areDigits |= areOnes.highBits &<< UInt64(truncatingIfNeeded: at &- first)
    }
    return areDigits
  }

  /// Whether all characters of the places in `region`, counted from `base`, are digits or in `ends`, and no number has more
  /// than three of them.
  @inlinable @inline(always)
  static func areNumbers(_ digits: UInt64, _ region: UInt64, ends: UInt64) -> Bool {
    let long = digits & digits &>> 1 & digits &>> 2 & digits &>> 3
    return ((digits &>> 2 | ends) & region == region) && long &>> 2 & region == 0
  }

  /// Four numbers, each of the two bytes that end with it; `Int16.min` for none.
  @inlinable @inline(always)
  static func values(_ found: SIMD4<UInt16>) -> SIMD4<Int16> {
    let ones = found &>> 8 & 15
    let values = ones &+ (found &>> 12) &* 10 &+ (found &>> 4 & 15) &* 100
    return SIMD4<Int16>(truncatingIfNeeded: values.replacing(with: 0x8000, where: ones .== SIMD4(repeating: 15)))
  }
}
