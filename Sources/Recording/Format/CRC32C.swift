import WireBytes

/// CRC-32C: the polynomial 0x1EDC6F41 with bits reflected, start value and final exclusive or of all ones (RFC 3720,
/// appendix B.4).
func crc32c(of bytes: RawSpan, count: Int) -> UInt32 {
  let table = CRC32CTable.words
  var remainder = UInt32.max
  for index in 0..<count {
    remainder = remainder >> 8 ^ table[Int((remainder ^ UInt32(bytes.u1(index))) & 0xFF)]
  }
  return ~remainder
}

private enum CRC32CTable {
  /// What a byte does to the remainder.
  static let words: [UInt32] = (0..<256).map { value in
    var word = UInt32(value)
    for _ in 0..<8 { word = word & 1 != 0 ? word >> 1 ^ 0x82F6_3B78 : word >> 1 }
    return word
  }
}
