// SPDX-License-Identifier: Apache-2.0
import ReceiverStream
import UBX
import WireBytes

/// The message that gives a receiver the ephemeris of a satellite: MGA-GPS-EPH, MGA-GAL-EPH, MGA-BDS-EPH or MGA-GLO-EPH, and
/// the time of its use.
package struct AssistanceEphemeris: Sendable, Equatable {
  package var satellite: RINEXSatellite
  /// The reference time of the orbit, seconds of UTC since 1970.
  package var reference: Int64
  /// The time of use, seconds of UTC since 1970.
  package var from: Int64
  package var until: Int64
  package var message: AssistanceRecord.Message

  package static let identities: [RINEXSatellite.System: MessageIdentity] = [
    .gps: MessageIdentity(0x13, 0x00), .galileo: MessageIdentity(0x13, 0x02), .beiDou: MessageIdentity(0x13, 0x03),
    .glonass: MessageIdentity(0x13, 0x06),
  ]

  /// The size of the messages in bytes.
  package static let sizes: [RINEXSatellite.System: Int] = [.gps: 68, .galileo: 76, .beiDou: 88, .glonass: 48]

  /// The numbers of satellites.
  package static let numbers: [RINEXSatellite.System: ClosedRange<UInt8>] = [
    .gps: 1...32, .galileo: 1...36, .beiDou: 1...63, .glonass: 1...32,
  ]

  /// The reason why an ephemeris is not used.
  package enum Refusal: Error, Equatable {
    /// A field is not in the range of the message or of such an orbit.
    case implausible
    /// The satellite reports that it must not be used.
    case unhealthy
    /// No message of assistance exists for its system.
    case otherSystem
  }

  package init(_ ephemeris: BroadcastEphemeris) throws(Refusal) {
    let system = ephemeris.satellite.system
    guard let identity = Self.identities[system], let size = Self.sizes[system] else { throw .otherSystem }
    guard let numbers = Self.numbers[system], numbers.contains(ephemeris.satellite.number) else { throw .implausible }
    var fields = Fields(size: size, number: ephemeris.satellite.number)
    let values = ephemeris.values
    let reference: Int64
    var lifetime = EphemerisLifetime(of: system)
    let isHealthy: Bool
    switch system {
    case .glonass:
      reference = Self.gpsEpoch + ephemeris.time.count / GPSTicks.second
      isHealthy = values.value(6) == 0
      fields.putGLONASS(values, time: ephemeris.time)
    default:
      let orbit = try Self.referenceTime(ephemeris)
      reference = orbit
      switch system {
      case .gps:
        let fit = values.value(28).flatMap { $0 > 4 && $0 <= 98 ? $0 : nil } ?? 4
        lifetime = EphemerisLifetime(of: system, fitHours: fit)
        isHealthy = values.value(24) == 0
        fields.putGPS(values, isLong: fit > 4, time: ephemeris.time)
      case .galileo:
        let isINAV = Self.isINAV(values)
        // Validity and health of E1-B; F/NAV has the bits of E5a.
        let mask: Int64 = isINAV ? 0b111 : 0b111_000
        isHealthy = values.value(24).map { Int64(clamping: $0) & mask == 0 } ?? false
        fields.putGalileo(values, isINAV: isINAV, time: ephemeris.time)
      default:
        isHealthy = values.value(24) == 0
        fields.putBeiDou(values, time: ephemeris.time)
      }
    }
    guard fields.fit else { throw .implausible }
    guard isHealthy else { throw .unhealthy }
    satellite = ephemeris.satellite
    self.reference = reference
    from = reference - lifetime.secondsBefore
    until = reference + lifetime.secondsAfter
    message = AssistanceRecord.Message(identity: identity, payload: fields.payload)
  }

  /// Reads a message of a service, whose time is a remainder of the week or of the day: the nearest one counts.
  ///
  /// - Throws: `implausible` also for a message of another size or type.
  package init(_ message: AssistanceRecord.Message, near utc: UTCTime) throws(Refusal) {
    guard let satellite = Self.satellite(of: message) else { throw .otherSystem }
    let (system, payload) = (satellite.system, message.payload)
    guard payload.count == Self.sizes[system], payload[0] == 1, Self.numbers[system]?.contains(payload[2]) == true
    else { throw .implausible }
    let now = GPSTicks(utc)
    let second = GPSTicks.second
    // GPS: an interval of the curve fit of 4 h, or a longer one.
    let lifetime = EphemerisLifetime(of: system, fitHours: system == .gps && payload[4] != 0 ? 6 : 4)
    // The reference time, and the shift of the system's time to GPS time.
    let time: (second: Int64, period: Int64, shift: Int64)
    // The offsets of the root of the semi-major axis and of the eccentricity; nil for an orbit in coordinates.
    let shape: (root: Int, eccentricity: Int)?
    let isHealthy: Bool
    switch system {
    case .gps:
      time = (Int64(payload.u2(40)) * 16, GPSTicks.week, 0)
      shape = (36, 32)
      isHealthy = payload[6] == 0
    case .galileo:
      time = (Int64(payload.u2(50)) * 60, GPSTicks.week, 0)
      shape = (16, 12)
      isHealthy = payload[68] == 0 && payload[69] == 0
    case .beiDou:
      time = (Int64(payload.u4(24)) * 8, GPSTicks.week, 14)
      shape = (28, 32)
      isHealthy = payload[4] == 0
    default:
      let leap =
        (now.count - (utc.nanosecondsSince1970 - Day.gpsEpoch.since1970 * UTCTime.nanosecondsPerDay) / 100) / second
      time = (Int64(payload[35]) * 900, 86_400 * second, leap - 3 * 3600)
      shape = nil
      isHealthy = payload[5] == 0
    }
    guard time.second * second < time.period else { throw .implausible }
    if let shape {
      let root = Double(payload.u4(shape.root)) * 0x1p-19
      guard (5050...6600).contains(root), Double(payload.u4(shape.eccentricity)) * 0x1p-33 < 0.25 else {
        throw .implausible
      }
    }
    guard isHealthy else { throw .unhealthy }
    let orbit = now.nearest((time.second + time.shift) * second, of: time.period)
    self.satellite = satellite
    reference = orbit.utc.nanosecondsSince1970 / 1_000_000_000
    from = reference - lifetime.secondsBefore
    until = reference + lifetime.secondsAfter
    self.message = message
  }

  /// The satellite of a message; nil if it is not an ephemeris.
  static func satellite(of message: AssistanceRecord.Message) -> RINEXSatellite? {
    guard let system = identities.first(where: { $0.value == message.identity })?.key, message.payload.count > 2
    else { return nil }
    return RINEXSatellite(system: system, number: message.payload[2])
  }

  private static let gpsEpoch: Int64 = 315_964_800

  /// Whether the ephemeris of a Galileo satellite is from I/NAV, whose clock is for E1 and E5b (RINEX 3.05, table A8).
  package static func isINAV(_ values: [Double?]) -> Bool {
    values.value(20).map { Int64(clamping: $0) & 0x200 != 0 } ?? true
  }

  /// Returns the reference time of an orbit, which must be near the clock's reference time; seconds of UTC since 1970.
  private static func referenceTime(_ ephemeris: BroadcastEphemeris) throws(Refusal) -> Int64 {
    let values = ephemeris.values
    guard let second = values.value(11), (0..<604_800).contains(second) else { throw .implausible }
    let orbit = ephemeris.time.nearest(Int64(clamping: second) * GPSTicks.second, of: GPSTicks.week)
    guard abs(orbit.count - ephemeris.time.count) <= 4 * 3600 * GPSTicks.second else { throw .implausible }
    // Root of the semi-major axis in m^0.5, and eccentricity: the nominal orbits and the orbits of all satellites in use.
    let roots: ClosedRange<Double> =
      switch ephemeris.satellite.system {
      case .gps: 5050...5250
      case .galileo: 5200...5500
      default: 5200...6600
      }
    guard let root = values.value(10), roots.contains(root), let eccentricity = values.value(8),
      (0..<0.25).contains(eccentricity)
    else { throw .implausible }
    // BeiDou time is 14 s behind GPS time.
    let offset: Int64 = ephemeris.satellite.system == .beiDou ? 14 * GPSTicks.second : 0
    return GPSTicks(count: orbit.count + offset).utc.nanosecondsSince1970 / 1_000_000_000
  }
}

