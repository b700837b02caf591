// SPDX-License-Identifier: Apache-2.0

/// The reason why a value cannot be encoded or decoded, and the position in it.
package struct JSONCodingError: Error, Equatable, CustomStringConvertible {
  /// The names and indices from the outermost value to the value at fault.
  package var path: [String]
  package var reason: String

  package var description: String { path.isEmpty ? reason : "\(path.joined(separator: ".")): \(reason)" }

  /// The error of a type's own coding code, which throws the standard library's errors.
  init(_ error: any Error) {
    switch error {
    case let error as JSONCodingError: self = error
    case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context),
      DecodingError.dataCorrupted(let context), DecodingError.keyNotFound(_, let context):
      self.init(path: context.codingPath.map(\.stringValue), reason: context.debugDescription)
    case EncodingError.invalidValue(_, let context):
      self.init(path: context.codingPath.map(\.stringValue), reason: context.debugDescription)
    default: self.init(path: [], reason: String(describing: error))
    }
  }

  init(path: [String], reason: String) {
    self.path = path
    self.reason = reason
  }
}

/// A member's name or an element's index in a coding path.
struct JSONKey: CodingKey {
  let stringValue: String
  let intValue: Int?

  init(stringValue: String) {
    self.stringValue = stringValue
    intValue = nil
  }

  init(intValue: Int) {
    stringValue = String(intValue)
    self.intValue = intValue
  }

  init(_ key: some CodingKey) { self.init(stringValue: key.stringValue) }

  /// The member of a superclass, as in the documentation of `superEncoder()`.
  static let ofSuper = JSONKey(stringValue: "super")
}

/// A type whose values are one JSON number, string or truth value.
protocol JSONScalar: Codable {
  /// Nil if JSON has no such value.
  var json: JSON? { get }
  /// Nil if `json` is of another type or out of range.
  init?(_ json: JSON)
}

extension Bool: JSONScalar {
  var json: JSON? { .bool(self) }

  init?(_ json: JSON) {
    guard case .bool(let value) = json else { return nil }
    self = value
  }
}

extension String: JSONScalar {
  var json: JSON? { .string(self) }

  init?(_ json: JSON) {
    guard case .string(let value) = json else { return nil }
    self = value
  }
}

extension Double: JSONScalar {
  var json: JSON? { isFinite ? .double(self) : nil }

  init?(_ json: JSON) {
    switch json {
    case .double(let value): self = value
    case .integer(let value): self = Double(value)
    default: return nil
    }
  }
}

extension Float: JSONScalar {
  /// The double with the same shortest digits, which are fewer than the digits of the exact value.
  var json: JSON? { isFinite ? .double(Double(description) ?? Double(self)) : nil }

  init?(_ json: JSON) {
    guard let value = Double(json), Float(value).isFinite else { return nil }
    self = Float(value)
  }
}

extension FixedWidthInteger where Self: JSONScalar {
  var json: JSON? { Int64(exactly: self).map(JSON.integer) }

  /// A double without a fraction is accepted: other languages write 1.0 for 1.
  init?(_ json: JSON) {
    switch json {
    case .integer(let value): self.init(exactly: value)
    case .double(let value): self.init(exactly: value)
    default: return nil
    }
  }
}

extension Int: JSONScalar {}
extension Int8: JSONScalar {}
extension Int16: JSONScalar {}
extension Int32: JSONScalar {}
extension Int64: JSONScalar {}
extension UInt: JSONScalar {}
extension UInt8: JSONScalar {}
extension UInt16: JSONScalar {}
extension UInt32: JSONScalar {}
extension UInt64: JSONScalar {}
