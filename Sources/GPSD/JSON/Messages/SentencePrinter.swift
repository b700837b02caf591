// SPDX-License-Identifier: Apache-2.0
import NMEA
import WireBytes

/// Prints the fields of a sentence while it reads them: a visitor of the declaration of the sentence.
///
/// A field that is empty or unreadable is null; a field beyond the end of the sentence is absent. Numbers keep their
/// digits. Latitude and longitude are in degrees, north and east positive. Hexadecimal fields and constant characters
/// are strings as in the sentence. Repeated fields are the objects of an array `groups`.
struct SentencePrinter: FieldVisitor, ~Copyable, ~Escapable {
  private let bytes: RawSpan
  private var reader: FieldReader
  private var line: JSONLine
  /// The number of fields in a round of the group, of remaining rounds, and of printed fields of this round.
  private var roundSize = 0
  private var remainingRounds = 0
  private var printedInRound = 0

  @_lifetime(copy sentence)
  init(_ sentence: Sentence, _ line: consuming JSONLine) {
    self.bytes = sentence.bytes
    self.reader = sentence.fields
    self.line = line
  }

  /// Closes open arrays and objects, and returns the line.
  consuming func finish() -> JSONLine {
    if printedInRound > 0 { line.endObject() }
    if remainingRounds > 0 { line.endArray() }
    return line
  }

  // MARK: Fields and rounds

  /// Writes the name of the next field. Returns false if the sentence has no further field.
  @_lifetime(self: copy self)
  private mutating func begin(_ name: StaticString) -> Bool {
    guard reader.hasMore(isPresent: false) else { return false }
    if remainingRounds > 0, printedInRound == 0 { line.beginObject() }
    line.name(name)
    return true
  }

  @_lifetime(self: copy self)
  private mutating func end() {
    guard remainingRounds > 0 else { return }
    printedInRound += 1
    guard printedInRound == roundSize else { return }
    line.endObject()
    printedInRound = 0
    remainingRounds -= 1
    if remainingRounds == 0 { line.endArray() }
  }

  @_lifetime(self: copy self)
  private mutating func startRounds(_ count: Int, of size: Int) {
    guard count > 0 else { return }
    line.beginArray("groups")
    roundSize = size
    remainingRounds = count
  }

  /// Writes the characters between the comma at `start` and the next field as a string; null if there are none.
  @_lifetime(self: copy self)
  private mutating func characters(from start: Int, to end: Int) {
    if end > start + 1 { line.string(bytes.extracting(start + 1..<end)) } else { line.null() }
  }

  /// Writes the characters of a text, with its codes decoded: `^21` is an exclamation mark. Null if there are none.
  @_lifetime(self: copy self)
  private mutating func text(from start: Int, to end: Int) {
    guard end > start + 1 else { return line.null() }
    line.put(raw: UInt8(ascii: "\""))
    var decoder = CodedCharacters(bytes.extracting(start + 1..<end))
    while let character = decoder.next() { line.character(character) }
    line.put(raw: UInt8(ascii: "\""))
  }

  // MARK: FieldVisitor

  @_lifetime(self: copy self)
  mutating func time(_ name: StaticString, _ value: inout TimeOfDay?) {
    guard begin(name) else { return }
    reader.time(name, &value)
    if let value { line.time(value) } else { line.null() }
    end()
  }

  @_lifetime(self: copy self)
  mutating func date(_ name: StaticString, _ value: inout ShortDate?) {
    guard begin(name) else { return }
    reader.date(name, &value)
    if let value { line.date(value) } else { line.null() }
    end()
  }

  @_lifetime(self: copy self)
  mutating func latitude(_ name: StaticString, _ hemisphere: StaticString, _ value: inout Coordinate?) {
    guard begin(name) else { return }
    let start = reader.position
    reader.latitude(name, hemisphere, &value)
    coordinate(value, hemisphere, from: start)
  }

  @_lifetime(self: copy self)
  mutating func longitude(_ name: StaticString, _ hemisphere: StaticString, _ value: inout Coordinate?) {
    guard begin(name) else { return }
    let start = reader.position
    reader.longitude(name, hemisphere, &value)
    coordinate(value, hemisphere, from: start)
  }

  @_lifetime(self: copy self)
  private mutating func coordinate(_ value: Coordinate?, _ hemisphere: StaticString, from start: Int) {
    if let value { line.degrees(value) } else { line.null() }
    end()
    var comma = start + 1
    while comma < reader.position, bytes.u1(comma) != UInt8(ascii: ",") { comma += 1 }
    guard comma < reader.position else { return }
    line.name(hemisphere)
    characters(from: comma, to: reader.position)
    end()
  }

  @_lifetime(self: copy self)
  mutating func decimal(_ name: StaticString, _ value: inout FixedPoint?) {
    guard begin(name) else { return }
    reader.decimal(name, &value)
    if let value { line.shifted(value.mantissa, digits: Int(value.fractionDigits)) } else { line.null() }
    end()
  }

