// SPDX-License-Identifier: Apache-2.0

/// GGA: time, position and fix of a GPS receiver.
public struct GGA: SentenceContent {
  @inlinable public static var formatter: Formatter { Formatter(code: 0x474741) }
  public var time: TimeOfDay?
  public var latitude: Coordinate?
  public var longitude: Coordinate?
  /// 0 none, 1 autonomous, 2 differential, 3 PPS, 4 RTK fixed, 5 RTK float, 6 estimated, 7 manual, 8 simulator.
  public var quality: Int32?
  /// The number of used satellites.
  public var satellitesUsed: Int32?
  public var hdop: FixedPoint?
  /// Antenna altitude above mean sea level, metres.
  public var altitude: FixedPoint?
  /// Geoid above the ellipsoid, metres.
  public var geoidSeparation: FixedPoint?
  /// Age of the differential corrections, seconds.
  public var differentialAge: FixedPoint?
  /// Reference station, 0…4095.
  public var differentialStation: Int32?

  @inlinable public init() {}

  @inlinable @inline(__always)
  public mutating func fields<Visitor: FieldVisitor & ~Copyable & ~Escapable>(_ v: inout Visitor) {
    v.time("time", &time)
    v.latitude("lat", "NS", &latitude)
    v.longitude("lon", "EW", &longitude)
    v.integer("quality", &quality, 0...9)
    v.integer("numSV", &satellitesUsed, 0...99, digits: 2)
    v.decimal("HDOP", &hdop)
    v.decimal("alt", &altitude)
    v.constant("altUnit", "M", isPresent: altitude != nil)
    v.decimal("sep", &geoidSeparation)
    v.constant("sepUnit", "M", isPresent: geoidSeparation != nil)
    v.decimal("diffAge", &differentialAge)
    v.integer("diffStation", &differentialStation, 0...4095, digits: 4)
  }
}

/// GNS: time, position and fix of a receiver of several constellations.
public struct GNS: SentenceContent {
  @inlinable public static var formatter: Formatter { Formatter(code: 0x474E53) }
  public var time: TimeOfDay?
  public var latitude: Coordinate?
  public var longitude: Coordinate?
  /// A character for each constellation (GPS, GLONASS, Galileo, BeiDou, QZSS, NavIC): N none, A autonomous,
  /// D differential, P precise, R RTK fixed, F RTK float, E estimated, M manual, S simulator.
  public var positionModes: ShortText?
  /// The number of used satellites.
  public var satellitesUsed: Int32?
  public var hdop: FixedPoint?
  /// Antenna altitude above mean sea level, metres.
  public var altitude: FixedPoint?
  /// Geoid above the ellipsoid, metres.
  public var geoidSeparation: FixedPoint?
  /// Age of the differential corrections, seconds.
  public var differentialAge: FixedPoint?
  /// Reference station, 0…4095.
  public var differentialStation: Int32?
  /// S safe, C caution, U unsafe, V not valid. Since 4.10.
  public var navigationalStatus: UInt8?

  @inlinable public init() {}

  @inlinable @inline(__always)
  public mutating func fields<Visitor: FieldVisitor & ~Copyable & ~Escapable>(_ v: inout Visitor) {
    v.time("time", &time)
    v.latitude("lat", "NS", &latitude)
    v.longitude("lon", "EW", &longitude)
    v.text("posMode", &positionModes)
    v.integer("numSV", &satellitesUsed, 0...99, digits: 2)
    v.decimal("HDOP", &hdop)
    v.decimal("alt", &altitude)
    v.decimal("sep", &geoidSeparation)
    v.decimal("diffAge", &differentialAge)
    v.integer("diffStation", &differentialStation, 0...4095, digits: 4)
    if v.hasMore(isPresent: navigationalStatus != nil) { v.character("navStatus", &navigationalStatus) }
  }
}

/// GLL: position and time.
public struct GLL: SentenceContent {
  @inlinable public static var formatter: Formatter { Formatter(code: 0x474C4C) }
  public var latitude: Coordinate?
  public var longitude: Coordinate?
  public var time: TimeOfDay?
  /// A valid, V not valid.
  public var status: UInt8?
  /// Position mode, since 2.3.
  public var positionMode: UInt8?

  @inlinable public init() {}

  @inlinable @inline(__always)
  public mutating func fields<Visitor: FieldVisitor & ~Copyable & ~Escapable>(_ v: inout Visitor) {
    v.latitude("lat", "NS", &latitude)
    v.longitude("lon", "EW", &longitude)
    v.time("time", &time)
    v.character("status", &status)
    if v.hasMore(isPresent: positionMode != nil) { v.character("posMode", &positionMode) }
  }
}

/// RMC: the recommended minimum of position, speed and date.
public struct RMC: SentenceContent {
  @inlinable public static var formatter: Formatter { Formatter(code: 0x524D43) }
  public var time: TimeOfDay?
  /// A valid, V warning.
  public var status: UInt8?
  public var latitude: Coordinate?
  public var longitude: Coordinate?
  /// Speed over ground, knots.
  public var speedKnots: FixedPoint?
  /// Course over ground, degrees from true north.
  public var course: FixedPoint?
  public var date: ShortDate?
  /// Magnetic variation, degrees; its direction is in `variationDirection`.
  public var magneticVariation: FixedPoint?
  /// E or W.
  public var variationDirection: UInt8?
  /// Position mode, since 2.3: N none, A autonomous, D differential, E estimated, F RTK float, R RTK fixed.
  public var positionMode: UInt8?
  /// S safe, C caution, U unsafe, V not valid. Since 4.10.
  public var navigationalStatus: UInt8?

  @inlinable public init() {}

  @inlinable @inline(__always)
  public mutating func fields<Visitor: FieldVisitor & ~Copyable & ~Escapable>(_ v: inout Visitor) {
    v.time("time", &time)
    v.character("status", &status)
    v.latitude("lat", "NS", &latitude)
    v.longitude("lon", "EW", &longitude)
    v.decimal("spd", &speedKnots)
    v.decimal("cog", &course)
    v.date("date", &date)
    v.decimal("mv", &magneticVariation)
    v.character("mvEW", &variationDirection)
    if v.hasMore(isPresent: positionMode != nil || navigationalStatus != nil) { v.character("posMode", &positionMode) }
    if v.hasMore(isPresent: navigationalStatus != nil) { v.character("navStatus", &navigationalStatus) }
  }
}
