// SPDX-License-Identifier: Apache-2.0

import RTCM3
import Receiver
import ReceiverStream
import UBX
import WireBytes

/// Joins the subframes, strings and pages of UBX-RXM-SFRBX to ephemerides: GPS and QZSS LNAV (IS-GPS-200, section 20.3.3), GLONASS
/// strings (GLONASS ICD L1/L2, section 4), Galileo I/NAV (Galileo OS SIS ICD, section 4.3), BeiDou D1 (BDS-SIS-ICD B1I, section 5.2).
/// The receiver sends only those whose parity is right; bits of parity are in the words.
struct SubframeCollector {
  private struct Key: Hashable {
    var satellite: RINEXSatellite
    var signal: UInt8
  }

  /// The parts by their number, of one satellite's signal.
  private var parts: [Key: [Int: SubframeBits]] = [:]

  /// Returns the ephemeris that a message completes.
  mutating func receive(_ message: borrowing RxmSFRBX, near reference: GPSTicks?) -> BroadcastEphemeris? {
    guard let satellite = RINEXSatellite(gnssId: message.gnssId, svId: message.svId) else { return nil }
    var words: [UInt32] = []
    for index in 0..<message.wordCount { words.append(message.word(index).dwrd) }
    let key = Key(satellite: satellite, signal: message.sigId)
    switch (message.gnssId, message.sigId) {
    case (0, 0) where words.count >= 10, (5, 0) where words.count >= 10: return lnav(key, words, near: reference)
    case (2, 1) where words.count >= 8, (2, 5) where words.count >= 8: return inav(key, words)
    // The satellites 1 to 5 and from 59 on are geostationary and have D2.
    case (3, 0) where words.count >= 10 && 6...58 ~= satellite.number: return d1(key, words)
    case (6, 0) where words.count >= 4, (6, 2) where words.count >= 4:
      return glonass(key, words, channel: Int(message.freqId) - 7, near: reference)
    default: return nil
    }
  }

  // MARK: GPS

  private mutating func lnav(_ key: Key, _ words: [UInt32], near reference: GPSTicks?) -> BroadcastEphemeris? {
    // 24 bits of data of each word precede 6 bits of parity.
    let bits = SubframeBits(words: words.prefix(10).map { $0 >> 6 & 0xFF_FFFF }, width: 24)
    guard bits.unsigned(0, 8) == 0x8B else { return nil }
    let number = bits.int(43, 3)
    guard 1...3 ~= number else { return nil }
    parts[key, default: [:]][number] = bits
    guard let found = parts[key], let first = found[1], let second = found[2], let third = found[3] else { return nil }
    return Self.lnav(key.satellite, first, second, third, near: reference)
  }

  /// Reads subframes 1 to 3, of 24 bits a word; nil unless they are of one issue.
  static func lnav(
    _ satellite: RINEXSatellite, _ first: SubframeBits, _ second: SubframeBits, _ third: SubframeBits,
    near reference: GPSTicks?
  ) -> BroadcastEphemeris? {
    let clockIssue = first.int(70, 2) << 8 | first.int(168, 8)
    let issue = second.int(48, 8)
    guard issue == third.int(216, 8), issue == clockIssue & 0xFF else { return nil }
    let pi = KeplerEphemeris.pi
    var orbit = KeplerEphemeris()
    orbit.clock = SIMD3(
      first.signed(216, 22) * 0x1p-31, first.signed(200, 16) * 0x1p-43, first.signed(192, 8) * 0x1p-55)
    orbit.issue = Double(issue)
    orbit.crs = second.signed(56, 16) * 0x1p-5
    orbit.meanMotionDifference = second.signed(72, 16) * 0x1p-43 * pi
    orbit.meanAnomaly = second.signed(88, 32) * 0x1p-31 * pi
    orbit.cuc = second.signed(120, 16) * 0x1p-29
    orbit.eccentricity = Double(second.unsigned(136, 32)) * 0x1p-33
    orbit.cus = second.signed(168, 16) * 0x1p-29
    orbit.rootOfSemiMajorAxis = Double(second.unsigned(184, 32)) * 0x1p-19
    orbit.referenceSecond = Double(second.int(216, 16) * 16)
    orbit.cic = third.signed(48, 16) * 0x1p-29
    orbit.longitudeOfNode = third.signed(64, 32) * 0x1p-31 * pi
    orbit.cis = third.signed(96, 16) * 0x1p-29
    orbit.inclination = third.signed(112, 32) * 0x1p-31 * pi
    orbit.crc = third.signed(144, 16) * 0x1p-5
    orbit.argumentOfPerigee = third.signed(160, 32) * 0x1p-31 * pi
    orbit.rateOfNode = third.signed(192, 24) * 0x1p-43 * pi
    orbit.rateOfInclination = third.signed(224, 14) * 0x1p-43 * pi
    return BroadcastEphemeris.gps(
      Int(satellite.number), orbit, system: satellite.system, week: first.int(48, 10),
      clockSecond: first.int(176, 16) * 16, signals: (first.int(58, 2), first.int(72, 1) != 0),
      accuracy: first.int(60, 4), health: first.int(64, 6), delay: first.signed(160, 8) * 0x1p-31,
      clockIssue: clockIssue, isLong: second.int(232, 1) != 0,
      // The count of the hand-over word has units of 6 s.
      sent: Double(first.int(24, 17) * 6), near: reference)
  }

