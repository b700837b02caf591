import WireBytes

/// The 24-bit cyclic redundancy check of RTCM 3: polynomial 0x1864CFB, start value 0, most significant bit first.
///
/// Sixteen bytes are taken at a time: each has a table of what it does to the remainder from its distance. Only four of the
/// look-ups wait for the remainder of the bytes before, and none for another ("slicing by sixteen").
@inlinable
public func crc24q(of bytes: RawSpan, from offset: Int, count: Int) -> UInt32 {
  // The tables are read where they are: a span of them would copy 16 kB first. The remainder is kept in the upper 24
  // bits of the word, so that the next bytes meet it without shifting down.
  var remainder: UInt32 = 0
  var at = offset
  let end = offset &+ count
  while at &+ 16 <= end {
    let later =
      CRCTables.ofWord(bytes.bigEndian(at &+ 4, as: UInt32.self), distance: 8)
      ^ CRCTables.ofWord(bytes.bigEndian(at &+ 8, as: UInt32.self), distance: 4)
      ^ CRCTables.ofWord(bytes.bigEndian(at &+ 12, as: UInt32.self), distance: 0)
    remainder = CRCTables.ofWord(remainder ^ bytes.bigEndian(at, as: UInt32.self), distance: 12) ^ later
    at &+= 16
  }
  while at < end {
    remainder = remainder &<< 8 ^ CRCTables.words[Int(remainder &>> 24 ^ UInt32(bytes.u1(at)))]
    at &+= 1
  }
  return remainder &>> 8
}

@usableFromInline
enum CRCTables {
  /// What four bytes do to the remainder when `distance` more have passed.
  @inlinable @inline(always)
  static func ofWord(_ word: UInt32, distance: Int) -> UInt32 {
    words[(distance &+ 3) &* 256 &+ Int(word &>> 24)] ^ words[(distance &+ 2) &* 256 &+ Int(word &>> 16 & 0xFF)]
      ^ words[(distance &+ 1) &* 256 &+ Int(word &>> 8 & 0xFF)] ^ words[distance &* 256 &+ Int(word & 0xFF)]
  }

  /// Sixteen tables of 256: what a byte does to the remainder, 0 to 15 bytes later, in the upper 24 bits.
  @usableFromInline
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
