// SPDX-License-Identifier: Apache-2.0
import WireBytes

/// The ends of a sentence's fields: a bit for each comma and the `*` among its first 128 characters.
///
/// The frame scan finds them while it has the characters in registers. They are stored with the sentence for the field
/// reader.
public struct FieldEnds: Equatable, Sendable {
  /// Characters 0…63 of the sentence, the `$` in the low bit.
  public var low: UInt64
  /// Characters 64…127.
  public var high: UInt64

  @inlinable @inline(__always)
  init(low: UInt64, high: UInt64) {
    self.low = low
    self.high = high
  }

  /// No ends, for frames that are not sentences.
  @inlinable public static var none: FieldEnds { FieldEnds(low: 0, high: 0) }

  /// Finds the ends in `sentence`.
  @inlinable
  public init(in sentence: RawSpan) {
    self.init(
      low: FieldEnds.among64(sentence, from: 0),
      high: sentence.byteCount > 64 ? FieldEnds.among64(sentence, from: 64) : 0)
  }

  /// A bit for each comma or `*` among the 64 characters from `base` on.
  @inlinable @inline(never)
  static func among64(_ sentence: RawSpan, from base: Int) -> UInt64 {
    let end = max(base, min(base &+ 64, sentence.byteCount))
    var bits: UInt64 = 0
    var at = base
    while at &+ 16 <= end {
      let text = sentence.block16(at)
      let ends = text.equal(to: UInt8(ascii: ",")) | text.equal(to: UInt8(ascii: "*"))
      bits |= ends.highBits &<< UInt64(at &- base)
      at &+= 16
    }
    while at < end {
      let character = sentence.u1(at)
      if character == UInt8(ascii: ",") || character == UInt8(ascii: "*") { bits |= 1 &<< UInt64(at &- base) }
      at &+= 1
    }
    return bits
  }
}
