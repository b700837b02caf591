// SPDX-License-Identifier: Apache-2.0

/// A set of satellites by system and number: a bit for each.
struct SatelliteSet: Sendable {
  private var words = InlineArray<9, UInt64>(repeating: 0)

  init() {}

  // Words are accessed in place: a read of an array element in a value copies the array.

  /// Adds a satellite; false when it was present, or has a number that its system does not use.
  @discardableResult @inline(__always)
  mutating func insert(_ system: Satellite.System, _ number: UInt8) -> Bool {
    guard let bit = Self.bit(system, number) else { return false }
    return Self.set(bit, in: &words[Int(system.rawValue)])
  }

  /// Adds satellites of a system, a bit for each number. Returns whether one of them is new.
  @discardableResult @inline(__always)
  mutating func insert(_ system: Satellite.System, _ numbers: UInt64) -> Bool {
    Self.set(numbers, in: &words[Int(system.rawValue)])
  }

  /// The added satellites of a system whose numbers start at 1, a bit for each number. Mutating, like `contains`.
  @inline(__always)
  mutating func numbers(of system: Satellite.System) -> UInt64 { Self.word(&words[Int(system.rawValue)]) }

  /// Whether a satellite was added. Mutating for access in place.
  @inline(__always)
  mutating func contains(_ system: Satellite.System, _ number: UInt8) -> Bool {
    guard let bit = Self.bit(system, number) else { return false }
    return Self.has(bit, in: &words[Int(system.rawValue)])
  }

  /// Whether one of a system's satellites, a bit for each number, was added. Mutating for access in place.
  @inline(__always)
  mutating func has(_ numbers: UInt64, of system: Satellite.System) -> Bool {
    Self.has(numbers, in: &words[Int(system.rawValue)])
  }

  /// Adds the satellites of another set.
  mutating func add(_ other: SatelliteSet) {
    for index in 0..<9 { words[index] |= other.words[index] }
  }

  @inline(__always)
  private static func set(_ bit: UInt64, in word: inout UInt64) -> Bool {
    let isNew = bit & ~word != 0
    word |= bit
    return isNew
  }

  @inline(__always)
  private static func word(_ word: inout UInt64) -> UInt64 { word }

  @inline(__always)
  private static func has(_ bit: UInt64, in word: inout UInt64) -> Bool { word & bit != 0 }

  @inline(__always)
  private static func bit(_ system: Satellite.System, _ number: UInt8) -> UInt64? {
    let place = place(of: number, in: system)
    return place > 0 && place < 64 ? 1 &<< UInt64(place) : nil
  }

  /// The numbers of SBAS start at 120, the others at 1; all have fewer than 64. 0, and 64 or more, is not a valid
  /// number.
  @inline(__always)
  static func place(of number: UInt8, in system: Satellite.System) -> UInt8 { system == .sbas ? number &- 119 : number }
}