  /// The ephemeris of UBX-AID-EPH, whose words have only their 24 bits of data.
  static func aidEPH(_ message: borrowing AidEPH, near reference: GPSTicks?) -> BroadcastEphemeris? {
    guard 1...32 ~= message.svid, message.how != 0 else { return nil }
    // The telemetry word is not in the message.
    let head = [0x8B_0000, message.how & 0xFF_FFFF]
    var subframes = [head, head, head]
    for index in 0..<8 {
      guard let first = message.sf1d(index), let second = message.sf2d(index), let third = message.sf3d(index) else {
        return nil
      }
      subframes[0].append(first & 0xFF_FFFF)
      subframes[1].append(second & 0xFF_FFFF)
      subframes[2].append(third & 0xFF_FFFF)
    }
    let bits = subframes.map { SubframeBits(words: $0, width: 24) }
    return lnav(
      RINEXSatellite(system: .gps, number: UInt8(clamping: message.svid)), bits[0], bits[1], bits[2], near: reference)
  }

  // MARK: GLONASS

  private mutating func glonass(
    _ key: Key, _ words: [UInt32], channel: Int, near reference: GPSTicks?
  ) -> BroadcastEphemeris? {
    let bits = SubframeBits(words: Array(words.prefix(4)), width: 32)
    let number = bits.int(1, 4)
    guard 1...4 ~= number else {
      parts[key] = nil
      return nil
    }
    // Strings of one frame come one after the other.
    if number == 1 { parts[key] = [:] }
    guard parts[key]?.count == number - 1 else {
      parts[key] = nil
      return nil
    }
    parts[key]?[number] = bits
    guard number == 4, let found = parts[key], let first = found[1], let second = found[2], let third = found[3] else {
      return nil
    }
    var orbit = GLONASSEphemeris()
    orbit.channel = channel
    orbit.frameSecond = first.int(9, 5) * 3600 + first.int(14, 6) * 60 + first.int(20, 1) * 30
    // The upper bit of three marks a satellite that is not to be used.
    orbit.isUnhealthy = second.int(5, 1) != 0
    orbit.referenceSecond = second.int(9, 7) * 900
    orbit.frequencyBias = third.magnitude(6, 11) * 0x1p-40
    // Each of the first three strings ends with an axis.
    for (axis, string) in [first, second, third].enumerated() {
      orbit.velocity[axis] = string.magnitude(21, 24) * 0x1p-20
      orbit.acceleration[axis] = string.magnitude(45, 5) * 0x1p-30
      orbit.position[axis] = string.magnitude(50, 27) * 0x1p-11
    }
    orbit.clockBias = bits.magnitude(5, 22) * 0x1p-30
    orbit.delayDifference = bits.magnitude(27, 5) * 0x1p-30
    orbit.age = bits.int(32, 5)
    orbit.accuracyIndex = bits.int(52, 4)
    let slot = bits.int(70, 5)
    // The message of another satellite.
    guard slot == Int(key.satellite.number) else { return nil }
    return orbit.ephemeris(slot: slot, near: reference)
  }

  // MARK: Galileo

  private mutating func inav(_ key: Key, _ words: [UInt32]) -> BroadcastEphemeris? {
    // The even and the odd part of a page have 120 bits each, in four words.
    let even = SubframeBits(words: Array(words[0..<4]), width: 32)
    let odd = SubframeBits(words: Array(words[4..<8]), width: 32)
    // Part, and alert pages, which have no ephemeris.
    guard even.int(0, 2) == 0, odd.int(0, 2) == 0b10 else { return nil }
    let type = even.int(2, 6)
    guard 1...5 ~= type else { return nil }
    // 112 bits of data in the even part, and 16 in the odd one.
    let data = SubframeBits(
      (0..<14).map { UInt8(even.int(2 + 8 * $0, 8)) } + (0..<2).map { UInt8(odd.int(2 + 8 * $0, 8)) })
    parts[key, default: [:]][type] = data
    guard let found = parts[key], let first = found[1], let second = found[2], let third = found[3],
      let fourth = found[4], let fifth = found[5]
    else { return nil }
    let issue = first.int(6, 10)
    guard [second, third, fourth].allSatisfy({ $0.int(6, 10) == issue }), fourth.int(16, 6) == key.satellite.number
    else { return nil }
    let pi = KeplerEphemeris.pi
    var orbit = KeplerEphemeris()
    orbit.issue = Double(issue)
    orbit.referenceSecond = Double(first.int(16, 14) * 60)
    orbit.meanAnomaly = first.signed(30, 32) * 0x1p-31 * pi
    orbit.eccentricity = Double(first.unsigned(62, 32)) * 0x1p-33
    orbit.rootOfSemiMajorAxis = Double(first.unsigned(94, 32)) * 0x1p-19
    orbit.longitudeOfNode = second.signed(16, 32) * 0x1p-31 * pi
    orbit.inclination = second.signed(48, 32) * 0x1p-31 * pi
    orbit.argumentOfPerigee = second.signed(80, 32) * 0x1p-31 * pi
    orbit.rateOfInclination = second.signed(112, 14) * 0x1p-43 * pi
    orbit.rateOfNode = third.signed(16, 24) * 0x1p-43 * pi
    orbit.meanMotionDifference = third.signed(40, 16) * 0x1p-43 * pi
    orbit.cuc = third.signed(56, 16) * 0x1p-29
    orbit.cus = third.signed(72, 16) * 0x1p-29
    orbit.crc = third.signed(88, 16) * 0x1p-5
    orbit.crs = third.signed(104, 16) * 0x1p-5
    orbit.cic = fourth.signed(22, 16) * 0x1p-29
    orbit.cis = fourth.signed(38, 16) * 0x1p-29
    orbit.clock = SIMD3(
      fourth.signed(68, 31) * 0x1p-34, fourth.signed(99, 21) * 0x1p-46, fourth.signed(120, 6) * 0x1p-59)
    return BroadcastEphemeris.galileo(
      Int(key.satellite.number), orbit, week: fifth.int(73, 12), clockSecond: fourth.int(54, 14) * 60,
      accuracy: third.int(120, 8),
      health: fifth.int(67, 2) << 7 | fifth.int(71, 1) << 6 | fifth.int(69, 2) << 1 | fifth.int(72, 1),
      delays: (fifth.signed(47, 10) * 0x1p-32, fifth.signed(57, 10) * 0x1p-32),
      // The signal of the message, and the clock for E5b and E1.
      source: (key.signal == 1 ? 1 : 4) | 512, sent: Double(fifth.int(85, 20)))
  }

