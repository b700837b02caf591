// SPDX-License-Identifier: Apache-2.0

/// The position and the reason why bytes are not JSON.
package struct JSONSyntaxError: Error, Equatable, CustomStringConvertible {
  package enum Reason: String, Sendable {
    case unexpectedEnd = "the text ends early"
    case unexpectedByte = "unexpected byte"
    case trailingBytes = "bytes after the value"
    case controlCharacter = "a control character in a string"
    case invalidEscape = "an unknown escape sequence"
    /// RFC 8259, section 8.2, leaves the behaviour undefined; RFC 7493, section 2.1, forbids it.
    case loneSurrogate = "half of a surrogate pair"
    case invalidUTF8 = "invalid UTF-8"
    /// RFC 8259, section 6, allows limits of range.
    case numberOutOfRange = "a number beyond the range of a double"
    /// RFC 8259, section 4, leaves the behaviour undefined; RFC 7493, section 2.3, forbids it.
    case repeatedName = "a member's name appears twice"
    case tooDeep = "too many nested arrays and objects"
  }

  package var reason: Reason
  /// The offset of the byte, from the start of the text.
  package var offset: Int

  package init(reason: Reason, offset: Int) {
    self.reason = reason
    self.offset = offset
  }

  package var description: String { "\(reason.rawValue) at byte \(offset)" }
}

extension JSON {
  /// Parses a text of one value, with white space around it. The caller limits the size.
  package init(parsing text: Span<UInt8>) throws(JSONSyntaxError) {
    var reader = JSONReader(text)
    self = try reader.value(depth: 0)
    reader.skipWhiteSpace()
    if reader.position < text.count { throw reader.error(.trailingBytes) }
  }

  package init(parsing text: [UInt8]) throws(JSONSyntaxError) { try self.init(parsing: text.span) }
}

/// A strict parser for RFC 8259. A byte order mark is an error (section 8.1 allows this).
package struct JSONReader: ~Escapable {
  private let text: Span<UInt8>
  fileprivate private(set) var position = 0

  @_lifetime(copy text)
  package init(_ text: Span<UInt8>) { self.text = text }

  /// Whether the input is at its end.
  package var isAtEnd: Bool { position == text.count }

  /// Consumes exactly these bytes, if they are next.
  @_lifetime(self: copy self)
  package mutating func skip(exactly expected: [UInt8]) -> Bool {
    guard text.count - position >= expected.count else { return false }
    for index in expected.indices where text[position + index] != expected[index] { return false }
    position += expected.count
    return true
  }

  /// The next byte, or 0 at the end, which is never valid.
  private var byte: UInt8 { position < text.count ? text[position] : 0 }

  func error(_ reason: JSONSyntaxError.Reason) -> JSONSyntaxError {
    let isEnd = reason == .unexpectedByte && position >= text.count
    return JSONSyntaxError(reason: isEnd ? .unexpectedEnd : reason, offset: position)
  }

  mutating func skipWhiteSpace() {
    while byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
  }

  /// Consumes white space and then `expected`, if present.
  @_lifetime(self: copy self)
  private mutating func skip(_ expected: Unicode.Scalar) -> Bool {
    skipWhiteSpace()
    guard byte == UInt8(ascii: expected) else { return false }
    position += 1
    return true
  }

  @_lifetime(self: copy self)
  mutating func value(depth: Int) throws(JSONSyntaxError) -> JSON {
    skipWhiteSpace()
    switch byte {
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "{"): return .object(try members(depth: depth + 1))
    case UInt8(ascii: "["): return .array(try elements(depth: depth + 1))
    case UInt8(ascii: "t"): return try word("true", .bool(true))
    case UInt8(ascii: "f"): return try word("false", .bool(false))
    case UInt8(ascii: "n"): return try word("null", .null)
    default: return try number()
    }
  }

  @_lifetime(self: copy self)
  private mutating func word(_ word: StaticString, _ value: JSON) throws(JSONSyntaxError) -> JSON {
    for expected in word.description.utf8 {
      guard byte == expected else { throw error(.unexpectedByte) }
      position += 1
    }
    return value
  }

  @_lifetime(self: copy self)
  private mutating func elements(depth: Int) throws(JSONSyntaxError) -> [JSON] {
    guard depth <= JSON.maximumDepth else { throw error(.tooDeep) }
    position += 1
    var elements: [JSON] = []
    if skip("]") { return elements }
    repeat { elements.append(try value(depth: depth)) } while skip(",")
    guard skip("]") else { throw error(.unexpectedByte) }
    return elements
  }

  @_lifetime(self: copy self)
  private mutating func members(depth: Int) throws(JSONSyntaxError) -> [JSON.Member] {
    guard depth <= JSON.maximumDepth else { throw error(.tooDeep) }
    position += 1
    var members: [JSON.Member] = []
    // A large object gets a set of its names, so that the search for a repetition takes linear time.
    var names: Set<String> = []
    if skip("}") { return members }
    repeat {
      skipWhiteSpace()
      guard byte == UInt8(ascii: "\"") else { throw error(.unexpectedByte) }
      let name = try string()
      if members.count == 16 { names = Set(members.map(\.name)) }
      let isNew = members.count < 16 ? !members.contains { $0.name == name } : names.insert(name).inserted
      guard isNew else { throw error(.repeatedName) }
      guard skip(":") else { throw error(.unexpectedByte) }
      members.append(JSON.Member(name, try value(depth: depth)))
    } while skip(",")
    guard skip("}") else { throw error(.unexpectedByte) }
    return members
  }
}

