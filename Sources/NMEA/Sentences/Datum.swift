// SPDX-License-Identifier: Apache-2.0

/// DTM: the datum of the positions, and its offset from the reference datum.
public struct DTM: SentenceContent {
  @inlinable public static var formatter: Formatter { Formatter(code: 0x44544D) }
  /// W84 WGS 84, P90 PZ-90, 999 user-defined, or another code of the IHO's list.
  public var datum: ShortText?
  /// Part of the datum.
  public var subdivision: ShortText?
  /// Minutes of arc; its direction is in `latitudeDirection`.
  public var latitudeOffset: FixedPoint?
  /// N or S.
  public var latitudeDirection: UInt8?
  /// Minutes of arc; its direction is in `longitudeDirection`.
  public var longitudeOffset: FixedPoint?
  /// E or W.
  public var longitudeDirection: UInt8?
  /// Metres.
  public var altitudeOffset: FixedPoint?
  /// The reference datum: W84 for WGS 84.
  public var reference: ShortText?

  @inlinable public init() {}

  @inlinable
  public mutating func fields<Visitor: FieldVisitor & ~Copyable & ~Escapable>(_ v: inout Visitor) {
    v.text("datum", &datum)
    v.text("subDatum", &subdivision)
    v.decimal("latOfset", &latitudeOffset)
    v.character("NS", &latitudeDirection)
    v.decimal("lonOfset", &longitudeOffset)
    v.character("EW", &longitudeDirection)
    v.decimal("alt", &altitudeOffset)
    v.text("refDatum", &reference)
  }
}
