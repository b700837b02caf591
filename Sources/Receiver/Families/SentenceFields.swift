// SPDX-License-Identifier: Apache-2.0

/// The fields of a reply in text, the address first.
struct SentenceFields {
  private let fields: [Substring]
  private let text: String

  init(_ reply: [UInt8]) {
    text = String(decoding: reply, as: UTF8.self)
    fields = text.split(separator: ",", omittingEmptySubsequences: false)
  }

  var count: Int { fields.count }

  /// A field without blanks around it; nil if it is missing or empty.
  subscript(_ index: Int) -> String? {
    guard index < fields.count else { return nil }
    var field = fields[index]
    while field.first == " " || field.first == "\"" { field.removeFirst() }
    while field.last == " " || field.last == "\"" { field.removeLast() }
    return field.isEmpty ? nil : String(field)
  }

  func number<Number: FixedWidthInteger>(_ index: Int, as: Number.Type = Number.self) -> Number? {
    self[index].flatMap { Number($0) }
  }
}
