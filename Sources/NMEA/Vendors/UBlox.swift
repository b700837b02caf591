// SPDX-License-Identifier: Apache-2.0

// PUBX: u-blox's sentences (u-blox interface descriptions, "NMEA PUBX messages"). The first field is the number of the
// sentence. A sentence with this field alone is a poll.

/// PUBX,00: position, velocity and accuracy.
public struct PUBX00: SentenceContent {
  @inlinable public static var formatter: Formatter { Formatter(code: 0x554258) }
  @inlinable public static var messageNumber: Int32? { 0 }
  /// UTC.
  public var time: TimeOfDay?
  public var latitude: Coordinate?
  public var longitude: Coordinate?
  /// Height above the datum's ellipsoid, metres.
  public var altitude: FixedPoint?
  /// NF no fix, DR dead reckoning, G2 and G3 2D and 3D, D2 and D3 differential, RK satellites and dead reckoning,
  /// TT time.
  public var status: ShortText?
  /// Metres.
  public var horizontalAccuracy: FixedPoint?
  /// Metres.
  public var verticalAccuracy: FixedPoint?
  /// Over ground.
  public var speedKilometresPerHour: FixedPoint?
  /// Over ground, degrees from true north.
  public var course: FixedPoint?
  /// Metres per second.
  public var velocityDown: FixedPoint?
  /// Age of the differential corrections, seconds.
  public var differentialAge: FixedPoint?
  public var hdop: FixedPoint?
  public var vdop: FixedPoint?
  public var tdop: FixedPoint?
  public var satellitesUsed: Int32?
  /// 1 when dead reckoning is used.
  public var deadReckoning: Int32?

  @inlinable public init() {}

  @inlinable
  public mutating func fields<Visitor: FieldVisitor & ~Copyable & ~Escapable>(_ v: inout Visitor) {
    v.constant("msgId", "00", isPresent: true)
    v.time("time", &time)
    v.latitude("lat", "NS", &latitude)
    v.longitude("lon", "EW", &longitude)
    v.decimal("altRef", &altitude)
    v.text("navStat", &status)
    v.decimal("hAcc", &horizontalAccuracy)
    v.decimal("vAcc", &verticalAccuracy)
    v.decimal("SOG", &speedKilometresPerHour)
    v.decimal("COG", &course)
    v.decimal("vVel", &velocityDown)
    v.decimal("diffAge", &differentialAge)
    v.decimal("HDOP", &hdop)
    v.decimal("VDOP", &vdop)
    v.decimal("TDOP", &tdop)
    v.integer("numSVs", &satellitesUsed, 0...99)
    v.constant("reserved", "0", isPresent: true)
    v.integer("DR", &deadReckoning, 0...9)
  }
}

/// PUBX,03: satellites.
public struct PUBX03: SentenceContent {
  @inlinable public static var formatter: Formatter { Formatter(code: 0x554258) }
  @inlinable public static var messageNumber: Int32? { 3 }

  /// A satellite of a PUBX,03 sentence.
  public struct Satellite: Equatable, Sendable {
    /// NMEA numbering.
    public var id: Int32?
    /// `-` not used, `U` used, `e` not used with ephemeris available.
    public var status: UInt8?
    /// Degrees from true north.
    public var azimuth: Int32?
    /// Degrees above the horizon.
    public var elevation: Int32?
    /// Carrier-to-noise density ratio, dBHz.
    public var signal: Int32?
    /// The time for which the carrier has been tracked, seconds; 64 for 64 s or more.
    public var lockSeconds: Int32?

    @inlinable public init() {}
  }

  /// The receiver's count of satellites.
  public var count: Int32?
  public var satellites = InlineArray<48, Satellite>(repeating: Satellite())
  /// The number of present `satellites`.
  public var satelliteCount = 0

  @inlinable public init() {}

  @inlinable
  public mutating func fields<Visitor: FieldVisitor & ~Copyable & ~Escapable>(_ v: inout Visitor) {
    v.constant("msgId", "03", isPresent: true)
    v.integer("numSv", &count, 0...255, digits: 2)
    satelliteCount = v.blocks(of: 6, have: satelliteCount, most: 48)
    for index in 0..<satelliteCount {
      v.integer("svid", &satellites[index].id, 0...999, digits: 2)
      v.character("status", &satellites[index].status)
      v.integer("azi", &satellites[index].azimuth, 0...360, digits: 3)
      v.integer("ele", &satellites[index].elevation, -90...99, digits: 2)
      v.integer("cno", &satellites[index].signal, 0...99, digits: 2)
      v.integer("lck", &satellites[index].lockSeconds, 0...255, digits: 3)
    }
  }

