import WireBytes

/// What the bytes at a `$` or `!` are.
public enum Look: Equatable, Sendable {
  /// A sentence of this many bytes, its checksum right; CR and LF are counted where they follow.
  case sentence(Int)
  /// The beginning of a sentence: more bytes are needed to tell.
  case needsMore
  /// No sentence: it does not begin with `$` or `!` and a letter.
  case noStart
  /// No sentence: a control character, a byte above 0x7E or a new `$` before the checksum. The number is how many bytes
  /// were looked at before it.
  case broken(Int)
  /// No sentence: the line ended without a checksum.
  case noChecksum(Int)
  /// No sentence: longer than any receiver writes.
  case tooLong
  /// No sentence: the checksum is wrong.
  case badChecksum(Int)
}

/// The longest sentence that is believed, in bytes. The standard says 82; PUBX,03 and vendors' own go far beyond.
@inlinable public var longestSentence: Int { 1024 }

/// Looks for a sentence at `offset` of `bytes`.
///
/// - Parameters:
///   - bytes: what was received.
///   - offset: where to look.
///   - isEnd: whether no bytes will follow, so that a sentence whose CR LF is cut off counts.
@inlinable
public func look(at bytes: RawSpan, from offset: Int = 0, isEnd: Bool = false) -> Look {
  let count = bytes.byteCount
  guard offset < count else { return .needsMore }
  let start = bytes.u1(offset)
  guard start == UInt8(ascii: "$") || start == UInt8(ascii: "!") else { return .noStart }
  let limit = min(count, offset &+ longestSentence)
  var at = offset &+ 1
  if at < limit, !isLetter(bytes.u1(at)) { return .noStart }
  var sum: UInt8 = 0
  let star: Int
  scan: do {
    // Sixteen bytes at a time, up to the one that ends the content.
    var columns = SIMD16<UInt8>()
    while at &+ 16 <= limit {
      let block = bytes.block16(at)
      let ends = ByteMask(contentEnds(block))
      if !ends.isEmpty {
        let first = ends.first
        sum = (columns ^ block.prefix(first)).exclusiveOr
        at &+= first
        if bytes.u1(at) != UInt8(ascii: "*") { return ended(by: bytes.u1(at), at &- offset) }
        star = at
        break scan
      }
      columns ^= block
      at &+= 16
    }
    sum = columns.exclusiveOr
    while at < limit {
      let byte = bytes.u1(at)
      if byte == UInt8(ascii: "*") {
        star = at
        break scan
      }
      if isEndOfContent(byte) { return ended(by: byte, at &- offset) }
      sum ^= byte
      at &+= 1
    }
    return limit &- offset >= longestSentence ? .tooLong : .needsMore
  }
  guard star &+ 3 <= count else { return .needsMore }
  let high = hexValue(bytes.u1(star &+ 1))
  let low = hexValue(bytes.u1(star &+ 2))
  guard high < 16, low < 16, high << 4 | low == sum else { return .badChecksum(star &+ 1 &- offset) }
  var end = star &+ 3
  guard end < count else { return isEnd ? .sentence(end &- offset) : .needsMore }
  if bytes.u1(end) == 13 {
    end &+= 1
    guard end < count else { return isEnd ? .sentence(end &- offset) : .needsMore }
  }
  if bytes.u1(end) == 10 { end &+= 1 }
  return .sentence(end &- offset)
}

/// Whether a byte cannot stand in a sentence's content: `$`, `*`, control characters and what is not ASCII.
@inlinable @inline(always)
func isEndOfContent(_ byte: UInt8) -> Bool {
  byte < 0x20 || byte > 0x7E || byte == UInt8(ascii: "$") || byte == UInt8(ascii: "*")
}

/// All ones where a byte cannot stand in a sentence's content.
@inlinable @inline(always)
func contentEnds(_ block: SIMD16<UInt8>) -> SIMD16<UInt8> {
  // Bytes 0x20…0x7E minus 0x20 are below 0x5F; all others wrap to more.
  (block &- SIMD16(repeating: 0x20)).atLeast(0x5F) | block.equal(to: UInt8(ascii: "*"))
    | block.equal(to: UInt8(ascii: "$"))
}

/// What a sentence is that another character than the `*` ended.
@inlinable @inline(never)
func ended(by byte: UInt8, _ length: Int) -> Look {
  byte == 13 || byte == 10 ? .noChecksum(length) : .broken(length)
}

@inlinable @inline(always)
func isLetter(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "A") < 26 }

/// The value of a hexadecimal digit; 255 for another character.
@inlinable @inline(always)
func hexValue(_ byte: UInt8) -> UInt8 {
  let digit = byte &- UInt8(ascii: "0")
  if digit < 10 { return digit }
  let letter = (byte | 0x20) &- UInt8(ascii: "a")
  return letter < 6 ? letter &+ 10 : 255
}
