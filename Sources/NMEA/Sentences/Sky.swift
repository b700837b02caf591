// SPDX-License-Identifier: Apache-2.0
import WireBytes

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
    /// Carrier-to-noise density ratio, dBHz; nil when the satellite is not tracked.
    @inlinable public var signal: Int32? {
      get { self[3] }
      set { self[3] = newValue }
    }

    @inlinable @inline(__always)
    static var ranges: FourRanges {
      FourRanges(
        ("svid", "elv", "az", "cno"), lowest: SIMD4(0, -90, 0, 0), highest: SIMD4(999, 99, 360, 99),
        digits: SIMD4(2, 2, 3, 2))
    }
  }

  /// The numbers before the satellites, as the last three numbers.
  @usableFromInline
  struct Group: FourIntegers {
    @usableFromInline var numbers = Self.none
    @inlinable init() {}

    @inlinable @inline(__always)
    static var ranges: FourRanges {
      FourRanges(
        ("", "numMsg", "msgNum", "numSV"), lowest: SIMD4(repeating: 0), highest: SIMD4(repeating: 99),
        digits: SIMD4(0, 1, 1, 2))
    }
  }

  @usableFromInline var group = Group()

  /// The number of sentences in the group.
  @inlinable public var sentences: Int32? {
    get { group[1] }
    set { group[1] = newValue }
  }
  /// The number of this sentence, from 1.
  @inlinable public var number: Int32? {
    get { group[2] }
    set { group[2] = newValue }
  }
  /// The number of satellites in view, of the whole group.
  @inlinable public var satellitesInView: Int32? {
    get { group[3] }
    set { group[3] = newValue }
  }
  /// The satellites of this sentence.
  public var satellites = InlineArray<4, Satellite>(repeating: Satellite())
  /// The number of present `satellites`.
  public var satelliteCount = 0
  /// The signal (hexadecimal in the sentence). Since 4.10.
  public var signalID: Int32?

  @inlinable public init() {}

  /// Whether this is the last sentence of its group.
  @inlinable public var isLast: Bool { group.raw(1) == group.raw(2) }

  /// Iterates over the present satellites.
  ///
  /// The satellites move up by one each time: access to an element at a variable index would copy all of them.
  public struct Present: Sequence, IteratorProtocol {
    @usableFromInline var first, second, third, fourth: Satellite
    @usableFromInline var count: Int

    @inlinable @inline(__always)
    init(_ sentence: borrowing GSV) {
      (first, second) = (sentence.satellites[0], sentence.satellites[1])
      (third, fourth) = (sentence.satellites[2], sentence.satellites[3])
      count = sentence.satelliteCount
    }

    @inlinable @inline(__always)
    public mutating func next() -> Satellite? {
      guard count > 0 else { return nil }
      count &-= 1
      let next = first
      (first, second, third) = (second, third, fourth)
      return next
    }
  }

  @inlinable public var present: Present {
    @inline(__always) get { Present(self) }
  }

  @inlinable @inline(__always)
  public mutating func fields<Visitor: FieldVisitor & ~Copyable & ~Escapable>(_ v: inout Visitor) {
    satelliteCount = v.integers(
      &group, places: 3, Group.ranges, &satellites, .asWritten(have: satelliteCount), Satellite.ranges)
    if v.hasMore(isPresent: signalID != nil) { v.hexadecimal("signalID", &signalID) }
  }

  public static func == (a: GSV, b: GSV) -> Bool {
    guard a.satelliteCount == b.satelliteCount else { return false }
    for index in 0..<a.satelliteCount where a.satellites[index] != b.satellites[index] { return false }
    return a.group == b.group && a.signalID == b.signalID
  }
}
