// SPDX-License-Identifier: Apache-2.0
import GPSDJSON
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
    func field(_ value: String, _ width: Int) -> String {
      let value = value.prefix(width)
      return value + String(repeating: " ", count: width - value.count)
    }
    line("     3.05           OBSERVATION DATA    M: Mixed", "RINEX VERSION / TYPE")
    line(field(header.program, 40) + (header.created.map(Self.stamp) ?? ""), "PGM / RUN BY / DATE")
    line(header.marker, "MARKER NAME")
    line(field(header.observer, 20) + header.agency, "OBSERVER / AGENCY")
    let receiver = content.receiver
    let type = header.receiver ?? receiver?.type ?? ""
    line(field(receiver?.number ?? "", 20) + field(type, 20) + (receiver?.version ?? ""), "REC # / TYPE / VERS")
    line(field(content.antenna?.number ?? "", 20) + (header.antenna ?? content.antenna?.type ?? ""), "ANT # / TYPE")
    let position = content.position ?? SIMD3()
    line([position.x, position.y, position.z].map { Self.number($0, 14, 4) }.joined(), "APPROX POSITION XYZ")
    line(
      [header.antennaHeightMetres, 0, 0].map { Self.number($0, 14, 4) }.joined(), "ANTENNA: DELTA H/E/N")
    for (system, signals) in signals {
      let types = signals.flatMap { signal in "CLDS".map { String($0) + signal.text } }
      for start in stride(from: 0, to: types.count, by: 13) {
        let lead = start == 0 ? "\(system.text)  \(Self.integer(types.count, 3))" : "      "
        let part = types[start..<min(start + 13, types.count)].map { " " + $0 }.joined()
        line(lead + part, "SYS / # / OBS TYPES")
      }
    }
    line("DBHZ", "SIGNAL STRENGTH UNIT")
    if let first = list.first, let last = list.last {
      line(Self.date(first.time) + "     GPS", "TIME OF FIRST OBS")
      line(Self.date(last.time) + "     GPS", "TIME OF LAST OBS")
    }
    // Phases are as the receiver sends them: no correction is known, and none is applied.
    for (system, signals) in signals {
      for signal in signals { line("\(system.text) L\(signal.text)", "SYS / PHASE SHIFT") }
    }
    let slots = content.channels.sorted { $0.key < $1.key }
    if signals.contains(where: { $0.system == .glonass }) {
      for start in stride(from: 0, to: max(slots.count, 1), by: 8) {
        let part = slots[min(start, slots.count)..<min(start + 8, slots.count)].map {
          "R" + ($0.key < 10 ? "0" : "") + "\($0.key) " + Self.integer($0.value, 2) + " "
        }
        line((start == 0 ? Self.integer(slots.count, 3) : "   ") + " " + part.joined(), "GLONASS SLOT / FRQ #")
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
    text.put(text: "> " + Self.epoch(epoch.time) + "  0" + Self.integer(lines.count, 3) + "\n")
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
    return number(value, 14, 3)
  }

  /// A number with digits behind the point, right-aligned. The value must be below 1e11.
  private static func number(_ value: Double, _ width: Int, _ digits: Int) -> String {
    let scale = digits == 3 ? 1000.0 : 10_000
    let scaled = Int64(clamping: (value * scale).rounded())
    let (whole, rest) = scaled.magnitude.quotientAndRemainder(dividingBy: digits == 3 ? 1000 : 10_000)
    var fraction = "\(rest)"
    while fraction.count < digits { fraction = "0" + fraction }
    return aligned((scaled < 0 ? "-" : "") + "\(whole).\(fraction)", width)
  }

  private static func integer(_ value: Int, _ width: Int) -> String { aligned("\(value)", width) }

  private static func aligned(_ text: String, _ width: Int) -> String {
    String(repeating: " ", count: max(0, width - text.utf8.count)) + text
  }

  private static func two(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }

  private static func parts(_ time: GPSTicks) -> (date: [Int], seconds: (Int, Int)) {
    let (day, ticks) = time.date
    let (year, month, dayOfMonth) = day.components
    let second = Int(ticks / GPSTicks.second)
    return (
      [year, month, dayOfMonth, second / 3600, second / 60 % 60], (second % 60, Int(ticks % GPSTicks.second))
    )
  }

  private static func fraction(_ ticks: Int) -> String {
    let text = "\(ticks)"
    return String(repeating: "0", count: 7 - text.utf8.count) + text
  }

  private static func epoch(_ time: GPSTicks) -> String {
    let (date, seconds) = parts(time)
    return "\(date[0]) " + date[1...].map(two).joined(separator: " ") + " " + two(seconds.0) + "."
      + fraction(seconds.1)
  }

  private static func date(_ time: GPSTicks) -> String {
    let (date, seconds) = parts(time)
    return date.map { integer($0, 6) }.joined() + integer(seconds.0, 5) + "." + fraction(seconds.1)
  }

  /// The time of the file: `20261128 155937 UTC`.
  private static func stamp(_ time: UTCTime) -> String {
    let (year, month, day) = time.day.components
    let second = Int(time.nanosecondsOfDay / 1_000_000_000)
    return "\(year)\(two(month))\(two(day)) \(two(second / 3600))\(two(second / 60 % 60))\(two(second % 60)) UTC"
  }
}

extension RINEXSatellite {
  fileprivate var text: String { system.text + (number < 10 ? "0" : "") + "\(number)" }
}

extension RINEXSatellite.System {
  fileprivate var text: String { String(Unicode.Scalar(character)) }
}

extension RINEXSignal {
  fileprivate var text: String { String(Unicode.Scalar(band)) + String(Unicode.Scalar(attribute)) }
}

extension JSONLine {
  fileprivate mutating func put(text: String) { for byte in text.utf8 { put(raw: byte) } }

  /// Writes text that is cut or filled up to a width, and an end.
  fileprivate mutating func put(padded text: String, _ width: Int, _ end: String) {
    let text = text.prefix(width)
    put(text: text + String(repeating: " ", count: width - text.count) + end)
  }
}
