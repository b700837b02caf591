// SPDX-License-Identifier: Apache-2.0

// Quectel's sentences for systems without their own talker: GSV and GSA of the standard, followed by the system
// (Quectel, "EC2x&EG9x&EG2x-G&EM05 Series GNSS Application Note", PQGSV and PQGSA).

/// PQGSV: satellites of BeiDou or QZSS in view, up to four in a sentence.
public struct PQGSV: SentenceContent {
  @inlinable public static var formatter: Formatter { Formatter(code: 0x5147_5356) }

  /// A satellite of a PQGSV sentence.
  public struct Satellite: Equatable, Sendable {
    /// NMEA numbering.
    public var id: Int32?
    /// Degrees above the horizon.
    public var elevation: Int32?
    /// Degrees from true north.
    public var azimuth: Int32?
    /// Carrier-to-noise density ratio, dBHz; nil when the satellite is not tracked.
    public var signal: Int32?

    @inlinable public init() {}
  }

  /// The number of sentences in the group.
  public var sentences: Int32?
  /// The number of this sentence, from 1.
  public var number: Int32?
  /// The number of satellites in view, of the whole group.
  public var satellitesInView: Int32?
  public var satellites = InlineArray<4, Satellite>(repeating: Satellite())
  /// The number of present `satellites`.
  public var satelliteCount = 0
  /// The signal; 0 for all.
  public var signalID: Int32?
  /// As GSA's: 4 BeiDou, 5 QZSS.
  public var systemID: Int32?

  @inlinable public init() {}

  @inlinable
  public mutating func fields<Visitor: FieldVisitor & ~Copyable & ~Escapable>(_ v: inout Visitor) {
    v.integer("numMsg", &sentences, 0...99)
    v.integer("msgNum", &number, 0...99)
    v.integer("numSV", &satellitesInView, 0...99, digits: 2)
    satelliteCount = v.blocks(of: 4, have: satelliteCount, most: 4)
    for index in 0..<satelliteCount {
      v.integer("svid", &satellites[index].id, 0...999, digits: 2)
      v.integer("elv", &satellites[index].elevation, -90...99, digits: 2)
      v.integer("az", &satellites[index].azimuth, 0...360, digits: 3)
      v.integer("cno", &satellites[index].signal, 0...99, digits: 2)
    }
    v.hexadecimal("signalID", &signalID)
    v.hexadecimal("systemId", &systemID)
  }

  public static func == (a: PQGSV, b: PQGSV) -> Bool {
    guard a.satelliteCount == b.satelliteCount, a.sentences == b.sentences, a.number == b.number,
      a.satellitesInView == b.satellitesInView, a.signalID == b.signalID, a.systemID == b.systemID
    else { return false }
    for index in 0..<a.satelliteCount where a.satellites[index] != b.satellites[index] { return false }
    return true
  }
}

/// PQGSA: GSA of BeiDou or QZSS.
public struct PQGSA: SentenceContent {
  @inlinable public static var formatter: Formatter { Formatter(code: 0x5147_5341) }

  /// The content of GSA, with the system.
  public var content = GSA()

  @inlinable public init() {}

  @inlinable
  public mutating func fields<Visitor: FieldVisitor & ~Copyable & ~Escapable>(_ v: inout Visitor) {
    content.fields(&v)
  }
}

/// PQTMEPE: estimated errors of the position (Quectel, GNSS protocol specifications of LC29H and LG290P).
public struct PQTMEPE: SentenceContent {
  @inlinable public static var formatter: Formatter { Formatter(code: 0x5154_4D45) }
  public var version: Int32?
  /// Metres.
  public var northError: FixedPoint?
  /// Metres.
  public var eastError: FixedPoint?
  /// Metres.
  public var downError: FixedPoint?
  /// Metres.
  public var horizontalError: FixedPoint?
  /// Metres.
  public var sphericalError: FixedPoint?

  @inlinable public init() {}

  @inlinable
  public mutating func fields<Visitor: FieldVisitor & ~Copyable & ~Escapable>(_ v: inout Visitor) {
    v.integer("msgVer", &version, 0...99)
    v.decimal("epeNorth", &northError)
    v.decimal("epeEast", &eastError)
    v.decimal("epeDown", &downError)
    v.decimal("epe2D", &horizontalError)
    v.decimal("epe3D", &sphericalError)
  }
}
