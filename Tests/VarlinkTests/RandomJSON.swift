// SPDX-License-Identifier: Apache-2.0
import Messages
import TestSupport

extension JSON {
  /// A random tree. `depth` limits the nesting.
  static func random(_ random: inout SeededRandomNumberGenerator, depth: Int = 5) -> JSON {
    switch Int.random(in: 0..<(depth > 0 ? 8 : 6), using: &random) {
    case 0: return .null
    case 1: return .bool(.random(using: &random))
    case 2: return .integer(Int64(truncatingIfNeeded: random.next() >> UInt64.random(in: 0..<64, using: &random)))
    case 3:
      let value = Double(bitPattern: random.next())
      return .double(value.isFinite ? value : -0.0)
    case 4: return .double(Double(Int.random(in: -1_000_000...1_000_000, using: &random)) / 1000)
    case 5: return .string(text(&random))
    case 6: return .array((0..<Int.random(in: 0..<6, using: &random)).map { _ in .random(&random, depth: depth - 1) })
    default: return object(&random, depth: depth)
    }
  }

  /// A random object, occasionally with many members.
  static func object(_ random: inout SeededRandomNumberGenerator, depth: Int) -> JSON {
    let count = Int.random(in: 0..<10, using: &random) == 0 ? 40 : Int.random(in: 0..<6, using: &random)
    return .object(
      (0..<count).map { Member("\($0)" + text(&random), .random(&random, depth: count > 6 ? 0 : depth - 1)) })
  }

  private static func text(_ random: inout SeededRandomNumberGenerator) -> String {
    let alphabet: [Character] = ["a", "B", " ", "\"", "\\", "/", "\n", "\t", "\0", "\u{1F}", "é", "水", "🛰", "\u{7F}"]
    return String((0..<Int.random(in: 0..<20, using: &random)).map { _ in alphabet.randomElement(using: &random)! })
  }
}

extension String {
  var bytes: [UInt8] { Array(utf8) }
}

/// The text of a value.
func text(_ json: JSON) throws -> String { String(decoding: try json.text(), as: UTF8.self) }
