// SPDX-License-Identifier: Apache-2.0
import WireBytes

/// The longest sentence that is accepted, in bytes. The standard allows 82; PUBX,03 and sentences of other vendors are longer.
@inlinable public var longestSentence: Int { 1024 }

extension Sentence {
  /// The result of a frame scan.
  public enum Scan: Equatable, Sendable {
    /// A sentence of this many bytes with a correct checksum; CR and LF are counted if they follow.
    case sentence(Int)
    /// The beginning of a sentence; the result depends on bytes that are still missing.
    case needsMore
    /// No sentence: it does not begin with `$`, `!` or `#` and a character of an address.
    case noStart
    /// No sentence: a control character, a byte above 0x7E or a new `$` precedes the checksum, after this many bytes.
    case broken(Int)
    /// No sentence: the line ends without a checksum, after this many bytes.
    case noChecksum(Int)
    /// No sentence: it is longer than `longestSentence`.
    case tooLong
    /// No sentence: the checksum is wrong. The number counts the bytes up to the `*`.
    case badChecksum(Int)
  }

  /// The fast path of the frame scan: the length of the sentence at `offset` and the ends of its fields.
  ///
  /// It accepts a sentence with up to 80 characters to the `*`, CR LF or LF at its end, no character from the space to the `+`
  /// except commas, and 88 bytes of the span from its start on. Nil for all others: `scan` is the slow path. There must
  /// be a `$` at `offset`.
  ///
  /// There is no loop, so no branch depends on the length of the sentence.
  @inlinable @inline(__always)
  public static func fastScan(_ bytes: RawSpan, from offset: Int) -> (length: Int, ends: FieldEnds)? {
    guard bytes.byteCount &- offset >= 88, isLetter(bytes.u1(offset &+ 1)) else { return nil }
    let text = bytes.blocks80(offset)
    let comma = UInt8(ascii: ",")
    let commas =
      text.a.equal(to: comma).highBits | text.b.equal(to: comma).highBits &<< 16
      | text.c.equal(to: comma).highBits &<< 32 | text.d.equal(to: comma).highBits &<< 48
    let laterCommas = text.e.equal(to: comma).highBits
    // The `$` at the start is not a stop.
    let stops =
      (mayEndContent(text.a).highBits | mayEndContent(text.b).highBits &<< 16 | mayEndContent(text.c).highBits &<< 32
        | mayEndContent(text.d).highBits &<< 48) & ~(commas | 1)
    let laterStops = mayEndContent(text.e).highBits & ~laterCommas
    guard stops | laterStops != 0 else { return nil }
    // Computed without a branch: sentences end on both sides of character 64, so a branch would often be mispredicted.
    let ifLater: UInt64 = stops == 0 ? ~0 : 0
    let star =
      stops.trailingZeroBitCount &+ Int(truncatingIfNeeded: UInt64(laterStops.trailingZeroBitCount) & ifLater)
    // `*`, two digits, and the line's end. Files written on a computer often lack the CR.
    let sum = UInt64(hexDigits(exclusiveOr(text, star) ^ UInt8(ascii: "$")))
    let end = bytes.littleEndian(offset &+ star, as: UInt64.self) ^ (0x0A_0D00_002A | sum &<< 8)
    guard end & 0xFF_FFFF == 0 else { return nil }
    let lineEnd = end & 0xFF_FFFF_FFFF == 0 ? 2 : end &>> 24 & 0xFF == 0x0A ^ 0x0D ? 1 : 0
    guard lineEnd > 0 else { return nil }
    // The bits up to the lowest stop, which is the `*`; all bits of `commas` if the stop is in the later part.
    let low = (commas | stops) & (stops ^ (stops &- 1))
    let high = (laterCommas | laterStops) & (laterStops ^ (laterStops &- 1))
    return (star &+ 3 &+ lineEnd, FieldEnds(low: low, high: high & ifLater))
  }

