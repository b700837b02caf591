// SPDX-License-Identifier: Apache-2.0

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
