// SPDX-License-Identifier: Apache-2.0
import GPSD
import Receiver
import ReceiverStream

/// What a recording does not tell of a station, for the header of a RINEX file.
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
