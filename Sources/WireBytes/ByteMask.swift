/// Which of sixteen bytes have a property: a byte of ones for each that has, a byte of zeros for each that has not.
///
/// A vector compare makes such masks; as two integers they tell the first place in a few instructions on every machine,
/// also on those without a "move mask" instruction.
public struct ByteMask: Sendable {
  /// Places 0…7, the first in the low byte.
  public var low: UInt64
  /// Places 8…15.
  public var high: UInt64

  /// The mask of a vector whose bytes are all ones or all zeros.
  @inlinable @inline(always)
  public init(_ bytes: SIMD16<UInt8>) {
    // Called unsafe because a cast could make an invalid value; integers have none.
    let words = unsafe unsafeBitCast(bytes, to: SIMD2<UInt64>.self)
    low = UInt64(littleEndian: words.x)
    high = UInt64(littleEndian: words.y)
  }

  /// A bit for each byte, the first in the low bit.
  @inlinable @inline(always)
  public var bits: UInt64 {
    // The product gathers the low bits of eight bytes in its high byte.
    let gather: UInt64 = 0x0102_0408_1020_4080
    let ones: UInt64 = 0x0101_0101_0101_0101
    let first = ((low & ones) &* gather) &>> 56
    let second = ((high & ones) &* gather) &>> 56
    return first | second &<< 8
  }

  /// Whether no byte has the property.
  @inlinable @inline(always)
  public var isEmpty: Bool { low | high == 0 }

  /// The first place, 0…15; 16 when there is none.
  @inlinable @inline(always)
  public var first: Int {
    low != 0 ? low.trailingZeroBitCount &>> 3 : 8 &+ (high.trailingZeroBitCount &>> 3)
  }
}

extension SIMD16<UInt8> {
  /// All ones where the bytes are equal to `byte`.
  @inlinable @inline(always)
  public func equal(to byte: UInt8) -> SIMD16<UInt8> {
    SIMD16(repeating: 0).replacing(with: 0xFF, where: self .== SIMD16(repeating: byte))
  }

  /// All ones where the bytes are `byte` or more.
  @inlinable @inline(always)
  public func atLeast(_ byte: UInt8) -> SIMD16<UInt8> {
    SIMD16(repeating: 0).replacing(with: 0xFF, where: self .>= SIMD16(repeating: byte))
  }

  /// The first `count` bytes; zero behind them.
  @inlinable @inline(always)
  public func prefix(_ count: Int) -> SIMD16<UInt8> {
    let places = SIMD16<UInt8>(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
    return SIMD16(repeating: 0).replacing(
      with: self, where: places .< SIMD16(repeating: UInt8(truncatingIfNeeded: count)))
  }

  /// The last `count` bytes; zero before them.
  @inlinable @inline(always)
  public func suffix(_ count: Int) -> SIMD16<UInt8> {
    let places = SIMD16<UInt8>(16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1)
    return SIMD16(repeating: 0).replacing(
      with: self, where: places .<= SIMD16(repeating: UInt8(truncatingIfNeeded: count)))
  }

  /// The exclusive or of all sixteen bytes.
  @inlinable @inline(always)
  public var exclusiveOr: UInt8 {
    let mask = ByteMask(self)
    var word = mask.low ^ mask.high
    word ^= word &>> 32
    word ^= word &>> 16
    word ^= word &>> 8
    return UInt8(truncatingIfNeeded: word)
  }
}
