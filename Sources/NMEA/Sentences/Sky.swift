/// GSV: satellites in view, up to four in a sentence, several sentences in a group.
public struct GSV: SentenceContent {
  @inlinable public static var formatter: Formatter { Formatter(code: 0x475356) }

  /// A satellite of a GSV sentence: eight bytes.
  public struct Satellite: FourIntegers {
    public var numbers = Self.none

    @inlinable public init() {}

    /// NMEA numbering.
    @inlinable public var id: Int32? {
      get { self[0] }
      set { self[0] = newValue }
    }
    /// Degrees above the horizon.
    @inlinable public var elevation: Int32? {
      get { self[1] }
      set { self[1] = newValue }
    }
    /// Degrees from true north.
    @inlinable public var azimuth: Int32? {
      get { self[2] }
      set { self[2] = newValue }
    }
    /// Carrier-to-noise density ratio, dBHz; nil when not tracked.
    @inlinable public var signal: Int32? {
      get { self[3] }
      set { self[3] = newValue }
    }

    @inlinable @inline(always)
    static var ranges: FourRanges {
      FourRanges(("svid", "elv", "az", "cno"), lowest: SIMD4(0, -90, 0, 0), highest: SIMD4(999, 99, 360, 99))
    }
  }

  /// Sentences in the group.
  public var sentences: Int32?
  /// Which of them this is, from 1.
  public var number: Int32?
  /// Satellites in view, of the whole group.
  public var satellitesInView: Int32?
  /// The satellites of this sentence.
  public var satellites = InlineArray<4, Satellite>(repeating: Satellite())
  /// How many of `satellites` there are.
  public var satelliteCount = 0
  /// The signal (hexadecimal in the sentence). Since 4.10.
  public var signalID: Int32?

  @inlinable public init() {}

  @inlinable @inline(always)
  public mutating func fields<Visitor: FieldVisitor & ~Copyable & ~Escapable>(_ v: inout Visitor) {
    v.integer("numMsg", &sentences, 0...99)
    v.integer("msgNum", &number, 0...99)
    v.integer("numSV", &satellitesInView, 0...99)
    satelliteCount = v.blocks(of: 4, have: satelliteCount, most: 4)
    v.integers(&satellites, count: satelliteCount, Satellite.ranges)
    if v.hasMore(isPresent: signalID != nil) { v.hexadecimal("signalID", &signalID) }
  }

  public static func == (a: GSV, b: GSV) -> Bool {
    guard a.satelliteCount == b.satelliteCount else { return false }
    for index in 0..<a.satelliteCount where a.satellites[index] != b.satellites[index] { return false }
    return a.sentences == b.sentences && a.number == b.number && a.satellitesInView == b.satellitesInView
      && a.signalID == b.signalID
  }
}