// Numbers (RFC 8259, section 6).
extension JSONReader {
  private var isDigit: Bool { byte &- UInt8(ascii: "0") < 10 }

  private mutating func digits() throws(JSONSyntaxError) {
    guard isDigit else { throw error(.unexpectedByte) }
    while isDigit { position += 1 }
  }

  /// The number at the position.
  @_lifetime(self: copy self)
  package mutating func number() throws(JSONSyntaxError) -> JSON {
    let start = position
    if byte == UInt8(ascii: "-") { position += 1 }
    if byte == UInt8(ascii: "0") { position += 1 } else { try digits() }
    var end = position
    var isInteger = true
    if byte == UInt8(ascii: ".") {
      isInteger = false
      position += 1
      try digits()
      end = position
    }
    if byte | 0x20 == UInt8(ascii: "e") {
      isInteger = false
      position += 1
      if byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-") { position += 1 }
      try digits()
    }
    if end == position, let value = shortNumber(start..<end, isInteger: isInteger) { return value }
    let text = try self.text(start..<position)
    // The sign of -0 is kept: -0 is a double.
    if isInteger, let value = Int64(text), value != 0 || text == "0" { return .integer(value) }
    guard let value = Double(text), value.isFinite else { throw error(.numberOutOfRange) }
    return .double(value)
  }

  /// The value of a number without an exponent and with at most 15 digits; nil for any other, and for -0. A double has the digits
  /// and the power of ten exactly, so that their quotient is rounded once (Clinger, How to Read Floating Point Numbers Accurately,
  /// 1990).
  private func shortNumber(_ range: Range<Int>, isInteger: Bool) -> JSON? {
    guard range.count <= 17 else { return nil }
    var digits: Int64 = 0
    var count = 0
    var divisor = 0.0
    for index in range {
      let digit = text[index] &- UInt8(ascii: "0")
      // The sign or the point.
      guard digit < 10 else {
        if text[index] == UInt8(ascii: ".") { divisor = 1 }
        continue
      }
      digits = digits * 10 + Int64(digit)
      divisor *= 10
      count += 1
    }
    let isNegative = text[range.lowerBound] == UInt8(ascii: "-")
    guard count <= 15, digits != 0 || !isNegative else { return nil }
    if isNegative { digits = -digits }
    return isInteger ? .integer(digits) : .double(Double(digits) / divisor)
  }
}

// Strings (RFC 8259, section 7).
extension JSONReader {
  private func text(_ range: Range<Int>) throws(JSONSyntaxError) -> String {
    let bytes = text.extracting(range)
    do { return String(copying: try UTF8Span(validating: bytes)) } catch { throw self.error(.invalidUTF8) }
  }

  private mutating func string() throws(JSONSyntaxError) -> String {
    position += 1
    let start = position
    while byte >= 0x20 {
      if byte == UInt8(ascii: "\"") {
        position += 1
        return try text(start..<position - 1)
      }
      if byte == UInt8(ascii: "\\") { return try escapedString(from: start) }
      position += 1
    }
    throw error(position < text.count ? .controlCharacter : .unexpectedEnd)
  }

  /// The rest of a string that has an escape sequence at the position.
  @_lifetime(self: copy self)
  private mutating func escapedString(from start: Int) throws(JSONSyntaxError) -> String {
    var decoded: [UInt8] = []
    for index in start..<position { decoded.append(text[index]) }
    while byte >= 0x20, byte != UInt8(ascii: "\"") {
      if byte == UInt8(ascii: "\\") {
        position += 1
        decoded.append(contentsOf: String(try escape()).utf8)
      } else {
        decoded.append(byte)
        position += 1
      }
    }
    guard byte != 0 || position < text.count else { throw error(.unexpectedEnd) }
    guard byte >= 0x20 else { throw error(.controlCharacter) }
    position += 1
    guard let result = String(validating: decoded, as: UTF8.self) else { throw error(.invalidUTF8) }
    return result
  }

  /// The character of an escape sequence, after its reverse solidus.
  private mutating func escape() throws(JSONSyntaxError) -> Character {
    let kind = byte
    position += 1
    switch kind {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Character(Unicode.Scalar(kind))
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{C}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"): return Character(try codePoint())
    default:
      position -= 1
      throw error(position < text.count ? .invalidEscape : .unexpectedEnd)
    }
  }

  /// The code point of `\u`: four hexadecimal digits, and the second half of a surrogate pair.
  private mutating func codePoint() throws(JSONSyntaxError) -> Unicode.Scalar {
    let first = try hexadecimal()
    if let scalar = Unicode.Scalar(first) { return scalar }
    guard first < 0xDC00, byte == UInt8(ascii: "\\") else { throw error(.loneSurrogate) }
    position += 1
    guard byte == UInt8(ascii: "u") else { throw error(.loneSurrogate) }
    position += 1
    let second = try hexadecimal()
    guard 0xDC00...0xDFFF ~= second else { throw error(.loneSurrogate) }
    let bits = UInt32(first - 0xD800) << 10 | UInt32(second - 0xDC00)
    guard let scalar = Unicode.Scalar(0x10000 + bits) else { throw error(.loneSurrogate) }
    return scalar
  }

  private mutating func hexadecimal() throws(JSONSyntaxError) -> UInt16 {
    var value: UInt16 = 0
    for _ in 0..<4 {
      guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue else { throw error(.invalidEscape) }
      value = value << 4 | UInt16(digit)
      position += 1
    }
    return value
  }
}
