// SPDX-License-Identifier: Apache-2.0
import WireBytes

/// Writes sentences: `$`, address, fields, checksum, CR LF.
///
/// A field stays empty when a reader would reject it: its value is out of range, or the sentence would exceed the
/// longest accepted length.
public struct FieldWriter: FieldVisitor, ~Copyable, ~Escapable {
  @usableFromInline var output: MutableRawSpan
  /// The characters of `TextRange` fields.
  private let texts: RawSpan
  /// The number of bytes written.
  public private(set) var count = 0
  /// The start of the current field.
  private var fieldStart = 0
  /// The number of fields to come in blocks; each needs a comma.
  private var fieldsToCome = 0

  /// Starts a sentence at the start of `output`. Traps when the sentence does not fit.
  @_lifetime(copy output, copy texts)
  init(_ output: consuming MutableRawSpan, texts: RawSpan) {
    self.output = output
    self.texts = texts
  }

  @_lifetime(self: copy self)
  mutating func put(_ byte: UInt8) {
    // A field that does not fit may still be removed, so `finish` decides.
    if count < output.byteCount { output.setLittleEndian(byte, at: count) }
    count += 1
  }

  @_lifetime(self: copy self)
  mutating func put(_ text: StaticString) {
    for index in 0..<text.utf8CodeUnitCount { put(unsafe text.utf8Start[index]) }
  }

  /// A number with at least `width` digits.
  @_lifetime(self: copy self)
  mutating func put(_ number: UInt64, width: Int) {
    var scale: UInt64 = 1
    var length = 1
    while number / scale >= 10 || length < width {
      scale *= 10
      length += 1
    }
    while scale > 0 {
      put(UInt8(ascii: "0") + UInt8(number / scale % 10))
      scale /= 10
    }
  }

