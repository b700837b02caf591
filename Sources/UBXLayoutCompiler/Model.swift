// SPDX-License-Identifier: Apache-2.0

/// A wire type of the UBX interface descriptions.
enum WireType: String, CaseIterable {
  case u1 = "U1", u2 = "U2", u3 = "U3", u4 = "U4", u8 = "U8"
  case i1 = "I1", i2 = "I2", i3 = "I3", i4 = "I4", i8 = "I8"
  case x1 = "X1", x2 = "X2", x3 = "X3", x4 = "X4", x8 = "X8"
  case e1 = "E1", e2 = "E2", e4 = "E4"
  case l = "L1"
  case r4 = "R4", r8 = "R8"
  case ch = "CH"

  var size: Int { self == .ch ? 1 : rawValue.last!.wholeNumberValue! }
  var isSigned: Bool { rawValue.hasPrefix("I") }
  var isReal: Bool { rawValue.hasPrefix("R") }

  /// The function of `UBX/Frames/FieldAccess.swift` that reads one value: `u4` for X4 and E4 too.
  var accessor: String { (isSigned ? "i" : isReal ? "r" : "u") + String(size) }

  /// The Swift type of one value.
  var swift: String {
    if self == .r4 { return "Float" }
    if self == .r8 { return "Double" }
    let bits = [1: 8, 2: 16, 3: 32, 4: 32, 8: 64][size]!
    return (isSigned ? "Int" : "UInt") + String(bits)
  }
}

/// The number of values in a field.
enum Count: Equatable {
  case one
  case fixed(Int)
  /// Values up to the end of the payload.
  case rest
}

/// A part of a bit field.
struct Bits {
  var first: Int
  var last: Int
  var isSigned: Bool
  var name: String
  var summary: String

  var width: Int { last - first + 1 }
}

struct Field {
  var type: WireType
  var name: String
  var count: Count
  /// The scale as written, such as `1e-7`; empty for 1.
  var scale: String
  var unit: String
  var summary: String
  var bits: [Bits] = []

  var isReserved: Bool { name.hasPrefix("reserved") }
  /// The size in bytes, without open-ended fields.
  var size: Int {
    switch count {
    case .one: type.size
    case .fixed(let n): type.size * n
    case .rest: 0
    }
  }
}

/// Fields that repeat as a block.
struct Group {
  enum Times {
    /// The value of an earlier field.
    case field(String)
    /// Bits of an earlier field.
    case bits(field: String, Bits)
    /// A number from the interface description.
    case fixed(Int)
    /// The end of the payload.
    case rest
  }
  var times: Times
  var swiftName: String
  var fields: [Field]

  var size: Int { fields.reduce(0) { $0 + $1.size } }
}

enum Item {
  case field(Field)
  case group(Group)
}

/// The difference between this layout and another with the same class and id.
enum Condition {
  case field(offset: Int, value: Int)
  case length(Int)
}

struct Message {
  var name: String
  var messageClass: UInt8
  var messageID: UInt8
  var directions: [String]
  var swiftName: String
  var conditions: [Condition]
  var summary: String
  /// The number of mandatory payload bytes; the fields after them are optional.
  var minimum: Int?
  var items: [Item]

  /// The size in bytes of all fields outside groups of unknown count.
  var fixedSize: Int {
    items.reduce(0) {
      switch $1 {
      case .field(let field): $0 + field.size
      case .group(let group): if case .fixed(let n) = group.times { $0 + n * group.size } else { $0 }
      }
    }
  }
  var minimumLength: Int { minimum ?? fixedSize }
  /// Whether a writer need not name the length: it is fixed, or that with all optional fields.
  var hasUsualLength: Bool {
    isFixed || minimum != nil
      || conditions.contains { if case .length = $0 { true } else { false } }
  }
  /// Whether every payload has the same length.
  var isFixed: Bool {
    minimum == nil
      && items.allSatisfy {
        switch $0 {
        case .field(let field): field.count != .rest
        case .group(let group): if case .fixed = group.times { true } else { false }
        }
      }
  }
}

extension Field {
  /// The name of the property that has the value in its unit, such as `latitudeDegrees`; nil for a field without a scale, and for a
  /// unit without a name.
  var scaledName: String? {
    guard !scale.isEmpty, count == .one, !isReserved, let suffix = Self.unitWords[unit] else { return nil }
    return (Self.fullNames[name] ?? name) + suffix
  }

  private static let fullNames = ["lat": "latitude", "lon": "longitude"]

  private static let unitWords = [
    "": "Scaled", "deg": "Degrees", "deg/s": "DegreesPerSecond", "degC": "DegreesCelsius",
    "semi-circles": "SemiCircles",
    "radians": "Radians", "mm": "Millimetres", "m": "Metres", "km": "Kilometres", "m/s^2": "MetresPerSecondSquared",
    "ns": "Nanoseconds", "ms": "Milliseconds", "s": "Seconds", "Hz": "Hertz", "dB": "Decibels", "dBHz": "DecibelHertz",
    "ppb": "PartsPerBillion",
  ]
}
