import WireBytes

/// The number that ends at each of 64 characters: all of a sentence's small numbers at once, wherever its fields are.
///
/// For sixteen characters at a time each digit is put together with the one before it. A field's number is what its last
/// character and the one before that have; a field that is empty has what its comma has, which is no number. So nothing
/// here depends on how long the fields are.
@usableFromInline
enum NumbersByEnd {
  /// A byte for each character: the digit in the low four bits, the digit before it in the high ones, 0 where there is
  /// none. Where a comma or `*` stands, 10 or more in the low bits and 0 in the high ones.
  @usableFromInline typealias Digits = InlineArray<80, UInt8>

  /// What also stands for no digit.
  @inlinable static var noDigit: UInt8 { 15 }
  /// What is found where there are no numbers.
  @inlinable static var absent: UInt64 { 0x0F00_0F00_0F00_0F00 }

  /// Goes through the numbers whose ends are known.
  @usableFromInline
  struct Run: ~Escapable {
    @usableFromInline let digits: RawSpan
    /// The ends that are left.
    @usableFromInline var left: UInt64

    @inlinable @inline(always)
    @_lifetime(copy digits)
    init(_ digits: RawSpan, _ ends: UInt64) {
      self.digits = digits
      self.left = ends
    }

    /// What ends with the next `count` (0…4) numbers, the last in the high bits; no numbers before them, and where no end
    /// is left. One word, and not a vector: the compiler would take one apart again.
    @inlinable @inline(always)
    mutating func next(_ count: Int) -> UInt64 {
      var found: UInt64 = 0
      for place in 0..<4 {
        // Behind the last end comes place 64, where no digit is.
        var number = NumbersByEnd.absent & 0xFFFF
        if place >= 4 &- count {
          let end = left.trailingZeroBitCount
          left &= left &- 1
          number = UInt64(digits.littleEndian(end, as: UInt16.self))
        }
        found |= number &<< UInt64(truncatingIfNeeded: 16 &* place)
      }
      return found
    }
  }

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
    var areDigits: UInt64 = 0
    for block in 0..<4 {
      // Behind the sentence nothing may be loaded: its last characters are gone through again.
      let (these, previous, at) = sentence.block16AndBefore(first &+ 16 &* block)
      let ones = these ^ SIMD16(repeating: UInt8(ascii: "0"))
      let areOnes = ~ones.atLeast(10)
      let tens = previous.aboveOrZero(UInt8(ascii: "0")) &<< 4
      bytes.setBlock16(tens & areOnes | ones & SIMD16(repeating: 15), at: at &- first)
      areDigits |= areOnes.highBits &<< UInt64(truncatingIfNeeded: at &- first)
    }
    return areDigits
  }

  /// A bit for each place in `region`, counted from `base`, where there is neither a digit nor one of `ends`, and for numbers
  /// of more than three digits.
  @inlinable @inline(always)
  static func noNumbers(_ digits: UInt64, _ region: UInt64, ends: UInt64) -> UInt64 {
    let long = digits & digits &>> 1 & digits &>> 2 & digits &>> 3
    return (~(digits &>> 2 | ends) | long &>> 2) & region
  }

  /// Four numbers side by side in a word, of sixteen bits each. Not a vector: what this does with one, Swift would do lane by
  /// lane.
  @usableFromInline
  struct Four {
    /// The numbers, 0 for one that is absent.
    @usableFromInline let values: UInt64
    /// The high bit of each lane whose number is absent.
    @usableFromInline let areAbsent: UInt64

    /// The numbers of what `Run` found.
    @inlinable @inline(always)
    init(_ found: UInt64) {
      let digit: UInt64 = 0x000F_000F_000F_000F
      let ones = found &>> 8 & digit
      let sums = ones &+ (found &>> 12 & digit) &* 10 &+ (found &>> 4 & digit) &* 100
      // 10 and more is no digit.
      let noDigit = (ones &+ 0x0006_0006_0006_0006) & 0x0010_0010_0010_0010
      areAbsent = noDigit &<< 11
      values = sums & ~(noDigit &<< 12 &- noDigit &>> 4)
    }

    @inlinable @inline(always)
    static var none: Four { Four(NumbersByEnd.absent) }

    /// The high bit of each lane whose number is not more than the limit.
    @inlinable @inline(always)
    func areAtMost(_ limits: UInt64) -> UInt64 { (limits | Four.highBits) &- values }

    /// The high bit of each lane whose number is absent or not less than the limit.
    @inlinable @inline(always)
    func areAtLeast(_ limits: UInt64) -> UInt64 { ((values | Four.highBits) &- limits) | areAbsent }

    @inlinable static var highBits: UInt64 { 0x8000_8000_8000_8000 }

    /// The numbers as they are kept.
    @inlinable @inline(always)
    var numbers: SIMD4<Int16> { SIMD4(word: values | areAbsent) }
  }
}
