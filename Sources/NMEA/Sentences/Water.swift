// SPDX-License-Identifier: Apache-2.0

/// VBW: speed through water and over ground, along and across the ship.
public struct VBW: SentenceContent {
  @inlinable public static var formatter: Formatter { Formatter(code: 0x564257) }
  /// Knots through water, ahead positive.
  public var waterAhead: FixedPoint?
  /// Knots through water, to starboard positive.
  public var waterStarboard: FixedPoint?
  /// A valid, V not valid.
  public var waterStatus: UInt8?
  /// Knots over ground, ahead positive.
  public var groundAhead: FixedPoint?
  /// Knots over ground, to starboard positive.
  public var groundStarboard: FixedPoint?
  /// A valid, V not valid.
  public var groundStatus: UInt8?
  /// The stern's knots through water, to starboard positive. Since 3.0.
  public var sternWaterStarboard: FixedPoint?
  /// A valid, V not valid.
  public var sternWaterStatus: UInt8?
  /// The stern's knots over ground, to starboard positive.
  public var sternGroundStarboard: FixedPoint?
  /// A valid, V not valid.
  public var sternGroundStatus: UInt8?

  @inlinable public init() {}

  @inlinable
  public mutating func fields<Visitor: FieldVisitor & ~Copyable & ~Escapable>(_ v: inout Visitor) {
    v.decimal("longwaterspd", &waterAhead)
    v.decimal("transwaterspd", &waterStarboard)
    v.character("waterspdstatus", &waterStatus)
    v.decimal("longgroundspd", &groundAhead)
    v.decimal("transgroundspd", &groundStarboard)
    v.character("groundspdstatus", &groundStatus)
    let hasStern =
      sternWaterStarboard != nil || sternWaterStatus != nil || sternGroundStarboard != nil || sternGroundStatus != nil
    if v.hasMore(isPresent: hasStern) {
      v.decimal("sterntranswaterspd", &sternWaterStarboard)
      v.character("sternwaterspdstatus", &sternWaterStatus)
      v.decimal("sterntransgroundspd", &sternGroundStarboard)
      v.character("sterngroundspdstatus", &sternGroundStatus)
    }
  }
}

/// VHW: speed through water and heading.
public struct VHW: SentenceContent {
  @inlinable public static var formatter: Formatter { Formatter(code: 0x564857) }
  /// Degrees from true north.
  public var headingTrue: FixedPoint?
  /// Degrees from magnetic north.
  public var headingMagnetic: FixedPoint?
  /// Through water.
  public var speedKnots: FixedPoint?
  /// Through water.
  public var speedKilometresPerHour: FixedPoint?

  @inlinable public init() {}

  @inlinable
  public mutating func fields<Visitor: FieldVisitor & ~Copyable & ~Escapable>(_ v: inout Visitor) {
    v.decimal("hdgT", &headingTrue)
    v.constant("hgdTu", "T", isPresent: true)
    v.decimal("hdgM", &headingMagnetic)
    v.constant("hgdMu", "M", isPresent: true)
    v.decimal("spdN", &speedKnots)
    v.constant("spdNu", "N", isPresent: true)
    v.decimal("spdK", &speedKilometresPerHour)
    v.constant("spdKu", "K", isPresent: true)
  }
}

/// VLW: distance travelled, in nautical miles; u-blox's odometer.
public struct VLW: SentenceContent {
  @inlinable public static var formatter: Formatter { Formatter(code: 0x564C57) }
  /// Through water, total.
  public var waterTotal: FixedPoint?
  /// Through water, since reset.
  public var water: FixedPoint?
  /// Over ground, total. Since 3.0.
  public var groundTotal: FixedPoint?
  /// Over ground, since reset. Since 3.0.
  public var ground: FixedPoint?

  @inlinable public init() {}

  @inlinable
  public mutating func fields<Visitor: FieldVisitor & ~Copyable & ~Escapable>(_ v: inout Visitor) {
    v.decimal("twd", &waterTotal)
    v.constant("twdUnit", "N", isPresent: true)
    v.decimal("wd", &water)
    v.constant("wdUnit", "N", isPresent: true)
    if v.hasMore(isPresent: groundTotal != nil || ground != nil) {
      v.decimal("tgd", &groundTotal)
      v.constant("tgdUnit", "N", isPresent: true)
      v.decimal("gd", &ground)
      v.constant("gdUnit", "N", isPresent: true)
    }
  }
}

/// DPT: depth of water.
public struct DPT: SentenceContent {
  @inlinable public static var formatter: Formatter { Formatter(code: 0x445054) }
  /// Metres below the transducer.
  public var depth: FixedPoint?
  /// Metres from the transducer to the water line (positive) or to the keel (negative).
  public var offset: FixedPoint?
  /// The largest depth of the range in use, metres. Since 3.0.
  public var range: FixedPoint?

  @inlinable public init() {}

  @inlinable
  public mutating func fields<Visitor: FieldVisitor & ~Copyable & ~Escapable>(_ v: inout Visitor) {
    v.decimal("depth", &depth)
    v.decimal("offset", &offset)
    if v.hasMore(isPresent: range != nil) {
      v.decimal("rangescale", &range)
    }
  }
}

/// DBT: depth below the transducer, in three units.
public struct DBT: SentenceContent {
  @inlinable public static var formatter: Formatter { Formatter(code: 0x444254) }
  public var feet: FixedPoint?
  public var metres: FixedPoint?
  public var fathoms: FixedPoint?

  @inlinable public init() {}

  @inlinable
  public mutating func fields<Visitor: FieldVisitor & ~Copyable & ~Escapable>(_ v: inout Visitor) {
    v.decimal("depthf", &feet)
    v.constant("depthfu", "f", isPresent: true)
    v.decimal("depthm", &metres)
    v.constant("depthmu", "M", isPresent: true)
    v.decimal("depthfath", &fathoms)
    v.constant("depthfathu", "F", isPresent: true)
  }
}

/// MTW: temperature of the water.
public struct MTW: SentenceContent {
  @inlinable public static var formatter: Formatter { Formatter(code: 0x4D5457) }
  /// Degrees Celsius.
  public var temperature: FixedPoint?

  @inlinable public init() {}

  @inlinable
  public mutating func fields<Visitor: FieldVisitor & ~Copyable & ~Escapable>(_ v: inout Visitor) {
    v.decimal("temp", &temperature)
    v.constant("tempu", "C", isPresent: true)
  }
}
