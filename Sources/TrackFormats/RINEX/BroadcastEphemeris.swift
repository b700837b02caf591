// SPDX-License-Identifier: Apache-2.0

/// The orbit and the clock of a satellite as broadcast, with the values of its record in a RINEX navigation file.
struct BroadcastEphemeris {
  var satellite: RINEXSatellite
  /// The reference time of the clock in the system's own scale: GPS, Galileo or BeiDou time, or UTC for GLONASS.
  var time: GPSTicks
  /// The clock, and then the orbit in the order of the file. Nil is written as blanks.
  var values: [Double?]
  /// The times in GPS time and the issue: two messages with the same identity are the same ephemeris.
  var identity: [Int64]
}

/// The Keplerian elements and the clock of GPS, QZSS, Galileo and BeiDou, in the units of RINEX 3.05.
struct KeplerEphemeris {
  /// Seconds, seconds per second, seconds per square second.
  var clock = SIMD3<Double>()
  var issue = 0.0
  var crs = 0.0
  var meanMotionDifference = 0.0
  var meanAnomaly = 0.0
  var cuc = 0.0
  var eccentricity = 0.0
  var cus = 0.0
  var rootOfSemiMajorAxis = 0.0
  /// Seconds of the system's week.
  var referenceSecond = 0.0
  var cic = 0.0
  var longitudeOfNode = 0.0
  var cis = 0.0
  var inclination = 0.0
  var crc = 0.0
  var argumentOfPerigee = 0.0
  var rateOfNode = 0.0
  var rateOfInclination = 0.0

  /// The value of pi in the interface documents (IS-GPS-200, table 20-IV).
  static let pi = 3.1415926535898

  /// The values of the record: from `signals` on those that differ between the systems.
  ///
  /// - Parameters:
  ///   - signals: codes on L2 or data sources, and the P data flag.
  ///   - week: the week of `referenceSecond`.
  ///   - quality: accuracy in metres, health, and two group delays or the group delay and the issue of the clock.
  ///   - sent: seconds of the week; nil if it is not known.
  func values(
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
  static func accuracy(_ index: Int) -> Double {
    switch index {
    case 1: 2.8
    case 3: 5.7
    case 5: 11.3
    case ...6: Double(1 << (1 + index / 2))
    default: Double(1 << (index - 2))
    }
  }

  /// The accuracy in metres of Galileo's index; negative for none (Galileo OS SIS ICD, section 5.1.12).
  static func galileoAccuracy(_ index: Int) -> Double {
    switch index {
    case ..<50: Double(index) * 0.01
    case ..<75: 0.5 + Double(index - 50) * 0.02
    case ..<100: 1 + Double(index - 75) * 0.04
    case ...125: 2 + Double(index - 100) * 0.16
    default: -1
    }
  }

  /// The hours of a GPS curve fit (IS-GPS-200, table 20-XII).
  static func fitHours(isLong: Bool, clockIssue: Int) -> Double {
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

/// Bits of a navigation message, the most significant first.
struct SubframeBits {
  private let bytes: [UInt8]

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// - Parameter width: the number of the lower bits of each word.
  init(words: [UInt32], width: Int) {
    var bytes = [UInt8](repeating: 0, count: (words.count * width + 7) / 8)
    for (index, word) in words.enumerated() {
      for bit in 0..<width where word >> UInt32(width - 1 - bit) & 1 != 0 {
        let at = index * width + bit
        bytes[at / 8] |= 0x80 >> UInt8(at % 8)
      }
    }
    self.bytes = bytes
  }

  func unsigned(_ at: Int, _ count: Int) -> UInt64 {
    (at..<at + count).reduce(0) { value, bit in
      let isSet = bit / 8 < bytes.count && bytes[bit / 8] & 0x80 >> UInt8(bit % 8) != 0
      return value << 1 | (isSet ? 1 : 0)
    }
  }

  func int(_ at: Int, _ count: Int) -> Int { Int(unsigned(at, count)) }

  /// A number in two's complement.
  func signed(_ at: Int, _ count: Int) -> Double { Self.signed(unsigned(at, count), count) }

  /// A number in two's complement whose upper bits precede the parity of a word, and whose lower bits follow it.
  func signed(_ upper: (at: Int, count: Int), _ lower: (at: Int, count: Int)) -> Double {
    Self.signed(joined(upper, lower), upper.count + lower.count)
  }

  func unsigned(_ upper: (at: Int, count: Int), _ lower: (at: Int, count: Int)) -> Double {
    Double(joined(upper, lower))
  }

  private func joined(_ upper: (at: Int, count: Int), _ lower: (at: Int, count: Int)) -> UInt64 {
    unsigned(upper.at, upper.count) << UInt64(lower.count) | unsigned(lower.at, lower.count)
  }

  private static func signed(_ value: UInt64, _ count: Int) -> Double {
    let spare = UInt64(64 - count)
    return Double(Int64(bitPattern: value << spare) >> Int64(spare))
  }

  /// A number with a sign and a magnitude, as GLONASS has it.
  func magnitude(_ at: Int, _ count: Int) -> Double {
    let value = Double(unsigned(at + 1, count - 1))
    return unsigned(at, 1) != 0 ? -value : value
  }
}
