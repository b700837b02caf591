// SPDX-License-Identifier: Apache-2.0
import WireBytes

// Headings of two antennas. Receivers with two antennas send these sentences by default, and no HDT or THS.

/// PQTMTAR: attitude (Quectel, LC29H and LC02H GNSS protocol specification).
public struct PQTMTAR: SentenceContent {
  @inlinable public static var formatter: Formatter { Formatter(code: 0x5154_4D54) }
  public var version: Int32?
  public var time: TimeOfDay?
  /// 0 invalid, 4 RTK fixed, 5 RTK float, 6 dead reckoning.
  public var quality: Int32?
  public var reserved: ShortText?
  /// The distance of the antennas, metres.
  public var length: FixedPoint?
  public var pitch: FixedPoint?
  public var roll: FixedPoint?
  /// Degrees from true north.
  public var heading: FixedPoint?
  public var pitchAccuracy: FixedPoint?
  public var rollAccuracy: FixedPoint?
  /// Degrees.
  public var headingAccuracy: FixedPoint?
  public var satellitesUsed: Int32?

  @inlinable public init() {}

  @inlinable
  public mutating func fields<Visitor: FieldVisitor & ~Copyable & ~Escapable>(_ v: inout Visitor) {
    v.integer("msgVer", &version, 0...99)
    v.time("time", &time)
    v.integer("quality", &quality, 0...9)
    v.text("reserved", &reserved)
    v.decimal("length", &length)
    v.decimal("pitch", &pitch)
    v.decimal("roll", &roll)
    v.decimal("heading", &heading)
    v.decimal("accPitch", &pitchAccuracy)
    v.decimal("accRoll", &rollAccuracy)
    v.decimal("accHeading", &headingAccuracy)
    v.integer("numSV", &satellitesUsed, 0...99, digits: 2)
  }
}

/// PSTI,036: heading, pitch and roll (SkyTraq, application note AN0039).
public struct PSTI036: SentenceContent {
  @inlinable public static var formatter: Formatter { Formatter(code: 0x53_5449) }
  /// 36 for this sentence.
  public var messageID: Int32?
  public var time: TimeOfDay?
  public var date: ShortDate?
  /// Degrees from true north.
  public var heading: FixedPoint?
  public var pitch: FixedPoint?
  public var roll: FixedPoint?
  /// As RMC's position mode: R RTK fixed, F RTK float, N none.
  public var mode: UInt8?

  @inlinable public init() {}

  @inlinable
  public mutating func fields<Visitor: FieldVisitor & ~Copyable & ~Escapable>(_ v: inout Visitor) {
    v.integer("msgId", &messageID, 0...999, digits: 3)
    v.time("time", &time)
    v.date("date", &date)
    v.decimal("heading", &heading)
    v.decimal("pitch", &pitch)
    v.decimal("roll", &roll)
    v.character("mode", &mode)
  }
}

/// PTNL,AVR: yaw, tilt and range of a moving baseline (Trimble, "NMEA-0183 message: PTNL,AVR").
public struct PTNLAVR: SentenceContent {
  @inlinable public static var formatter: Formatter { Formatter(code: 0x54_4E4C) }
  public var name: ShortText?
  public var time: TimeOfDay?
  /// Degrees from true north, with a sign.
  public var yaw: FixedPoint?
  public var tilt: FixedPoint?
  public var roll: FixedPoint?
  /// Metres.
  public var range: FixedPoint?
  /// 0 invalid, 1 autonomous, 2 RTK float, 3 RTK fixed, 4 differential.
  public var quality: Int32?
  public var pdop: FixedPoint?
  public var satellitesUsed: Int32?

  @inlinable public init() {}

