// SPDX-License-Identifier: Apache-2.0
import WireBytes

// Adjacent small whole numbers, read all at once.
extension FieldReader {
  @inlinable @inline(__always)
  @_lifetime(self: copy self)
  public mutating func integers<Head: FourIntegers, Block: FourIntegers, let room: Int>(
    _ head: inout Head, places: Int, _ headRanges: FourRanges, _ blocks: inout InlineArray<room, Block>,
    _ count: BlockCount, _ ranges: FourRanges
  ) -> Int {
    #if !SMALL_CODE
      if let present = fastIntegers(&head, places: places, headRanges, &blocks, count, ranges) { return present }
    #endif
    return slowIntegers(&head, places: places, headRanges, &blocks, count, ranges)
  }

  /// The fast path: reads all numbers and returns the number of blocks, if the ends of the fields are known and each
  /// number is absent or in its range. Otherwise returns nil, and the reader does not advance. Blocks after the last
  /// are absent.
  @inlinable @inline(__always)
  @_lifetime(self: copy self)
  mutating func fastIntegers<Head: FourIntegers, Block: FourIntegers, let room: Int>(
    _ head: inout Head, places: Int, _ headRanges: FourRanges, _ blocks: inout InlineArray<room, Block>,
    _ count: BlockCount, _ ranges: FourRanges
  ) -> Int? {
    guard room == 3 || room == 4, places > 0, base >= 3 else { return nil }
    let mayBeFewer = if case .asWritten = count { laterEnds == 0 } else { false }
    guard
      let numbers = NumbersByEnd.read(
        in: bytes, base: base, ends: ends, from: end &+ 1 &- base, places: places, rooms: room, mayBeFewer: mayBeFewer,
        headRanges, ranges)
    else { return nil }
    head.numbers = SIMD4(word: numbers.head)
    blocks[0].numbers = SIMD4(word: numbers.first)
    blocks[1].numbers = SIMD4(word: numbers.second)
    blocks[2].numbers = SIMD4(word: numbers.third)
    if room == 4 { blocks[3].numbers = SIMD4(word: numbers.fourth) }
    let last = 63 &- (ends & ~numbers.left).leadingZeroBitCount
    ends = numbers.left
    end = base &+ last
    return numbers.blocks
  }
}
