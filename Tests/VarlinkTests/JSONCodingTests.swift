// SPDX-License-Identifier: Apache-2.0
import Messages
import TestSupport
import Testing

@Suite("Codable values as JSON")
struct JSONCodingTests {
  private func roundTrip<Value: Codable>(_ value: Value) throws -> Value {
    try JSON(parsing: JSON(encoding: value).text()).decode()
  }

  /// A value with an associated value, a list and a superclass's container, which records the encoders that it
  /// received.
  private struct Witness: Encodable {
    enum Keys: String, CodingKey { case nested, list, other }

    final class Encoders {
      weak var root: AnyObject?
      weak var nested: AnyObject?
    }
    let encoders: Encoders
    var throwsAtEnd = false

    func encode(to encoder: any Encoder) throws {
      encoders.root = encoder as AnyObject
      var container = encoder.container(keyedBy: Keys.self)
      var nested = container.nestedContainer(keyedBy: Keys.self, forKey: .nested)
      let shapes = Shape.both(.named("a"), .none, ["b": .circle(latitude: 1, longitude: 2, radius: 3)])
      try nested.encode(shapes, forKey: .other)
      var list = nested.nestedUnkeyedContainer(forKey: .list)
      try list.encode([Shape.named("c")])
      let above = container.superEncoder(forKey: .other)
      encoders.nested = above as AnyObject
      try Shape.named("d").encode(to: above)
      if throwsAtEnd { try list.encode(UInt64.max) }
    }
  }

  // The daemon encodes each location. A leaked encoder costs 3 kB per epoch.
  @Test("Nothing stays in memory after encoding, nor after an error", arguments: [false, true])
  func encodersEnd(throwsAtEnd: Bool) {
    let encoders = Witness.Encoders()
    let json = try? JSON(encoding: Witness(encoders: encoders, throwsAtEnd: throwsAtEnd))
    #expect((json == nil) == throwsAtEnd)
    #expect(encoders.root == nil)
    #expect(encoders.nested == nil)
  }

  private enum Shape: Codable, Equatable {
    case none
    case circle(latitude: Double, longitude: Double, radius: Double)
    case named(String)
    indirect case both(Shape, Shape, [String: Shape])
  }

  private struct Everything: Codable, Equatable {
    enum Mode: String, Codable { case fast, slow }
    enum Level: Int, Codable { case low = 1, high }
    struct Nothing: Codable, Equatable {}

    var flag = true
    var text = "é\n"
    var double = 47.285_233_7
    var float: Float = 0.1
    var int = Int.min
    var int8 = Int8.min
    var int16 = Int16.max
    var int32 = Int32.min
    var int64 = Int64.max
    var uint: UInt = 7
    var uint8 = UInt8.max
    var uint16 = UInt16.max
    var uint32 = UInt32.max
    var uint64 = UInt64(Int64.max)
    var present: Int? = 3
    var absent: Int?
    var optionals: [Double?] = [1, nil, 2.5]
    var nested: [[Int]] = [[], [1, 2]]
    var table: [String: [Mode]] = ["a": [.fast], "b": []]
    var levels: [Int: Level] = [5: .low]
    var pairs: [Level: String] = [.high: "x"]
    var shape = Shape.both(.none, .named("a"), ["c": .circle(latitude: 1, longitude: -2.5, radius: 100)])
    var nothing = Nothing()
    var range = 1.0...2.0
    var set: Set<Int> = [1, 2, 3]
  }

  @Test("Scalars of all widths, optionals, arrays, dictionaries and nested enums")
  func everything() throws {
    let value = Everything()
    #expect(try roundTrip(value) == value)
    let json = try JSON(encoding: value)
    #expect(json["absent"] == nil)
    #expect(json["float"] == 0.1)
    #expect(json["nothing"] == .empty)
    #expect(json["optionals"] == [1.0, .null, 2.5])
    #expect(json["shape"]?["both"]?["_1"] == ["named": ["_0": "a"]])
  }

  @Test("A scalar, an array or nil may be the whole value")
  func fragments() throws {
    #expect(try roundTrip(5) == 5)
    #expect(try roundTrip("a") == "a")
    #expect(try roundTrip([1.5, 2]) == [1.5, 2])
    #expect(try roundTrip(Int?.none) == nil)
    #expect(try roundTrip(Everything.Mode.slow) == .slow)
  }

  private class Animal: Codable {
    var name: String
    init(name: String) { self.name = name }
  }

  private final class Dog: Animal {
    var age: Int
    private enum Keys: String, CodingKey { case age, list, other, nested }

    init(name: String, age: Int) {
      self.age = age
      super.init(name: name)
    }

