// SPDX-License-Identifier: Apache-2.0
import NMEA
import TestSupport

/// Fills any sentence with random values that can be written: a visitor like the reader and the writer, so that a new
/// type of sentence does not need its own test code.
struct RandomFiller: FieldVisitor {
  var random: SeededRandomNumberGenerator

  private mutating func isAbsent() -> Bool { random.oneIn(4) }

  mutating func time(_ name: StaticString, _ value: inout TimeOfDay?) {
    guard !isAbsent() else { return }
    let digits = random.int(0...9)
    var unit = 1
    for _ in digits..<9 { unit *= 10 }
    value = TimeOfDay(
      hour: UInt8(random.int(0...23)), minute: UInt8(random.int(0...59)), second: UInt8(random.int(0...60)),
      nanosecond: UInt32(random.int(0...(1_000_000_000 / unit - 1)) * unit), fractionDigits: UInt8(digits))
  }

  mutating func date(_ name: StaticString, _ value: inout ShortDate?) {
    guard !isAbsent() else { return }
    value = ShortDate(day: UInt8(random.int(1...28)), month: UInt8(random.int(1...12)), year: UInt8(random.int(0...99)))
  }

  mutating func latitude(_ name: StaticString, _ hemisphere: StaticString, _ value: inout Coordinate?) {
    coordinate(&value, most: 90, "NS")
  }

  mutating func longitude(_ name: StaticString, _ hemisphere: StaticString, _ value: inout Coordinate?) {
    coordinate(&value, most: 180, "EW")
  }

  private mutating func coordinate(_ value: inout Coordinate?, most: Int, _ hemispheres: String) {
    guard !isAbsent() else { return }
    let digits = random.int(0...8)
    var scale = 1
    for _ in 0..<digits { scale *= 10 }
    let minutes = random.oneIn(20) ? most * 60 * scale : random.int(0...(most * 60 * scale))
    value = Coordinate(
      minutes: FixedPoint(Int64(minutes), fractionDigits: UInt8(digits)),
      hemisphere: random.element(of: Array(hemispheres.utf8)))
  }

  mutating func decimal(_ name: StaticString, _ value: inout FixedPoint?) {
    guard !isAbsent() else { return }
    let mantissa = random.int(0...(random.oneIn(10) ? 999_999_999_999_999_999 : 999_999))
    let digits = random.int(0...(mantissa > 999_999 ? 17 : 6))
    value = FixedPoint(Int64(random.oneIn(3) ? -mantissa : mantissa), fractionDigits: UInt8(digits))
  }

  mutating func integer(_ name: StaticString, _ value: inout Int32?, _ range: ClosedRange<Int32>, digits: Int) {
    guard !isAbsent() else { return }
    value = Int32(random.int(Int(range.lowerBound)...Int(range.upperBound)))
  }

  mutating func hexadecimal(_ name: StaticString, _ value: inout Int32?, digits: Int) {
    guard !isAbsent() else { return }
    value = Int32(truncatingIfNeeded: random.next() >> UInt64(random.int(0...63)))
  }

  mutating func character(_ name: StaticString, _ value: inout UInt8?) {
    guard !isAbsent() else { return }
    value = UInt8(random.int(65...90))
  }

  mutating func constant(_ name: StaticString, _ character: StaticString, isPresent: Bool) {}

  mutating func text(_ name: StaticString, _ value: inout ShortText?) {
    guard !isAbsent() else { return }
    var text = ShortText()
    // Occasionally a character that is reserved, or not allowed in a sentence.
    for _ in 0..<random.int(1...15) { text.append(random.oneIn(8) ? random.byte() : UInt8(random.int(65...90))) }
    value = text
  }

  // The positions of text of any length differ between the written and the read value.
  mutating func text(_ name: StaticString, _ value: inout TextRange?) { value = nil }

  mutating func blocks(of size: Int, have: Int, most: Int) -> Int { random.int(0...most) }

  mutating func hasMore(isPresent: Bool) -> Bool { !random.oneIn(4) }
}

extension SentenceContent {
  static func random(_ random: inout SeededRandomNumberGenerator) -> Self {
    var content = Self()
    var filler = RandomFiller(random: random)
    content.fields(&filler)
    random = filler.random
    return content
  }

  func encoded(_ talker: Talker = .gps) -> [UInt8] {
    written(room: longestSentence) { encode(talker: talker, into: &$0) }
  }
}

/// The content of a sentence, and the number of rejected fields; nil if its frame is invalid.
func decoded<Content: SentenceContent>(_: Content.Type, _ bytes: [UInt8]) -> (content: Content, rejected: Int)? {
  guard let sentence = Sentence(bytes.raw) else { return nil }
  var rejected = 0
  guard let content = sentence.content(Content.self, rejected: &rejected) else { return nil }
  return (content, rejected)
}

/// As above, for a sentence without `$` and checksum.
func decoded<Content: SentenceContent>(_ type: Content.Type, _ content: String) -> (content: Content, rejected: Int)? {
  decoded(type, Wire.nmea(content))
}

/// A sentence's address, which outlives the bytes.
struct Address {
  var talker: Talker
  var formatter: Formatter
  var isProprietary: Bool

  init?(_ bytes: [UInt8]) {
    guard let sentence = Sentence(bytes.raw) else { return nil }
    talker = sentence.talker
    formatter = sentence.formatter
    isProprietary = sentence.isProprietary
  }
}