  @inlinable
  public mutating func fields<Visitor: FieldVisitor & ~Copyable & ~Escapable>(_ v: inout Visitor) {
    v.text("msgId", &name)
    v.time("time", &time)
    v.decimal("yaw", &yaw)
    v.constant("yawName", "Yaw", isPresent: yaw != nil)
    v.decimal("tilt", &tilt)
    v.constant("tiltName", "Tilt", isPresent: tilt != nil)
    v.decimal("roll", &roll)
    v.constant("rollName", "Roll", isPresent: roll != nil)
    v.decimal("range", &range)
    v.integer("quality", &quality, 0...9)
    v.decimal("PDOP", &pdop)
    v.integer("numSV", &satellitesUsed, 0...99, digits: 2)
  }
}

/// PSSN,HRP: heading, roll and pitch (Septentrio, "Proprietary NMEA sentences").
public struct PSSNHRP: SentenceContent {
  @inlinable public static var formatter: Formatter { Formatter(code: 0x53_534E) }
  public var name: ShortText?
  public var time: TimeOfDay?
  public var date: ShortDate?
  /// Degrees from true north.
  public var heading: FixedPoint?
  public var roll: FixedPoint?
  public var pitch: FixedPoint?
  /// Standard deviation, degrees.
  public var headingDeviation: FixedPoint?
  public var rollDeviation: FixedPoint?
  public var pitchDeviation: FixedPoint?
  public var satellitesUsed: Int32?
  /// 0 none; 1 and 3 float, 2 and 4 fixed ambiguities.
  public var mode: Int32?
  /// Magnetic variation, degrees; its direction is in `variationDirection`.
  public var magneticVariation: FixedPoint?
  /// E or W.
  public var variationDirection: UInt8?

  @inlinable public init() {}

  @inlinable
  public mutating func fields<Visitor: FieldVisitor & ~Copyable & ~Escapable>(_ v: inout Visitor) {
    v.text("msgId", &name)
    v.time("time", &time)
    v.date("date", &date)
    v.decimal("heading", &heading)
    v.decimal("roll", &roll)
    v.decimal("pitch", &pitch)
    v.decimal("stdHeading", &headingDeviation)
    v.decimal("stdRoll", &rollDeviation)
    v.decimal("stdPitch", &pitchDeviation)
    v.integer("numSV", &satellitesUsed, 0...99, digits: 2)
    v.integer("mode", &mode, 0...99)
    v.decimal("mv", &magneticVariation)
    v.character("mvEW", &variationDirection)
  }
}

/// HPR: heading, pitch and roll (Unicore and ComNav reference commands, GPHPR).
public struct HPR: SentenceContent {
  @inlinable public static var formatter: Formatter { Formatter(code: 0x485052) }
  public var time: TimeOfDay?
  /// Degrees from true north.
  public var heading: FixedPoint?
  public var pitch: FixedPoint?
  public var roll: FixedPoint?
  /// As GGA's quality: 0 none, 4 RTK fixed, 5 RTK float, 6 estimated.
  public var quality: Int32?
  public var satellitesUsed: Int32?
  /// Age of the corrections, seconds.
  public var age: FixedPoint?
  public var station: ShortText?

  @inlinable public init() {}

  @inlinable
  public mutating func fields<Visitor: FieldVisitor & ~Copyable & ~Escapable>(_ v: inout Visitor) {
    v.time("time", &time)
    v.decimal("heading", &heading)
    v.decimal("pitch", &pitch)
    v.decimal("roll", &roll)
    v.integer("quality", &quality, 0...9)
    v.integer("numSV", &satellitesUsed, 0...99, digits: 2)
    v.decimal("age", &age)
    v.text("station", &station)
  }
}

/// KSXT: position, heading and velocity (Unicore reference commands, KSXT).
public struct KSXT: SentenceContent {
  @inlinable public static var formatter: Formatter { Formatter(code: 0x5854) }
  /// yyyymmddhhmmss.ss, UTC.
  public var time: TextRange?
  /// Degrees, east positive.
  public var longitude: FixedPoint?
  /// Degrees, north positive.
  public var latitude: FixedPoint?
  /// Height, metres.
  public var height: FixedPoint?
  /// Degrees from true north.
  public var heading: FixedPoint?
  public var pitch: FixedPoint?
  /// Course over ground, degrees from true north.
  public var course: FixedPoint?
  public var speedKilometresPerHour: FixedPoint?
  public var roll: FixedPoint?
  /// 0 none, 1 autonomous, 2 RTK float, 3 RTK fixed.
  public var quality: Int32?
  /// The same for the heading.
  public var headingQuality: Int32?