  // MARK: BeiDou

  private mutating func d1(_ key: Key, _ words: [UInt32]) -> BroadcastEphemeris? {
    let bits = SubframeBits(words: words.prefix(10).map { $0 & 0x3FFF_FFFF }, width: 30)
    guard bits.unsigned(0, 11) == 0x712 else { return nil }
    let number = bits.int(15, 3)
    guard 1...3 ~= number else { return nil }
    parts[key, default: [:]][number] = bits
    guard let found = parts[key], let first = found[1], let second = found[2], let third = found[3] else { return nil }
    // The subframes of a frame are 6 s apart.
    let sent = [first, second, third].map { Int(clamping: $0.unsigned((18, 8), (30, 12))) }
    guard sent[1] == sent[0] + 6, sent[2] == sent[1] + 6 else { return nil }
    let pi = KeplerEphemeris.pi
    var orbit = KeplerEphemeris()
    orbit.clock = SIMD3(
      first.signed((225, 7), (240, 17)) * 0x1p-33, first.signed((257, 5), (270, 17)) * 0x1p-50,
      first.signed(214, 11) * 0x1p-66)
    orbit.issue = Double(first.int(287, 5))
    orbit.meanMotionDifference = second.signed((42, 10), (60, 6)) * 0x1p-43 * pi
    orbit.cuc = second.signed((66, 16), (90, 2)) * 0x1p-31
    orbit.meanAnomaly = second.signed((92, 20), (120, 12)) * 0x1p-31 * pi
    orbit.eccentricity = second.unsigned((132, 10), (150, 22)) * 0x1p-33
    orbit.cus = second.signed(180, 18) * 0x1p-31
    orbit.crc = second.signed((198, 4), (210, 14)) * 0x1p-6
    orbit.crs = second.signed((224, 8), (240, 10)) * 0x1p-6
    orbit.rootOfSemiMajorAxis = second.unsigned((250, 12), (270, 20)) * 0x1p-19
    // The upper two of 17 bits are in subframe 2, the others in two words of subframe 3.
    let upper = second.unsigned(290, 2) << 15
    orbit.referenceSecond = (Double(upper) + third.unsigned((42, 10), (60, 5))) * 8
    orbit.inclination = third.signed((65, 17), (90, 15)) * 0x1p-31 * pi
    orbit.cic = third.signed((105, 7), (120, 11)) * 0x1p-31
    orbit.rateOfNode = third.signed((131, 11), (150, 13)) * 0x1p-43 * pi
    orbit.cis = third.signed((163, 9), (180, 9)) * 0x1p-31
    orbit.rateOfInclination = third.signed((189, 13), (210, 1)) * 0x1p-43 * pi
    orbit.longitudeOfNode = third.signed((211, 21), (240, 11)) * 0x1p-31 * pi
    orbit.argumentOfPerigee = third.signed((251, 11), (270, 21)) * 0x1p-31 * pi
    return BroadcastEphemeris.beiDou(
      Int(key.satellite.number), orbit, week: first.int(60, 13),
      clockSecond: Int(clamping: first.unsigned((73, 9), (90, 8))) * 8, accuracy: first.int(48, 4),
      health: first.int(42, 1),
      delays: (first.signed(98, 10) * 1e-10, first.signed((108, 4), (120, 6)) * 1e-10), clockIssue: first.int(43, 5),
      sent: Double(sent[0]))
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
