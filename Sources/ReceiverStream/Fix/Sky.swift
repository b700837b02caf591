// SPDX-License-Identifier: Apache-2.0

/// A satellite in view.
public struct Satellite: Equatable, Sendable {
  /// A satellite system, in UBX numbering (gnssId).
  public enum System: UInt8, Sendable {
    case gps, sbas, galileo, beiDou, imes, qzss, glonass, navIC, unknown

    /// The system of a number (gnssId).
    @inline(__always)
    init(numbering number: UInt8) {
      self =
        switch number {
        case 0: .gps
        case 1: .sbas
        case 2: .galileo
        case 3: .beiDou
        case 4: .imes
        case 5: .qzss
        case 6: .glonass
        case 7: .navIC
        default: .unknown
        }
    }
  }

  /// System, number, elevation and 0, a byte each; azimuth in two bytes; signal, and 1 when used: eight bytes that are
  /// stored and copied at once.
  var word: UInt64

  @inline(__always)
  init(word: UInt64) { self.word = word }

  public var system: System {
    get { System(numbering: byte(0)) }
    set { setByte(0, newValue.rawValue) }
  }
  /// The number within its system (UBX svId); 0 when unknown.
  public var number: UInt8 {
    get { byte(1) }
    set { setByte(1, newValue) }
  }
  /// Degrees above the horizon; `unknownAngle` when unknown.
  public var elevationDegrees: Int8 {
    get { Int8(bitPattern: byte(2)) }
    set { setByte(2, UInt8(bitPattern: newValue)) }
  }
  /// Degrees from true north; `unknownAngle` when unknown.
  public var azimuthDegrees: Int16 {
    get { Int16(truncatingIfNeeded: word &>> 32) }
    set { word = word & ~(0xFFFF &<< 32) | UInt64(UInt16(bitPattern: newValue)) &<< 32 }
  }
  /// Carrier-to-noise density ratio of the strongest signal, dBHz; 0 when not tracked.
  public var signalDecibelHertz: UInt8 {
    get { byte(6) }
    set { setByte(6, newValue) }
  }
  /// Whether the satellite is used in the solution.
  public var isUsed: Bool {
    get { word &>> 56 != 0 }
    set { setByte(7, newValue ? 1 : 0) }
  }

  @inline(__always)
  private func byte(_ place: UInt64) -> UInt8 { UInt8(truncatingIfNeeded: word &>> (8 &* place)) }

  @inline(__always)
  private mutating func setByte(_ place: UInt64, _ value: UInt8) {
    word = word & ~(0xFF &<< (8 &* place)) | UInt64(value) &<< (8 &* place)
  }

  public static var unknownAngle: Int8 { -128 }

  /// An elevation in degrees; `unknownAngle` when it is out of range.
  @inline(__always)
  static func elevation(_ degrees: Int16) -> Int8 {
    degrees.magnitude <= 90 ? Int8(truncatingIfNeeded: degrees) : unknownAngle
  }

  /// An azimuth in degrees, 360 as 0; `unknownAngle` when it is out of range.
  @inline(__always)
  static func azimuth(_ degrees: Int16) -> Int16 {
    // Two selections by value, without a branch.
    let turned = degrees == 360 ? 0 : degrees
    return UInt16(bitPattern: turned) < 360 ? turned : Int16(unknownAngle)
  }

  public init(
    system: System, number: UInt8, elevationDegrees: Int8 = Satellite.unknownAngle,
    azimuthDegrees: Int16 = Int16(Satellite.unknownAngle), signalDecibelHertz: UInt8 = 0, isUsed: Bool = false
  ) {
    let name = UInt64(system.rawValue) | UInt64(number) &<< 8
    let place = UInt64(UInt8(bitPattern: elevationDegrees)) &<< 16 | UInt64(UInt16(bitPattern: azimuthDegrees)) &<< 32
    word = name | place | UInt64(signalDecibelHertz) &<< 48 | (isUsed ? 1 : 0) &<< 56
  }
}

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
