// SPDX-License-Identifier: Apache-2.0

/// VTG: course and speed over ground.
public struct VTG: SentenceContent {
  @inlinable public static var formatter: Formatter { Formatter(code: 0x565447) }
  /// Degrees from true north.
  public var courseTrue: FixedPoint?
  /// Degrees from magnetic north.
  public var courseMagnetic: FixedPoint?
  public var speedKnots: FixedPoint?
  public var speedKilometresPerHour: FixedPoint?
  /// Position mode, since 2.3.
  public var positionMode: UInt8?

  @inlinable public init() {}

  @inlinable @inline(__always)
  public mutating func fields<Visitor: FieldVisitor & ~Copyable & ~Escapable>(_ v: inout Visitor) {
    v.decimal("cogt", &courseTrue)
    v.constant("cogtUnit", "T", isPresent: true)
    v.decimal("cogm", &courseMagnetic)
    v.constant("cogmUnit", "M", isPresent: true)
    v.decimal("sogn", &speedKnots)
    v.constant("sognUnit", "N", isPresent: true)
    v.decimal("sogk", &speedKilometresPerHour)
    v.constant("sogkUnit", "K", isPresent: true)
    if v.hasMore(isPresent: positionMode != nil) { v.character("posMode", &positionMode) }
  }
}
