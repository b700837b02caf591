import CByteMask

/// All of a sentence's small numbers at once, wherever its fields are. The work is C's (`small_numbers.h`): Swift would go
/// through the lanes of its vectors one by one.
///
/// The characters are lent to C, which keeps no pointer to them: that is what is unsafe here. Which of them C reads is checked
/// before.
@usableFromInline
enum NumbersByEnd {
  /// Whether a sentence of so many bytes is long enough to be looked at in this way.
  @inlinable @inline(always)
  static func suits(_ count: Int, from base: Int) -> Bool { base >= 3 && count &- 14 >= base }

  /// Reads the last `places` (1…3) numbers of a head and behind them `rooms` (3 or 4) blocks of four. Nil when a field is
  /// not empty and no number of up to three digits, or out of its range.
  ///
  /// - Parameters:
  ///   - sentence: its characters; `suits` holds.
  ///   - base: the character that places are counted from.
  ///   - ends: the ends behind the numbers, a bit for each place. What is beyond them is absent.
  ///   - from: the place where the first number's field begins.
  @inlinable @inline(always)
  static func read(
    in sentence: RawSpan, base: Int, ends: UInt64, from: Int, places: Int, rooms: Int, _ headRanges: FourRanges,
    _ ranges: FourRanges
  ) -> c_small_numbers? {
    precondition(suits(sentence.byteCount, from: base))
    let found: c_small_numbers? = unsafe sentence.withUnsafeBytes { buffer in
      guard let start = buffer.baseAddress else { return nil }
      return unsafe c_read_small_numbers(
        start.assumingMemoryBound(to: UInt8.self), buffer.count, base, ends, from, Int32(places), Int32(rooms),
        headRanges.lowest, headRanges.highest, ranges.highest)
    }
    // No end at the last place: it stands for none in C.
    guard let found, found.wrong | ends &>> 63 == 0 else { return nil }
    return found
  }
}
