/// A satellite that the receiver knows of.
public struct Satellite: Equatable, Sendable {
  /// A satellite system, in UBX numbering (gnssId).
  public enum System: UInt8, Sendable {
    case gps, sbas, galileo, beiDou, imes, qzss, glonass, navIC, unknown
  }

  public var system: System
  /// The number within its system (UBX svId); 0 when unknown.
  public var number: UInt8
  /// Degrees above the horizon; `unknownAngle` when not known.
  public var elevationDegrees: Int8
  /// Degrees from true north; `unknownAngle` when not known.
  public var azimuthDegrees: Int16
  /// Carrier-to-noise density ratio of the strongest signal, dBHz; 0 when not tracked.
  public var signalDecibelHertz: UInt8
  /// Whether the solution uses it.
  public var isUsed: Bool

  public static var unknownAngle: Int8 { -128 }

  /// An elevation as a receiver says it; `unknownAngle` where it is none.
  @inline(__always)
  static func elevation(_ degrees: Int16) -> Int8 {
    degrees.magnitude <= 90 ? Int8(truncatingIfNeeded: degrees) : unknownAngle
  }

  /// An azimuth likewise. 360° is north.
  @inline(__always)
  static func azimuth(_ degrees: Int16) -> Int16 {
    // Two choices by value, none by a branch.
    let turned = degrees == 360 ? 0 : degrees
    return UInt16(bitPattern: turned) < 360 ? turned : Int16(unknownAngle)
  }

  public init(
    system: System, number: UInt8, elevationDegrees: Int8 = Satellite.unknownAngle,
    azimuthDegrees: Int16 = Int16(Satellite.unknownAngle), signalDecibelHertz: UInt8 = 0, isUsed: Bool = false
  ) {
    self.system = system
    self.number = number
    self.elevationDegrees = elevationDegrees
    self.azimuthDegrees = azimuthDegrees
    self.signalDecibelHertz = signalDecibelHertz
    self.isUsed = isUsed
  }
}

/// The satellites of an epoch. Room for `capacity`; what is beyond is counted in `dropped`.
public struct Sky: ~Copyable, Sendable {
  public static var capacity: Int { 128 }

  private var store = InlineArray<128, Satellite>(repeating: Satellite(system: .unknown, number: 0))
  public private(set) var count = 0
  /// Satellites for which there was no room.
  public private(set) var dropped = 0
  /// Where in `store` a satellite is, by system and number: counted from 1, and 0 for one that is not there.
  private var places = InlineArray<576, UInt8>(repeating: 0)

  public init() {}

  /// The same satellites.
  public init(_ other: borrowing Sky) { copy(from: other) }

  /// The satellites, in the receiver's order.
  public var satellites: Span<Satellite> {
    @_lifetime(borrow self) get { store.span.extracting(0..<count) }
  }

  /// How many of them the solution uses.
  public var used: Int {
    var used = 0
    let satellites = satellites
    for index in 0..<count where satellites[index].isUsed { used += 1 }
    return used
  }

  mutating func removeAll() {
    count = 0
    dropped = 0
    places = InlineArray(repeating: 0)
  }

  /// Adds a satellite, or what another of its signals says: the strongest signal stands for it.
  @inline(__always)
  mutating func add(_ satellite: Satellite) {
    let number = SatelliteSet.place(of: satellite.number, in: satellite.system)
    guard number > 0, number < 64 else { return addUnusual(satellite) }
    add(satellite, at: number)
  }

  /// The same, where it is known that its number stands at `number` (1…63) of its system.
  @inline(__always)
  mutating func add(_ satellite: Satellite, at number: UInt8) {
    let place = Self.found(in: &places[Int(satellite.system.rawValue) &* 64 &+ Int(number)], next: count)
    if place < count { return Self.merge(satellite, into: &store[place]) }
    append(satellite)
  }

  /// The place that is noted; `next`, which is noted from now on, when there is none.
  @inline(__always)
  private static func found(in note: inout UInt8, next: Int) -> Int {
    if note > 0 { return Int(note) &- 1 }
    // Where there is no room, nothing is noted.
    note = next < capacity ? UInt8(truncatingIfNeeded: next &+ 1) : 0
    return next
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

  /// Adds what another signal of a satellite says.
  @inline(__always)
  private static func merge(_ satellite: Satellite, into known: inout Satellite) {
    if known.signalDecibelHertz < satellite.signalDecibelHertz {
      known.signalDecibelHertz = satellite.signalDecibelHertz
    }
    if satellite.isUsed { known.isUsed = true }
  }

  /// A satellite with a number that no satellite of its system has: each is another one if the number is 0, which stands
  /// for none.
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
    places = other.places
    // By spans: reading an element of another's array copies the array.
    let source = other.store.span
    var target = store.mutableSpan
    for index in 0..<other.count { target[index] = source[index] }
  }
}
