// SPDX-License-Identifier: Apache-2.0

/// The reason why a value has no JSON form.
package enum JSONWriteError: Error, Equatable, CustomStringConvertible {
  /// An infinity or a NaN (RFC 8259, section 6).
  case notFinite
  /// More than `JSON.maximumDepth` nested arrays and objects.
  case tooDeep

  package var description: String {
    switch self {
    case .notFinite: "a number is not finite"
    case .tooDeep: "more than \(JSON.maximumDepth) nested arrays and objects"
    }
  }
}

extension JSON {
  /// The text without white space. A double is written with the fewest digits that reproduce it when read.
  package func text() throws(JSONWriteError) -> [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity(512)
    try write(to: &text)
    return text
  }

  /// Appends the text. After an error, `text` ends with a part of it.
  package func write(to text: inout [UInt8], depth: Int = 0) throws(JSONWriteError) {
    switch self {
    case .null: text.append(contentsOf: "null".utf8)
    case .bool(let value): text.append(contentsOf: (value ? "true" : "false").utf8)
    case .integer(let value): text.append(contentsOf: value.description.utf8)
    case .double(let value):
      guard value.isFinite else { throw .notFinite }
      text.append(contentsOf: value.description.utf8)
    case .string(let value): text.append(string: value)
    case .array(let elements):
      guard depth < JSON.maximumDepth else { throw .tooDeep }
      text.append(UInt8(ascii: "["))
      for (index, element) in elements.enumerated() {
        if index > 0 { text.append(UInt8(ascii: ",")) }
        try element.write(to: &text, depth: depth + 1)
      }
      text.append(UInt8(ascii: "]"))
    case .object(let members):
      guard depth < JSON.maximumDepth else { throw .tooDeep }
      text.append(UInt8(ascii: "{"))
      for (index, member) in members.enumerated() {
        if index > 0 { text.append(UInt8(ascii: ",")) }
        text.append(string: member.name)
        text.append(UInt8(ascii: ":"))
        try member.value.write(to: &text, depth: depth + 1)
      }
      text.append(UInt8(ascii: "}"))
    }
  }
}

extension [UInt8] {
  /// Appends a JSON string. The characters that RFC 8259, section 7, excludes are escaped: no text contains a NUL, the end of
  /// a message.
  fileprivate mutating func append(string: String) {
    append(UInt8(ascii: "\""))
    let bytes = string.utf8Span.span
    // Most texts are names and encoded bytes, and need no escapes.
    var unescaped = 0
    while unescaped < bytes.count, !Self.isEscaped(bytes[unescaped]) { unescaped += 1 }
    if unescaped == bytes.count {
      append(contentsOf: string.utf8)
    } else {
      for index in bytes.indices { append(escaping: bytes[index]) }
    }
    append(UInt8(ascii: "\""))
  }

  private static func isEscaped(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
  }

  private mutating func append(escaping byte: UInt8) {
    guard Self.isEscaped(byte) else { return append(byte) }
    append(UInt8(ascii: "\\"))
    switch byte {
    case UInt8(ascii: "\n"): append(UInt8(ascii: "n"))
    case UInt8(ascii: "\r"): append(UInt8(ascii: "r"))
    case UInt8(ascii: "\t"): append(UInt8(ascii: "t"))
    case 0..<0x20:
      append(contentsOf: (byte < 0x10 ? "u000" : "u00").utf8)
      append(contentsOf: String(byte, radix: 16).utf8)
    default: append(byte)
    }
  }
}