  @_lifetime(self: copy self)
  mutating func integer(_ name: StaticString, _ value: inout Int32?, _ range: ClosedRange<Int32>, digits: Int) {
    guard begin(name) else { return }
    reader.integer(name, &value, range)
    if let value { line.integer(Int64(value)) } else { line.null() }
    end()
  }

  @_lifetime(self: copy self)
  mutating func hexadecimal(_ name: StaticString, _ value: inout Int32?, digits: Int) {
    guard begin(name) else { return }
    let start = reader.position
    reader.hexadecimal(name, &value, digits: digits)
    characters(from: start, to: value == nil ? start : reader.position)
    end()
  }

  @_lifetime(self: copy self)
  mutating func character(_ name: StaticString, _ value: inout UInt8?) {
    guard begin(name) else { return }
    reader.character(name, &value)
    if let value {
      line.put(raw: UInt8(ascii: "\""))
      line.character(value)
      line.put(raw: UInt8(ascii: "\""))
    } else {
      line.null()
    }
    end()
  }

  @_lifetime(self: copy self)
  mutating func constant(_ name: StaticString, _ character: StaticString, isPresent: Bool) {
    guard begin(name) else { return }
    let start = reader.position
    reader.constant(name, character, isPresent: isPresent)
    characters(from: start, to: reader.position)
    end()
  }

  @_lifetime(self: copy self)
  mutating func text(_ name: StaticString, _ value: inout ShortText?) {
    guard begin(name) else { return }
    let start = reader.position
    reader.text(name, &value)
    text(from: start, to: reader.position)
    end()
  }

  @_lifetime(self: copy self)
  mutating func text(_ name: StaticString, _ value: inout TextRange?) {
    guard begin(name) else { return }
    let start = reader.position
    reader.text(name, &value)
    text(from: start, to: reader.position)
    end()
  }

  @_lifetime(self: copy self)
  mutating func remainder(_ name: StaticString, _ value: inout TextRange?) {
    guard begin(name) else { return }
    let start = reader.position
    reader.remainder(name, &value)
    text(from: start, to: reader.position)
    end()
  }

  @_lifetime(self: copy self)
  mutating func repeated(_ count: Int, of size: Int) { startRounds(count, of: size) }

  @_lifetime(self: copy self)
  mutating func blocks(of size: Int, have: Int, most: Int) -> Int {
    let count = reader.blocks(of: size, have: have, most: most)
    startRounds(count, of: size)
    return count
  }

  @_lifetime(self: copy self)
  mutating func hasMore(isPresent: Bool) -> Bool { reader.hasMore(isPresent: isPresent) }
}

extension JSONLine {
  /// Writes "hh:mm:ss" with microseconds if the sentence has a fraction, with nanoseconds if it has more digits.
  mutating func time(_ time: TimeOfDay) {
    put(raw: UInt8(ascii: "\""))
    magnitude(UInt64(time.hour), width: 2)
    put(raw: UInt8(ascii: ":"))
    magnitude(UInt64(time.minute), width: 2)
    put(raw: UInt8(ascii: ":"))
    magnitude(UInt64(time.second), width: 2)
    if time.nanosecond > 0 {
      put(raw: UInt8(ascii: "."))
      if time.nanosecond % 1000 == 0 {
        magnitude(UInt64(time.nanosecond / 1000), width: 6)
      } else {
        magnitude(UInt64(time.nanosecond), width: 9)
      }
    }
    put(raw: UInt8(ascii: "\""))
  }

  /// Writes "yyyy-mm-dd".
  mutating func date(_ date: ShortDate) {
    put(raw: UInt8(ascii: "\""))
    magnitude(UInt64(date.fullYear), width: 4)
    put(raw: UInt8(ascii: "-"))
    magnitude(UInt64(date.month), width: 2)
    put(raw: UInt8(ascii: "-"))
    magnitude(UInt64(date.day), width: 2)
    put(raw: UInt8(ascii: "\""))
  }

  /// Writes degrees, rounded to ten fraction digits: 0.01 mm on the ground.
  mutating func degrees(_ coordinate: Coordinate) {
    var scaled = coordinate.minutes.mantissa.magnitude
    var divisor: UInt64 = 60
    // The mantissa has at most eleven fraction digits (`FieldReader`), so that no product overflows.
    for _ in coordinate.minutes.fractionDigits..<max(10, coordinate.minutes.fractionDigits) { scaled *= 10 }
    for _ in 10..<max(10, coordinate.minutes.fractionDigits) { divisor *= 10 }
    let isNegative = coordinate.hemisphere == UInt8(ascii: "S") || coordinate.hemisphere == UInt8(ascii: "W")
    trimmed((scaled + divisor / 2) / divisor, isNegative: isNegative, digits: 10)
  }
}
