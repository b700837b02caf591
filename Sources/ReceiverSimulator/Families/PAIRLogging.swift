// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// Airoha's logger LOCUS: its settings and its records (Quectel LC26G(AB)&LC76G&LC86G GNSS Protocol Specification).
struct PAIRLogging: Sendable {
  var isOn = false
  /// Bits: 0 each fix, 1 time, 2 speed, 3 distance, 4 before sleep, 5 command.
  var mode = 2
  var needs3D = 1
  /// Seconds, m/s and metres.
  var thresholds = [15, 1, 10]
  private(set) var records: [String] = []
  private var last: Int64?

  /// The number of records when it was switched on.
  private var kept = 0

  mutating func start() { (isOn, last, kept) = (true, nil, records.count) }
  /// The receiver starts anew: records of a logger that was not switched off before are lost.
  mutating func lose() {
    if isOn { records.removeLast(records.count - min(kept, records.count)) }
    isOn = false
  }
  mutating func clear() { records = [] }
  mutating func restoreDefaults() { (mode, needs3D, thresholds) = (2, 1, [15, 1, 10]) }

  /// Adds a record if one is due. Distance and speed do not trigger one in the simulation.
  mutating func record(_ solution: Solution, byCommand: Bool = false) {
    let seconds = solution.utcMilliseconds / 1000
    let isDue = mode & 1 != 0 || (mode & 2 != 0 && last.map { seconds - $0 >= Int64(thresholds[0]) } ?? true)
    guard solution.hasFix, isOn, byCommand || isDue else { return }
    last = seconds
    records.append(Self.text(solution, seconds))
  }

  /// UTC, fix, latitude and longitude in 1e-7 degrees, height, speed, 0.01 degrees of heading, 0.01 of HDOP, satellites.
  private static func text(_ solution: Solution, _ seconds: Int64) -> String {
    let places = [solution.latitudeDegrees, solution.longitudeDegrees].map { Int32(nearest: $0 * 1e7) }
    return [
      digits(UInt32(truncatingIfNeeded: seconds)), digits(UInt8(1)), digits(places[0]), digits(places[1]),
      digits(Int16(nearest: solution.altitudeMetres)), digits(UInt16(nearest: solution.speed)),
      digits(UInt16(nearest: degreesOfCourse(solution) * 100)), digits(UInt16(nearest: solution.hdop * 100)),
      digits(UInt8(clamping: solution.used)),
    ].joined(separator: ",")
  }

  /// The digits of a number, the highest first.
  private static func digits(_ number: some FixedWidthInteger) -> String {
    bytes(number).reversed().map(hexadecimal).joined()
  }
}

extension VirtualReceiver {
  /// PAIR900 to PAIR909.
  mutating func logPAIR(_ command: Int, _ fields: FamilyFields) {
    guard let log = family?.logging else { return }
    switch command {
    case 900:
      guard let wanted = fields.number(0), 0...1 ~= wanted else { return acknowledgePAIR(command, 4) }
      guard log.isOn != (wanted == 1) else { return acknowledgePAIR(command, 2) }
      if wanted == 1 { family?.logging.start() } else { family?.logging.isOn = false }
    case 901: return query(command, "PAIR901,\(log.isOn ? 1 : 0)")
    case 902:
      guard let mode = Int(fields[0], radix: 16), 0...63 ~= mode, let check = fields.number(1), 0...1 ~= check else {
        return acknowledgePAIR(command, 4)
      }
      guard !log.isOn else { return acknowledgePAIR(command, 2) }
      family?.logging.mode = mode
      family?.logging.needs3D = check
    case 903: return query(command, "PAIR903,\(String(log.mode, radix: 16)),\(log.needs3D)")
    case 904:
      let limits = [1...43_200, 1...100, 1...50_000]
      guard let kind = fields.number(0), limits.indices ~= kind, let value = fields.number(1), limits[kind] ~= value
      else { return acknowledgePAIR(command, 4) }
      guard !log.isOn else { return acknowledgePAIR(command, 2) }
      family?.logging.thresholds[kind] = value
    case 905:
      guard let kind = fields.number(0), 0...2 ~= kind else { return acknowledgePAIR(command, 4) }
      return query(command, "PAIR905,\(log.thresholds[kind])")
    case 906:
      guard let kind = fields.number(0), 0...2 ~= kind else { return acknowledgePAIR(command, 4) }
      if kind != 2 { family?.logging.clear() }
      if kind != 1 { family?.logging.restoreDefaults() }
    case 907:
      guard log.isOn, log.mode & 32 != 0, solution.hasFix else { return acknowledgePAIR(command, 2) }
      family?.logging.record(solution, byCommand: true)
    case 908: return sendLogPAIR(fields)
    default: return query(command, "PAIR909,\(log.records.count)")
    }
    acknowledgePAIR(command, 0)
  }

  /// The acknowledgement comes after the data.
  private mutating func sendLogPAIR(_ fields: FamilyFields) {
    guard let log = family?.logging, fields[0] == "1" else { return acknowledgePAIR(908, 4) }
    guard !log.isOn else { return acknowledgePAIR(908, 2) }
    // A record has 22 bytes.
    let lines = ["PAIR908,1,\(log.records.count),22"] + log.records.map { "PAIR908,2,\($0)" }
    for line in lines + ["PAIR908,3", "PAIR001,908,0"] {
      if let bytes = family?.altered(framed(line)) { spool.append(.frame(bytes)) }
    }
  }
}
