// SPDX-License-Identifier: Apache-2.0

extension JSON {
  /// Encodes a value. Errors: a number that is not finite or does not fit in 64 bits with sign; errors that the type's
  /// own code throws.
  package init(encoding value: some Encodable) throws(JSONCodingError) {
    let encoder = JSONValueEncoder(parent: nil, key: nil)
    do { try value.encode(to: encoder) } catch { throw JSONCodingError(error) }
    self = encoder.json
  }
}

/// The encoder of one value, and the storage of its containers.
private final class JSONValueEncoder: Encoder {
  private enum Storage { case empty, value, array, object }

  /// Unowned, because `nested` of the parent owns this one: a value that owns its parent would keep itself in memory. The
  /// parent exists as long as its value is being encoded.
  private unowned let parent: JSONValueEncoder?
  private let key: JSONKey?
  private var storage = Storage.empty
  private var value = JSON.null
  private var elements: [JSON] = []
  private var members: [JSON.Member] = []
  /// The encoders of nested containers, which may still grow, and the positions of their values.
  private var nested: [(index: Int, encoder: JSONValueEncoder)] = []

  init(parent: JSONValueEncoder?, key: JSONKey?) {
    self.parent = parent
    self.key = key
  }

  var codingPath: [any CodingKey] {
    (parent?.codingPath ?? []) + (key.map { [$0] } ?? [])
  }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  /// The value as encoded so far. A type that encodes nothing is an empty object.
  var json: JSON {
    for (index, encoder) in nested {
      if storage == .array { elements[index] = encoder.json } else { members[index].value = encoder.json }
    }
    return switch storage {
    case .empty: .empty
    case .value: value
    case .array: .array(elements)
    case .object: .object(members)
    }
  }

  private func claim(_ wanted: Storage) {
    precondition(storage == .empty || storage == wanted, "a value is encoded in two kinds of containers")
    storage = wanted
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    claim(.object)
    return KeyedEncodingContainer(Keyed(encoder: self))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    claim(.array)
    return Unkeyed(encoder: self)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { Single(encoder: self) }

  private func error(_ value: some Encodable, _ key: JSONKey?) -> JSONCodingError {
    let path = codingPath.map(\.stringValue) + (key.map { [$0.stringValue] } ?? [])
    return JSONCodingError(path: path, reason: "\(value) has no JSON form")
  }

  fileprivate func json(_ value: some JSONScalar, _ key: @autoclosure () -> JSONKey?) throws -> JSON {
    guard let json = value.json else { throw error(value, key()) }
    return json
  }

  fileprivate func json(_ value: some Encodable, _ key: JSONKey) throws -> JSON {
    let encoder = JSONValueEncoder(parent: self, key: key)
    try value.encode(to: encoder)
    return encoder.json
  }

  /// The encoder of a container at the end of this one.
  private func nest(_ key: JSONKey) -> JSONValueEncoder {
    let encoder = JSONValueEncoder(parent: self, key: key)
    if storage == .array {
      nested.append((elements.count, encoder))
      elements.append(.null)
    } else {
      nested.append((members.count, encoder))
      members.append(JSON.Member(key.stringValue, .null))
    }
    return encoder
  }

  /// One generic function implements the fourteen requirements of the same form.
  private struct Keyed<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoder: JSONValueEncoder
    var codingPath: [any CodingKey] { encoder.codingPath }

    func encodeNil(forKey key: Key) { encoder.members.append(JSON.Member(key.stringValue, .null)) }

    func encode<Value: JSONScalar>(_ value: Value, forKey key: Key) throws {
      encoder.members.append(JSON.Member(key.stringValue, try encoder.json(value, JSONKey(key))))
    }

    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
      encoder.members.append(JSON.Member(key.stringValue, try encoder.json(value, JSONKey(key))))
    }

    func nestedContainer<Nested>(keyedBy type: Nested.Type, forKey key: Key) -> KeyedEncodingContainer<Nested> {
      encoder.nest(JSONKey(key)).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
      encoder.nest(JSONKey(key)).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { encoder.nest(.ofSuper) }
    func superEncoder(forKey key: Key) -> any Encoder { encoder.nest(JSONKey(key)) }
  }

  private struct Unkeyed: UnkeyedEncodingContainer {
    let encoder: JSONValueEncoder
    var codingPath: [any CodingKey] { encoder.codingPath }
    var count: Int { encoder.elements.count }
    private var key: JSONKey { JSONKey(intValue: count) }

    func encodeNil() { encoder.elements.append(.null) }
    func encode<Value: JSONScalar>(_ value: Value) throws { encoder.elements.append(try encoder.json(value, key)) }
    func encode<Value: Encodable>(_ value: Value) throws { encoder.elements.append(try encoder.json(value, key)) }

    func nestedContainer<Nested>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
      encoder.nest(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { encoder.nest(key).unkeyedContainer() }
    func superEncoder() -> any Encoder { encoder.nest(key) }
  }

  private struct Single: SingleValueEncodingContainer {
    let encoder: JSONValueEncoder
    var codingPath: [any CodingKey] { encoder.codingPath }

    func encodeNil() { encoder.claim(.value) }

    func encode<Value: JSONScalar>(_ value: Value) throws {
      encoder.claim(.value)
      encoder.value = try encoder.json(value, nil)
    }

    /// The value replaces this one.
    func encode<Value: Encodable>(_ value: Value) throws { try value.encode(to: encoder) }
  }
}

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
