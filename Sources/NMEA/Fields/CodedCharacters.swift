// SPDX-License-Identifier: Apache-2.0
import WireBytes

/// The characters of a text with their codes decoded: `^` and two hexadecimal digits are the character of that code. A
/// `^` without them is a plain character (IEC 61162-1, "code delimiter").
public struct CodedCharacters: ~Escapable {
  private let text: RawSpan
  private var at = 0

  @_lifetime(copy text)
  public init(_ text: RawSpan) { self.text = text }

  /// The next character; nil at the end.
  @_lifetime(self: copy self)
  public mutating func next() -> UInt8? {
    guard at < text.byteCount else { return nil }
    let character = text.u1(at)
    at &+= 1
    guard character == UInt8(ascii: "^"), at &+ 2 <= text.byteCount, case let high = hexValue(text.u1(at)), high < 16,
      case let low = hexValue(text.u1(at &+ 1)), low < 16
    else { return character }
    at &+= 2
    return high &<< 4 | low
  }
}