  /// The slow path of the frame scan, for any bytes at `offset`.
  ///
  /// - Parameters:
  ///   - bytes: the received bytes.
  ///   - offset: the position of the sentence's first byte.
  ///   - isEnd: whether no bytes follow. A sentence without CR LF is then complete.
  @inlinable
  public static func scan(_ bytes: RawSpan, from offset: Int = 0, isEnd: Bool = false) -> Scan {
    let count = bytes.byteCount
    guard offset < count else { return .needsMore }
    let start = bytes.u1(offset)
    if start == UInt8(ascii: "#") { return scanLog(bytes, from: offset, isEnd: isEnd) }
    guard start == UInt8(ascii: "$") || start == UInt8(ascii: "!") else { return .noStart }
    let limit = min(count, offset &+ longestSentence)
    var at = offset &+ 1
    if at < limit, !isLetter(bytes.u1(at)) {
      guard mayBeginAddress(bytes, at, start) else { return .noStart }
      if at &+ 1 == count { return .needsMore }
    }
    var sum: UInt8 = 0
    let star: Int
    scan: do {
      // Sixteen bytes at a time, up to the block with the end of the content.
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
    guard high < 16, low < 16,
      high << 4 | low == sum || high << 4 | low == sum ^ start && isReply(bytes, offset, star)
    else { return .badChecksum(star &+ 1 &- offset) }
    return ended(bytes, offset, star &+ 3, isEnd)
  }

  /// The result for a sentence whose checksum ends before `end`.
  @inlinable
  static func ended(_ bytes: RawSpan, _ offset: Int, _ end: Int, _ isEnd: Bool) -> Scan {
    let count = bytes.byteCount
    var end = end
    guard end < count else { return isEnd ? .sentence(end &- offset) : .needsMore }
    if bytes.u1(end) == 13 {
      end &+= 1
      guard end < count else { return isEnd ? .sentence(end &- offset) : .needsMore }
    }
    if bytes.u1(end) == 10 { end &+= 1 }
    return .sentence(end &- offset)
  }

  /// Whether a sentence has the address of a Unicore receiver's reply, such as `$command` or `$CONFIG`: six letters or more, all
  /// upper-case or all lower-case, and not proprietary. The checksum of these replies includes the `$`, as recordings
  /// show. A change of a single character cannot turn another sentence into one.
  @inlinable @inline(never)
  static func isReply(_ bytes: RawSpan, _ offset: Int, _ star: Int) -> Bool {
    let first = bytes.u1(offset &+ 1)
    guard first != UInt8(ascii: "P"), bytes.u1(offset) == UInt8(ascii: "$") else { return false }
    var at = offset &+ 1
    while at < star, bytes.u1(at) != UInt8(ascii: ",") {
      guard bytes.u1(at) & 0x20 == first & 0x20, isLetter(bytes.u1(at) & ~0x20) else { return false }
      at &+= 1
    }
    return at &- offset > 6
  }

  /// The scan of a log of a Unicore receiver at `offset`: `#`, an address in upper case, and the checksum of a sentence
  /// over everything from the `#` on, or a CRC-32 of eight digits over the text after the `#` (Unicore reference
  /// commands, ASCII logs). Other lines are not damaged sentences: comments begin with `#`.
  @inlinable @inline(never)
  static func scanLog(_ bytes: RawSpan, from offset: Int, isEnd: Bool) -> Scan {
    let count = bytes.byteCount
    let limit = min(count, offset &+ longestSentence)
    var at = offset &+ 1
    if at < limit, !isLetter(bytes.u1(at)) { return .noStart }
    var sum = UInt8(ascii: "#")
    while at < limit, bytes.u1(at) != UInt8(ascii: "*") {
      if isEndOfContent(bytes.u1(at)) { return .noStart }
      sum ^= bytes.u1(at)
      at &+= 1
    }
    guard at < limit else { return limit &- offset >= longestSentence ? .noStart : .needsMore }
    var digits = 0
    var given: UInt32 = 0
    while digits < 8, at &+ 1 &+ digits < count, case let digit = hexValue(bytes.u1(at &+ 1 &+ digits)), digit < 16 {
      given = given &<< 4 | UInt32(digit)
      digits &+= 1
    }
    if digits < 8, at &+ 1 &+ digits >= count, !isEnd { return .needsMore }
    switch digits {
    case 2: guard given == UInt32(sum) else { return .noStart }
    case 8: guard given == logCRC32(of: bytes, from: offset &+ 1, to: at) else { return .noStart }
    default: return .noStart
    }
    return ended(bytes, offset, at &+ 1 &+ digits, isEnd)
  }

  /// The result where another character than the `*` ends the content.
  @inlinable @inline(never)
  static func ended(by byte: UInt8, _ length: Int) -> Scan {
    byte == 13 || byte == 10 ? .noChecksum(length) : .broken(length)
  }
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

/// The two hexadecimal digits of a checksum, the first in the low byte.
@inlinable @inline(__always)
func hexDigits(_ sum: UInt8) -> UInt16 {
  let halves = UInt16(sum &>> 4) | UInt16(sum & 15) &<< 8
  let areLetters = (halves &+ 0x0606) &>> 4 & 0x0101
  return halves &+ 0x3030 &+ areLetters &* 7
}

/// Whether a byte is not allowed in the content of a sentence: `$`, `*`, control characters and bytes that are not ASCII.
@inlinable @inline(__always)
func isEndOfContent(_ byte: UInt8) -> Bool {
  byte < 0x20 || byte > 0x7E || byte == UInt8(ascii: "$") || byte == UInt8(ascii: "*")
}

/// All ones for each byte that is not allowed in the content of a sentence.
@inlinable @inline(__always)
func contentEnds(_ block: SIMD16<UInt8>) -> SIMD16<UInt8> {
  // Bytes 0x20…0x7E minus 0x20 are below 0x5F; all others wrap to more.
  (block &- SIMD16(repeating: 0x20)).atLeast(0x5F) | block.equal(to: UInt8(ascii: "*"))
    | block.equal(to: UInt8(ascii: "$"))
}

/// All ones for each byte that is not allowed in the content of a sentence, and for the characters from the space to the comma:
/// they are rare except for commas, and one comparison finds all of them.
@inlinable @inline(__always)
func mayEndContent(_ block: SIMD16<UInt8>) -> SIMD16<UInt8> {
  // 0x7F plus 1 is negative, like all bytes that are not ASCII.
  (block &+ SIMD16(repeating: 1)).belowSigned(0x2E)
}

@inlinable @inline(__always)
func isLetter(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "A") < 26 }

/// Whether an address may begin at `at` without an upper-case letter: with two digits, which converters of NMEA 2000
/// write as talker (the address of the device on the bus), or with a lower-case letter in replies of Unicore receivers.
@inlinable @inline(never)
func mayBeginAddress(_ bytes: RawSpan, _ at: Int, _ start: UInt8) -> Bool {
  let first = bytes.u1(at)
  if first &- UInt8(ascii: "a") < 26 { return start == UInt8(ascii: "$") }
  guard first &- UInt8(ascii: "0") < 10 else { return false }
  return at &+ 1 == bytes.byteCount || bytes.u1(at &+ 1) &- UInt8(ascii: "0") < 10
}

/// The value of a hexadecimal digit; 255 for another character.
@inlinable @inline(__always)
package func hexValue(_ byte: UInt8) -> UInt8 {
  let digit = byte &- UInt8(ascii: "0")
  if digit < 10 { return digit }
  let offset = (byte | 0x20) &- UInt8(ascii: "a")
  return offset < 6 ? offset &+ 10 : 255
}
