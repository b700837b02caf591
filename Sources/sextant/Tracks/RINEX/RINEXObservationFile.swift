// SPDX-License-Identifier: Apache-2.0

import GPSD
import RTCM3
import Receiver
import ReceiverStream
import UBX
import WireBytes

/// The data of a station that a recording lacks, for the header of a RINEX file.
package struct RINEXHeader: Sendable {
  package var marker = ""
  package var observer = ""
  package var agency = ""
  /// Replaces the receiver and the antenna of RTCM 3.
  package var receiver: String?
  package var antenna: String?
  /// Of the antenna's reference point above the marker.
  package var antennaHeightMetres = 0.0
  /// The program and its version.
  package var program = "sextant"
  /// The time of the file; nil for none.
  package var created: UTCTime?

  package init() {}
}

/// Writes observations as a RINEX 3.05 observation file (RINEX 3.05, appendix A2 and A3).
package struct RINEXObservationFile {
  private let content: RINEXObservations
  private let header: RINEXHeader
  /// The epochs with observations.
  private let list: [RINEXObservations.Epoch]
  /// The codes of each system, in the order of the file.
  private let signals: [(system: RINEXSatellite.System, signals: [RINEXSignal])]

  package init(_ content: RINEXObservations, _ header: RINEXHeader) {
    (self.content, self.header) = (content, header)
    list = content.epochs.filter { !$0.range.isEmpty }
    var found: [RINEXSatellite.System: Set<RINEXSignal>] = [:]
    for observation in content.observations {
      found[observation.satellite.system, default: []].insert(observation.signal)
    }
    signals = RINEXSatellite.System.allCases.compactMap { system in found[system].map { (system, $0.sorted()) } }
  }

  /// The number of epochs.
  package var epochs: Int { list.count }

  // MARK: Header

  package func writeHeader(_ text: inout JSONLine) {
    func line(_ content: String, _ label: String) { text.put(padded: content, 60, label + "\n") }
    line("     3.05           OBSERVATION DATA    M: Mixed", "RINEX VERSION / TYPE")
    line(RINEXText.field(header.program, 40) + (header.created.map(RINEXText.stamp) ?? ""), "PGM / RUN BY / DATE")
    line(header.marker, "MARKER NAME")
    line(RINEXText.field(header.observer, 20) + header.agency, "OBSERVER / AGENCY")
    let receiver = content.receiver
    let type = header.receiver ?? receiver?.type ?? ""
    let name = RINEXText.field(receiver?.number ?? "", 20) + RINEXText.field(type, 20)
    line(name + (receiver?.version ?? ""), "REC # / TYPE / VERS")
    let antenna = header.antenna ?? content.antenna?.type ?? ""
    line(RINEXText.field(content.antenna?.number ?? "", 20) + antenna, "ANT # / TYPE")
    let position = content.position ?? SIMD3()
    line([position.x, position.y, position.z].map { RINEXText.number($0, 14, 4) }.joined(), "APPROX POSITION XYZ")
    line(
      [header.antennaHeightMetres, 0, 0].map { RINEXText.number($0, 14, 4) }.joined(), "ANTENNA: DELTA H/E/N")
    for (system, signals) in signals {
      let types = signals.flatMap { signal in "CLDS".map { String($0) + signal.text } }
      for start in stride(from: 0, to: types.count, by: 13) {
        let lead = start == 0 ? "\(system.text)  \(RINEXText.integer(types.count, 3))" : "      "
        let part = types[start..<min(start + 13, types.count)].map { " " + $0 }.joined()
        line(lead + part, "SYS / # / OBS TYPES")
      }
    }
    line("DBHZ", "SIGNAL STRENGTH UNIT")
    if let first = list.first, let last = list.last {
      line(RINEXText.date(first.time) + "     GPS", "TIME OF FIRST OBS")
      line(RINEXText.date(last.time) + "     GPS", "TIME OF LAST OBS")
    }
    // Phases are as the receiver sends them: no correction is known, and none is applied.
    for (system, signals) in signals {
      for signal in signals { line("\(system.text) L\(signal.text)", "SYS / PHASE SHIFT") }
    }
    let slots = content.channels.sorted { $0.key < $1.key }
    if signals.contains(where: { $0.system == .glonass }) {
      for start in stride(from: 0, to: max(slots.count, 1), by: 8) {
        let part = slots[min(start, slots.count)..<min(start + 8, slots.count)].map {
          "R" + ($0.key < 10 ? "0" : "") + "\($0.key) " + RINEXText.integer($0.value, 2) + " "
        }
        line((start == 0 ? RINEXText.integer(slots.count, 3) : "   ") + " " + part.joined(), "GLONASS SLOT / FRQ #")
      }
      line(" C1C          C1P          C2C          C2P", "GLONASS COD/PHS/BIS")
    }
    line("", "END OF HEADER")
  }

  // MARK: Epochs

  /// Writes an epoch.
  ///
  /// - Parameter index: 0 up to the number of epochs.
  package func writeEpoch(_ index: Int, _ text: inout JSONLine) {
    let epoch = list[index]
    let observations = content.observations[epoch.range].enumerated().sorted {
      ($0.element.satellite, $0.offset) < ($1.element.satellite, $1.offset)
    }.map(\.element)
    var lines: [(satellite: RINEXSatellite, observations: ArraySlice<RawObservation>)] = []
    var start = 0
    while start < observations.count {
      let end =
        observations[start...].firstIndex { $0.satellite != observations[start].satellite } ?? observations.count
      lines.append((observations[start].satellite, observations[start..<end]))
      start = end
    }
    text.put(text: "> " + RINEXText.epoch(epoch.time) + "  0" + RINEXText.integer(lines.count, 3) + "\n")
    for (satellite, observations) in lines {
      text.put(text: satellite.text)
      let codes = signals.first { $0.system == satellite.system }?.signals ?? []
      // Blanks at the end of a line are left out.
      let last = codes.lastIndex { code in observations.contains { $0.signal == code } } ?? -1
      for code in codes.prefix(last + 1) {
        let observation = observations.last { $0.signal == code }
        text.put(text: Self.value(observation?.pseudorange) + "  ")
        let flags = observation?.lossOfLock ?? 0
        text.put(text: Self.value(observation?.phase) + (flags == 0 ? "  " : "\(flags) "))
        text.put(text: Self.value(observation?.doppler.map(Double.init)) + "  ")
        text.put(text: Self.value(observation?.strength.map(Double.init)) + "  ")
      }
      text.put(text: "\n")
    }
  }

  // MARK: Texts

  private static func value(_ value: Double?) -> String {
    guard let value, value.isFinite, abs(value) < 1e9 else { return String(repeating: " ", count: 14) }
    return RINEXText.number(value, 14, 3)
  }
}

