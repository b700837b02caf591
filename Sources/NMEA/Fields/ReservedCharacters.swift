/// The characters that mean something in a sentence, or nothing in any: `$` and `!` begin it, `*` ends its content, commas part
/// its fields, `\` encloses a tag block, `^` begins a code, `~` is kept for later, and control characters and what is not
/// ASCII do not stand in it (IEC 61162-1, table of reserved characters).
enum ReservedCharacters {
  /// Whether a character of a text cannot be written as it is.
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
