// SPDX-License-Identifier: Apache-2.0
import WireBytes

/// CRC-32C: the polynomial 0x1EDC6F41 with bits reflected; start value and final exclusive or are all ones (RFC 3720,
/// appendix B.4).
enum CRC32C {
  static func sum(of bytes: RawSpan, count: Int) -> UInt32 {
    var remainder = UInt32.max
    for index in 0..<count {
      remainder = remainder >> 8 ^ table[Int((remainder ^ UInt32(bytes.u1(index))) & 0xFF)]
    }
    return ~remainder
  }

  /// The effect of each byte on the remainder.
  private static let table: [UInt32] = (0..<256).map { value in
    var word = UInt32(value)
    for _ in 0..<8 { word = word & 1 != 0 ? word >> 1 ^ 0x82F6_3B78 : word >> 1 }
    return word
  }
}
