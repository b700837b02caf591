// SPDX-License-Identifier: Apache-2.0

/// Reads a JSON text (RFC 8259) in place. Strings are unescaped in place and terminated with a NUL, as in C.
///
/// After invalid JSON or a value of an unexpected type, `isValid` is false and all further results are absent.
struct MessageReader: ~Copyable, ~Escapable {
  /// A string: its position in the message, without the terminating NUL.
  struct Text {
    var start: Int
    var count: Int
  }

  private var bytes: MutableSpan<UInt8>
  private(set) var isValid = true
  /// The position of the next value. A value that was skipped can be read later.
  var position = 0

  @_lifetime(copy bytes)
  init(_ bytes: consuming MutableSpan<UInt8>) { self.bytes = bytes }

  // MARK: Structure

  /// Begins an object; false if the next value is not an object.
  mutating func beginObject() -> Bool { begin(UInt8(ascii: "{")) }

  /// Begins an array; false if the next value is not an array.
  mutating func beginArray() -> Bool { begin(UInt8(ascii: "[")) }

  /// The name of the object's next member, whose value follows; nil at the end of the object.
  mutating func nextMember() -> Text? {
    guard takeSeparator(or: UInt8(ascii: "}")), let name = string() else { return nil }
    guard take(UInt8(ascii: ":")) else { return invalid() }
    return name
  }

  /// Whether the array has another element, which follows.
  mutating func nextElement() -> Bool { takeSeparator(or: UInt8(ascii: "]")) }

  /// Skips a value.
  mutating func skip() {
    var depth = 0
    repeat {
      switch peek() {
      case UInt8(ascii: "\""): skipString()
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        depth += 1
        position += 1
      case UInt8(ascii: "}") where depth > 0, UInt8(ascii: "]") where depth > 0:
        depth -= 1
        position += 1
      case UInt8(ascii: ",") where depth > 0, UInt8(ascii: ":") where depth > 0: position += 1
      default: skipWord()
      }
    } while depth > 0 && isValid
  }

  // MARK: Values

  /// The next value; nil for `null`.
  mutating func text() -> Text? { takeNull() ? nil : string() }

  /// The next value; NaN for `null`.
  mutating func number() -> Double {
    if takeNull() { return .nan }
    let start = position
    skipWord()
    guard isValid, let value = DecimalNumber(bytes.span.extracting(start..<position))?.value else {
      isValid = false
      return .nan
    }
    return value
  }

  /// The next value; false for `null`.
  mutating func boolean() -> Bool {
    if takeNull() { return false }
    let start = position
    skipWord()
    let text = Text(start: start, count: position - start)
    if equals(text, "true") { return true }
    if !equals(text, "false") { isValid = false }
    return false
  }

  /// Nanoseconds since 1970 of the next value, a time in ISO 8601 and UTC; nil for `null`.
  mutating func time() -> Int64? {
    guard let text = text() else { return nil }
    guard let time = nanosecondsSince1970(bytes.span.extracting(text.start..<text.start + text.count)) else {
      return invalid()
    }
    return time
  }

  func equals(_ text: Text, _ other: StaticString) -> Bool {
    guard text.count == other.utf8CodeUnitCount else { return false }
    for index in 0..<text.count {
      // The index is below `utf8CodeUnitCount` of the `StaticString`.
      guard unsafe other.utf8Start[index] == bytes[text.start + index] else { return false }
    }
    return true
  }

  // MARK: Bytes

  private mutating func invalid<Value>() -> Value? {
    isValid = false
    return nil
  }

  /// The next byte that is not white space; 0 at the end.
  private mutating func peek() -> UInt8 {
    while position < bytes.count {
      switch bytes[position] {
      case 0x20, 0x09, 0x0A, 0x0D: position += 1
      case let byte: return byte
      }
    }
    return 0
  }

  private mutating func take(_ byte: UInt8) -> Bool {
    guard isValid, peek() == byte else { return false }
    position += 1
    return true
  }

  private mutating func begin(_ byte: UInt8) -> Bool {
    if take(byte) { return true }
    isValid = false
    return false
  }

  /// Consumes a separator of elements, or the end of their object or array. Returns whether there are more elements.
  private mutating func takeSeparator(or end: UInt8) -> Bool {
    guard isValid, !take(end) else { return false }
    _ = take(UInt8(ascii: ","))
    return true
  }

  private mutating func takeNull() -> Bool {
    guard isValid else { return true }
    guard peek() == UInt8(ascii: "n") else { return false }
    let start = position
    skipWord()
    if !equals(Text(start: start, count: position - start), "null") { isValid = false }
    return true
  }

  /// Skips a number, `true`, `false` or `null`.
  private mutating func skipWord() {
    _ = peek()
    let start = position
    loop: while position < bytes.count {
      switch bytes[position] {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
        UInt8(ascii: "+"), UInt8(ascii: "."), UInt8(ascii: "E"):
        position += 1
      default: break loop
      }
    }
    if position == start { isValid = false }
  }

  private mutating func skipString() {
    position += 1
    while position < bytes.count {
      let byte = bytes[position]
      position += byte == UInt8(ascii: "\\") ? 2 : 1
      if byte == UInt8(ascii: "\"") { return }
    }
    isValid = false
  }

  private mutating func string() -> Text? {
    guard take(UInt8(ascii: "\"")) else { return invalid() }
    let start = position
    // The text is never longer than the string that it replaces.
    var end = start
    while position < bytes.count {
      let byte = bytes[position]
      position += 1
      switch byte {
      case UInt8(ascii: "\""):
        bytes[end] = 0
        return Text(start: start, count: end - start)
      case UInt8(ascii: "\\"):
        guard let scalar = escaped() else { return invalid() }
        var encoded = UTF8.encode(scalar)!.makeIterator()
        while let unit = encoded.next() {
          bytes[end] = unit
          end += 1
        }
      default:
        bytes[end] = byte
        end += 1
      }
    }
    return invalid()
  }

  /// The character of an escape, after its backslash.
  private mutating func escaped() -> Unicode.Scalar? {
    guard position < bytes.count else { return nil }
    let byte = bytes[position]
    position += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
    case UInt8(ascii: "b"): return "\u{08}"
    case UInt8(ascii: "f"): return "\u{0C}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"): return unicode()
    default: return nil
    }
  }

  /// The character of `\u`, after the u: one code unit, or two that form a surrogate pair.
  private mutating func unicode() -> Unicode.Scalar? {
    guard let first = codeUnit() else { return nil }
    guard first & 0xFC00 == 0xD800 else { return Unicode.Scalar(first) }
    guard position + 1 < bytes.count, bytes[position] == UInt8(ascii: "\\"), bytes[position + 1] == UInt8(ascii: "u")
    else { return nil }
    position += 2
    guard let second = codeUnit(), second & 0xFC00 == 0xDC00 else { return nil }
    return Unicode.Scalar(0x10000 + (first & 0x3FF) << 10 + second & 0x3FF)
  }

  private mutating func codeUnit() -> UInt32? {
    guard position + 4 <= bytes.count else { return nil }
    var value: UInt32 = 0
    for _ in 0..<4 {
      let byte = bytes[position]
      position += 1
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): value = value << 4 | UInt32(byte & 0xF)
      case UInt8(ascii: "a")...UInt8(ascii: "f"), UInt8(ascii: "A")...UInt8(ascii: "F"):
        value = value << 4 | UInt32(byte & 0xF + 9)
      default: return nil
      }
    }
    return value
  }
}
