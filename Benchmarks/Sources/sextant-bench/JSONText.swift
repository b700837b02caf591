// SPDX-License-Identifier: Apache-2.0

/// A writer of JSON, field by field in the order of the calls.
struct JSONText {
  private(set) var text = ""
  private var needsComma = false

  mutating func beginObject() { begin("{") }

  mutating func endObject() { end("}") }

  mutating func beginArray(_ key: String) {
    name(key)
    text += "["
    needsComma = false
  }

  mutating func endArray() { end("]") }

  mutating func endLine() {
    text += "\n"
    needsComma = false
  }

  mutating func field(_ key: String, text value: String) {
    name(key)
    text += "\""
    for character in value.unicodeScalars {
      switch character {
      case "\"", "\\": text += "\\\(character)"
      case "\0"..<" ": text += "\\u" + String(String(0x10000 + character.value, radix: 16).dropFirst())
      default: text.unicodeScalars.append(character)
      }
    }
    text += "\""
  }

  /// Writes a field; nothing for nil.
  mutating func field(_ key: String, _ value: Int?) {
    guard let value else { return }
    name(key)
    text += String(value)
  }

  /// Writes a number with `digits` digits behind the point; nothing for one that is infinite or too large.
  mutating func field(_ key: String, _ value: Double, digits: Int) {
    guard value.isFinite, abs(value) < 1e9 else { return }
    name(key)
    text += fixed(value, digits)
  }

  private mutating func begin(_ bracket: String) {
    separate()
    text += bracket
    needsComma = false
  }

  private mutating func end(_ bracket: String) {
    text += bracket
    needsComma = true
  }

  private mutating func separate() {
    if needsComma { text += "," }
    needsComma = true
  }

  private mutating func name(_ key: String) {
    separate()
    text += "\"\(key)\":"
  }
}
