// SPDX-License-Identifier: Apache-2.0
import ReceiverStream
import WireBytes

/// Reads the ephemerides of a RINEX navigation file, of version 2, 3 or 4 (RINEX 2.11, table A4; 3.05, appendix A5 to A14; 4.00,
/// section 5): GPS, Galileo, BeiDou and GLONASS. Other records, also CNAV, are skipped.
package struct RINEXNavigationReader {
  /// A line is shorter.
  private static let longestLine = 512

  private let lines: [[UInt8]]
  private var index = 0
  private let version: Int
  /// The system of version 2, which has none in its records.
  private let onlySystem: RINEXSatellite.System
  /// The number of records with a missing or malformed number or date.
  package private(set) var unreadable = 0

  /// - Parameter bytes: the file; nil if its first line does not begin a RINEX navigation file, or its header has no end.
  package init?(_ bytes: RawSpan) {
    var lines: [[UInt8]] = []
    var line: [UInt8] = []
    for offset in 0..<bytes.byteCount {
      let byte = bytes.u1(offset)
      if byte == UInt8(ascii: "\n") {
        lines.append(line)
        line = []
      } else if byte != UInt8(ascii: "\r"), line.count < Self.longestLine {
        line.append(byte)
      }
    }
    if !line.isEmpty { lines.append(line) }
    guard let first = lines.first, Self.label(first) == "RINEX VERSION / TYPE", first.count > 20,
      let version = Self.number(first[0..<9]), (2.0..<5).contains(version)
    else { return nil }
    let type = first[20]
    let isNavigation = type == UInt8(ascii: "N") || version < 3 && type == UInt8(ascii: "G")
    guard isNavigation, let end = lines.firstIndex(where: { Self.label($0) == "END OF HEADER" }) else { return nil }
    self.version = version < 3 ? 2 : version < 4 ? 3 : 4
    onlySystem = type == UInt8(ascii: "G") ? .glonass : .gps
    self.lines = lines
    index = end + 1
  }

  private static func label(_ line: [UInt8]) -> String {
    guard line.count > 60 else { return "" }
    return String(decoding: line[60..<min(80, line.count)], as: UTF8.self).trimmed
  }

  /// The next ephemeris; nil at the end of the file.
  package mutating func next() -> BroadcastEphemeris? {
    while index < lines.count {
      let head = lines[index]
      index += 1
      // Version 4 names the message before each record.
      if version == 4, head.first == UInt8(ascii: ">") {
        if !Self.isUsedMessage(head) { skipRecord() }
        continue
      }
      guard isStart(head) else { continue }
      var rest: [[UInt8]] = []
      while index < lines.count, isContinuation(lines[index]) {
        rest.append(lines[index])
        index += 1
      }
      if let ephemeris = record(head, rest) { return ephemeris }
    }
    return nil
  }

  private mutating func skipRecord() {
    while index < lines.count, lines[index].first != UInt8(ascii: ">") { index += 1 }
  }

  /// Whether a record of version 4 has the form of version 3: `> EPH G01 LNAV`.
  private static func isUsedMessage(_ line: [UInt8]) -> Bool {
    let words = line.split(separator: UInt8(ascii: " ")).map { String(decoding: $0, as: UTF8.self) }
    return words.count == 4 && words[1] == "EPH" && ["LNAV", "INAV", "FNAV", "FDMA", "D1", "D2"].contains(words[3])
  }

  /// The number of blanks before the numbers of a continuation line.
  private var indent: Int { version == 2 ? 3 : 4 }

  private func isContinuation(_ line: [UInt8]) -> Bool {
    line.count > indent && line[..<indent].allSatisfy { $0 == UInt8(ascii: " ") }
  }

  private func isStart(_ line: [UInt8]) -> Bool { line.count >= 60 && !isContinuation(line) }

  private mutating func record(_ head: [UInt8], _ rest: [[UInt8]]) -> BroadcastEphemeris? {
    let system: RINEXSatellite.System
    if version == 2 {
      system = onlySystem
    } else {
      guard let found = head.first.flatMap({ RINEXSatellite.System(character: $0) }) else {
        unreadable += 1
        return nil
      }
      system = found
    }
    guard AssistanceEphemeris.identities[system] != nil else { return nil }
    guard let number = Self.number(head[(version == 2 ? 0 : 1)..<(version == 2 ? 2 : 3)]), (1..<100).contains(number),
      let time = time(head)
    else {
      unreadable += 1
      return nil
    }
    // The numbers have 19 columns.
    let clockAt = version == 2 ? 22 : 23
    var values = (0..<3).map { Self.value(head, at: clockAt + 19 * $0) }
    for line in rest { values += (0..<4).map { Self.value(line, at: indent + 19 * $0) } }
    let isMalformed = values.contains { if case .malformed = $0 { true } else { false } }
    // GLONASS has three lines after the first, since 3.05 four; the others have seven.
    guard !isMalformed, rest.count >= (system == .glonass ? 3 : 7) else {
      unreadable += 1
      return nil
    }
    return BroadcastEphemeris(
      satellite: RINEXSatellite(system: system, number: UInt8(clamping: Int64(clamping: number))), time: time,
      values: values.map { if case .number(let value) = $0 { value } else { nil } }, identity: [time.count])
  }

  /// The reference time of the clock, in the scale of the system.
  private func time(_ head: [UInt8]) -> GPSTicks? {
    let columns: [Range<Int>] =
      version == 2
      ? [3..<5, 6..<8, 9..<11, 12..<14, 15..<17, 17..<22] : [4..<8, 9..<11, 12..<14, 15..<17, 18..<20, 21..<23]
    let numbers = columns.compactMap { Self.number(head[$0]).map { Int64(clamping: $0) } }
    guard numbers.count == 6 else { return nil }
    // Years of two digits are from 1980 on.
    let year = version > 2 ? numbers[0] : numbers[0] + (numbers[0] < 80 ? 2000 : 1900)
    guard (1980..<2100).contains(year), (0..<24).contains(numbers[3]), (0..<60).contains(numbers[4]),
      (0..<60).contains(numbers[5]),
      let day = Day(year: Int(year), month: Int(clamping: numbers[1]), day: Int(clamping: numbers[2]))
    else { return nil }
    let second = numbers[3] * 3600 + numbers[4] * 60 + numbers[5]
    let days = Int64(day.since1970 - Day.gpsEpoch.since1970)
    guard days >= 0 else { return nil }
    return GPSTicks(count: (days * 86_400 + second) * GPSTicks.second)
  }

  private enum Value { case number(Double), absent, malformed }

  private static func value(_ line: [UInt8], at start: Int) -> Value {
    guard line.count > start else { return .absent }
    let field = line[start..<min(start + 19, line.count)]
    if field.allSatisfy({ $0 == UInt8(ascii: " ") }) { return .absent }
    return number(field).map { .number($0) } ?? .malformed
  }

  /// A decimal number, whose exponent may begin with D.
  private static func number(_ field: ArraySlice<UInt8>) -> Double? {
    var text = ""
    for byte in field {
      switch byte {
      case UInt8(ascii: " "): continue
      case UInt8(ascii: "D"), UInt8(ascii: "d"), UInt8(ascii: "E"), UInt8(ascii: "e"): text.append("e")
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "+"):
        text.unicodeScalars.append(Unicode.Scalar(byte))
      default: return nil
      }
    }
    guard let value = Double(text), value.isFinite else { return nil }
    return value
  }
}

extension String {
  /// The text without blanks at its ends.
  fileprivate var trimmed: String {
    String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
  }
}
