// SPDX-License-Identifier: Apache-2.0
import CByteMask

/// Reads all small numbers of a sentence at once. Implemented in C (`small_numbers.h`), because Swift would process the
/// lanes of its vectors one by one.
///
/// `unsafe`: C borrows the characters and does not keep a pointer to them. The range that C reads is checked first.
@usableFromInline
enum NumbersByEnd {
  /// Reads the last `places` (1…3) numbers of a head and after them `rooms` (3 or 4) blocks of four. Nil when there are
  /// too few, or when a field is neither empty nor a number of up to three digits within its range.
  ///
  /// - Parameters:
  ///   - sentence: its characters.
  ///   - base: the character at position 0, at least 3.
  ///   - ends: the ends, a bit for each position.
  ///   - from: the position of the first character of the first number.
  ///   - mayBeFewer: whether fewer blocks than `rooms` are accepted; the result has their number. `ends` must then
  ///     contain all ends after `base`.
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
    // No end at the last position: the position after it has no bit.
    guard let found, found.wrong | ends &>> 63 == 0 else { return nil }
    return found
  }
}