/// The fields of a message.
private struct Fields {
  private(set) var payload: [UInt8]
  /// Whether all values are in the ranges of their fields.
  private(set) var fit = true

  init(size: Int, number: UInt8) {
    payload = [UInt8](repeating: 0, count: size)
    payload[0] = 1
    payload[2] = number
  }

  /// Writes a value as an integer of its scale factor.
  mutating func put(_ value: Double?, _ scale: Double, at offset: Int, _ type: FieldType) {
    guard let value, value.isFinite else {
      fit = false
      return
    }
    let scaled = (value / scale).rounded()
    guard type.range.contains(scaled) else {
      fit = false
      return
    }
    let bits = UInt64(bitPattern: Int64(clamping: scaled))
    for index in 0..<type.size { payload[offset + index] = UInt8(truncatingIfNeeded: bits >> UInt64(8 * index)) }
  }

  /// Writes numbers of the orbit, from their place among the values of the file.
  private mutating func put(_ values: [Double?], _ fields: [(Int, Double, Int, FieldType)]) {
    for (index, scale, offset, type) in fields { put(values.value(index), scale, at: offset, type) }
  }

  private static let pi = KeplerEphemeris.pi

  mutating func putGPS(_ values: [Double?], isLong: Bool, time: GPSTicks) {
    payload[4] = isLong ? 1 : 0
    put(values.value(23).map(Self.accuracyIndex), 1, at: 5, .u1)
    put(time.secondOfWeek, 16, at: 10, .u2)
    let pi = Self.pi
    put(
      values,
      [
        (24, 1, 6, .u1), (25, 0x1p-31, 7, .i1), (26, 1, 8, .u2), (2, 0x1p-55, 13, .i1), (1, 0x1p-43, 14, .i2),
        (0, 0x1p-31, 16, .i4), (4, 0x1p-5, 20, .i2), (5, 0x1p-43 * pi, 22, .i2), (6, 0x1p-31 * pi, 24, .i4),
        (7, 0x1p-29, 28, .i2), (9, 0x1p-29, 30, .i2), (8, 0x1p-33, 32, .u4), (10, 0x1p-19, 36, .u4),
        (11, 16, 40, .u2), (12, 0x1p-29, 42, .i2), (13, 0x1p-31 * pi, 44, .i4), (14, 0x1p-29, 48, .i2),
        (16, 0x1p-5, 50, .i2), (15, 0x1p-31 * pi, 52, .i4), (17, 0x1p-31 * pi, 56, .i4),
        (18, 0x1p-43 * pi, 60, .i4), (19, 0x1p-43 * pi, 64, .i2),
      ])
  }

