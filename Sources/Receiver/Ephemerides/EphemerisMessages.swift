// SPDX-License-Identifier: Apache-2.0
import RTCM3
import ReceiverStream
import WireBytes

// The ephemerides of RTCM 3 (RTCM 10403.3, messages 1019, 1020, 1042, 1044, 1045 and 1046).

extension BroadcastEphemeris {
  /// Reads a message; nil for another one, and if it is too short, or its date is not known.
  ///
  /// - Parameter reference: a time near the message, for weeks that are repeated after 1024, and the day of GLONASS.
  package init?(_ frame: borrowing RTCM3Frame, near reference: GPSTicks?) {
    var bits = BitReader(frame.payload)
    let number = bits.int(12)
    let found: BroadcastEphemeris?
    switch number {
    case 1019: found = Self.gps(&bits, near: reference)
    case 1020: found = Self.glonass(&bits, near: reference)
    case 1042: found = Self.beiDou(&bits)
    case 1044: found = Self.qzss(&bits, near: reference)
    case 1045, 1046: found = Self.galileo(&bits, isINAV: number == 1046)
    default: found = nil
    }
    guard let found, !bits.isExhausted else { return nil }
    self = found
  }

  private static func gps(_ bits: inout BitReader, near reference: GPSTicks?) -> BroadcastEphemeris? {
    let number = bits.int(6)
    let (week, accuracy, codes) = (bits.int(10), bits.int(4), bits.int(2))
    var orbit = KeplerEphemeris()
    orbit.rateOfInclination = bits.scaled(14, 0x1p-43) * KeplerEphemeris.pi
    orbit.issue = Double(bits.int(8))
    let clockSecond = bits.int(16) * 16
    orbit.clock.z = bits.scaled(8, 0x1p-55)
    orbit.clock.y = bits.scaled(16, 0x1p-43)
    orbit.clock.x = bits.scaled(22, 0x1p-31)
    let clockIssue = bits.int(10)
    bits.readOrbit(&orbit, isGPS: true)
    let (delay, health, hasNoP, isLong) = (bits.scaled(8, 0x1p-31), bits.int(6), bits.flag(), bits.flag())
    return gps(
      number, orbit, week: week, clockSecond: clockSecond, signals: (codes, hasNoP), accuracy: accuracy, health: health,
      delay: delay, clockIssue: clockIssue, isLong: isLong, near: reference)
  }

  /// Makes the ephemeris of a GPS satellite from the values of its subframes.
  ///
  /// - Parameter week: modulo 1024.
  package static func gps(
    _ number: Int, _ orbit: KeplerEphemeris, system: RINEXSatellite.System = .gps, week: Int, clockSecond: Int,
    signals: (Int, Bool), accuracy: Int, health: Int, delay: Double, clockIssue: Int, isLong: Bool,
    sent: Double? = nil, near reference: GPSTicks?
  ) -> BroadcastEphemeris? {
    let range = system == .gps ? 1...32 : 1...10
    // The second of a week is below 604800, the eccentricity below 1.
    guard range.contains(number), let reference, clockSecond < 604_800, orbit.isPlausible else { return nil }
    // The message has the week of its transmission; reference times are at most half a week away.
    let start = reference.nearest(Int64(week) * GPSTicks.week, of: 1024 * GPSTicks.week)
    let fullWeek = start.count / GPSTicks.week
    let fit =
      system == .qzss ? (isLong ? 1 : 0) : KeplerEphemeris.fitHours(isLong: isLong, clockIssue: clockIssue)
    return BroadcastEphemeris(
      satellite: RINEXSatellite(system: system, number: UInt8(number)),
      time: GPSTicks(count: start.count + Int64(clockSecond) * GPSTicks.second),
      values: orbit.values(
        signals: (Double(signals.0), signals.1 ? 1 : 0), week: Double(fullWeek),
        quality: [KeplerEphemeris.accuracy(accuracy), Double(health), delay, Double(clockIssue)], sent: sent, last: fit),
      identity: [fullWeek, Int64(clamping: orbit.referenceSecond), Int64(clockIssue)])
  }

