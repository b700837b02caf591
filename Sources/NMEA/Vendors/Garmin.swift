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
