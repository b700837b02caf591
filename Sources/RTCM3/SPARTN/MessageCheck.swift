// SPDX-License-Identifier: Apache-2.0
import WireBytes

/// The cyclic redundancy checks at the end of SPARTN messages, most significant bit first. The header selects one
/// (SPARTN 2.0 interface control document, TF005 and TF018).
public enum MessageCheck: UInt8, Sendable, CaseIterable {
  /// Polynomial 0x07, start value 0.
  case crc8
  /// Polynomial 0x1021, start value 0.
  case crc16
  /// Polynomial 0x864CFB, start value 0: the check of RTCM 3. The corrections that u-blox broadcasts use it.
  case crc24
  /// Polynomial 0x04C11DB7, start value and final exclusive or 0xFFFFFFFF.
  case crc32

  /// The length of the check in bytes.
  @inlinable public var size: Int { Int(rawValue) &+ 1 }

  /// The check of `count` bytes from `offset`.
  public func value(of bytes: RawSpan, from offset: Int, count: Int) -> UInt32 {
    // The remainder is in the upper bits of the word, so one loop serves all widths. It takes four bits at a time:
    // corrections arrive at 600 bytes a second, so larger tables would have no benefit.
    let steps = NibbleSteps.of(self)
    let inversion: UInt32 = self == .crc32 ? 0xFFFF_FFFF : 0
    var remainder = inversion
    for index in offset..<offset + count {
      let byte = UInt32(bytes.u1(index))
      remainder = remainder &<< 4 ^ steps[Int(remainder &>> 28 ^ byte &>> 4)]
      remainder = remainder &<< 4 ^ steps[Int(remainder &>> 28 ^ byte & 15)]
    }
    return (remainder ^ inversion) &>> UInt32(32 - 8 * size)
  }
}

/// The remainders of four bits, by polynomial.
private enum NibbleSteps {
  typealias Table = InlineArray<16, UInt32>

  static func of(_ check: MessageCheck) -> Table {
    switch check {
    case .crc8: crc8
    case .crc16: crc16
    case .crc24: crc24
    case .crc32: crc32
    }
  }

  private static let crc8 = table(0x0700_0000)
  private static let crc16 = table(0x1021_0000)
  private static let crc24 = table(0x864C_FB00)
  private static let crc32 = table(0x04C1_1DB7)

  /// - Parameter polynomial: the polynomial in the upper bits.
  private static func table(_ polynomial: UInt32) -> Table {
    var table = Table(repeating: 0)
    for value in 0..<16 {
      var word = UInt32(value) << 28
      for _ in 0..<4 { word = word & 0x8000_0000 != 0 ? word << 1 ^ polynomial : word << 1 }
      table[value] = word
    }
    return table
  }
}

/// The four-bit check of a frame's start after one more byte: polynomial 0x9, start value 0, least significant bit
/// first (SPARTN 2.0 interface control document, TF006).
@inlinable
func headerCheck(_ remainder: UInt8, _ byte: UInt8) -> UInt8 {
  // The remainders of four bits: the remainder of 0 in the lowest digit, of 15 in the highest.
  let steps: UInt64 = 0x5BA4_8679_C23D_1FE0
  let half = UInt8(truncatingIfNeeded: steps &>> UInt64((remainder ^ byte & 15) &* 4)) & 15
  return UInt8(truncatingIfNeeded: steps &>> UInt64((half ^ byte &>> 4) &* 4)) & 15
}