  private static func qzss(_ bits: inout BitReader, near reference: GPSTicks?) -> BroadcastEphemeris? {
    let number = bits.int(4)
    let clockSecond = bits.int(16) * 16
    var orbit = KeplerEphemeris()
    orbit.clock.z = bits.scaled(8, 0x1p-55)
    orbit.clock.y = bits.scaled(16, 0x1p-43)
    orbit.clock.x = bits.scaled(22, 0x1p-31)
    orbit.issue = Double(bits.int(8))
    bits.readOrbit(&orbit, isGPS: true)
    orbit.rateOfInclination = bits.scaled(14, 0x1p-43) * KeplerEphemeris.pi
    let (codes, week, accuracy, health) = (bits.int(2), bits.int(10), bits.int(4), bits.int(6))
    let (delay, clockIssue, isLong) = (bits.scaled(8, 0x1p-31), bits.int(10), bits.flag())
    return gps(
      number, orbit, system: .qzss, week: week, clockSecond: clockSecond, signals: (codes, true), accuracy: accuracy,
      health: health, delay: delay, clockIssue: clockIssue, isLong: isLong, near: reference)
  }

  private static func beiDou(_ bits: inout BitReader) -> BroadcastEphemeris? {
    let number = bits.int(6)
    let (week, accuracy) = (bits.int(13), bits.int(4))
    var orbit = KeplerEphemeris()
    orbit.rateOfInclination = bits.scaled(14, 0x1p-43) * KeplerEphemeris.pi
    orbit.issue = Double(bits.int(5))
    let clockSecond = bits.int(17) * 8
    orbit.clock.z = bits.scaled(11, 0x1p-66)
    orbit.clock.y = bits.scaled(22, 0x1p-50)
    orbit.clock.x = bits.scaled(24, 0x1p-33)
    let clockIssue = bits.int(5)
    bits.readOrbit(&orbit, isGPS: false)
    let delays = (bits.scaled(10, 1e-10), bits.scaled(10, 1e-10))
    return beiDou(
      number, orbit, week: week, clockSecond: clockSecond, accuracy: accuracy, health: bits.int(1), delays: delays,
      clockIssue: clockIssue)
  }

  /// Makes the ephemeris of a BeiDou satellite.
  ///
  /// - Parameter week: of BeiDou time.
  package static func beiDou(
    _ number: Int, _ orbit: KeplerEphemeris, week: Int, clockSecond: Int, accuracy: Int, health: Int,
    delays: (Double, Double), clockIssue: Int, sent: Double? = nil
  ) -> BroadcastEphemeris? {
    guard 1...63 ~= number, clockSecond < 604_800, orbit.isPlausible else { return nil }
    let time = Int64(week + 1356) * GPSTicks.week + Int64(clockSecond) * GPSTicks.second
    return BroadcastEphemeris(
      satellite: RINEXSatellite(system: .beiDou, number: UInt8(number)), time: GPSTicks(count: time),
      values: orbit.values(
        signals: (nil, nil), week: Double(week),
        quality: [KeplerEphemeris.accuracy(accuracy), Double(health), delays.0, delays.1], sent: sent,
        last: Double(clockIssue)),
      identity: [Int64(week), Int64(clamping: orbit.referenceSecond), Int64(clamping: orbit.issue), Int64(clockIssue)])
  }

  private static func galileo(_ bits: inout BitReader, isINAV: Bool) -> BroadcastEphemeris? {
    let number = bits.int(6)
    let week = bits.int(12)
    var orbit = KeplerEphemeris()
    orbit.issue = Double(bits.int(10))
    let accuracy = bits.int(8)
    orbit.rateOfInclination = bits.scaled(14, 0x1p-43) * KeplerEphemeris.pi
    let clockSecond = bits.int(14) * 60
    orbit.clock.z = bits.scaled(6, 0x1p-59)
    orbit.clock.y = bits.scaled(21, 0x1p-46)
    orbit.clock.x = bits.scaled(31, 0x1p-34)
    bits.readOrbit(&orbit, isGPS: true, secondBits: 14, secondScale: 60)
    let first = bits.scaled(10, 0x1p-32)
    let second = isINAV ? bits.scaled(10, 0x1p-32) : 0
    let health: Int
    if isINAV {
      let (statusB, dataB, statusE1, dataE1) = (bits.int(2), bits.int(1), bits.int(2), bits.int(1))
      health = statusB << 7 | dataB << 6 | statusE1 << 1 | dataE1
    } else {
      health = bits.int(2) << 4 | bits.int(1) << 3
    }
    return galileo(
      number, orbit, week: week, clockSecond: clockSecond, accuracy: accuracy, health: health, delays: (first, second),
      // I/NAV of E1 and E5b, or F/NAV of E5a, and the pair of signals that the clock is for.
      source: isINAV ? 1 | 4 | 512 : 2 | 256)
  }

