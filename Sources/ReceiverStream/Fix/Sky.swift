// SPDX-License-Identifier: Apache-2.0

/// The satellites of an epoch, up to `capacity`. Additional ones are counted in `dropped`.
public struct Sky: ~Copyable, Sendable {
  public static var capacity: Int { 128 }

  private var store = InlineArray<128, Satellite>(repeating: Satellite(system: .unknown, number: 0))
  public private(set) var count = 0
  /// The number of satellites that did not fit.
  public private(set) var dropped = 0
  /// The present satellites with a regular number.
  private var known = SatelliteSet()
  /// The indices of satellites in `store`, by system and number, for the first `noted` ones. Only satellites with
  /// another signal are looked up.
  private var places = InlineArray<576, UInt8>(repeating: 0)
  private var noted = 0

  public init() {}

  /// The same satellites.
  public init(_ other: borrowing Sky) { copy(from: other) }

  /// The satellites, in the receiver's order.
  public var satellites: Span<Satellite> {
    @_lifetime(borrow self) get { store.span.extracting(0..<count) }
  }

  /// The number of used satellites.
  public var used: Int {
    var used = 0
    let satellites = satellites
    for index in 0..<count where satellites[index].isUsed { used += 1 }
    return used
  }

  /// The satellites of a system whose numbers start at 1, a bit for each number; mutating for access in place.
  mutating func numbers(of system: Satellite.System) -> UInt64 { known.numbers(of: system) }

  mutating func removeAll() {
    count = 0
    dropped = 0
    noted = 0
    known = SatelliteSet()
  }

  /// Adds a satellite, or another of its signals. The strongest signal is kept.
  @inline(__always)
  mutating func add(_ satellite: Satellite) {
    let number = SatelliteSet.place(of: satellite.number, in: satellite.system)
    guard number > 0, number < 64 else { return addUnusual(satellite) }
    add(satellite, at: number)
  }

  /// Adds a satellite with the number `number` (1…63) in its system.
  @inline(__always)
  mutating func add(_ satellite: Satellite, at number: UInt8) {
    // If there is no room, nothing is recorded.
    guard count < Self.capacity || known.has(1 &<< UInt64(number), of: satellite.system) else {
      dropped += 1
      return
    }
    if known.insert(satellite.system, 1 &<< UInt64(number)) {
      append(satellite)
    } else {
      addSignal(satellite, at: number)
    }
  }

  /// Adds up to four different satellites of a system, or other signals of them.
  ///
  /// - Parameter numbers: a bit for each of their numbers.
  @inline(__always)
  mutating func add(
    _ satellites: (Satellite, Satellite, Satellite, Satellite), count more: Int, numbers: UInt64,
    of system: Satellite.System
  ) {
    guard count <= Self.capacity - 4, !known.has(numbers, of: system) else { return addEach(satellites, count: more) }
    known.insert(system, numbers)
    store[count] = satellites.0
    store[count &+ 1] = satellites.1
    store[count &+ 2] = satellites.2
    store[count &+ 3] = satellites.3
    count &+= more
  }

  @inline(never)
  private mutating func addEach(_ satellites: (Satellite, Satellite, Satellite, Satellite), count more: Int) {
    if more > 0 { add(satellites.0) }
    if more > 1 { add(satellites.1) }
    if more > 2 { add(satellites.2) }
    if more > 3 { add(satellites.3) }
  }

  @inline(__always)
  private mutating func append(_ satellite: Satellite) {
    guard count < Self.capacity else {
      dropped += 1
      return
    }
    store[count] = satellite
    count += 1
  }

  /// Adds another signal of a present satellite.
  @inline(never)
  private mutating func addSignal(_ satellite: Satellite, at number: UInt8) {
    while noted < count {
      let (system, number) = (store[noted].system, store[noted].number)
      noted += 1
      let place = SatelliteSet.place(of: number, in: system)
      if place > 0, place < 64 { places[Int(system.rawValue) &* 64 &+ Int(place)] = UInt8(truncatingIfNeeded: noted) }
    }
    let place = places[Int(satellite.system.rawValue) &* 64 &+ Int(number)]
    Self.merge(satellite, into: &store[Int(place) &- 1])
  }

  /// Adds another signal to a satellite.
  @inline(__always)
  private static func merge(_ satellite: Satellite, into known: inout Satellite) {
    if known.signalDecibelHertz < satellite.signalDecibelHertz {
      known.signalDecibelHertz = satellite.signalDecibelHertz
    }
    if satellite.isUsed { known.isUsed = true }
  }

  /// Adds a satellite with an irregular number. With number 0 (unknown), each one counts as a different satellite.
  @inline(never)
  private mutating func addUnusual(_ satellite: Satellite) {
    if satellite.number != 0 {
      for index in 0..<count
      where store[index].system == satellite.system && store[index].number == satellite.number {
        return Self.merge(satellite, into: &store[index])
      }
    }
    append(satellite)
  }

  /// Marks satellites as used.
  mutating func use(_ used: inout SatelliteSet) {
    for index in 0..<count where used.contains(store[index].system, store[index].number) {
      store[index].isUsed = true
    }
  }

  private mutating func copy(from other: borrowing Sky) {
    count = other.count
    dropped = other.dropped
    known = other.known
    noted = 0
    // Through spans: a read of an element of another value's array copies the array.
    let source = other.store.span
    var target = store.mutableSpan
    for index in 0..<other.count { target[index] = source[index] }
  }
}

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
