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

/// The characters with a meaning in a sentence, and those that are not allowed: `$` and `!` begin it, `*` ends its
/// content, commas separate its fields, `\` encloses a tag block, `^` begins a code, `~` is reserved; control
/// characters and bytes that are not ASCII are not allowed (IEC 61162-1, table of reserved characters).
enum ReservedCharacters {
  /// Whether a character of a text must be written as a code.
  static func contain(_ character: UInt8) -> Bool {
    guard character >= 0x20, character < 0x7E else { return true }
    return switch character {
    case UInt8(ascii: "$"), UInt8(ascii: "*"), UInt8(ascii: ","), UInt8(ascii: "!"), UInt8(ascii: "\\"),
      UInt8(ascii: "^"):
      true
    default: false
    }
  }
}
