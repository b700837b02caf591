// SPDX-License-Identifier: Apache-2.0
import RTCM3
import Receiver

/// The observations of MSM4 to MSM7 (RTCM 10403.3, tables 3.5-80 to 3.5-86).
struct MSMObservations {
  /// The metres that light travels in a millisecond.
  private static let metresPerMillisecond = 299_792.458

  var header: MSMHeader
  var system: RINEXSatellite.System
  var observations: [RawObservation] = []
  /// The indicators of lock and the flags of half cycles of the observations.
  var locks: [(indicator: Int, isHalfResolved: Bool)] = []
  /// The channels of GLONASS satellites that the message has.
  private(set) var channels: [UInt8: Int] = [:]

  /// Reads a message; nil for another one, and when it is too short.
  ///
  /// - Parameter known: the channels of GLONASS satellites, as MSM4 and MSM6 have none.
  init?(_ frame: RTCM3Frame, channels known: [UInt8: Int]) {
    guard let header = MSMHeader(frame), header.kind >= 4, header.satelliteCount > 0 else { return nil }
    self.header = header
    switch header.system {
    case .gps: system = .gps
    case .glonass: system = .glonass
    case .galileo: system = .galileo
    case .sbas: system = .sbas
    case .qzss: system = .qzss
    case .beiDou: system = .beiDou
    case .navIC: system = .navIC
    }
    let satellites = (0..<64).filter { header.satellites >> UInt64(63 - $0) & 1 != 0 }
    let signals = (0..<32).filter { header.signals >> UInt32(31 - $0) & 1 != 0 }
    let (count, cells) = (satellites.count, header.cellCount)
    let (hasRates, isFine) = (header.kind == 5 || header.kind == 7, header.kind >= 6)
    var bits = BitReader(frame.payload)
    for part in [64, 64, 41, count * signals.count] { _ = bits.unsigned(part) }

    // Satellites.
    let whole = (0..<count).map { _ in bits.int(8) }
    let extended = hasRates ? (0..<count).map { _ in bits.int(4) } : []
    let parts = (0..<count).map { _ in bits.int(10) }
    let rates = hasRates ? (0..<count).map { _ in bits.signed(14) } : []
    // Signals.
    let (rangeBits, phaseBits) = isFine ? (20, 24) : (15, 22)
    let ranges = (0..<cells).map { _ in bits.signed(rangeBits) }
    let phases = (0..<cells).map { _ in bits.signed(phaseBits) }
    let locks = (0..<cells).map { _ in bits.int(isFine ? 10 : 4) }
    let halves = (0..<cells).map { _ in bits.flag() }
    let strengths = (0..<cells).map { _ in bits.int(isFine ? 10 : 6) }
    let fineRates = hasRates ? (0..<cells).map { _ in bits.signed(15) } : []
    if bits.isExhausted { return nil }

    if system == .glonass {
      for index in extended.indices where extended[index] <= 13 {
        channels[UInt8(satellites[index] + 1)] = extended[index] - 7
      }
    }
    let invalidRange = -(Int64(1) << Int64(rangeBits - 1))
    let invalidPhase = -(Int64(1) << Int64(phaseBits - 1))
    let (rangeScale, phaseScale) = isFine ? (0x1p-29, 0x1p-31) : (0x1p-24, 0x1p-29)
    var cell = 0
    for (place, satellite) in satellites.enumerated() {
      let number = system == .sbas ? satellite + 20 : satellite + 1
      for (column, signal) in signals.enumerated() {
        let pair = place * signals.count + column
        guard header.cells >> UInt64(count * signals.count - 1 - pair) & 1 != 0 else { continue }
        defer { cell += 1 }
        guard let code = RINEXSignal(system, msm: signal + 1) else { continue }
        var observation = RawObservation(
          satellite: RINEXSatellite(system: system, number: UInt8(number)), signal: code)
        let channel = channels[UInt8(satellite + 1)] ?? known[UInt8(satellite + 1)]
        let wavelength = code.hertz(system, channel: channel).map { Self.metresPerMillisecond * 1000 / $0 }
        if whole[place] != 255 {
          let rough = Double(whole[place]) + Double(parts[place]) / 1024
          if ranges[cell] != invalidRange {
            observation.pseudorange = (rough + Double(ranges[cell]) * rangeScale) * Self.metresPerMillisecond
          }
          if phases[cell] != invalidPhase, let wavelength {
            observation.phase = (rough + Double(phases[cell]) * phaseScale) * Self.metresPerMillisecond / wavelength
          }
        }
        if hasRates, rates[place] != -8192, fineRates[cell] != -16_384, let wavelength {
          observation.doppler = Float(-(Double(rates[place]) + Double(fineRates[cell]) * 0.0001) / wavelength)
        }
        if strengths[cell] > 0 { observation.strength = Float(strengths[cell]) * (isFine ? 0.0625 : 1) }
        observations.append(observation)
        self.locks.append((locks[cell], !halves[cell]))
      }
    }
  }
}
