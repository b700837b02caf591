// SPDX-License-Identifier: Apache-2.0

/// Sixteen columns of bytes, summed side by side, each modulo 256: the basis of a Fletcher checksum.
///
/// The bytes are rows of sixteen, and the first row is padded with zeros in front, which do not change the sums. This
/// file loads from memory like `Loads.swift`, with one bounds check for all rows.
public struct ColumnSums {
  /// The sum of each column.
  public var columns = SIMD16<UInt8>()
  /// The sum of the values of `columns` before each row.
  public var passed = SIMD16<UInt8>()

  /// Sums `count` bytes from `offset`. Nil when the first row cannot be loaded because it begins before the span. Traps
  /// when the bytes are not all in the span.
  @inlinable @inline(__always)
  public init?(of bytes: RawSpan, from offset: Int, count: Int) {
    precondition(offset >= 0 && count >= 0 && bytes.byteCount &- offset >= count)
    let odd = count & 15
    var at = offset &+ odd
    guard at >= 16 else { return nil }
    // The first row ends with the odd bytes. The bytes before them do not count.
    if odd != 0 {
      columns = unsafe bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: at &- 16, as: SIMD16<UInt8>.self).suffix(odd)
    }
    let end = offset &+ count
    while at < end {
      passed &+= columns
      columns &+= unsafe bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: at, as: SIMD16<UInt8>.self)
      at &+= 16
    }
  }
}
