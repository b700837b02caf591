/// GSA: fix type, satellites used and dilution of precision. One for each constellation in an epoch.
public struct GSA: SentenceContent {
  @inlinable public static var formatter: Formatter { Formatter(code: 0x475341) }
  /// M manual, A automatic.
  public var operationMode: UInt8?
  /// 1 no fix, 2 2D, 3 3D.
  public var fixMode: Int32?
  /// Satellites used, in NMEA numbering.
  public var satellites = SatelliteIDs()
  public var pdop: FixedPoint?
  public var hdop: FixedPoint?
  public var vdop: FixedPoint?
  /// 1 GPS and SBAS, 2 GLONASS, 3 Galileo, 4 BeiDou, 5 QZSS, 6 NavIC. Since 4.10.
  public var systemID: Int32?

  @inlinable public init() {}

  @inlinable @inline(always)
  public mutating func fields<Visitor: FieldVisitor & ~Copyable & ~Escapable>(_ v: inout Visitor) {
    v.character("opMode", &operationMode)
    v.integer("navMode", &fixMode, 1...3)
    v.repeated(12, of: 1)
    for index in 0..<12 { v.integer("svid", &satellites[index], 0...999) }
    v.decimal("PDOP", &pdop)
    v.decimal("HDOP", &hdop)
    v.decimal("VDOP", &vdop)
    if v.hasMore(isPresent: systemID != nil) { v.hexadecimal("systemId", &systemID) }
  }

  /// Twelve places for a satellite's number, each of which may be empty.
  public struct SatelliteIDs: Equatable, Sendable {
    @usableFromInline var places = InlineArray<12, SmallInteger>(repeating: .none)

    @inlinable public init() {}

    /// The number at a place, 0…11.
    @inlinable public subscript(_ place: Int) -> Int32? {
      get { places[place].value }
      set { places[place] = SmallInteger(newValue) }
    }

    public static func == (a: SatelliteIDs, b: SatelliteIDs) -> Bool {
      for place in 0..<12 where a.places[place] != b.places[place] { return false }
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

  @inlinable @inline(always)
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