  @inlinable public init() {}

  @inlinable
  public mutating func fields<Visitor: FieldVisitor & ~Copyable & ~Escapable>(_ v: inout Visitor) {
    v.text("time", &time)
    v.decimal("lon", &longitude)
    v.decimal("lat", &latitude)
    v.decimal("height", &height)
    v.decimal("heading", &heading)
    v.decimal("pitch", &pitch)
    v.decimal("cog", &course)
    v.decimal("sogk", &speedKilometresPerHour)
    v.decimal("roll", &roll)
    v.integer("quality", &quality, 0...9)
    v.integer("headingQuality", &headingQuality, 0...9)
  }
}

/// UNIHEADINGA: the heading log in its text form (Unicore reference commands, UNIHEADING).
public struct UNIHEADINGA: SentenceContent {
  @inlinable public static var formatter: Formatter { Formatter(code: 0x4948_4541) }
  public var idle: Int32?
  public var timeReference: ShortText?
  public var timeStatus: ShortText?
  /// GPS week.
  public var week: Int32?
  /// Time of week, milliseconds.
  public var milliseconds: FixedPoint?
  public var reserved: ShortText?
  public var version: ShortText?
  /// GPS − UTC, seconds.
  public var leapSeconds: Int32?
  /// The delay of the output, milliseconds, followed by a semicolon and the status of the solution.
  public var solution: TextRange?
  /// Such as NARROW_INT.
  public var type: ShortText?
  /// The distance of the antennas, metres.
  public var length: FixedPoint?
  /// Degrees from true north.
  public var heading: FixedPoint?
  public var pitch: FixedPoint?
  public var reservedAngle: FixedPoint?
  /// Standard deviation, degrees.
  public var headingDeviation: FixedPoint?
  public var pitchDeviation: FixedPoint?

  @inlinable public init() {}

  @inlinable
  public mutating func fields<Visitor: FieldVisitor & ~Copyable & ~Escapable>(_ v: inout Visitor) {
    v.integer("idle", &idle, 0...100)
    v.text("timeReference", &timeReference)
    v.text("timeStatus", &timeStatus)
    v.integer("week", &week, 0...9999)
    v.decimal("iTOW", &milliseconds)
    v.text("reserved", &reserved)
    v.text("version", &version)
    v.integer("leapSec", &leapSeconds, 0...99)
    v.text("solution", &solution)
    v.text("type", &type)
    v.decimal("length", &length)
    v.decimal("heading", &heading)
    v.decimal("pitch", &pitch)
    v.decimal("reservedAngle", &reservedAngle)
    v.decimal("stdHeading", &headingDeviation)
    v.decimal("stdPitch", &pitchDeviation)
  }
}

extension Sentence {
  /// Whether the characters between `$` and the first comma are these.
  @inlinable
  public func hasAddress(_ address: StaticString) -> Bool {
    let count = address.utf8CodeUnitCount
    guard addressLength == count else { return false }
    for index in 0..<count where unsafe bytes.u1(1 &+ index) != address.utf8Start[index] { return false }
    return true
  }

  /// Whether the first field is this text.
  @inlinable
  public func hasFirstField(_ text: StaticString) -> Bool {
    let count = text.utf8CodeUnitCount
    let start = 2 &+ addressLength
    guard start &+ count < bytes.byteCount, bytes.u1(start &+ count) == UInt8(ascii: ",") else { return false }
    for index in 0..<count where unsafe bytes.u1(start &+ index) != text.utf8Start[index] { return false }
    return true
  }
}
