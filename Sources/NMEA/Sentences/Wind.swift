// SPDX-License-Identifier: Apache-2.0

/// MWD: direction and speed of the wind over ground.
public struct MWD: SentenceContent {
  @inlinable public static var formatter: Formatter { Formatter(code: 0x4D5744) }
  /// The direction from which the wind blows, degrees from true north.
  public var directionTrue: FixedPoint?
  /// The direction from which the wind blows, degrees from magnetic north.
  public var directionMagnetic: FixedPoint?
  public var speedKnots: FixedPoint?
  public var speedMetresPerSecond: FixedPoint?

  @inlinable public init() {}

  @inlinable
  public mutating func fields<Visitor: FieldVisitor & ~Copyable & ~Escapable>(_ v: inout Visitor) {
    v.decimal("dirT", &directionTrue)
    v.constant("dirTu", "T", isPresent: true)
    v.decimal("dirM", &directionMagnetic)
    v.constant("dirMu", "M", isPresent: true)
    v.decimal("speedN", &speedKnots)
    v.constant("speedNu", "N", isPresent: true)
    v.decimal("speedM", &speedMetresPerSecond)
    v.constant("speedMu", "M", isPresent: true)
  }
}

/// MWV: angle and speed of the wind relative to the ship.
public struct MWV: SentenceContent {
  @inlinable public static var formatter: Formatter { Formatter(code: 0x4D5756) }
  /// Degrees clockwise from the bow.
  public var angle: FixedPoint?
  /// R apparent (relative), T true (theoretical).
  public var reference: UInt8?
  /// The speed in `unit`.
  public var speed: FixedPoint?
  /// K km/h, M m/s, N knots, S statute miles per hour.
  public var unit: UInt8?
  /// A valid, V not valid.
  public var status: UInt8?

  @inlinable public init() {}

  @inlinable
  public mutating func fields<Visitor: FieldVisitor & ~Copyable & ~Escapable>(_ v: inout Visitor) {
    v.decimal("angle", &angle)
    v.character("reference", &reference)
    v.decimal("speed", &speed)
    v.character("speedu", &unit)
    v.character("status", &status)
  }
}
