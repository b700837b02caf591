import CByteMask

/// All of a sentence's small numbers at once, wherever its fields are. The work is C's (`small_numbers.h`, and
/// `small_numbers_avx512.h` where the processor has its vectors): Swift would go through the lanes of its vectors one by one.
///
/// The characters are lent to C, which keeps no pointer to them: that is what is unsafe here. Which of them C reads is checked
/// before.
@usableFromInline
enum NumbersByEnd {
  /// Whether the processor has what `small_numbers_avx512.h` takes.
  @inlinable @inline(__always)
  static var hasWideVectors: Bool { c_has_avx512() != 0 }

  /// Whether a sentence of so many bytes is long enough to be looked at in this way.
  @inlinable @inline(__always)
  static func suits(_ count: Int, from base: Int) -> Bool { base >= 3 && count &- 14 >= base }

  /// Reads the last `places` (1…3) numbers of a head and behind them `rooms` (3 or 4) blocks of four. Nil when there are too
  /// few, or when a field is not empty and no number of up to three digits, or out of its range.
  ///
  /// - Parameters:
  ///   - sentence: its characters; `suits` holds.
  ///   - base: the character that places are counted from.
  ///   - ends: the ends, a bit for each place. What is beyond them is absent.
  ///   - from: the place where the first number's field begins.
  ///   - mayBeFewer: whether there may be fewer blocks than `rooms`: how many, `blocks` of the result tells.
  ///   - wide: whether by vectors of 64 bytes, which the processor must have.
  @inlinable @inline(__always)
  static func read(
    in sentence: RawSpan, base: Int, ends: UInt64, from: Int, places: Int, rooms: Int, mayBeFewer: Bool,
    _ headRanges: FourRanges, _ ranges: FourRanges, wide: Bool = hasWideVectors
  ) -> c_small_numbers? {
    precondition(suits(sentence.byteCount, from: base))
    let found = unsafe sentence.withUnsafeBytes { buffer -> c_small_numbers? in
      guard let start = buffer.baseAddress else { return nil }
      let characters = unsafe start.assumingMemoryBound(to: UInt8.self)
      let (places, rooms, mayBeFewer) = (Int32(places), Int32(rooms), Int32(mayBeFewer ? 1 : 0))
      let (lowest, headHighest, highest) = (headRanges.lowest, headRanges.highest, ranges.highest)
      return wide
        ? unsafe c_read_small_numbers_at_once(
          characters, buffer.count, base, ends, from, places, rooms, mayBeFewer, lowest, headHighest, highest)
        : unsafe c_read_small_numbers(
          characters, buffer.count, base, ends, from, places, rooms, mayBeFewer, lowest, headHighest, highest)
    }
    // No end at the last place: it stands for none in C.
    guard let found, found.wrong | ends &>> 63 == 0 else { return nil }
    return found
  }

  /// Reads a sentence of three numbers, up to four blocks of four, and perhaps a hexadecimal digit behind them, by vectors of
  /// 64 bytes. Nil where the processor does not have them, and where `read` would give nil.
  @inlinable @inline(__always)
  static func group(of sentence: borrowing Sentence, _ headRanges: FourRanges, _ ranges: FourRanges) -> c_group? {
    guard hasWideVectors else { return nil }
    let (first, ends) = (1 &+ sentence.addressLength, sentence.ends)
    let (headHighest, highest) = (headRanges.highest, ranges.highest)
    let found = unsafe sentence.bytes.withUnsafeBytes { buffer -> c_group? in
      guard let start = buffer.baseAddress else { return nil }
      let characters = unsafe start.assumingMemoryBound(to: UInt8.self)
      return unsafe c_read_group_at_once(characters, first, ends.low, ends.high, headHighest, highest)
    }
    guard let found, found.numbers.wrong == 0 else { return nil }
    return found
  }

  /// Reads a sentence of a character, a number, three blocks of four, three decimal numbers, and perhaps a hexadecimal digit
  /// behind them, by vectors of 64 bytes. Nil where the processor does not have them, and where `read` would give nil.
  @inlinable @inline(__always)
  static func used(of sentence: borrowing Sentence, _ headRanges: FourRanges, _ ranges: FourRanges)
    -> c_used_satellites?
  {
    guard hasWideVectors else { return nil }
    let (first, ends) = (1 &+ sentence.addressLength, sentence.ends)
    let (lowest, headHighest, highest) = (headRanges.lowest, headRanges.highest, ranges.highest)
    let found = unsafe sentence.bytes.withUnsafeBytes { buffer -> c_used_satellites? in
      guard let start = buffer.baseAddress else { return nil }
      let characters = unsafe start.assumingMemoryBound(to: UInt8.self)
      return unsafe c_read_used_at_once(characters, first, ends.low, ends.high, lowest, headHighest, highest)
    }
    guard let found, found.numbers.wrong == 0 else { return nil }
    return found
  }
}
