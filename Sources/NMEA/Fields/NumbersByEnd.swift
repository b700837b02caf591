import CByteMask

/// All of a sentence's small numbers at once, wherever its fields are. The work is C's (`small_numbers.h`): Swift would go through the lanes of its vectors one by one.
///
/// The characters are lent to C, which keeps no pointer to them: that is what is unsafe here. Which of them C reads is checked
/// before.
@usableFromInline
enum NumbersByEnd {
  /// Reads the last `places` (1…3) numbers of a head and behind them `rooms` (3 or 4) blocks of four. Nil when there are too
  /// few, or when a field is not empty and no number of up to three digits, or out of its range.
  ///
  /// - Parameters:
  ///   - sentence: its characters.
  ///   - base: the character that places are counted from, 3 or more.
  ///   - ends: the ends, a bit for each place.
  ///   - from: the place where the first number's field begins.
  ///   - mayBeFewer: whether there may be fewer blocks than `rooms`: `blocks` of the result is their number. `ends` must be all
  ///     ends behind `base` then.
  @inlinable @inline(__always)
  static func read(
    in sentence: RawSpan, base: Int, ends: UInt64, from: Int, places: Int, rooms: Int, mayBeFewer: Bool,
    _ headRanges: FourRanges, _ ranges: FourRanges
  ) -> c_small_numbers? {
    // C reads from three characters before the first end up to the last.
    precondition(base >= 3 && sentence.byteCount &- base &+ ends.leadingZeroBitCount >= 64)
    let found = unsafe sentence.withUnsafeBytes { buffer -> c_small_numbers? in
      guard let start = buffer.baseAddress else { return nil }
      return unsafe c_read_small_numbers(
        start.advanced(by: base).assumingMemoryBound(to: UInt8.self), ends, from, Int32(places), Int32(rooms),
        mayBeFewer ? 1 : 0, headRanges.lowest, headRanges.highest, ranges.highest)
    }
    // No end at the last place: the place behind it has no bit.
    guard let found, found.wrong | ends &>> 63 == 0 else { return nil }
    return found
  }
}
