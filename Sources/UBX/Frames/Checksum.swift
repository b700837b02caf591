import WireBytes

/// The 8-bit Fletcher checksum over `count` bytes from `offset`: CK_A in the low byte, CK_B in the high one, as the two
/// bytes stand on the wire when read in little-endian order.
///
/// CK_A is the sum of the bytes and CK_B the sum of all values that CK_A took, both modulo 256: a byte at place i of n
/// counts once in CK_A and n − i times in CK_B. Zeros before the first byte change neither, so the bytes are taken as
/// whole blocks of sixteen of which the first is filled up with zeros, and sixteen columns are summed side by side.
@inlinable @inline(always)
public func checksum(of bytes: RawSpan, from offset: Int, count: Int) -> UInt16 {
  let odd = count & 15
  var at = offset &+ odd
  guard at >= 16 else { return slowChecksum(of: bytes, from: offset, count: count) }
  // The first block ends with the odd bytes; what stands before them does not count.
  var columns = odd == 0 ? SIMD16<UInt8>() : bytes.block16(at &- 16).suffix(odd)
  var passed = SIMD16<UInt8>()  // how the column sums add up over the blocks
  let end = offset &+ count
  while at < end {
    passed &+= columns
    columns &+= bytes.block16(at)
    at &+= 16
  }
  let a = columns.sum
  let b = passed.sum &* 16 &+ columns.weightedSum
  return UInt16(b) << 8 | UInt16(a)
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

extension SIMD16<UInt8> {
  /// The sum of the bytes, modulo 256.
  ///
  /// Words are split into lanes of sixteen bits, in which nothing overflows; a product gathers four lanes in the highest.
  @inlinable @inline(always)
  var sum: UInt8 {
    let words = halves
    let lanes: UInt64 = 0x00FF_00FF_00FF_00FF
    let pairs = (words.low & lanes) &+ (words.low &>> 8 & lanes) &+ (words.high & lanes) &+ (words.high &>> 8 & lanes)
    return UInt8(truncatingIfNeeded: (pairs &* 0x0001_0001_0001_0001) &>> 48)
  }

  /// The sum of the bytes, the first taken sixteen times and the last once, modulo 256.
  @inlinable @inline(always)
  var weightedSum: UInt8 {
    let words = halves
    let lanes: UInt64 = 0x00FF_00FF_00FF_00FF
    let first = (words.low & lanes) &* 0x0010_000E_000C_000A
    let second = (words.low &>> 8 & lanes) &* 0x000F_000D_000B_0009
    let third = (words.high & lanes) &* 0x0008_0006_0004_0002
    let fourth = (words.high &>> 8 & lanes) &* 0x0007_0005_0003_0001
    return UInt8(truncatingIfNeeded: first &>> 48 &+ second &>> 48 &+ third &>> 48 &+ fourth &>> 48)
  }
}
