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
  /// The number of hexadecimal digits after a `*` at the end of the line; negative if it ends with another character. At the start of the
  /// stream the first six digits of a CRC-32 are assumed, or the `*`.
  private var digits: Int8 = digitsAtStart

  private static var digitsAtStart: Int8 { 6 }

  @usableFromInline init() {}

  @usableFromInline @inline(never)
  mutating func add(_ bytes: RawSpan) {
    for index in 0..<bytes.byteCount { add(bytes.u1(index)) }
  }

  private mutating func add(_ byte: UInt8) {
    if byte < 0x20 {
      if endsSentence || digits == Self.digitsAtStart && byte == 0x0A { isCut = true }
      (hasStart, digits) = (false, -1)
      return
    }
    switch byte {
    case UInt8(ascii: "\\"):
      if endsSentence { isCut = true }
      hasStart = true
    case UInt8(ascii: "$"), UInt8(ascii: "!"), UInt8(ascii: "#"): hasStart = true
    default: break
    }
    if byte == UInt8(ascii: "*") {
      digits = 0
    } else {
      digits = 0...8 ~= digits && hexValue(byte) < 16 ? digits + 1 : -1
    }
  }

  /// Whether the line is the rest of a sentence.
  private var endsSentence: Bool { !hasStart && (digits == 2 || digits == 7 || digits == 8) }
}
