// SPDX-License-Identifier: Apache-2.0
import WireBytes

/// The 8-bit Fletcher checksum over `count` bytes from `offset`: CK_A in the low byte, CK_B in the high one, as a
/// little-endian load of the two bytes gives it.
///
/// CK_A is the sum of the bytes and CK_B the sum of all values of CK_A, both modulo 256: byte i of n counts once in
/// CK_A and n − i times in CK_B. Zeros in front change neither. So the bytes are processed in blocks of sixteen, the
/// first padded with zeros in front, as sixteen columns side by side.
@inlinable @inline(__always)
public func checksum(of bytes: RawSpan, from offset: Int, count: Int) -> UInt16 {
  guard let sums = ColumnSums(of: bytes, from: offset, count: count) else {
    return slowChecksum(of: bytes, from: offset, count: count)
  }
  let weights = SIMD16<UInt8>(16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1)
  let b = (sums.passed &<< 4 &+ sums.columns &* weights).sum
  return UInt16(b) << 8 | UInt16(sums.columns.sum)
}

/// The same checksum byte by byte, for the start of a buffer: there is nothing to load before it.
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
