// SPDX-License-Identifier: Apache-2.0
import CByteMask

/// Decimal digits, eight at a time. There is no loop, so no branch depends on the number of digits. The words are
/// little-endian: the first character is in the low byte.
public enum Digits {
  /// The values of the digits. Other characters have further bits set, which `areDigits` finds.
  @inlinable @inline(__always)
  public static func values(_ text: UInt64) -> UInt64 { text ^ 0x3030_3030_3030_3030 }

  /// Whether all eight bytes are 0…9.
  @inlinable @inline(__always)
  public static func areDigits(_ values: UInt64) -> Bool {
    ((values &+ 0x7676_7676_7676_7676) | values) & 0x8080_8080_8080_8080 == 0
  }

  /// The number made of eight digit values, the first the most significant.
  @inlinable @inline(__always)
  public static func number(_ values: UInt64) -> UInt32 {
    // Pairs, then fours, then all eight: three multiplications.
    let pairs = values &* 10 &+ values &>> 8
    let mask: UInt64 = 0x0000_00FF_0000_00FF
    let sum =
      (pairs & mask) &* 0x000F_4240_0000_0064 &+ (pairs &>> 16 & mask) &* 0x0000_2710_0000_0001
    return UInt32(truncatingIfNeeded: sum &>> 32)
  }

  /// The positions of `character` among eight: the high bit of each byte. Only the lowest one is reliable.
  @inlinable @inline(__always)
  public static func places(of character: UInt8, in text: UInt64) -> UInt64 {
    let difference = text ^ (0x0101_0101_0101_0101 &* UInt64(character))
    return (difference &- 0x0101_0101_0101_0101) & ~difference & 0x8080_8080_8080_8080
  }

  /// 10^`digits` for 0…9; above 9, 10^9.
  @inlinable @inline(__always)
  public static func powerOfTen(_ digits: Int) -> UInt32 { c_whole_power_of_ten(UInt(bitPattern: digits)) }
}
