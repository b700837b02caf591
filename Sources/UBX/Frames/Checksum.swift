import WireBytes

/// The 8-bit Fletcher checksum over `count` bytes from `offset`: CK_A in the low byte, CK_B in the high one, as the two
/// bytes stand on the wire when read in little-endian order.
///
/// CK_A is the sum of the bytes and CK_B the sum of all values that CK_A took, both modulo 256: a byte at place i of n
/// counts once in CK_A and n − i times in CK_B. Zeros before the first byte change neither, so the bytes are taken as
/// whole blocks of sixteen of which the first is filled up with zeros, and sixteen columns are summed side by side.
@inlinable @inline(__always)
public func checksum(of bytes: RawSpan, from offset: Int, count: Int) -> UInt16 {
  guard let sums = ColumnSums(of: bytes, from: offset, count: count) else {
    return slowChecksum(of: bytes, from: offset, count: count)
  }
  let weights = SIMD16<UInt8>(16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1)
  let b = (sums.passed &<< 4 &+ sums.columns &* weights).sum
  return UInt16(b) << 8 | UInt16(sums.columns.sum)
}

/// The same, byte by byte: for the start of a buffer, before which there is nothing to load.
@inlinable @inline(never)
func slowChecksum(of bytes: RawSpan, from offset: Int, count: Int) -> UInt16 {
  var a: UInt8 = 0
  var b: UInt8 = 0
  for at in offset..<offset &+ count {
    a &+= bytes.u1(at)
    b &+= a
  }
  return UInt16(b) << 8 | UInt16(a)
}