  @_lifetime(self: copy self)
  private mutating func putHex(_ digit: UInt8) {
    put(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "A") + digit - 10)
  }

  /// The number of bytes after the last field.
  private static var ending: Int { 5 }

  /// Starts a field.
  @_lifetime(self: copy self)
  private mutating func comma() {
    endField()
    put(UInt8(ascii: ","))
    fieldStart = count
    fieldsToCome = max(0, fieldsToCome - 1)
  }

  /// Empties the current field if it leaves no room for the others.
  @_lifetime(self: copy self)
  private mutating func endField() {
    if count + fieldsToCome + Self.ending > longestSentence { count = fieldStart }
  }

  @_lifetime(self: copy self)
  mutating func start(_ talker: Talker, _ formatter: Formatter) {
    put(UInt8(ascii: "$"))
    put(UInt8(talker.code >> 8))
    if talker.code & 0xFF != 0 { put(UInt8(talker.code & 0xFF)) }
    for index in 0..<4 {
      let character = UInt8(truncatingIfNeeded: formatter.code >> UInt32(24 - 8 * index))
      if character != 0 { put(character) }
    }
  }

  mutating func finish() {
    endField()
    precondition(count + Self.ending <= output.byteCount)
    var sum: UInt8 = 0
    for index in 1..<count { sum ^= output.bytes.u1(index) }
    put(UInt8(ascii: "*"))
    putHex(sum >> 4)
    putHex(sum & 15)
    put(13)
    put(10)
  }

  /// A character of a text. Reserved characters and those that are not ASCII are written as `^` and the two digits of
  /// their code (IEC 61162-1, table of reserved characters).
  ///
  /// - Parameter isPlain: whether the character is written without a code.
  @_lifetime(self: copy self)
  private mutating func putText(_ character: UInt8, isPlain: Bool) {
    if isPlain { return put(character) }
    put(UInt8(ascii: "^"))
    putHex(character >> 4)
    putHex(character & 15)
  }

  @_lifetime(self: copy self)
  public mutating func time(_ name: StaticString, _ value: inout TimeOfDay?) {
    comma()
    guard let value, value.isWritable else { return }
    put(UInt64(value.hour), width: 2)
    put(UInt64(value.minute), width: 2)
    put(UInt64(value.second), width: 2)
    guard value.fractionDigits > 0 else { return }
    put(UInt8(ascii: "."))
    var fraction = UInt64(value.nanosecond)
    for _ in value.fractionDigits..<9 { fraction /= 10 }
    put(fraction, width: Int(value.fractionDigits))
  }

  @_lifetime(self: copy self)
  public mutating func date(_ name: StaticString, _ value: inout ShortDate?) {
    comma()
    guard let value, value.year < 100, isDay(value.day, ofMonth: value.month, year: value.fullYear) else { return }
    put(UInt64(value.day), width: 2)
    put(UInt64(value.month), width: 2)
    put(UInt64(value.year), width: 2)
  }

  @_lifetime(self: copy self)
  public mutating func latitude(_ name: StaticString, _ hemisphere: StaticString, _ value: inout Coordinate?) {
    coordinate(value, degrees: 90, UInt8(ascii: "N"), UInt8(ascii: "S"))
  }

  @_lifetime(self: copy self)
  public mutating func longitude(_ name: StaticString, _ hemisphere: StaticString, _ value: inout Coordinate?) {
    coordinate(value, degrees: 180, UInt8(ascii: "E"), UInt8(ascii: "W"))
  }

  @_lifetime(self: copy self)
  private mutating func coordinate(
    _ value: Coordinate?, degrees most: UInt64, _ positive: UInt8, _ negative: UInt8
  ) {
    comma()
    guard let value, value.minutes.mantissa >= 0, value.hemisphere == positive || value.hemisphere == negative else {
      return comma()
    }
    var minutes = value.minutes.mantissa.magnitude
    let digits = min(value.minutes.fractionDigits, Coordinate.mostFractionDigits)
    for _ in digits..<value.minutes.fractionDigits { minutes /= 10 }
    var scale: UInt64 = 1
    for _ in 0..<digits { scale *= 10 }
    guard minutes <= most * 60 * scale else { return comma() }
    let degrees = minutes / (60 * scale)
    let width = Int(min(value.wholeDigits, 5))
    if degrees > 0 || width > 2 { put(degrees, width: max(width - 2, 1)) }
    put(minutes / scale % 60, width: degrees > 0 ? 2 : max(min(width, 2), 1))
    if digits > 0 {
      put(UInt8(ascii: "."))
      put(minutes % scale, width: Int(digits))
    }
    comma()
    put(value.hemisphere)
  }

  @_lifetime(self: copy self)
  public mutating func decimal(_ name: StaticString, _ value: inout FixedPoint?) {
    comma()
    guard let value, value.fractionDigits <= FixedPoint.mostFractionDigits,
      value.mantissa.magnitude < FixedPoint.tooLarge
    else { return }
    if value.mantissa < 0 { put(UInt8(ascii: "-")) }
    var scale: UInt64 = 1
    for _ in 0..<value.fractionDigits { scale *= 10 }
    put(value.mantissa.magnitude / scale, width: 1)
    if value.fractionDigits > 0 {
      put(UInt8(ascii: "."))
      put(value.mantissa.magnitude % scale, width: Int(value.fractionDigits))
    }
  }

  @_lifetime(self: copy self)
  public mutating func integer(
    _ name: StaticString, _ value: inout Int32?, _ range: ClosedRange<Int32>, digits: Int
  ) {
    comma()
    guard let value, range.contains(value) else { return }
    if value < 0 { put(UInt8(ascii: "-")) }
    put(UInt64(value.magnitude), width: digits)
  }

  @_lifetime(self: copy self)
  public mutating func hexadecimal(_ name: StaticString, _ value: inout Int32?, digits: Int) {
    comma()
    guard let value else { return }
    let bits = UInt32(bitPattern: value)
    var shift: UInt32 = 28
    while shift > 0, bits >> shift == 0, shift >= 4 * digits { shift -= 4 }
    while true {
      putHex(UInt8(bits >> shift & 15))
      if shift == 0 { return }
      shift -= 4
    }
  }

  @_lifetime(self: copy self)
  public mutating func character(_ name: StaticString, _ value: inout UInt8?) {
    comma()
    // A reader of one character does not decode `^`, and treats a space as an empty field.
    if let value, value != UInt8(ascii: " "), !ReservedCharacters.contain(value) { put(value) }
  }

  @_lifetime(self: copy self)
  public mutating func constant(_ name: StaticString, _ character: StaticString, isPresent: Bool) {
    comma()
    if isPresent { put(character) }
  }

  @_lifetime(self: copy self)
  public mutating func text(_ name: StaticString, _ value: inout ShortText?) {
    comma()
    guard let value else { return }
    for index in 0..<min(15, Int(value.count)) {
      putText(value.characters[index], isPlain: !ReservedCharacters.contain(value.characters[index]))
    }
  }

  @_lifetime(self: copy self)
  public mutating func text(_ name: StaticString, _ value: inout TextRange?) {
    comma()
    guard let value else { return }
    // Texts of any length are last in their sentences: a code and the ending still fit. Receivers write commas in them.
    for offset in value.offsets.clamped(to: 0..<texts.byteCount) where count + 3 + Self.ending <= longestSentence {
      putText(texts.u1(offset), isPlain: !isEndOfContent(texts.u1(offset)))
    }
  }

  @_lifetime(self: copy self)
  public mutating func blocks(of size: Int, have: Int, most: Int) -> Int {
    let present = max(0, min(have, most))
    fieldsToCome = size * present
    return present
  }

  @_lifetime(self: copy self)
  public mutating func repeated(_ count: Int, of size: Int) { fieldsToCome = count * size }

  @_lifetime(self: copy self)
  public mutating func hasMore(isPresent: Bool) -> Bool { isPresent }
}

extension SentenceContent {
  /// Writes the sentence at the start of `output` and returns its length in bytes, with CR LF. Traps when `output` is
  /// too short; `longestSentence` bytes are always enough. A field is left empty when its value is out of the range of
  /// the standard or the manufacturer, or when the longest sentence has no room for it.
  public func encode(talker: Talker, into output: inout MutableRawSpan) -> Int {
    encode(talker: talker, texts: RawSpan(), into: &output)
  }

  /// Writes a sentence with text of any length. Its `TextRange`s are places in `texts`, which has the characters of a
  /// sentence: `^` begins a code such as `^2A` for a `*`. Characters that would end the sentence are written as such a
  /// code. Text outside `texts`, or beyond the longest sentence, is truncated.
  @_lifetime(output: copy output)
  public func encode(talker: Talker, texts: RawSpan, into output: inout MutableRawSpan) -> Int {
    var copy = self
    var writer = FieldWriter(output._mutatingExtracting(0..<output.byteCount), texts: texts)
    writer.start(talker, Self.formatter)
    copy.fields(&writer)
    writer.finish()
    return writer.count
  }
}
