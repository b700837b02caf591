// SPDX-License-Identifier: Apache-2.0

/// GBS: detection of satellite faults (RAIM), with the errors that the most probably faulty satellite would cause.
public struct GBS: SentenceContent {
  @inlinable public static var formatter: Formatter { Formatter(code: 0x474253) }
  public var time: TimeOfDay?
  /// Expected error of the latitude, metres.
  public var latitudeError: FixedPoint?
  /// Expected error of the longitude, metres.
  public var longitudeError: FixedPoint?
  /// Expected error of the altitude, metres.
  public var altitudeError: FixedPoint?
  /// The most probably faulty satellite, in NMEA numbering.
  public var satellite: Int32?
  /// Probability of a missed detection.
  public var missedDetection: FixedPoint?
  /// Estimated bias of its range, metres.
  public var bias: FixedPoint?
  /// Standard deviation of the bias, metres.
  public var biasDeviation: FixedPoint?
  /// As GSA's. Since 4.10.
  public var systemID: Int32?
  /// As GSV's. Since 4.10.
  public var signalID: Int32?

  @inlinable public init() {}

  @inlinable
  public mutating func fields<Visitor: FieldVisitor & ~Copyable & ~Escapable>(_ v: inout Visitor) {
    v.time("time", &time)
    v.decimal("errLat", &latitudeError)
    v.decimal("errLon", &longitudeError)
    v.decimal("errAlt", &altitudeError)
    v.integer("svid", &satellite, 0...999, digits: 2)
    v.decimal("prob", &missedDetection)
    v.decimal("bias", &bias)
    v.decimal("stddev", &biasDeviation)
    if v.hasMore(isPresent: systemID != nil || signalID != nil) {
      v.hexadecimal("systemId", &systemID)
      if v.hasMore(isPresent: signalID != nil) {
        v.hexadecimal("signalId", &signalID)
      }
    }
  }
}

/// GRS: range residuals of the satellites in GSA, in the same order.
public struct GRS: SentenceContent {
  @inlinable public static var formatter: Formatter { Formatter(code: 0x475253) }
  public var time: TimeOfDay?
  /// 0 the residuals were used for the position of GGA, 1 they were computed after it.
  public var mode: Int32?
  /// Metres.
  public var residuals = InlineArray<12, FixedPoint?>(repeating: nil)
  /// As GSA's. Since 4.10.
  public var systemID: Int32?
  /// As GSV's. Since 4.10.
  public var signalID: Int32?

  @inlinable public init() {}

  @inlinable
  public mutating func fields<Visitor: FieldVisitor & ~Copyable & ~Escapable>(_ v: inout Visitor) {
    v.time("time", &time)
    v.integer("mode", &mode, 0...1)
    v.repeated(12, of: 1)
    for index in 0..<12 { v.decimal("residual", &residuals[index]) }
    if v.hasMore(isPresent: systemID != nil || signalID != nil) { v.hexadecimal("systemId", &systemID) }
    if v.hasMore(isPresent: signalID != nil) { v.hexadecimal("signalId", &signalID) }
  }

  public static func == (a: GRS, b: GRS) -> Bool {
    for index in 0..<12 where a.residuals[index] != b.residuals[index] { return false }
    return a.time == b.time && a.mode == b.mode && a.systemID == b.systemID && a.signalID == b.signalID
  }
}
