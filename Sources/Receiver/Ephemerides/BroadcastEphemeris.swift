// SPDX-License-Identifier: Apache-2.0

/// The orbit and the clock of a satellite as broadcast, with the values of its record in a RINEX navigation file.
package struct BroadcastEphemeris: Sendable, Equatable {
  package var satellite: RINEXSatellite
  /// The reference time of the clock in the system's own scale: GPS, Galileo or BeiDou time, or UTC for GLONASS.
  package var time: GPSTicks
  /// The clock, and then the orbit in the order of the file. Nil is written as blanks.
  package var values: [Double?]
  /// The times in GPS time and the issue: two messages with the same identity are the same ephemeris.
  package var identity: [Int64]

  package init(satellite: RINEXSatellite, time: GPSTicks, values: [Double?], identity: [Int64]) {
    (self.satellite, self.time, self.values, self.identity) = (satellite, time, values, identity)
  }
}

/// The time of use of an ephemeris, around its reference time.
struct EphemerisLifetime {
  let secondsBefore: Int64
  let secondsAfter: Int64

  /// - Parameter fitHours: the interval of the curve fit, for GPS.
  init(of system: RINEXSatellite.System, fitHours: Double = 4) {
    let hours: (before: Double, after: Double) =
      switch system {
      // The interval of the curve fit is centred on the reference time (IS-GPS-200, 20.3.4.4).
      case .gps, .qzss: (fitHours / 2, fitHours / 2)
      // 4 h (Galileo OS SDD, 3.2).
      case .galileo: (2, 4)
      // The satellites renew them each hour (BDS-SIS-ICD B1I, 5.2.4.9).
      case .beiDou, .navIC, .sbas: (2, 2)
      // Half an hour (u-blox integration manuals; GLONASS ICD L1/L2, 3.3.1).
      case .glonass: (0.5, 0.5)
      }
    (secondsBefore, secondsAfter) = (Int64(clamping: hours.before * 3600), Int64(clamping: hours.after * 3600))
  }
}

/// The Keplerian elements and the clock of GPS, QZSS, Galileo and BeiDou, in the units of RINEX 3.05.
package struct KeplerEphemeris: Sendable, Equatable {
  /// Seconds, seconds per second, seconds per square second.
  package var clock = SIMD3<Double>()
  package var issue = 0.0
  package var crs = 0.0
  package var meanMotionDifference = 0.0
  package var meanAnomaly = 0.0
  package var cuc = 0.0
  package var eccentricity = 0.0
  package var cus = 0.0
  package var rootOfSemiMajorAxis = 0.0
  /// Seconds of the system's week.
  package var referenceSecond = 0.0
  package var cic = 0.0
  package var longitudeOfNode = 0.0
  package var cis = 0.0
  package var inclination = 0.0
  package var crc = 0.0
  package var argumentOfPerigee = 0.0
  package var rateOfNode = 0.0
  package var rateOfInclination = 0.0

  /// The value of pi in the interface documents (IS-GPS-200, table 20-IV).
  package static let pi = 3.1415926535898

  package init() {}

  /// The values of the record: from `signals` on those that differ between the systems.
  ///
  /// - Parameters:
  ///   - signals: codes on L2 or data sources, and the P data flag.
  ///   - week: the week of `referenceSecond`.
  ///   - quality: accuracy in metres, health, and two group delays or the group delay and the issue of the clock.
  ///   - sent: seconds of the week; nil if it is not known.
  package func values(
    signals: (Double?, Double?), week: Double, quality: [Double?], sent: Double?, last: Double?
  ) -> [Double?] {
    [
      clock.x, clock.y, clock.z, issue, crs, meanMotionDifference, meanAnomaly, cuc, eccentricity, cus,
      rootOfSemiMajorAxis, referenceSecond, cic, longitudeOfNode, cis, inclination, crc, argumentOfPerigee, rateOfNode,
      rateOfInclination, signals.0, week, signals.1,
    ] + quality + [sent ?? Self.unknownTime, last]
  }

  /// The time of transmission of a message that does not have it (RINEX 3.05, tables A6 to A14).
  private static let unknownTime = 0.9999e9

  /// The accuracy in metres of an index (IS-GPS-200, section 20.3.3.3.1.3; BDS-SIS-ICD B1I, section 5.2.4.5).
  package static func accuracy(_ index: Int) -> Double {
    switch index {
    case 1: 2.8
    case 3: 5.7
    case 5: 11.3
    case ...6: Double(1 << (1 + index / 2))
    default: Double(1 << (index - 2))
    }
  }

  /// The accuracy in metres of Galileo's index; negative for none (Galileo OS SIS ICD, section 5.1.12).
  package static func galileoAccuracy(_ index: Int) -> Double {
    switch index {
    case ..<50: Double(index) * 0.01
    case ..<75: 0.5 + Double(index - 50) * 0.02
    case ..<100: 1 + Double(index - 75) * 0.04
    case ...125: 2 + Double(index - 100) * 0.16
    default: -1
    }
  }

  /// The hours of a GPS curve fit (IS-GPS-200, table 20-XII).
  package static func fitHours(isLong: Bool, clockIssue: Int) -> Double {
    guard isLong else { return 4 }
    return switch clockIssue {
    case 240...247: 8
    case 248...255, 496: 14
    case 497...503, 1021...1023: 26
    case 504...510: 50
    case 511, 752...756: 74
    case 757: 98
    default: 6
    }
  }
}
