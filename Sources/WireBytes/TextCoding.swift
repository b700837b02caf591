// SPDX-License-Identifier: Apache-2.0

// Numbers and bytes as text, for display, files and queries.
#if !hasFeature(Embedded)

  extension BinaryInteger {
    /// Decimal digits, with zeros in front of fewer than `count`. The number is not negative.
    package func digits(_ count: Int) -> String {
      let digits = "\(self)"
      return String(repeating: "0", count: Swift.max(0, count - digits.utf8.count)) + digits
    }
  }

  extension Double {
    /// The nearest decimal number with `count` digits behind the point, without a sign if that is zero.
    package func decimals(_ count: Int) -> String {
      let scale = (0..<count).reduce(1.0) { scale, _ in scale * 10 }
      let whole = Int64(clamping: (self * scale).rounded())
      let digits = whole.magnitude.digits(count + 1)
      return (whole < 0 ? "-" : "") + digits.dropLast(count) + (count > 0 ? "." : "") + digits.suffix(count)
    }
  }

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

  extension StringProtocol {
    /// Percent-encoding (RFC 3986, section 2.1) of every % and of the bytes that are not plain: by default, all but the unreserved ones
    /// (section 2.3).
    package func percentEncoded(plain isPlain: (UInt8) -> Bool = { $0.isUnreserved }) -> String {
      let digits = Array("0123456789ABCDEF".utf8)
      var bytes: [UInt8] = []
      for byte in utf8 {
        if byte != UInt8(ascii: "%"), isPlain(byte) {
          bytes.append(byte)
        } else {
          bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        }
      }
      return String(decoding: bytes, as: UTF8.self)
    }
  }

  extension UInt8 {
    /// Alphanumerics and `-._~`.
    fileprivate var isUnreserved: Bool {
      switch self {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: true
      default: false
      }
    }
  }

  extension Sequence<UInt8> {
    /// The bytes of percent-encoding (RFC 3986, section 2.1). A `%` without two digits after it is kept, and is not well-formed.
    package var percentDecoded: (bytes: [UInt8], isWellFormed: Bool) {
      var bytes: [UInt8] = []
      var isWellFormed = true
      var rest = Array(self)[...]
      while let byte = rest.popFirst() {
        if byte != UInt8(ascii: "%") {
          bytes.append(byte)
        } else if rest.count >= 2,
          let decoded = [UInt8](hexadecimalDigits: String(decoding: rest.prefix(2), as: UTF8.self))
        {
          bytes += decoded
          rest = rest.dropFirst(2)
        } else {
          bytes.append(byte)
          isWellFormed = false
        }
      }
      return (bytes, isWellFormed)
    }
  }

#endif
