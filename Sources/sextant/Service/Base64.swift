// SPDX-License-Identifier: Apache-2.0

/// Base64 of RFC 4648, section 4.
enum Base64 {
  /// Returns the bytes of a text; nil if it is not base64.
  static func bytes(of text: String) -> [UInt8]? {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.utf8.count / 4 * 3)
    var bits: UInt32 = 0
    var digits = 0
    var padding = 0
    for character in text.utf8 {
      digits += 1
      if character == UInt8(ascii: "=") {
        padding += 1
        bits <<= 6
      } else {
        guard padding == 0, let value = value(of: character) else { return nil }
        bits = bits << 6 | UInt32(value)
      }
      guard digits == 4 else { continue }
      guard padding <= 2 else { return nil }
      for shift in [UInt32(16), 8, 0].prefix(3 - padding) { bytes.append(UInt8(truncatingIfNeeded: bits >> shift)) }
      (bits, digits) = (0, 0)
    }
    return digits == 0 ? bytes : nil
  }

  private static func value(of digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): digit - UInt8(ascii: "A")
    case UInt8(ascii: "a")...UInt8(ascii: "z"): digit - UInt8(ascii: "a") + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0") + 52
    case UInt8(ascii: "+"): 62
    case UInt8(ascii: "/"): 63
    default: nil
    }
  }
}