  mutating func putGalileo(_ values: [Double?], isINAV: Bool, time: GPSTicks) {
    put(values.value(23).map(Self.galileoAccuracyIndex), 1, at: 61, .u1)
    put(time.secondOfWeek, 60, at: 62, .u2)
    let health = values.value(24).map { Int64(clamping: $0) } ?? 0
    if isINAV {
      payload[68] = UInt8(health >> 1 & 3)
      payload[69] = UInt8(health & 1)
      payload[70] = UInt8(health >> 7 & 3)
      payload[71] = UInt8(health >> 6 & 1)
    }
    let pi = Self.pi
    put(
      values,
      [
        (3, 1, 4, .u2), (5, 0x1p-43 * pi, 6, .i2), (6, 0x1p-31 * pi, 8, .i4), (8, 0x1p-33, 12, .u4),
        (10, 0x1p-19, 16, .u4), (13, 0x1p-31 * pi, 20, .i4), (15, 0x1p-31 * pi, 24, .i4), (17, 0x1p-31 * pi, 28, .i4),
        (18, 0x1p-43 * pi, 32, .i4), (19, 0x1p-43 * pi, 36, .i2), (7, 0x1p-29, 38, .i2), (9, 0x1p-29, 40, .i2),
        (16, 0x1p-5, 42, .i2), (4, 0x1p-5, 44, .i2), (12, 0x1p-29, 46, .i2), (14, 0x1p-29, 48, .i2),
        (11, 60, 50, .u2), (0, 0x1p-34, 52, .i4), (1, 0x1p-46, 56, .i4), (2, 0x1p-59, 60, .i1),
        // The clock of F/NAV is for E1 and E5a. With its own group delay the sum is right for E1.
        (isINAV ? 26 : 25, 0x1p-32, 64, .i2),
      ])
  }

