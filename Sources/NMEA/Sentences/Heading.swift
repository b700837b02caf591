// SPDX-License-Identifier: Apache-2.0

/// HDT: true heading.
public struct HDT: SentenceContent {
  @inlinable public static var formatter: Formatter { Formatter(code: 0x484454) }
  /// Degrees from true north, of the bow.
  public var heading: FixedPoint?

  @inlinable public init() {}

  @inlinable
  public mutating func fields<Visitor: FieldVisitor & ~Copyable & ~Escapable>(_ v: inout Visitor) {
    v.decimal("headingT", &heading)
    v.constant("headingTu", "T", isPresent: true)
  }
}

/// HDM: magnetic heading. The standard replaced it with HDG; instruments still send it.
public struct HDM: SentenceContent {
  @inlinable public static var formatter: Formatter { Formatter(code: 0x48444D) }
  /// Degrees from magnetic north.
  public var heading: FixedPoint?

  @inlinable public init() {}

  @inlinable
  public mutating func fields<Visitor: FieldVisitor & ~Copyable & ~Escapable>(_ v: inout Visitor) {
    v.decimal("headingM", &heading)
    v.constant("headingMag", "M", isPresent: true)
  }
}

/// HDG: compass heading, deviation and variation.
public struct HDG: SentenceContent {
  @inlinable public static var formatter: Formatter { Formatter(code: 0x484447) }
  /// Degrees from magnetic north, without the deviation.
  public var heading: FixedPoint?
  /// Degrees; its direction is in `deviationDirection`.
  public var deviation: FixedPoint?
  /// E or W.
  public var deviationDirection: UInt8?
  /// Magnetic variation, degrees; its direction is in `variationDirection`.
  public var variation: FixedPoint?
  /// E or W.
  public var variationDirection: UInt8?

  @inlinable public init() {}

  @inlinable
  public mutating func fields<Visitor: FieldVisitor & ~Copyable & ~Escapable>(_ v: inout Visitor) {
    v.decimal("headingM", &heading)
    v.decimal("deviation", &deviation)
    v.character("deviationEW", &deviationDirection)
    v.decimal("variation", &variation)
    v.character("variationEW", &variationDirection)
  }
}

/// THS: true heading and its status.
public struct THS: SentenceContent {
  @inlinable public static var formatter: Formatter { Formatter(code: 0x544853) }
  /// Degrees from true north, of the bow.
  public var heading: FixedPoint?
  /// A autonomous, E estimated, M manual, S simulator, V not valid.
  public var mode: UInt8?

  @inlinable public init() {}

  @inlinable
  public mutating func fields<Visitor: FieldVisitor & ~Copyable & ~Escapable>(_ v: inout Visitor) {
    v.decimal("headt", &heading)
    v.character("mi", &mode)
  }
}

/// ROT: rate of turn.
public struct ROT: SentenceContent {
  @inlinable public static var formatter: Formatter { Formatter(code: 0x524F54) }
  /// Degrees per minute, negative when the bow turns to port.
  public var rate: FixedPoint?
  /// A valid, V not valid.
  public var status: UInt8?

  @inlinable public init() {}

  @inlinable
  public mutating func fields<Visitor: FieldVisitor & ~Copyable & ~Escapable>(_ v: inout Visitor) {
    v.decimal("rot", &rate)
    v.character("valid", &status)
  }
}
