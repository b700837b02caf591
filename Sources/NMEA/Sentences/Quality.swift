// SPDX-License-Identifier: Apache-2.0
import CByteMask
import WireBytes

/// GSA: fix type, used satellites and dilution of precision. One for each constellation in an epoch.
public struct GSA: SentenceContent {
  @inlinable public static var formatter: Formatter { Formatter(code: 0x475341) }
  /// M manual, A automatic.
  public var operationMode: UInt8?
  /// 1 no fix, 2 2D, 3 3D.
  @inlinable public var fixMode: Int32? {
    get { mode[3] }
    set { mode[3] = newValue }
  }
  /// Used satellites, in NMEA numbering.
  public var satellites = SatelliteIDs()
  public var pdop: FixedPoint?
  public var hdop: FixedPoint?
  public var vdop: FixedPoint?
  /// 1 GPS and SBAS, 2 GLONASS, 3 Galileo, 4 BeiDou, 5 QZSS, 6 NavIC. Since 4.10.
  public var systemID: Int32?

  /// The fix mode is the last number: the numbers of the satellites follow it.
  @usableFromInline
  struct Mode: FourIntegers {
    @usableFromInline var numbers = Self.none
    @inlinable init() {}

    @inlinable @inline(__always)
    static var ranges: FourRanges {
      FourRanges(
        ("", "", "", "navMode"), lowest: SIMD4(repeating: 1), highest: SIMD4(repeating: 3),
        digits: SIMD4(repeating: 1))
    }
  }

  @usableFromInline var mode = Mode()

  @inlinable public init() {}

  @inlinable @inline(__always)
  public mutating func fields<Visitor: FieldVisitor & ~Copyable & ~Escapable>(_ v: inout Visitor) {
    v.character("opMode", &operationMode)
    _ = v.integers(&mode, places: 1, Mode.ranges, &satellites.blocks, .all, SatelliteIDs.ranges)
    v.decimal("PDOP", &pdop)
    v.decimal("HDOP", &hdop)
    v.decimal("VDOP", &vdop)
    if v.hasMore(isPresent: systemID != nil) { v.hexadecimal("systemId", &systemID) }
  }

  /// Twelve slots for satellite numbers. Each may be empty.
  public struct SatelliteIDs: Sequence, Equatable, Sendable {
    @usableFromInline var blocks = InlineArray<3, Block>(repeating: Block())

    @usableFromInline
    struct Block: FourIntegers {
      @usableFromInline var numbers = Self.none
      @inlinable init() {}
    }

    @inlinable @inline(__always)
    static var ranges: FourRanges {
      FourRanges(
        ("svid", "svid", "svid", "svid"), lowest: SIMD4(repeating: 0), highest: SIMD4(repeating: 999),
        digits: SIMD4(repeating: 2))
    }

    @inlinable public init() {}

    /// The number in a slot, 0…11.
    @inlinable public subscript(_ place: Int) -> Int32? {
      get { blocks[place &>> 2][place & 3] }
      set { blocks[place &>> 2][place & 3] = newValue }
    }

    /// Iterates over the present numbers.
    public struct Iterator: IteratorProtocol {
      // Words of four numbers, which move down by one number each time.
      @usableFromInline var first, second, third: UInt64

      @inlinable @inline(__always)
      init(_ numbers: borrowing SatelliteIDs) {
        first = numbers.blocks[0].numbers.word
        second = numbers.blocks[1].numbers.word
        third = numbers.blocks[2].numbers.word
      }

      @inlinable @inline(__always)
      public mutating func next() -> Int16? {
        while true {
          // Most empty slots are after the last number.
          while first == Block.none.word {
            if second == Block.none.word, third == Block.none.word { return nil }
            (first, second, third) = (second, third, Block.none.word)
          }
          let number = Int16(truncatingIfNeeded: first)
          first = first &>> 16 | 0x8000_0000_0000_0000
          if number >= 0 { return number }
        }
      }
    }

    @inlinable @inline(__always)
    public func makeIterator() -> Iterator { Iterator(self) }

    /// The number in the first slot; negative when it is absent.
    @inlinable public var first: Int16 {
      @inline(__always) get { Int16(truncatingIfNeeded: blocks[0].numbers.word) }
    }

    /// The numbers as a set.
    public struct Numbers: Sendable {
      /// A bit for each number, counted from the base. The lowest bit, which represents the base, is 0.
      public let bits: UInt64
      /// The count of present numbers.
      public let count: Int
      /// Whether a number is outside the range.
      public let hasOthers: Bool

      @inlinable @inline(__always)
      init(_ set: c_number_set) {
        bits = set.bits
        count = set.count
        hasOthers = set.others != 0
      }
    }

    /// The numbers from `base` + 1 to `base` + `most` (1…63) as a set. Implemented in C (`number_set.h`), because Swift
    /// would process the lanes of its vectors one by one.
    @inlinable @inline(__always)
    public func numbers(after base: Int16, most: UInt16) -> Numbers {
      Numbers(c_numbers_after(blocks[0].numbers, blocks[1].numbers, blocks[2].numbers, base, most))
    }

    public static func == (a: SatelliteIDs, b: SatelliteIDs) -> Bool {
      for index in 0..<3 where a.blocks[index] != b.blocks[index] { return false }
      return true
    }
  }
}

/// GST: statistics of the position error.
public struct GST: SentenceContent {
  @inlinable public static var formatter: Formatter { Formatter(code: 0x475354) }
  public var time: TimeOfDay?
  /// Root mean square of the range residuals, metres.
  public var rangeRMS: FixedPoint?
  /// Standard deviation along the error ellipse's long axis, metres.
  public var majorAxis: FixedPoint?
  /// Standard deviation along the error ellipse's short axis, metres.
  public var minorAxis: FixedPoint?
  /// Orientation of the long axis, degrees from true north.
  public var orientation: FixedPoint?
  /// Standard deviation of the latitude, metres.
  public var latitudeDeviation: FixedPoint?
  /// Standard deviation of the longitude, metres.
  public var longitudeDeviation: FixedPoint?
  /// Standard deviation of the altitude, metres.
  public var altitudeDeviation: FixedPoint?

  @inlinable public init() {}

  @inlinable @inline(__always)
  public mutating func fields<Visitor: FieldVisitor & ~Copyable & ~Escapable>(_ v: inout Visitor) {
    v.time("time", &time)
    v.decimal("rangeRms", &rangeRMS)
    v.decimal("stdMajor", &majorAxis)
    v.decimal("stdMinor", &minorAxis)
    v.decimal("orient", &orientation)
    v.decimal("stdLat", &latitudeDeviation)
    v.decimal("stdLong", &longitudeDeviation)
    v.decimal("stdAlt", &altitudeDeviation)
  }
}
