import WireBytes

/// The 24-bit cyclic redundancy check of RTCM 3: polynomial 0x1864CFB, start value 0, most significant bit first.
@inlinable
public func crc24q(of bytes: RawSpan, from offset: Int, count: Int) -> UInt32 {
  // The remainder is kept in the upper 24 bits of the word, so that the next byte meets it without shifting down.
  var remainder: UInt32 = 0
  for at in offset ..< offset &+ count {
    remainder ^= UInt32(bytes.u1(at)) << 24
    remainder = remainder << 8 ^ crcTable[Int(remainder >> 24)]
  }
  return remainder >> 8
}

/// What each value of the first byte does to the rest, in the upper 24 bits.
@usableFromInline let crcTable: InlineArray<256, UInt32> = {
  var table = InlineArray<256, UInt32>(repeating: 0)
  for value in 0 ..< 256 {
    var word = UInt32(value) << 24
    for _ in 0 ..< 8 { word = word & 0x8000_0000 != 0 ? word << 1 ^ 0x864C_FB00 : word << 1 }
    table[value] = word
  }
  return table
}()
