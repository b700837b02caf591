// SPDX-License-Identifier: Apache-2.0
import NMEA
import WireBytes

/// The bytes of a stream before its first frame: finds a part of a sentence among them.
///
/// It is a line that ends with a checksum, and in which no sentence, tag block or comment begins. At the start of the stream the rest of a
/// checksum also counts, and LF alone, but not CR LF. A part of a tag block ends with a backslash.
@usableFromInline
struct StreamHead: Equatable, Sendable {
  /// Whether the stream began with a part of a sentence.
  @usableFromInline private(set) var isCut = false
  /// Whether the line has a byte that begins a sentence, a tag block or a comment.
  private var hasStart = false
  /// The last four characters of the line; 0 at the start of the stream.
  private var last: UInt32 = 0

  @inlinable init() {}

  @usableFromInline @inline(never)
  mutating func add(_ bytes: RawSpan) {
    for index in 0..<bytes.byteCount { add(bytes.u1(index)) }
  }

  private mutating func add(_ byte: UInt8) {
    if byte < 0x20 {
      if endsSentence || last == 0 && byte == 0x0A { isCut = true }
      (hasStart, last) = (false, .max)
      return
    }
    switch byte {
    case UInt8(ascii: "\\"):
      if endsSentence { isCut = true }
      hasStart = true
    case UInt8(ascii: "$"), UInt8(ascii: "!"), UInt8(ascii: "#"): hasStart = true
    default: break
    }
    last = last << 8 | UInt32(byte)
  }

  /// Whether the line is the rest of a sentence.
  private var endsSentence: Bool {
    !hasStart && last != 0
      && Self.isDigit(last) && Self.isDigit(last >> 8) && (last >> 16 == 0 || last >> 16 & 0xFF == 0x2A)
  }

  /// Whether the last character is a hexadecimal digit, or before the stream.
  private static func isDigit(_ characters: UInt32) -> Bool {
    let character = UInt8(truncatingIfNeeded: characters)
    return character == 0 || hexValue(character) < 16
  }
}