    required init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: Keys.self)
      age = try container.decode(Int.self, forKey: .age)
      var list = try container.nestedUnkeyedContainer(forKey: .list)
      var isPlain = try list.decode(Int.self) == 1
      isPlain = try list.decodeNil() && isPlain
      var inner = try list.nestedUnkeyedContainer()
      isPlain = try inner.decode(String.self) == "x" && inner.isAtEnd && isPlain
      let keyed = try list.nestedContainer(keyedBy: Keys.self)
      isPlain = try keyed.decode(Int.self, forKey: .age) == 2 && isPlain
      isPlain = try Int(from: list.superDecoder()) == 9 && list.isAtEnd && isPlain
      isPlain = try container.nestedContainer(keyedBy: Keys.self, forKey: .nested).decodeNil(forKey: .age) && isPlain
      isPlain = try Int(from: container.superDecoder(forKey: .other)) == 4 && isPlain
      guard isPlain else { throw DecodingError.dataCorruptedError(in: list, debugDescription: "different") }
      try super.init(from: container.superDecoder())
    }

    override func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Keys.self)
      // Containers are used in turn, as the protocols allow.
      var list = container.nestedUnkeyedContainer(forKey: .list)
      var nested = container.nestedContainer(keyedBy: Keys.self, forKey: .nested)
      try list.encode(1)
      try container.encode(age, forKey: .age)
      try list.encodeNil()
      var inner = list.nestedUnkeyedContainer()
      var keyed = list.nestedContainer(keyedBy: Keys.self)
      try keyed.encode(2, forKey: .age)
      try inner.encode("x")
      try 9.encode(to: list.superEncoder())
      try 4.encode(to: container.superEncoder(forKey: .other))
      try nested.encodeNil(forKey: .age)
      try super.encode(to: container.superEncoder())
    }
  }

  @Test("Nested containers and those of superclasses, filled in turn")
  func containers() throws {
    let json = try JSON(encoding: Dog(name: "Rex", age: 3))
    #expect(
      try text(json)
        == #"{"list":[1,null,["x"],{"age":2},9],"nested":{"age":null},"age":3,"other":4,"super":{"name":"Rex"}}"#)
    let dog: Dog = try json.decode()
    #expect(dog.name == "Rex" && dog.age == 3)
  }

  private struct Path: Codable {
    struct Point: Codable { var x: Double, y: UInt8 }
    var points: [String: [Point]]
  }

  @Test(
    "An error names the place and the reason",
    arguments: [
      (#"{"points":{"a":[{"x":1,"y":2},{"x":1,"y":256}]}}"#, "points.a.1.y: 256 instead of UInt8"),
      (#"{"points":{"a":[{"x":1,"y":2.5}]}}"#, "points.a.0.y: 2.5 instead of UInt8"),
      (#"{"points":{"a":[{"x":"1","y":2}]}}"#, "points.a.0.x: a string instead of Double"),
      (#"{"points":{"a":[{"y":2}]}}"#, "points.a.0.x: missing"),
      (#"{"points":{"a":{}}}"#, "points.a: an object instead of an array"),
      (#"{"points":[]}"#, "points: an array instead of an object"), ("{}", "points: missing"),
      ("3", "3 instead of an object"),
    ])
  func errors(text: String, description: String) throws {
    let error = #expect(throws: JSONCodingError.self) { try JSON(parsing: text.bytes).decode(Path.self) }
    #expect(error?.description == description)
  }

  @Test("An enum's unknown case is an error at its place")
  func unknownCase() throws {
    let error = #expect(throws: JSONCodingError.self) {
      try (["a": [["square": .empty]]] as JSON).decode([String: [Shape]].self)
    }
    #expect(error?.path == ["a", "0"])
    let mode = #expect(throws: JSONCodingError.self) { try (["medium"] as JSON).decode([Everything.Mode].self) }
    #expect(mode?.path == ["0"])
  }

  @Test("Unknown members are ignored, and null counts as absent")
  func tolerance() throws {
    struct Small: Codable, Equatable {
      var a: Int?
      var b: Int
    }
    #expect(try (["z": [1], "b": 2.0, "a": .null] as JSON).decode(Small.self) == Small(b: 2))
  }

  @Test("A number without JSON form is refused with its place")
  func unencodable() throws {
    let infinite = Path(points: ["a": [.init(x: .infinity, y: 1)]])
    let error = #expect(throws: JSONCodingError.self) { try JSON(encoding: infinite) }
    #expect(error?.path == ["points", "a", "0", "x"])
    let large = #expect(throws: JSONCodingError.self) { try JSON(encoding: [UInt64.max]) }
    #expect(large?.description == "0: 18446744073709551615 has no JSON form")
    #expect(throws: JSONCodingError.self) { try JSON(encoding: Float.nan) }
    #expect(throws: JSONCodingError.self) { try JSON.double(1e300).decode(Float.self) }
  }

  @Test("Any tree of enums is decoded as it was encoded", arguments: 0..<4)
  func randomShapes(part: Int) throws {
    var random = SeededRandomNumberGenerator(seed: UInt64(part))
    func shape(_ depth: Int) -> Shape {
      switch Int.random(in: 0..<(depth > 0 ? 4 : 3), using: &random) {
      case 0: return .none
      case 1:
        return .circle(
          latitude: .random(in: -90...90, using: &random), longitude: .random(in: -180...180, using: &random),
          radius: .random(in: 0...1e6, using: &random))
      case 2: return .named("\(random.next())")
      default:
        let table = (0..<Int.random(in: 0..<4, using: &random)).map { ("\($0)", shape(depth - 1)) }
        return .both(shape(depth - 1), shape(depth - 1), Dictionary(uniqueKeysWithValues: table))
      }
    }
    for _ in 0..<100 {
      let value = shape(4)
      #expect(try roundTrip(value) == value)
    }
  }
}
