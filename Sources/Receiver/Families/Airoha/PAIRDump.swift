// SPDX-License-Identifier: Apache-2.0
import WireBytes

/// The contents of Airoha's logger by the lines of PAIR908 in hexadecimal digits (Quectel LC26G(AB)&LC76G&LC86G GNSS Protocol
/// Specification V1.1).
///
///     PAIR908,1,<records>,<size>    PAIR908,2,<time, fix, latitude, longitude, height, speed, heading, HDOP, satellites>    PAIR908,3
enum PAIRDump {
  /// The digits of a record, with or without commas between its fields.
  private static let digits = 44

  /// Reads the lines, which may be those of several dumps of an unchanged memory.
  ///
  /// - Parameter lines: sentences without `$` and checksum, in the order of their arrival.
  static func read(_ lines: [[UInt8]]) -> LoggerDump {
    var count: Int?
    var whole: [BatchedFix?] = []
    var present: [BatchedFix?] = []
    for line in lines {
      let fields = SentenceFields(line)
      guard fields[0] == "PAIR908" else { continue }
      switch fields[1] {
      case "1":
        count = fields[2].flatMap { Int($0) } ?? count
        if present.count > whole.count { whole = present }
        present = []
      case "2": present.append(record((2..<max(fields.count, 2)).compactMap { fields[$0] }.joined()))
      default: break
      }
    }
    if present.count > whole.count { whole = present }
    return LoggerDump(records: whole, isComplete: count.map { $0 == whole.count } ?? false)
  }

  private static func record(_ text: String) -> BatchedFix? {
    guard text.utf8.count == digits, let bytes = [UInt8](hexadecimalDigits: text) else { return nil }
    // The highest byte is first.
    func number(_ at: Int, _ count: Int) -> UInt32 { bytes[at..<at + count].reduce(0) { $0 << 8 | UInt32($1) } }
    let place = { Double(Int32(bitPattern: number($0, 4))) * 1e-7 }
    return BatchedFix(
      logged: number(0, 4), hasFix: bytes[4] != 0 && bytes[4] & 0x40 == 0, latitude: place(5), longitude: place(9),
      height: Double(Int16(truncatingIfNeeded: number(13, 2))), satellites: Int(bytes[21]))
  }
}
