// SPDX-License-Identifier: Apache-2.0
import WireBytes

/// Writes a sentence around an existing content, for sentences without a type here: `$`, the content, `*`, the checksum, CR LF.
///
/// - Parameters:
///   - content: the characters between `$` and `*`. The first is an upper-case letter; the others are printable ASCII characters
///     except `$` and `*` (NMEA 0183, "sentence format").
///   - output: receives the sentence at its start.
/// - Returns: the length of the sentence in bytes, up to `longestSentence`; nil when the content is invalid or does not fit, in the
///   sentence or in `output`.
@_lifetime(output: copy output)
public func encodeSentence(content: RawSpan, into output: inout MutableRawSpan) -> Int? {
  let count = content.byteCount
  let total = count + 6
  guard count > 0, total <= min(longestSentence, output.byteCount), isLetter(content.u1(0)) else { return nil }
  var sum: UInt8 = 0
  for index in 0..<count {
    guard !isEndOfContent(content.u1(index)) else { return nil }
    sum ^= content.u1(index)
  }
  output.setLittleEndian(UInt8(ascii: "$"), at: 0)
  output.copy(content, to: 1)
  output.setLittleEndian(UInt8(ascii: "*"), at: count + 1)
  output.setLittleEndian(hexDigits(sum), at: count + 2)
  output.setLittleEndian(0x0A0D as UInt16, at: count + 4)
  return total
}

#if !hasFeature(Embedded)
  /// Returns the bytes of a sentence of any content and length: `$`, the content, `*`, the checksum, CR LF.
  package func sentenceBytes(_ content: String) -> [UInt8] {
    let sum = content.utf8.span.exclusiveOr
    return Array("$\(content)*".utf8) + littleEndianBytes(hexDigits(sum)) + [13, 10]
  }
#endif
