// SPDX-License-Identifier: Apache-2.0

extension JSON {
  /// Decodes a value. Members that the type does not have are ignored.
  package func decode<Value: Decodable>(_ type: Value.Type = Value.self) throws(JSONCodingError) -> Value {
    do { return try Value(from: JSONValueDecoder(self, parent: nil, key: nil)) } catch { throw JSONCodingError(error) }
  }

  fileprivate var isNull: Bool { if case .null = self { true } else { false } }

  fileprivate var typeName: String {
    switch self {
    case .null: "null"
    case .bool: "a truth value"
    case .integer, .double: "a number"
    case .string: "a string"
    case .array: "an array"
    case .object: "an object"
    }
  }
}

/// The decoder of one value.
private final class JSONValueDecoder: Decoder, SingleValueDecodingContainer {
  private let json: JSON
  private let parent: JSONValueDecoder?
  private let key: JSONKey?
  /// The position after the member that was read last: members are mostly read in the order in which they were written,
  /// so a search takes one comparison.
  private var next = 0

  init(_ json: JSON, parent: JSONValueDecoder?, key: JSONKey?) {
    self.json = json
    self.parent = parent
    self.key = key
  }

  var codingPath: [any CodingKey] {
    (parent?.codingPath ?? []) + (key.map { [$0] } ?? [])
  }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    guard case .object(let members) = json else { throw mismatch("an object", json) }
    return KeyedDecodingContainer(Keyed(decoder: self, members: members))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    guard case .array(let elements) = json else { throw mismatch("an array", json) }
    return Unkeyed(decoder: self, elements: elements)
  }

  func singleValueContainer() -> any SingleValueDecodingContainer { self }
  func decodeNil() -> Bool { json.isNull }
  func decode<Value: JSONScalar>(_ type: Value.Type) throws -> Value { try scalar(json, nil) }
  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try Value(from: self) }

  private func error(_ reason: String, _ key: JSONKey? = nil) -> JSONCodingError {
    JSONCodingError(path: codingPath.map(\.stringValue) + (key.map { [$0.stringValue] } ?? []), reason: reason)
  }

  private func mismatch(_ expected: String, _ json: JSON, _ key: JSONKey? = nil) -> JSONCodingError {
    let actual =
      switch json {
      case .integer(let value): "\(value)"
      case .double(let value): "\(value)"
      default: json.typeName
      }
    return error("\(actual) instead of \(expected)", key)
  }

  fileprivate func scalar<Value: JSONScalar>(_ json: JSON, _ key: @autoclosure () -> JSONKey?) throws -> Value {
    guard let value = Value(json) else { throw mismatch("\(Value.self)", json, key()) }
    return value
  }

  fileprivate func child(_ json: JSON, _ key: JSONKey) -> JSONValueDecoder {
    JSONValueDecoder(json, parent: self, key: key)
  }

  private struct Keyed<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoder: JSONValueDecoder
    let members: [JSON.Member]

    var codingPath: [any CodingKey] { decoder.codingPath }
    var allKeys: [Key] { members.compactMap { Key(stringValue: $0.name) } }

    private func find(_ name: String) -> JSON? {
      for index in decoder.next..<decoder.next + members.count {
        let index = index < members.count ? index : index - members.count
        guard members[index].name == name else { continue }
        decoder.next = index + 1 < members.count ? index + 1 : 0
        return members[index].value
      }
      return nil
    }

    private func member(_ key: some CodingKey) throws -> JSON {
      guard let json = find(key.stringValue) else { throw decoder.error("missing", JSONKey(key)) }
      return json
    }

    func contains(_ key: Key) -> Bool { members.contains { $0.name == key.stringValue } }
    func decodeNil(forKey key: Key) throws -> Bool { try member(key).isNull }

    func decode<Value: JSONScalar>(_ type: Value.Type, forKey key: Key) throws -> Value {
      try decoder.scalar(member(key), JSONKey(key))
    }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
      try Value(from: superDecoder(forKey: key))
    }

    func decodeIfPresent<Value: JSONScalar>(_ type: Value.Type, forKey key: Key) throws -> Value? {
      guard let json = find(key.stringValue), !json.isNull else { return nil }
      return try decoder.scalar(json, JSONKey(key)) as Value
    }

    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
      guard let json = find(key.stringValue), !json.isNull else { return nil }
      return try Value(from: decoder.child(json, JSONKey(key)))
    }

    func nestedContainer<Nested>(keyedBy type: Nested.Type, forKey key: Key) throws -> KeyedDecodingContainer<Nested> {
      try decoder.child(member(key), JSONKey(key)).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
      try decoder.child(member(key), JSONKey(key)).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder { try decoder.child(member(JSONKey.ofSuper), .ofSuper) }
    func superDecoder(forKey key: Key) throws -> any Decoder { try decoder.child(member(key), JSONKey(key)) }
  }

  private struct Unkeyed: UnkeyedDecodingContainer {
    let decoder: JSONValueDecoder
    let elements: [JSON]
    private(set) var currentIndex = 0

    init(decoder: JSONValueDecoder, elements: [JSON]) {
      self.decoder = decoder
      self.elements = elements
    }

    var codingPath: [any CodingKey] { decoder.codingPath }
    var count: Int? { elements.count }
    var isAtEnd: Bool { currentIndex == elements.count }
    private var key: JSONKey { JSONKey(intValue: currentIndex) }

    /// Calls `body` with the current element, and advances if it succeeds.
    private mutating func take<Value>(_ body: (JSONValueDecoder, JSON, JSONKey) throws -> Value) throws -> Value {
      guard !isAtEnd else { throw decoder.error("missing", key) }
      let value = try body(decoder, elements[currentIndex], key)
      currentIndex += 1
      return value
    }

    /// As `take`, without the key of a decoder.
    private mutating func scalar<Value: JSONScalar>() throws -> Value {
      guard !isAtEnd else { throw decoder.error("missing", key) }
      let value: Value = try decoder.scalar(elements[currentIndex], key)
      currentIndex += 1
      return value
    }

    mutating func decodeNil() throws -> Bool {
      guard !isAtEnd else { throw decoder.error("missing", key) }
      guard elements[currentIndex].isNull else { return false }
      currentIndex += 1
      return true
    }

    mutating func decode<Value: JSONScalar>(_ type: Value.Type) throws -> Value { try scalar() }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
      try take { try Value(from: $0.child($1, $2)) }
    }

    mutating func nestedContainer<Nested>(keyedBy type: Nested.Type) throws -> KeyedDecodingContainer<Nested> {
      try take { try $0.child($1, $2).container(keyedBy: type) }
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
      try take { try $0.child($1, $2).unkeyedContainer() }
    }

    mutating func superDecoder() throws -> any Decoder { try take { $0.child($1, $2) } }
  }
}
