import WireBytes

/// The 24-bit cyclic redundancy check of RTCM 3: polynomial 0x1864CFB, start value 0, most significant bit first.
///
/// The processor's own multiplication of polynomials does it where there is one (`carrylessCRC24Q`), tables elsewhere.
public func crc24q(of bytes: RawSpan, from offset: Int, count: Int) -> UInt32 {
  carrylessCRC24Q(of: bytes, from: offset, count: count) ?? tabledCRC24Q(of: bytes, from: offset, count: count)
}

/// The same by tables.
///
/// Sixteen bytes are taken at a time: each has a table of what it does to the remainder from its distance. Only four of the
/// look-ups wait for the remainder of the bytes before, and none for another ("slicing by sixteen"). Zeros before the first
/// byte do not change the remainder, so the bytes beyond whole blocks are taken first, as a block that zeros fill up.
func tabledCRC24Q(of bytes: RawSpan, from offset: Int, count: Int) -> UInt32 {
  // The tables are read where they are: a span of them would copy 16 kB first. The remainder is kept in the upper 24
  // bits of the word, so that the next bytes meet it without shifting down.
  var remainder: UInt32 = 0
  let odd = count & 15
  var at = offset &+ odd
  let end = offset &+ count
  if odd > 0, at >= 16 {
    // What stands before the odd bytes does not count.
    let first = bytes.block16(at &- 16).suffix(odd).halves
    remainder = CRCTables.after(first.low.byteSwapped, first.high.byteSwapped, remainder)
  } else {
    // The start of a buffer, before which there is nothing to load.
    for place in offset..<at {
      remainder = remainder &<< 8 ^ CRCTables.words[Int(remainder &>> 24 ^ UInt32(bytes.u1(place)))]
    }
  }
  while at < end {
    remainder = CRCTables.after(
      bytes.bigEndian(at, as: UInt64.self), bytes.bigEndian(at &+ 8, as: UInt64.self), remainder)
    at &+= 16
  }
  return remainder &>> 8
}

enum CRCTables {
  /// The remainder after sixteen more bytes, of which the first is the most significant.
  @inline(__always)
  static func after(_ first: UInt64, _ second: UInt64, _ remainder: UInt32) -> UInt32 {
    let later =
      ofWord(UInt32(truncatingIfNeeded: first), distance: 8) ^ ofWord(UInt32(second &>> 32), distance: 4)
      ^ ofWord(UInt32(truncatingIfNeeded: second), distance: 0)
    return ofWord(remainder ^ UInt32(first &>> 32), distance: 12) ^ later
  }

  /// What four bytes do to the remainder when `distance` more have passed.
  @inline(__always)
  static func ofWord(_ word: UInt32, distance: Int) -> UInt32 {
    words[(distance &+ 3) &* 256 &+ Int(word &>> 24)] ^ words[(distance &+ 2) &* 256 &+ Int(word &>> 16 & 0xFF)]
      ^ words[(distance &+ 1) &* 256 &+ Int(word &>> 8 & 0xFF)] ^ words[distance &* 256 &+ Int(word & 0xFF)]
  }

  /// Sixteen tables of 256: what a byte does to the remainder, 0 to 15 bytes later, in the upper 24 bits.
  static let words: InlineArray<4096, UInt32> = {
    var tables = InlineArray<4096, UInt32>(repeating: 0)
    for value in 0..<256 {
      var word = UInt32(value) << 24
      for _ in 0..<8 { word = word & 0x8000_0000 != 0 ? word << 1 ^ 0x864C_FB00 : word << 1 }
      tables[value] = word
    }
    for distance in 1..<16 {
      for value in 0..<256 {
        let before = tables[(distance - 1) * 256 + value]
        tables[distance * 256 + value] = before << 8 ^ tables[Int(before >> 24)]
      }
    }
    return tables
  }()
}