  public static func == (a: PUBX03, b: PUBX03) -> Bool {
    guard a.satelliteCount == b.satelliteCount, a.count == b.count else { return false }
    for index in 0..<a.satelliteCount where a.satellites[index] != b.satellites[index] { return false }
    return true
  }
}

/// PUBX,04: time and clock.
public struct PUBX04: SentenceContent {
  @inlinable public static var formatter: Formatter { Formatter(code: 0x554258) }
  @inlinable public static var messageNumber: Int32? { 4 }
  /// UTC.
  public var time: TimeOfDay?
  public var date: ShortDate?
  /// UTC time of week, seconds.
  public var timeOfWeek: FixedPoint?
  /// UTC week number.
  public var week: Int32?
  /// GPS − UTC, seconds. A D after it marks the default of the firmware, before the satellites' value is received.
  public var leapSeconds: ShortText?
  /// Nanoseconds.
  public var clockBias: FixedPoint?
  /// Nanoseconds per second.
  public var clockDrift: FixedPoint?
  /// Nanoseconds.
  public var timePulseGranularity: Int32?

  @inlinable public init() {}

  @inlinable
  public mutating func fields<Visitor: FieldVisitor & ~Copyable & ~Escapable>(_ v: inout Visitor) {
    v.constant("msgId", "04", isPresent: true)
    v.time("time", &time)
    v.date("date", &date)
    v.decimal("utcTow", &timeOfWeek)
    v.integer("utcWk", &week, 0...9999)
    v.text("leapSec", &leapSeconds)
    v.decimal("clkBias", &clockBias)
    v.decimal("clkDrift", &clockDrift)
    v.integer("tpGran", &timePulseGranularity, -9999...9999)
  }
}

/// PUBX,40: the rate of a sentence on each port. To the receiver.
public struct PUBX40: SentenceContent {
  @inlinable public static var formatter: Formatter { Formatter(code: 0x554258) }
  @inlinable public static var messageNumber: Int32? { 40 }
  /// The formatter of the sentence, such as GLL.
  public var sentence: ShortText?
  /// The interval of the sentence in navigation epochs; 0 to disable it.
  public var rateI2C: Int32?
  public var rateUART1: Int32?
  public var rateUART2: Int32?
  public var rateUSB: Int32?
  public var rateSPI: Int32?

  @inlinable public init() {}

  @inlinable
  public mutating func fields<Visitor: FieldVisitor & ~Copyable & ~Escapable>(_ v: inout Visitor) {
    v.constant("msgId", "40", isPresent: true)
    v.text("id", &sentence)
    v.integer("rddc", &rateI2C, 0...255)
    v.integer("rus1", &rateUART1, 0...255)
    v.integer("rus2", &rateUART2, 0...255)
    v.integer("rusb", &rateUSB, 0...255)
    v.integer("rspi", &rateSPI, 0...255)
    v.constant("reserved", "0", isPresent: true)
  }
}

/// PUBX,41: protocols and baud rate of a port. To the receiver.
public struct PUBX41: SentenceContent {
  @inlinable public static var formatter: Formatter { Formatter(code: 0x554258) }
  @inlinable public static var messageNumber: Int32? { 41 }
  /// 1 UART1, 2 UART2.
  public var port: Int32?
  /// Bits: 0 UBX, 1 NMEA, 2 RTCM 2, 5 RTCM 3.
  public var inputProtocols: Int32?
  /// Bits as in `inputProtocols`.
  public var outputProtocols: Int32?
  /// Bits per second.
  public var baudRate: Int32?
  /// 0; receivers do not support it.
  public var autobauding: Int32?

  @inlinable public init() {}

  @inlinable
  public mutating func fields<Visitor: FieldVisitor & ~Copyable & ~Escapable>(_ v: inout Visitor) {
    v.constant("msgId", "41", isPresent: true)
    v.integer("portId", &port, 0...255)
    v.hexadecimal("inProto", &inputProtocols, digits: 4)
    v.hexadecimal("outProto", &outputProtocols, digits: 4)
    v.integer("baudRate", &baudRate, 0...10_000_000)
    v.integer("autobauding", &autobauding, 0...1)
  }
}
