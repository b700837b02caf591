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
    var digits = NumbersByEnd.Digits(repeating: NumbersByEnd.noDigit)
    let areDigits = NumbersByEnd.find(in: bytes, from: base, &digits)
    // A span, and not the array itself, whose every reading would copy all of it. Called unsafe because some types have
    // padding; integers have none.
    var numbers = unsafe NumbersByEnd.Run(digits.span.bytes, own)
    let first = NumbersByEnd.Four(numbers.next(places))
    let second = NumbersByEnd.Four(numbers.next(4))
    let third = NumbersByEnd.Four(numbers.next(4))
    let fourth = NumbersByEnd.Four(numbers.next(4))
    let fifth = room == 4 ? NumbersByEnd.Four(numbers.next(4)) : .none
    let most = ranges.highest.word
    let areInside =
      first.areAtMost(headRanges.highest.word) & first.areAtLeast(headRanges.lowest.word) & second.areAtMost(most)
      & third.areAtMost(most) & fourth.areAtMost(most) & fifth.areAtMost(most)
    own &= ~numbers.left
    // From the field behind `end` to the last end.
    let last = 63 &- own.leadingZeroBitCount
    let region = (~0 &>> UInt64(truncatingIfNeeded: 63 &- last)) & (~0 &<< UInt64(truncatingIfNeeded: end &+ 1 &- base))
    // One question at the end: with several, what answers the first would be computed before all else, and kept in memory.
    let isWrong =
      (~areInside & NumbersByEnd.Four.highBits) | NumbersByEnd.noNumbers(areDigits, region, ends: own) | own & 1 &<< 63
    guard isWrong == 0 else { return nil }
    head.numbers = first.numbers
    blocks[0].numbers = second.numbers
    blocks[1].numbers = third.numbers
    blocks[2].numbers = fourth.numbers
    if room == 4 { blocks[3].numbers = fifth.numbers }
    ends ^= own
    end = base &+ last
    return present
  }
}
