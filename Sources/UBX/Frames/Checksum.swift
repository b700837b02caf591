import WireBytes

/// The 8-bit Fletcher checksum over `count` bytes from `offset`: CK_A in the low byte, CK_B in the high one, as the two
/// bytes stand on the wire when read in little-endian order.
///
/// CK_A is the sum of the bytes and CK_B the sum of all values that CK_A took, both modulo 256. Sixteen columns are
/// summed side by side: a byte at place i of n counts once in CK_A and n − i times in CK_B.
@inlinable
public func checksum(of bytes: RawSpan, from offset: Int, count: Int) -> UInt16 {
  var at = offset
  var left = count
  var a: UInt8 = 0
  var b: UInt8 = 0
  if left >= 16 {
    var columns = SIMD16<UInt8>()  // the sum of each column
    var passed = SIMD16<UInt8>()  // how the column sums add up over the blocks
    var blocks = 0
    while left >= 16 {
      passed &+= columns
      columns &+= bytes.block16(at)
      at &+= 16
      left &-= 16
      blocks &+= 1
    }
    // Weights of the sixteen places in the last block.
    let weights = SIMD16<UInt8>(16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1)
    a = columns.wrappedSum()
    b = passed.wrappedSum() &* 16 &+ (columns &* weights).wrappedSum()
  }
  while left > 0 {
    a &+= bytes.u1(at)
    b &+= a
    at &+= 1
    left &-= 1
  }
  return UInt16(b) << 8 | UInt16(a)
}
