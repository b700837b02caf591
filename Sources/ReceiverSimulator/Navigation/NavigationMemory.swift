// SPDX-License-Identifier: Apache-2.0

/// The contents of battery-backed memory: orbits, time and position.
struct NavigationMemory: Sendable, Equatable {
  /// UTC milliseconds at which each satellite's ephemeris was collected; nil without an ephemeris.
  var ephemeris = [Int64?](repeating: nil, count: VisibleSatellite.slots)
  /// The day of each satellite's predicted orbit, in days since 1970; nil without one.
  var predictedDay = [Int64?](repeating: nil, count: VisibleSatellite.slots)
  /// Whether each ephemeris is from the host.
  var isFromHost = [Bool](repeating: false, count: VisibleSatellite.slots)
  var hasAlmanac = false
  /// Whether the clock has the time, from satellites or from the host.
  var hasTime = false
  var isTimeFromHost = false
  /// Whether the leap seconds are known, so that the time is exactly UTC.
  var hasLeapSeconds = false
  /// The position of the last fix, degrees.
  var position: (latitude: Double, longitude: Double)?
  var isPositionFromHost = false
  /// The distance since the last cold start, metres.
  var totalMetres = 0.0

  /// The validity of an ephemeris in seconds: four hours for GPS, half an hour for GLONASS (u-blox integration
  /// manuals). The manuals have no figure for the other systems, which are treated as GPS.
  static func validSeconds(ofSlot slot: Int) -> Int64 { slot / 32 == 6 ? 1800 : 4 * 3600 }

  /// Seconds of uninterrupted tracking until a satellite's ephemeris is complete. GPS repeats it each 30 seconds.
  static let collectionSeconds = 30.0

  func hasEphemeris(_ slot: Int, at utcMilliseconds: Int64) -> Bool {
    guard let collected = ephemeris[slot] else { return false }
    let age = utcMilliseconds - collected
    return age >= 0 && age < Self.validSeconds(ofSlot: slot) * 1000
  }

  /// Whether a satellite has a predicted orbit that is less than a day and a half from its noon.
  func hasPrediction(_ slot: Int, at utcMilliseconds: Int64) -> Bool {
    guard let day = predictedDay[slot] else { return false }
    return abs(utcMilliseconds - (day * 86_400 + 43_200) * 1000) <= 36 * 3_600_000
  }

  /// Returns the remaining validity of a satellite's ephemeris in seconds; 0 without one.
  func ephemerisSeconds(_ slot: Int, at utcMilliseconds: Int64) -> Int64 {
    guard hasEphemeris(slot, at: utcMilliseconds), let collected = ephemeris[slot] else { return 0 }
    return Self.validSeconds(ofSlot: slot) - (utcMilliseconds - collected) / 1000
  }

  /// Clears by CFG-RST's mask (interface descriptions, CFG-RST, navBbrMask).
  mutating func clear(_ mask: UInt16) {
    if mask & 1 != 0 {
      ephemeris = Array(repeating: nil, count: VisibleSatellite.slots)
      predictedDay = ephemeris
    }
    if mask & 2 != 0 { hasAlmanac = false }
    if mask & 0x10 != 0 { position = nil }
    if mask & 0x80 != 0 { hasLeapSeconds = false }
    if mask & 0x100 != 0 { hasTime = false }
    if mask == 0xFFFF { totalMetres = 0 }
  }

  static func == (a: NavigationMemory, b: NavigationMemory) -> Bool {
    a.ephemeris == b.ephemeris && a.predictedDay == b.predictedDay && a.isFromHost == b.isFromHost
      && a.hasAlmanac == b.hasAlmanac
      && a.hasTime == b.hasTime && a.position?.latitude == b.position?.latitude
      && a.position?.longitude == b.position?.longitude
  }
}
