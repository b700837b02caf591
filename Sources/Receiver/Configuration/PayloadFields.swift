// SPDX-License-Identifier: Apache-2.0
import UBX
import WireBytes

/// The fields of a CFG message by the interface description's names, to read and to change.
///
/// A span over the payload's array is called unsafe because some types have invalid bit patterns; bytes have none.
package enum PayloadFields {
  /// A field at its place.
  package struct Field {
    /// Such as `dynModel`, or `groups[2].flags` in the third round of a group.
    package var path: String
    package var layout: FieldLayout
    package var offset: Int
    package var values: Int
  }

  /// The fields that carry something, in the order of the wire; none when no layout fits.
  package static func list(_ identity: MessageIdentity, _ payload: [UInt8]) -> [Field] {
    let bytes = unsafe payload.span.bytes
    var layout: MessageLayout?
    var least = Int.max
    for candidate in MessageLayout.candidates(for: identity) where candidate.fits(bytes) && candidate.isAnswer {
      guard let length = candidate.length(of: bytes), payload.count - length < least else { continue }
      layout = candidate
      least = payload.count - length
    }
    return layout.map { list($0, payload) } ?? []
  }

  /// The fields of a payload that carry something, by its layout, in the order of the wire.
  package static func list(_ layout: MessageLayout, _ payload: [UInt8]) -> [Field] {
    let bytes = unsafe payload.span.bytes
    var fields: [Field] = []
    var cursor = FieldCursor(layout)
    while let place = cursor.next(in: bytes) {
      if place.field.isReserved { continue }
      var path = place.field.name.description
      if let round = place.round { path = "\(groupName(layout, place.item))[\(round)].\(path)" }
      let room = payload.count - place.offset
      fields.append(
        Field(path: path, layout: place.field, offset: place.offset, values: place.field.values(within: room)))
    }
    return fields
  }

  /// The name of a group of fields, as in JSON: `groups`, or `groups2` for a second group.
  package static func groupName(_ layout: MessageLayout, _ item: Int) -> String {
    let number = layout.items[...item].count { if case .group = $0 { true } else { false } }
    return number > 1 ? "groups\(number)" : "groups"
  }

  /// All names of a message's fields; groups as `groups[0]`.
  package static func names(_ identity: MessageIdentity) -> [String] {
    var names: [String] = []
    func add(_ name: String) { if !names.contains(name) { names.append(name) } }
    for layout in MessageLayout.candidates(for: identity) where layout.isAnswer {
      for item in layout.items {
        switch item {
        case .field(let field): if !field.isReserved { add(field.name.description) }
        case .group(_, _, let fields): for field in fields where !field.isReserved { add("groups[0].\(field.name)") }
        }
      }
    }
    return names
  }

  /// A declared field by its name, whatever round of a group it is in.
  package static func declared(_ identity: MessageIdentity, _ path: String) -> FieldLayout? {
    let isInGroup = path.contains(".")
    let name = path.split(separator: ".").last.map { $0.lowercased() } ?? ""
    for layout in MessageLayout.candidates(for: identity) where layout.isAnswer {
      for item in layout.items {
        switch item {
        case .field(let field):
          if !isInGroup, field.name.description.lowercased() == name, !field.isReserved { return field }
        case .group(_, _, let fields):
          if isInGroup, let field = fields.first(where: { $0.name.description.lowercased() == name && !$0.isReserved })
          {
            return field
          }
        }
      }
    }
    return nil
  }

  /// The field's value; several in brackets, text in quotation marks.
  package static func text(_ field: Field, _ payload: [UInt8]) -> String {
    if field.layout.type == .ch { return quoted(payload[field.offset..<field.offset + field.values]) }
    let bytes = unsafe payload.span.bytes
    let values = (0..<field.values).map { index in
      let bits = field.layout.unsigned(in: bytes, at: field.offset + index * field.layout.type.size)
      return WireText.text(bits, field.layout.type, field.layout.scale)
    }
    return field.layout.isArray ? "[" + values.joined(separator: ",") + "]" : values.first ?? ""
  }

  /// The values of all fields by their names in lower case.
  package static func texts(_ identity: MessageIdentity, _ payload: [UInt8]) -> [String: String] {
    var texts: [String: String] = [:]
    for field in list(identity, payload) { texts[field.path.lowercased()] = text(field, payload) }
    return texts
  }

  /// Sets a field to the value of `text`; `element` names one of several values.
  package static func set(
    _ field: Field, element: Int?, _ text: String, in payload: inout [UInt8]
  ) throws(WireText.Problem) {
    let size = field.layout.type.size
    if let element {
      guard element < field.values else { throw .notANumber }
      let bits = try self.bits(text, field.layout)
      for byte in 0..<size {
        payload[field.offset + element * size + byte] = UInt8(truncatingIfNeeded: bits >> (byte * 8))
      }
      return
    }
    let values = try self.values(text, field.layout, count: field.values)
    guard values.count <= field.values else { throw .notANumber }
    for (index, bits) in values.enumerated() {
      for byte in 0..<size {
        payload[field.offset + index * size + byte] = UInt8(truncatingIfNeeded: bits >> (byte * 8))
      }
    }
  }

  /// Whether `text` can be the value of a field, of one of its values where `element` is given.
  package static func check(_ text: String, _ field: FieldLayout, element: Int?) throws(WireText.Problem) {
    if element != nil { _ = try bits(text, field) } else { _ = try values(text, field, count: field.count) }
  }

  private static func bits(_ text: some StringProtocol, _ field: FieldLayout) throws(WireText.Problem) -> UInt64 {
    try WireText.bits(text, field.type, field.scale, unit: field.unit.description)
  }

  /// The values of `text` on the wire; a field without a fixed number of values has as many as `text` has.
  ///
  /// - Parameter count: the number of values of a field with a fixed number.
  package static func values(
    _ text: String, _ field: FieldLayout, count: Int
  ) throws(WireText.Problem) -> [UInt64] {
    if field.type == .ch {
      guard let characters = unquoted(text), characters.count <= count || field.count == 0 else { throw .notANumber }
      return characters.map { UInt64($0) } + Array(repeating: 0, count: max(0, count - characters.count))
    }
    guard field.isArray else { return [try bits(text, field)] }
    guard text.hasPrefix("["), text.hasSuffix("]") else { throw .notANumber }
    var values: [UInt64] = []
    if text == "[]", field.count == 0 { return values }
    for part in text.dropFirst().dropLast().split(separator: ",", omittingEmptySubsequences: false) {
      var part = part
      while part.first == " " { part.removeFirst() }
      values.append(try bits(part, field))
    }
    guard values.count == count || field.count == 0 else { throw .notANumber }
    return values
  }

  /// Printable characters as they are, others as `\xNN`; zeros at the end are left out.
  private static func quoted(_ bytes: ArraySlice<UInt8>) -> String {
    var text = "\""
    for byte in bytes.prefix((bytes.lastIndex { $0 != 0 } ?? bytes.startIndex - 1) + 1 - bytes.startIndex) {
      if byte >= 0x20, byte < 0x7F, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") {
        text.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        text += "\\x" + byte.hexadecimalDigits
      }
    }
    return text + "\""
  }

  private static func unquoted(_ text: String) -> [UInt8]? {
    guard text.hasPrefix("\""), text.hasSuffix("\""), text.utf8.count >= 2 else { return Array(text.utf8) }
    var rest = Array(text.utf8.dropFirst().dropLast())[...]
    var bytes: [UInt8] = []
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "\\") else {
        bytes.append(byte)
        continue
      }
      guard rest.count >= 3, rest.popFirst() == UInt8(ascii: "x"),
        let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
      else { return nil }
      rest.removeFirst(2)
      bytes.append(value)
    }
    return bytes
  }
}

extension MessageLayout {
  /// Whether the receiver sends it.
  fileprivate var isAnswer: Bool { directions.contains { if case .output = $0 { true } else { false } } }
}
