import WireBytes

/// The 24-bit cyclic redundancy check of RTCM 3: polynomial 0x1864CFB, start value 0, most significant bit first.
///
/// Eight bytes are taken at a time: each has a table of what it does to the remainder from its distance, and the eight
/// look-ups do not wait for each other ("slicing by eight").
@inlinable
public func crc24q(of bytes: RawSpan, from offset: Int, count: Int) -> UInt32 {
  // The tables are read where they are: a span of them would copy 8 kB first. The remainder is kept in the upper 24
  // bits of the word, so that the next bytes meet it without shifting down.
  var remainder: UInt32 = 0
  var at = offset
  let end = offset &+ count
  while at &+ 8 <= end {
    let first = remainder ^ bytes.bigEndian(at, as: UInt32.self)
    let second = bytes.bigEndian(at &+ 4, as: UInt32.self)
    remainder =
      CRCTables.words[7 * 256 + Int(first &>> 24)] ^ CRCTables.words[6 * 256 + Int(first &>> 16 & 0xFF)]
      ^ CRCTables.words[5 * 256 + Int(first &>> 8 & 0xFF)] ^ CRCTables.words[4 * 256 + Int(first & 0xFF)]
    remainder ^=
      CRCTables.words[3 * 256 + Int(second &>> 24)] ^ CRCTables.words[2 * 256 + Int(second &>> 16 & 0xFF)]
      ^ CRCTables.words[256 + Int(second &>> 8 & 0xFF)] ^ CRCTables.words[Int(second & 0xFF)]
    at &+= 8
  }
  while at < end {
    remainder = remainder &<< 8 ^ CRCTables.words[Int(remainder &>> 24 ^ UInt32(bytes.u1(at)))]
    at &+= 1
  }
  return remainder &>> 8
}

@usableFromInline
enum CRCTables {
  /// Eight tables of 256: what a byte does to the remainder, 0 to 7 bytes later, in the upper 24 bits.
  @usableFromInline
  static let words: InlineArray<2048, UInt32> = {
    var tables = InlineArray<2048, UInt32>(repeating: 0)
    for value in 0..<256 {
      var word = UInt32(value) << 24
      for _ in 0..<8 { word = word & 0x8000_0000 != 0 ? word << 1 ^ 0x864C_FB00 : word << 1 }
      tables[value] = word
    }
    for distance in 1..<8 {
      for value in 0..<256 {
        let before = tables[(distance - 1) * 256 + value]
        tables[distance * 256 + value] = before << 8 ^ tables[Int(before >> 24)]
      }
    }
    return tables
  }()
}
