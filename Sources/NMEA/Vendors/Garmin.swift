// SPDX-License-Identifier: Apache-2.0

/// PGRMV: Garmin's velocity in three dimensions (Garmin Proprietary NMEA 0183 Sentences, "3D velocity").
public struct PGRMV: SentenceContent {
  @inlinable public static var formatter: Formatter { Formatter(code: 0x4752_4D56) }
  /// Metres per second.
  public var velocityEast: FixedPoint?
  /// Metres per second.
  public var velocityNorth: FixedPoint?
  /// Metres per second.
  public var velocityUp: FixedPoint?

  @inlinable public init() {}

  @inlinable @inline(__always)
  public mutating func fields<Visitor: FieldVisitor & ~Copyable & ~Escapable>(_ v: inout Visitor) {
    v.decimal("velE", &velocityEast)
    v.decimal("velN", &velocityNorth)
    v.decimal("velU", &velocityUp)
  }
}

/// PGRME: Garmin's estimate of the position error (Garmin Proprietary NMEA 0183 Sentences, "estimated error").
public struct PGRME: SentenceContent {
  @inlinable public static var formatter: Formatter { Formatter(code: 0x4752_4D45) }
  /// Metres.
  public var horizontalError: FixedPoint?
  /// Metres.
  public var verticalError: FixedPoint?
  /// Metres.
  public var sphericalError: FixedPoint?

  @inlinable public init() {}

  @inlinable @inline(__always)
  public mutating func fields<Visitor: FieldVisitor & ~Copyable & ~Escapable>(_ v: inout Visitor) {
    v.decimal("HPE", &horizontalError)
    v.constant("HPEUnit", "M", isPresent: true)
    v.decimal("VPE", &verticalError)
    v.constant("VPEUnit", "M", isPresent: true)
    v.decimal("EPE", &sphericalError)
    v.constant("EPEUnit", "M", isPresent: true)
  }
}

/// PGRMF: Garmin's position with its time and date, for some receivers the only sentence (Garmin Proprietary NMEA 0183
/// Sentences, "GPS fix data sentence").
public struct PGRMF: SentenceContent {
  @inlinable public static var formatter: Formatter { Formatter(code: 0x4752_4D46) }
  /// GPS week, 0…1023.
  public var week: Int32?
  /// Time of the GPS week, seconds.
  public var timeOfWeek: Int32?
  /// UTC.
  public var date: ShortDate?
  /// UTC.
  public var time: TimeOfDay?
  /// GPS − UTC, seconds.
  public var leapSeconds: Int32?
  public var latitude: Coordinate?
  public var longitude: Coordinate?
  /// M manual, A automatic choice of 2D or 3D.
  public var mode: UInt8?
  /// 0 no fix, 1 2D, 2 3D.
  public var fixType: Int32?
  public var speedKilometresPerHour: FixedPoint?
  /// Degrees from true north.
  public var course: FixedPoint?
  public var pdop: FixedPoint?
  public var tdop: FixedPoint?

  @inlinable public init() {}

  @inlinable @inline(__always)
  public mutating func fields<Visitor: FieldVisitor & ~Copyable & ~Escapable>(_ v: inout Visitor) {
    v.integer("week", &week, 0...9999)
    v.integer("secs", &timeOfWeek, 0...604_799)
    v.date("date", &date)
    v.time("time", &time)
    v.integer("leapSec", &leapSeconds, 0...99)
    v.latitude("lat", "NS", &latitude)
    v.longitude("lon", "EW", &longitude)
    v.character("mode", &mode)
    v.integer("fix", &fixType, 0...2)
    v.decimal("spd", &speedKilometresPerHour)
    v.decimal("course", &course)
    v.decimal("PDOP", &pdop)
    v.decimal("TDOP", &tdop)
  }
}
