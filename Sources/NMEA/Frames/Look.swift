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

/// The sentence at `offset` of `bytes` if it is like nearly all: a `$`, up to 80 characters to the `*`, CR LF or LF at its
/// end, none of the characters from the space to the `+` in it but commas, and a few bytes behind it. Else nil, and `look`
/// has to tell what it is. There must be a `$` at `offset`.
///
/// Without a loop, and so without a branch that depends on the sentence's length.
@inlinable @inline(__always)
public func quickLook(at bytes: RawSpan, from offset: Int) -> (length: Int, ends: FieldEnds)? {
  guard bytes.byteCount &- offset >= 88, isLetter(bytes.u1(offset &+ 1)) else { return nil }
  let text = bytes.blocks80(offset)
  let comma = UInt8(ascii: ",")
  let commas =
    text.a.equal(to: comma).highBits | text.b.equal(to: comma).highBits &<< 16
    | text.c.equal(to: comma).highBits &<< 32 | text.d.equal(to: comma).highBits &<< 48
  let laterCommas = text.e.equal(to: comma).highBits
  // The first character is the `$`, which would end a sentence before it.
  let stops =
    (mayEndContent(text.a).highBits | mayEndContent(text.b).highBits &<< 16 | mayEndContent(text.c).highBits &<< 32
      | mayEndContent(text.d).highBits &<< 48) & ~(commas | 1)
  let laterStops = mayEndContent(text.e).highBits & ~laterCommas
  guard stops | laterStops != 0 else { return nil }
  // The place is computed: a branch that depends on which side of 64 it is would be guessed wrong half the time.
  let ifLater: UInt64 = stops == 0 ? ~0 : 0
  let star =
    stops.trailingZeroBitCount &+ Int(truncatingIfNeeded: UInt64(laterStops.trailingZeroBitCount) & ifLater)
  // `*`, two digits, and the line's end, which files that a computer wrote have without the CR.
  let sum = UInt64(hexDigits(exclusiveOr(text, star) ^ UInt8(ascii: "$")))
  let end = bytes.littleEndian(offset &+ star, as: UInt64.self) ^ (0x0A_0D00_002A | sum &<< 8)
  guard end & 0xFF_FFFF == 0 else { return nil }
  let lineEnd = end & 0xFF_FFFF_FFFF == 0 ? 2 : end &>> 24 & 0xFF == 0x0A ^ 0x0D ? 1 : 0
  guard lineEnd > 0 else { return nil }
  // Up to the `*`: all bits up to the lowest stop, and all when there is none.
  let low = (commas | stops) & (stops ^ (stops &- 1))
  let high = (laterCommas | laterStops) & (laterStops ^ (laterStops &- 1))
  return (star &+ 3 &+ lineEnd, FieldEnds(low: low, high: high & ifLater))
}

/// The exclusive or of the first `count` (0…80) bytes.
@inlinable @inline(__always)
func exclusiveOr(_ text: Blocks80, _ count: Int) -> UInt8 {
  let places = SIMD16<Int8>(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
  let count = SIMD16<Int8>(repeating: Int8(truncatingIfNeeded: count))
  let none = SIMD16<UInt8>(repeating: 0)
  let a = none.replacing(with: text.a, where: count .> places)
  let b = none.replacing(with: text.b, where: count .> places &+ SIMD16(repeating: 16))
  let c = none.replacing(with: text.c, where: count .> places &+ SIMD16(repeating: 32))
  let d = none.replacing(with: text.d, where: count .> places &+ SIMD16(repeating: 48))
  let e = none.replacing(with: text.e, where: count .> places &+ SIMD16(repeating: 64))
  return (a ^ b ^ c ^ d ^ e).exclusiveOr
}

/// The two digits that a checksum is written with, the first in the low byte.
@inlinable @inline(__always)
func hexDigits(_ sum: UInt8) -> UInt16 {
  let halves = UInt16(sum &>> 4) | UInt16(sum & 15) &<< 8
  let areLetters = (halves &+ 0x0606) &>> 4 & 0x0101
  return halves &+ 0x3030 &+ areLetters &* 7
}

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
      let ends = contentEnds(block).highBits
      if ends != 0 {
        let first = ends.trailingZeroBitCount
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
@inlinable @inline(__always)
func isEndOfContent(_ byte: UInt8) -> Bool {
  byte < 0x20 || byte > 0x7E || byte == UInt8(ascii: "$") || byte == UInt8(ascii: "*")
}

/// All ones where a byte cannot stand in a sentence's content.
@inlinable @inline(__always)
func contentEnds(_ block: SIMD16<UInt8>) -> SIMD16<UInt8> {
  // Bytes 0x20…0x7E minus 0x20 are below 0x5F; all others wrap to more.
  (block &- SIMD16(repeating: 0x20)).atLeast(0x5F) | block.equal(to: UInt8(ascii: "*"))
    | block.equal(to: UInt8(ascii: "$"))
}

/// All ones where a byte cannot stand in a sentence's content, and also at those up to the comma: few sentences have them,
/// and one compare finds them all.
@inlinable @inline(__always)
func mayEndContent(_ block: SIMD16<UInt8>) -> SIMD16<UInt8> {
  // With one more, 0x7F is negative as what is not ASCII is.
  (block &+ SIMD16(repeating: 1)).belowSigned(0x2E)
}

/// What a sentence is that another character than the `*` ended.
@inlinable @inline(never)
func ended(by byte: UInt8, _ length: Int) -> Look {
  byte == 13 || byte == 10 ? .noChecksum(length) : .broken(length)
}

@inlinable @inline(__always)
func isLetter(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "A") < 26 }

/// The value of a hexadecimal digit; 255 for another character.
@inlinable @inline(__always)
func hexValue(_ byte: UInt8) -> UInt8 {
  let digit = byte &- UInt8(ascii: "0")
  if digit < 10 { return digit }
  let letter = (byte | 0x20) &- UInt8(ascii: "a")
  return letter < 6 ? letter &+ 10 : 255
}