  /// Makes the ephemeris of a Galileo satellite.
  ///
  /// - Parameters:
  ///   - week: of Galileo time.
  ///   - source: the bits of RINEX 3.05, table A8.
  package static func galileo(
    _ number: Int, _ orbit: KeplerEphemeris, week: Int, clockSecond: Int, accuracy: Int, health: Int,
    delays: (Double, Double), source: Int, sent: Double? = nil
  ) -> BroadcastEphemeris? {
    guard 1...36 ~= number, clockSecond < 604_800, orbit.isPlausible else { return nil }
    // RINEX counts the weeks of GPS.
    let full = Int64(week + 1024)
    return BroadcastEphemeris(
      satellite: RINEXSatellite(system: .galileo, number: UInt8(number)),
      time: GPSTicks(count: full * GPSTicks.week + Int64(clockSecond) * GPSTicks.second),
      values: orbit.values(
        signals: (Double(source), nil), week: Double(full),
        quality: [KeplerEphemeris.galileoAccuracy(accuracy), Double(health), delays.0, delays.1], sent: sent, last: nil),
      identity: [full, Int64(clamping: orbit.referenceSecond), Int64(clamping: orbit.issue), Int64(source)])
  }

  private static func glonass(_ bits: inout BitReader, near reference: GPSTicks?) -> BroadcastEphemeris? {
    let slot = bits.int(6)
    var orbit = GLONASSEphemeris()
    orbit.channel = bits.int(5) - 7
    _ = bits.unsigned(4)
    orbit.frameSecond = bits.int(5) * 3600 + bits.int(6) * 60 + bits.int(1) * 30
    orbit.isUnhealthy = bits.flag()
    _ = bits.unsigned(1)
    orbit.referenceSecond = bits.int(7) * 900
    for axis in 0..<3 {
      orbit.velocity[axis] = bits.magnitude(24, 0x1p-20)
      orbit.position[axis] = bits.magnitude(27, 0x1p-11)
      orbit.acceleration[axis] = bits.magnitude(5, 0x1p-30)
    }
    _ = bits.unsigned(1)
    orbit.frequencyBias = bits.magnitude(11, 0x1p-40)
    _ = bits.unsigned(3)
    orbit.clockBias = bits.magnitude(22, 0x1p-30)
    orbit.delayDifference = bits.magnitude(5, 0x1p-30)
    orbit.age = bits.int(5)
    _ = bits.unsigned(1)
    orbit.accuracyIndex = bits.int(4)
    // The day, M, the almanac, N4 and the rest.
    _ = bits.unsigned(64)
    return orbit.ephemeris(slot: slot, near: reference)
  }
}

extension KeplerEphemeris {
  /// Whether the elements are within the limits of their meaning: a check against data of another message.
  var isPlausible: Bool { referenceSecond < 604_800 && rootOfSemiMajorAxis > 2000 && eccentricity < 1 }
}