  mutating func putBeiDou(_ values: [Double?], time: GPSTicks) {
    put(values.value(23).map(Self.accuracyIndex), 1, at: 22, .u1)
    put(time.secondOfWeek, 8, at: 16, .u4)
    let pi = Self.pi
    put(
      values,
      [
        (24, 1, 4, .u1), (28, 1, 5, .u1), (2, 0x1p-66, 6, .i2), (1, 0x1p-50, 8, .i4), (0, 0x1p-33, 12, .i4),
        (25, 1e-10, 20, .i2), (3, 1, 23, .u1), (11, 8, 24, .u4), (10, 0x1p-19, 28, .u4), (8, 0x1p-33, 32, .u4),
        (17, 0x1p-31 * pi, 36, .i4), (5, 0x1p-43 * pi, 40, .i2), (19, 0x1p-43 * pi, 42, .i2),
        (6, 0x1p-31 * pi, 44, .i4), (13, 0x1p-31 * pi, 48, .i4), (18, 0x1p-43 * pi, 52, .i4),
        (15, 0x1p-31 * pi, 56, .i4), (7, 0x1p-31, 60, .i4), (9, 0x1p-31, 64, .i4), (16, 0x1p-6, 68, .i4),
        (4, 0x1p-6, 72, .i4), (12, 0x1p-31, 76, .i4), (14, 0x1p-31, 80, .i4),
      ])
  }

  mutating func putGLONASS(_ values: [Double?], time: GPSTicks) {
    let position = [7, 11].reduce(values.value(3).map { $0 * $0 }) { sum, index in
      sum.flatMap { sum in values.value(index).map { sum + $0 * $0 } }
    }
    // The radius of the orbits is 25,510 km.
    guard let position, (24_500.0 * 24_500...26_500 * 26_500).contains(position) else {
      fit = false
      return
    }
    // Satellites of type GLONASS-M.
    payload[6] = 1
    // In units of a quarter of an hour of the day in Moscow.
    let second = (time.count / GPSTicks.second + 3 * 3600) % 86_400
    if second % 900 != 0 { fit = false }
    payload[35] = UInt8(clamping: second / 900)
    // The files of RINEX 3.04 and earlier do not have accuracy and delay.
    put(values.value(17) ?? 0, 1, at: 4, .u1)
    put(values.value(16) ?? 0, 0x1p-30, at: 39, .i1)
    // The file has the other sign.
    put(values.value(0).map { -$0 }, 0x1p-30, at: 40, .i4)
    put(
      values,
      [
        (6, 1, 5, .u1), (10, 1, 7, .i1), (3, 0x1p-11, 8, .i4), (7, 0x1p-11, 12, .i4), (11, 0x1p-11, 16, .i4),
        (4, 0x1p-20, 20, .i4), (8, 0x1p-20, 24, .i4), (12, 0x1p-20, 28, .i4), (5, 0x1p-30, 32, .i1),
        (9, 0x1p-30, 33, .i1), (13, 0x1p-30, 34, .i1), (1, 0x1p-40, 36, .i2), (14, 1, 38, .u1),
      ])
    guard let channel = values.value(10), (-7...6).contains(channel) else {
      fit = false
      return
    }
  }

  /// The index of an accuracy in metres: the first one that is not better (IS-GPS-200, section 20.3.3.3.1.3).
  private static func accuracyIndex(_ metres: Double) -> Double {
    Double((0...14).first { KeplerEphemeris.accuracy($0) >= metres } ?? 15)
  }

  private static func galileoAccuracyIndex(_ metres: Double) -> Double {
    guard metres >= 0 else { return 255 }
    return Double((0...125).first { KeplerEphemeris.galileoAccuracy($0) >= metres - 1e-9 } ?? 255)
  }
}

/// The type of a field in the notation of the interface descriptions.
private enum FieldType {
  case u1, i1, u2, i2, u4, i4

  var size: Int {
    switch self {
    case .u1, .i1: 1
    case .u2, .i2: 2
    case .u4, .i4: 4
    }
  }

  var range: ClosedRange<Double> {
    switch self {
    case .u1: 0...255
    case .i1: -128...127
    case .u2: 0...65_535
    case .i2: -32_768...32_767
    case .u4: 0...4_294_967_295
    case .i4: -2_147_483_648...2_147_483_647
    }
  }
}

extension [Double?] {
  /// The value at a place of the record; nil if the record has none there.
  fileprivate func value(_ index: Int) -> Double? { index < count ? self[index] : nil }
}

extension GPSTicks {
  fileprivate var secondOfWeek: Double { Double(count % Self.week / Self.second) }
}
