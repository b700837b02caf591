// SPDX-License-Identifier: Apache-2.0
import WireBytes

/// A line of JSON, written field by field into memory that is reused for each line.
///
/// Numbers are written from integers, so that a value has exactly the digits of its source.
package struct JSONLine: ~Copyable {
  package enum LineEnd: Sendable {
    case lineFeed
    /// The value in gpsd's protocol.
    case carriageReturnLineFeed
  }

  /// The bytes written so far.
  package var bytes: RawSpan {
    @_lifetime(borrow self) get { buffer.bytes }
  }
  private var buffer = LineBuffer(capacity: 32_768)
  private var needsComma = false
  private let lineEnd: LineEnd

  package init(lineEnd: LineEnd = .lineFeed) { self.lineEnd = lineEnd }

  /// The bytes written so far, as text.
  package var text: String {
    unsafe bytes.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
  }

  /// Discards all lines.
  package mutating func removeAll() {
    buffer.removeAll()
    needsComma = false
  }

  /// Discards the lines after the first `size` bytes, which end with a whole line.
  mutating func removeLines(after size: Int) { buffer.truncate(to: size) }

  package mutating func put(_ text: StaticString) { buffer.append(text) }

  /// Writes text that is used often, as a few stores of constants.
  @inline(__always)
  mutating func put(constant text: StaticString) { buffer.append(text) }

  /// Writes a byte without escaping.
  package mutating func put(raw byte: UInt8) { buffer.append(byte) }

  /// Writes bytes without escaping.
  package mutating func put(raw bytes: Span<UInt8>) { buffer.append(bytes) }

  // MARK: Structure

  package mutating func beginObject() {
    separate()
    buffer.append(UInt8(ascii: "{"))
    needsComma = false
  }

  package mutating func endObject() {
    buffer.append(UInt8(ascii: "}"))
    needsComma = true
  }

  package mutating func beginArray(_ key: StaticString) {
    name(key)
    buffer.append(UInt8(ascii: "["))
    needsComma = false
  }

  package mutating func endArray() {
    buffer.append(UInt8(ascii: "]"))
    needsComma = true
  }

  /// Starts an object as the value of `key`.
  package mutating func beginObject(_ key: StaticString) {
    name(key)
    buffer.append(UInt8(ascii: "{"))
    needsComma = false
  }

  /// Ends the line.
  package mutating func endLine() {
    switch lineEnd {
    case .lineFeed: buffer.append(UInt8(ascii: "\n"))
    case .carriageReturnLineFeed: buffer.append("\r\n")
    }
    needsComma = false
  }

  private mutating func separate() {
    if needsComma { buffer.append(UInt8(ascii: ",")) }
    needsComma = true
  }

  /// Writes a key and its colon. The value must follow.
  package mutating func name(_ key: StaticString) {
    buffer.append(needsComma ? ",\"" : "\"")
    needsComma = true
    buffer.append(key)
    buffer.append("\":")
  }

  /// Starts an array as an element of an array.
  package mutating func beginArray() {
    separate()
    buffer.append(UInt8(ascii: "["))
    needsComma = false
  }

  /// Writes the beginning of an object together with its first key, both in `text`, as an element of an array.
  @inline(__always)
  mutating func beginObject(with text: StaticString) {
    separate()
    buffer.append(text)
  }

  /// Starts an element of an array that is not an object.
  package mutating func nextElement() { separate() }

  // MARK: Values

  package mutating func null() { put("null") }

  package mutating func field(_ key: StaticString, _ text: StaticString) {
    name(key)
    buffer.append(UInt8(ascii: "\""))
    put(text)
    buffer.append(UInt8(ascii: "\""))
  }

  package mutating func field(_ key: StaticString, text: String) {
    name(key)
    string(text)
  }

  /// Writes text that is valid Unicode, or null.
  package mutating func field(_ key: StaticString, textOrNull text: String?) {
    name(key)
    if let text { string(text) } else { null() }
  }

  package mutating func field(_ key: StaticString, _ value: Bool) {
    name(key)
    put(value ? "true" : "false")
  }

  package mutating func field(_ key: StaticString, _ value: Int64) {
    name(key)
    integer(value)
  }

  package mutating func field(_ key: StaticString, _ value: Int?) {
    guard let value else { return }
    field(key, Int64(value))
  }

  /// Writes a number with `digits` fraction digits; nothing if it is nil, not finite or 1e9 or larger.
  package mutating func field(_ key: StaticString, _ value: Double?, digits: Int) {
    guard let value, value.isFinite, abs(value) < 1e9 else { return }
    name(key)
    decimal(value, digits: digits)
  }

  /// Writes an element of an array.
  package mutating func element(_ value: Int64) {
    separate()
    integer(value)
  }

  package mutating func integer(_ value: Int64) {
    if value < 0 { buffer.append(UInt8(ascii: "-")) }
    if value.magnitude < 1000 { return buffer.append(small: UInt32(value.magnitude)) }
    magnitude(value.magnitude, width: 1)
  }

  /// Writes `value`, at most 1e9, rounded to `digits` fraction digits, at most 9.
  package mutating func decimal(_ value: Double, digits: Int) {
    var scale: UInt64 = 1
    for _ in 0..<digits { scale *= 10 }
    let scaled = (abs(value) * Double(scale)).rounded()
    if value < 0, scaled > 0 { buffer.append(UInt8(ascii: "-")) }
    let number = UInt64(clamping: scaled)
    magnitude(number / scale, width: 1)
    if digits > 0 {
      buffer.append(UInt8(ascii: "."))
      magnitude(number % scale, width: digits)
    }
  }

  /// Writes an integer whose last `digits` digits are the fraction.
  package mutating func shifted(_ value: Int64, digits: Int) {
    if value < 0 { buffer.append(UInt8(ascii: "-")) }
    var scale: UInt64 = 1
    for _ in 0..<digits { scale *= 10 }
    magnitude(value.magnitude / scale, width: 1)
    if digits > 0 {
      buffer.append(UInt8(ascii: "."))
      magnitude(value.magnitude % scale, width: digits)
    }
  }

  /// Writes a decimal number whose last `digits` digits of `magnitude` are the fraction, without zeros at the end.
  package mutating func trimmed(_ magnitude: UInt64, isNegative: Bool, digits: Int) {
    var magnitude = magnitude
    var digits = digits
    while digits > 0, magnitude % 10 == 0 {
      magnitude /= 10
      digits -= 1
    }
    if isNegative, magnitude > 0 { buffer.append(UInt8(ascii: "-")) }
    var scale: UInt64 = 1
    for _ in 0..<digits { scale *= 10 }
    self.magnitude(magnitude / scale, width: 1)
    if digits > 0 {
      buffer.append(UInt8(ascii: "."))
      self.magnitude(magnitude % scale, width: digits)
    }
  }

  /// Writes the shortest decimal that gives the same value; null for values that JSON cannot express.
  package mutating func shortest(_ value: some BinaryFloatingPoint & CustomStringConvertible) {
    guard value.isFinite else { return null() }
    for byte in value.description.utf8 { buffer.append(byte) }
  }

  /// Writes at least `width` digits.
  package mutating func magnitude(_ value: UInt64, width: Int) {
    buffer.append(value, width: width)
  }

  /// Writes a string. Quotes, backslashes and control characters are escaped, bytes above 0x7E are written as Latin-1.
  package mutating func string(_ characters: some Sequence<UInt8>) {
    buffer.append(UInt8(ascii: "\""))
    for byte in characters { character(byte) }
    buffer.append(UInt8(ascii: "\""))
  }

  /// Writes text that is valid Unicode, such as a name or a path. The control characters of C1, which a terminal obeys, are
  /// escaped as well.
  package mutating func string(_ text: String) {
    buffer.append(UInt8(ascii: "\""))
    // C1 is U+0080 to U+009F: in UTF-8, C2 followed by the number.
    var isAfterC2 = false
    for byte in text.utf8 {
      if isAfterC2 {
        isAfterC2 = false
        if byte < 0xA0 {
          character(byte)
          continue
        }
        buffer.append(0xC2)
      }
      if byte < 0x80 { character(byte) } else if byte == 0xC2 { isAfterC2 = true } else { buffer.append(byte) }
    }
    buffer.append(UInt8(ascii: "\""))
  }

  /// Writes one character of a string, escaped as JSON requires.
  package mutating func character(_ byte: UInt8) {
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"):
      buffer.append(UInt8(ascii: "\\"))
      buffer.append(byte)
    case 0x20...0x7E: buffer.append(byte)
    default:
      put("\\u00")
      buffer.append(hexDigit(byte >> 4))
      buffer.append(hexDigit(byte & 15))
    }
  }

  /// Writes two hexadecimal digits.
  package mutating func hexadecimal(_ byte: UInt8) {
    buffer.append(hexDigit(byte >> 4))
    buffer.append(hexDigit(byte & 15))
  }

  private func hexDigit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
  }
}