extension RINEXSignal {
  fileprivate var text: String { String(Unicode.Scalar(band)) + String(Unicode.Scalar(attribute)) }
}

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

/// The measurements of one signal at one epoch.
struct RawObservation {
  var satellite: RINEXSatellite
  var signal: RINEXSignal
  /// Metres; nil if it is not valid.
  var pseudorange: Double?
  /// Cycles; nil if it is not valid.
  var phase: Double?
  /// Hz, positive when approaching; nil if it is not sent.
  var doppler: Float?
  /// dBHz; nil if it is not sent.
  var strength: Float?
  /// Bit 0: the lock may have been lost since the last phase. Bit 1: half a cycle is not resolved.
  var lossOfLock: UInt8 = 0
}

/// Loss of lock from one written phase of a signal to the next. A loss while no phase is written belongs to the next phase, and the
/// first phase has no predecessor.
struct PhaseContinuity {
  private struct Key: Hashable {
    var satellite: RINEXSatellite
    var signal: RINEXSignal
  }

  private struct State {
    /// The time or the indicator of lock, which grows while the lock lasts.
    var lock = 0
    var isHalfSubtracted = false
    var isLost = true
  }

  private var states: [Key: State] = [:]

  /// Returns the flags of a phase (RINEX 3.05, section 6.7).
  ///
  /// - Parameters:
  ///   - lock: 0 for no lock since the last epoch.
  ///   - isHalfSubtracted: whether half a cycle is subtracted; a change moves the phase.
  mutating func flags(
    _ observation: RawObservation, lock: Int, isHalfSubtracted: Bool = false, isHalfResolved: Bool
  ) -> UInt8 {
    let key = Key(satellite: observation.satellite, signal: observation.signal)
    var state = states[key] ?? State()
    if lock == 0 || lock < state.lock || isHalfSubtracted != state.isHalfSubtracted { state.isLost = true }
    (state.lock, state.isHalfSubtracted) = (lock, isHalfSubtracted)
    defer { states[key] = state }
    guard observation.phase != nil else { return 0 }
    defer { state.isLost = false }
    return (state.isLost ? 1 : 0) | (isHalfResolved ? 0 : 2)
  }
}
