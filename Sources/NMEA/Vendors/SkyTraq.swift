// SPDX-License-Identifier: Apache-2.0

/// PSTI,030: SkyTraq's recommended minimum in three dimensions (SkyTraq application note, "PSTI messages").
public struct PSTI030: SentenceContent {
  @inlinable public static var formatter: Formatter { Formatter(code: 0x53_5449) }
  /// 30 for this sentence. With another number the other fields have other meanings.
  public var messageID: Int32?
  public var time: TimeOfDay?
  /// A valid, V not valid.
  public var status: UInt8?
  public var latitude: Coordinate?
  public var longitude: Coordinate?
  /// Altitude above mean sea level, metres.
  public var altitude: FixedPoint?
  /// Metres per second.
  public var velocityEast: FixedPoint?
  /// Metres per second.
  public var velocityNorth: FixedPoint?
  /// Metres per second.
  public var velocityUp: FixedPoint?
  public var date: ShortDate?
  /// As RMC's position mode.
  public var positionMode: UInt8?
  /// Age of the RTK corrections, seconds.
  public var rtkAge: FixedPoint?
  /// Ratio of the second best to the best integer solution.
  public var rtkRatio: FixedPoint?

  @inlinable public init() {}

  @inlinable @inline(__always)
  public mutating func fields<Visitor: FieldVisitor & ~Copyable & ~Escapable>(_ v: inout Visitor) {
    v.integer("msgId", &messageID, 0...999, digits: 3)
    v.time("time", &time)
    v.character("status", &status)
    v.latitude("lat", "NS", &latitude)
    v.longitude("lon", "EW", &longitude)
    v.decimal("alt", &altitude)
    v.decimal("velE", &velocityEast)
    v.decimal("velN", &velocityNorth)
    v.decimal("velU", &velocityUp)
    v.date("date", &date)
    v.character("posMode", &positionMode)
    v.decimal("rtkAge", &rtkAge)
    v.decimal("rtkRatio", &rtkRatio)
  }
}
