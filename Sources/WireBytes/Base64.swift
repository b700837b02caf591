// SPDX-License-Identifier: Apache-2.0

/// Base64 of RFC 4648, section 4.
package enum Base64 {
  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  package static func text(of bytes: RawSpan) -> String {
    var text: [UInt8] = []
    let count = bytes.byteCount
    text.reserveCapacity((count + 2) / 3 * 4)
    for start in stride(from: 0, to: count, by: 3) {
      let length = min(3, count - start)
      var bits: UInt32 = 0
      for index in 0..<3 {
        bits = bits << 8 | (index < length ? UInt32(bytes.u1(start + index)) : 0)
      }
      for digit in 0..<4 {
        text.append(digit <= length ? alphabet[Int(bits >> UInt32(18 - 6 * digit)) & 63] : UInt8(ascii: "="))
      }
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// The base64 of a text in UTF-8.
  package static func text(of text: String) -> String {
    // `unsafe`: only to view the bytes of an array of this function.
    unsafe Self.text(of: Array(text.utf8).span.bytes)
  }

  /// Returns the bytes of a text; nil if it is not base64.
  ///
  /// - Parameter isPadded: false if the text may end without its padding.
  package static func bytes(of text: String, isPadded: Bool = true) -> [UInt8]? {
    if !isPadded, text.utf8.count % 4 != 0 {
      return bytes(of: text + String(repeating: "=", count: 4 - text.utf8.count % 4))
    }
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