/// The state vector of a GLONASS satellite.
package struct GLONASSEphemeris: Sendable {
  /// Seconds of the day in Moscow.
  package var referenceSecond = 0
  /// Seconds of the day in Moscow of the beginning of the frame.
  package var frameSecond = 0
  /// Kilometres, and kilometres per second and square second, in PZ-90.
  package var position = SIMD3<Double>()
  package var velocity = SIMD3<Double>()
  package var acceleration = SIMD3<Double>()
  /// Tau n, as broadcast, seconds; RINEX has the other sign.
  package var clockBias = 0.0
  /// Gamma n.
  package var frequencyBias = 0.0
  package var channel = 0
  package var age = 0
  package var isUnhealthy = false
  /// The difference of the delays of L1 and L2, seconds.
  package var delayDifference = 0.0
  /// F T.
  package var accuracyIndex = 0

  package init() {}

  private static let day = 86_400 * GPSTicks.second
  /// Moscow's time is UTC + 3 h.
  private static let moscow = 3 * 3600 * GPSTicks.second

  /// Returns the ephemeris; nil without a reference time, and for values beyond their limits.
  package func ephemeris(slot: Int, near reference: GPSTicks?) -> BroadcastEphemeris? {
    guard 1...32 ~= slot, let reference, referenceSecond < 86_400, frameSecond < 86_400, -7...6 ~= channel else {
      return nil
    }
    let leap = Int64(LeapSeconds.on(reference.date.day)) * GPSTicks.second
    let utc = GPSTicks(count: reference.count - leap)
    let time = utc.nearest(Int64(referenceSecond) * GPSTicks.second - Self.moscow, of: Self.day)
    let frame = time.nearest(Int64(frameSecond) * GPSTicks.second - Self.moscow, of: Self.day)
    let secondOfWeek = Double(frame.count % GPSTicks.week / GPSTicks.second)
    return BroadcastEphemeris(
      satellite: RINEXSatellite(system: .glonass, number: UInt8(slot)), time: time,
      values: [
        0 - clockBias, frequencyBias, secondOfWeek, position.x, velocity.x, acceleration.x, isUnhealthy ? 1 : 0,
        position.y, velocity.y, acceleration.y, Double(channel), position.z, velocity.z, acceleration.z, Double(age),
        // The flags of status and of health are not in the messages.
        nil, delayDifference, Double(accuracyIndex), nil,
      ], identity: [time.count])
  }
}

extension BitReader {
  /// The next bits as a number in two's complement, times a scale.
  @_lifetime(self: copy self)
  fileprivate mutating func scaled(_ count: Int, _ scale: Double) -> Double { Double(signed(count)) * scale }

  /// The next bits as a number with a sign and a magnitude, times a scale.
  @_lifetime(self: copy self)
  fileprivate mutating func magnitude(_ count: Int, _ scale: Double) -> Double {
    let isNegative = flag()
    let value = Double(unsigned(count - 1)) * scale
    return isNegative ? -value : value
  }

  /// Reads the elements from Crs to the rate of the node, which all of these messages have in this order.
  @_lifetime(self: copy self)
  fileprivate mutating func readOrbit(
    _ orbit: inout KeplerEphemeris, isGPS: Bool, secondBits: Int? = nil, secondScale: Int? = nil
  ) {
    let pi = KeplerEphemeris.pi
    // BeiDou has two more bits for corrections.
    let (width, angle, radius) = isGPS ? (16, 0x1p-29, 0x1p-5) : (18, 0x1p-31, 0x1p-6)
    orbit.crs = scaled(width, radius)
    orbit.meanMotionDifference = scaled(16, 0x1p-43) * pi
    orbit.meanAnomaly = scaled(32, 0x1p-31) * pi
    orbit.cuc = scaled(width, angle)
    orbit.eccentricity = Double(unsigned(32)) * 0x1p-33
    orbit.cus = scaled(width, angle)
    orbit.rootOfSemiMajorAxis = Double(unsigned(32)) * 0x1p-19
    orbit.referenceSecond = Double(int(secondBits ?? (isGPS ? 16 : 17)) * (secondScale ?? (isGPS ? 16 : 8)))
    orbit.cic = scaled(width, angle)
    orbit.longitudeOfNode = scaled(32, 0x1p-31) * pi
    orbit.cis = scaled(width, angle)
    orbit.inclination = scaled(32, 0x1p-31) * pi
    orbit.crc = scaled(width, radius)
    orbit.argumentOfPerigee = scaled(32, 0x1p-31) * pi
    orbit.rateOfNode = scaled(24, 0x1p-43) * pi
  }
}
