import WireBytes

// Small whole numbers that stand side by side, read all at once.
extension FieldReader {
  @inlinable @inline(always)
  public mutating func integers<Head: FourIntegers, Block: FourIntegers, let room: Int>(
    _ head: inout Head, places: Int, _ headRanges: FourRanges, _ blocks: inout InlineArray<room, Block>,
    _ count: BlockCount, _ ranges: FourRanges
  ) -> Int {
    if let present = takeAtOnce(&head, places: places, headRanges, &blocks, count, ranges) { return present }
    return integersOneByOne(&head, places: places, headRanges, &blocks, count, ranges)
  }

  /// Takes all the numbers, if their ends are known and each of them is absent or in its range, and returns how many blocks
  /// there are; else nil, and nothing is taken.
  ///
  /// It goes through all blocks that there is room for, also where fewer are written: what is behind the last is absent.
  @inlinable @inline(always)
  mutating func takeAtOnce<Head: FourIntegers, Block: FourIntegers, let room: Int>(
    _ head: inout Head, places: Int, _ headRanges: FourRanges, _ blocks: inout InlineArray<room, Block>,
    _ count: BlockCount, _ ranges: FourRanges
  ) -> Int? {
    let fields = ends.nonzeroBitCount
    let all = places &+ 4 &* room
    guard room == 3 || room == 4, places > 0, laterEnds == 0 || fields >= all,
      NumbersByEnd.suits(bytes.byteCount, from: base)
    else { return nil }
    var present = room
    var own = ends
    if fields < all {
      guard case .asWritten = count, fields >= places else { return nil }
      present = (fields &- places) &>> 2
      // The ends behind the last block are left: three at the most.
      for _ in 0..<((fields &- places) & 3) { own ^= (1 &<< 63) &>> UInt64(own.leadingZeroBitCount) }
    }
    guard
      let numbers = NumbersByEnd.read(
        in: bytes, base: base, ends: own, from: end &+ 1 &- base, places: places, rooms: room, headRanges, ranges)
    else { return nil }
    head.numbers = SIMD4(word: numbers.head)
    blocks[0].numbers = SIMD4(word: numbers.first)
    blocks[1].numbers = SIMD4(word: numbers.second)
    blocks[2].numbers = SIMD4(word: numbers.third)
    if room == 4 { blocks[3].numbers = SIMD4(word: numbers.fourth) }
    own &= ~numbers.left
    let last = 63 &- own.leadingZeroBitCount
    ends ^= own
    end = base &+ last
    return present
  }
}
