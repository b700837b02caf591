// SPDX-License-Identifier: Apache-2.0

/// A JSON value (RFC 8259), which the whole module uses. Foundation's coders are equivalent and better known, but
/// FoundationEssentials adds 1.1 MB to the memory of the daemon and needs a separate cross build.
package enum JSON: Equatable, Sendable {
  case null
  case bool(Bool)
  /// A number without fraction and exponent that fits.
  case integer(Int64)
  /// Any other number. A value that is not finite has no JSON form; writing it is an error.
  case double(Double)
  case string(String)
  case array([JSON])
  /// Members in the order of the text. Their names are unique (RFC 7493, section 2.3).
  case object([Member])

  /// A name and a value of an object.
  package struct Member: Equatable, Sendable {
    package var name: String
    package var value: JSON

    package init(_ name: String, _ value: JSON) {
      self.name = name
      self.value = value
    }
  }

  /// The number of arrays and objects that may be nested, both when reading and when writing. It also limits the
  /// recursion of reader and writer.
  package static let maximumDepth = 32

  /// The value of a member, or nil if the value is not an object or has no such member.
  package subscript(name: String) -> JSON? {
    guard case .object(let members) = self else { return nil }
    return members.first { $0.name == name }?.value
  }

  /// The text, or nil if the value is not a string.
  package var string: String? {
    if case .string(let text) = self { text } else { nil }
  }

  /// The truth value; nil for a value of another type.
  package var bool: Bool? {
    if case .bool(let value) = self { value } else { nil }
  }

  /// The value of a number of either form that is finite; nil for another value.
  package var number: Double? {
    switch self {
    case .integer(let value): Double(value)
    case .double(let value): value.isFinite ? value : nil
    default: nil
    }
  }

  /// The value of a number, 1 for true, 0 for false; nil for another value.
  package var numberOrFlag: Double? { bool.map { $0 ? 1 : 0 } ?? number }

  package var isObject: Bool {
    if case .object = self { true } else { false }
  }

  /// An object without members.
  package static var empty: JSON { .object([]) }
}

extension JSON: ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral, ExpressibleByStringLiteral,
  ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral
{
  package init(dictionaryLiteral members: (String, JSON)...) { self = .object(members.map { Member($0.0, $0.1) }) }
  package init(arrayLiteral elements: JSON...) { self = .array(elements) }
  package init(stringLiteral text: String) { self = .string(text) }
  package init(integerLiteral value: Int64) { self = .integer(value) }
  package init(floatLiteral value: Double) { self = .double(value) }
  package init(booleanLiteral value: Bool) { self = .bool(value) }
}

extension JSON {
  /// An object with the members whose values are not nil.
  package init(omittingNil members: KeyValuePairs<String, (any JSONRepresentable)?>) {
    self = .object([Member](omittingNil: members))
  }
}

extension [JSON.Member] {
  /// The members whose values are not nil.
  package init(omittingNil members: KeyValuePairs<String, (any JSONRepresentable)?>) {
    self = members.compactMap { name, value in value.map { JSON.Member(name, $0.inJSON) } }
  }
}

/// A type whose values have one form in JSON. A number that is not finite has none; writing it is an error.
package protocol JSONRepresentable { var inJSON: JSON { get } }

extension JSON: JSONRepresentable { package var inJSON: JSON { self } }
extension String: JSONRepresentable { package var inJSON: JSON { .string(self) } }
extension Bool: JSONRepresentable { package var inJSON: JSON { .bool(self) } }
extension Double: JSONRepresentable { package var inJSON: JSON { .double(self) } }
extension Array: JSONRepresentable where Element: JSONRepresentable {
  package var inJSON: JSON { .array(map(\.inJSON)) }
}
extension JSONRepresentable where Self: FixedWidthInteger {
  package var inJSON: JSON { .integer(Int64(clamping: self)) }
}
extension Int: JSONRepresentable {}
extension Int64: JSONRepresentable {}
extension UInt32: JSONRepresentable {}
extension UInt64: JSONRepresentable {}
