import CByteMask
import WireBytes

/// `quickLook` by vectors of 32 bytes, on processors that have them: C's work (`sentence_text.h`), as Swift has no way to them.
///
/// The characters are lent to C, which keeps no pointer to them: that is what is unsafe here. 88 of them
/// must be there, which is checked, and C reads no others.
@usableFromInline
enum WideLook {
  /// Whether the processor has the vectors.
  @inlinable @inline(__always)
  static var isThere: Bool { c_has_avx2() != 0 }

  /// The sentence that begins with the `$` at `offset` if it is like nearly all; else nil.
  @inlinable @inline(__always)
  static func sentence(in bytes: SizedBytes, from offset: Int) -> (length: Int, ends: FieldEnds)? {
    let found = unsafe bytes.withCharacters(offset, 88) { characters in unsafe c_sentence_at(characters) }
    guard let found, found.length > 0 else { return nil }
    return (found.length, FieldEnds(low: found.low_ends, high: found.high_ends))
  }
}
