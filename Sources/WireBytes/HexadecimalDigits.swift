// SPDX-License-Identifier: Apache-2.0

// Bytes and identifiers as hexadecimal digits, for display and files.
#if !hasFeature(Embedded)

  extension FixedWidthInteger where Self: UnsignedInteger {
    /// All digits, in lower case: two for a byte, four for a USB id.
    package var hexadecimalDigits: String {
      let digits = String(self, radix: 16)
      return String(repeating: "0", count: Self.bitWidth / 4 - digits.utf8.count) + digits
    }
  }

  extension Sequence<UInt8> {
    /// Two digits of each byte, in lower case.
    package var hexadecimalDigits: String { map(\.hexadecimalDigits).joined() }
  }

  extension [UInt8] {
    /// The bytes of two digits each, in lower or upper case; nil for other text.
    package init?(hexadecimalDigits text: some StringProtocol) {
      let digits = text.utf8.compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
      guard digits.count == text.utf8.count, digits.count.isMultiple(of: 2) else { return nil }
      self = stride(from: 0, to: digits.count, by: 2).map { place -> UInt8 in
        UInt8(digits[place] << 4 | digits[place + 1])
      }
    }
  }

#endif
