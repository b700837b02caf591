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
