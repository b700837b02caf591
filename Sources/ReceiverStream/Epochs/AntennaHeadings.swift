// SPDX-License-Identifier: Apache-2.0
import NMEA
import WireBytes

// The headings of two antennas on one vehicle. They are used with a carrier solution between the antennas, or a
// solution of the receiver's sensors, and for the epoch of their time.
extension EpochAssembler {
  /// Handles a manufacturer's sentence with a heading. Other sentences are ignored.
  @inline(never)
  mutating func receiveAntennaHeading(
    _ sentence: NMEA.Sentence, _ id: UInt64, _ body: (borrowing Report, borrowing Sky) -> Void
  ) {
    #if SMALL_CODE
      // Excluded on microcontrollers, which have little flash and rarely a receiver with two antennas.
    #else
      switch sentence.formatter {
      case HPR.formatter where !sentence.isProprietary:
        let content = sentence.decode(HPR.self, rejected: &rejectedFields)
        guard let quality = content.quality, quality >= 4, quality <= 6 else { return }
        add(content.heading, at: content.time, id, body)
      case PQTMTAR.formatter where sentence.hasAddress("PQTMTAR"):
        let content = sentence.decode(PQTMTAR.self, rejected: &rejectedFields)
        guard let quality = content.quality, quality >= 4, quality <= 6 else { return }
        add(content.heading, content.headingAccuracy, at: content.time, id, body)
      case PSTI036.formatter where sentence.messageNumber == 36:
        let content = sentence.decode(PSTI036.self, rejected: &rejectedFields)
        guard
          content.mode == UInt8(ascii: "R") || content.mode == UInt8(ascii: "F") || content.mode == UInt8(ascii: "E")
        else { return }
        add(content.heading, at: content.time, id, body)
      case PTNLAVR.formatter where sentence.hasFirstField("AVR"):
        let content = sentence.decode(PTNLAVR.self, rejected: &rejectedFields)
        guard content.quality == 2 || content.quality == 3 else { return }
        add(content.yaw, at: content.time, id, body)
      case PSSNHRP.formatter where sentence.hasFirstField("HRP"):
        let content = sentence.decode(PSSNHRP.self, rejected: &rejectedFields)
        guard let mode = content.mode, mode >= 1, mode <= 4 else { return }
        add(content.heading, content.headingDeviation, at: content.time, id, body)
      case KSXT.formatter where sentence.hasAddress("KSXT"):
        let content = sentence.decode(KSXT.self, rejected: &rejectedFields)
        guard let quality = content.headingQuality, quality >= 2, let time = content.time else { return }
        add(content.heading, at: Self.timeOfDay(sentence.text(time)), id, body)
      case UNIHEADINGA.formatter where sentence.hasAddress("UNIHEADINGA"):
        let content = sentence.decode(UNIHEADINGA.self, rejected: &rejectedFields)
        guard let solution = content.solution, sentence.text(solution).ends(with: "SOL_COMPUTED"),
          Self.isCarrier(content.type),
          let milliseconds = content.milliseconds?.value, milliseconds >= 0, milliseconds < 604_800_000
        else { return }
        add(content.heading, content.headingDeviation, tag: .timeOfWeek(UInt32(clamping: milliseconds)), id, body)
      default: return
      }
    #endif
  }

  /// Adds a heading with its time of day.
  private mutating func add(
    _ degrees: FixedPoint?, _ accuracy: FixedPoint? = nil, at time: TimeOfDay?, _ id: UInt64,
    _ body: (borrowing Report, borrowing Sky) -> Void
  ) {
    add(degrees, accuracy, tag: time.map { .timeOfDay($0.nanoseconds) }, id, body)
  }

  private mutating func add(
    _ degrees: FixedPoint?, _ accuracy: FixedPoint?, tag: EpochTag?, _ id: UInt64,
    _ body: (borrowing Report, borrowing Sky) -> Void
  ) {
    guard let degrees = degrees?.value else { return }
    guard let turned = course(degrees) else { return reject() }
    var heading = Heading()
    let deviation = accuracy?.value
    heading.set(
      true: turned, accuracyDegrees: deviation.flatMap { $0 > 0 && $0 < 360 ? $0 : nil }, .sentence)
    add(heading, tag, id, body)
  }

  /// The time of day of yyyymmddhhmmss.ss.
  private static func timeOfDay(_ text: RawSpan) -> TimeOfDay? {
    guard text.byteCount >= 14 else { return nil }
    var clock = 0
    for index in 8..<14 {
      guard case let digit = text.u1(index) &- UInt8(ascii: "0"), digit < 10 else { return nil }
      clock = clock * 10 + Int(digit)
    }
    var nanosecond: UInt32 = 0
    var scale: UInt32 = 100_000_000
    var index = 15
    while index < text.byteCount, scale > 0, case let digit = text.u1(index) &- UInt8(ascii: "0"), digit < 10 {
      nanosecond += UInt32(digit) * scale
      scale /= 10
      index += 1
    }
    guard clock / 10000 < 24, clock / 100 % 100 < 60, clock % 100 <= 60 else { return nil }
    return TimeOfDay(
      hour: UInt8(clock / 10000), minute: UInt8(clock / 100 % 100), second: UInt8(clock % 100), nanosecond: nanosecond)
  }

  /// Whether the type of a solution has carrier ambiguities, fixed or not.
  private static func isCarrier(_ type: ShortText?) -> Bool {
    guard let type else { return false }
    return type.ends(with: "INT") || type.ends(with: "FLOAT") || type.ends(with: "FIXED")
  }
}

extension RawSpan {
  /// Whether the bytes end with a text.
  fileprivate func ends(with text: StaticString) -> Bool {
    let start = byteCount - text.utf8CodeUnitCount
    guard start >= 0 else { return false }
    for index in 0..<text.utf8CodeUnitCount where unsafe u1(start + index) != text.utf8Start[index] { return false }
    return true
  }
}

extension ShortText {
  /// Whether the characters end with a text.
  fileprivate func ends(with text: StaticString) -> Bool {
    let start = Int(count) - text.utf8CodeUnitCount
    guard start >= 0 else { return false }
    for index in 0..<text.utf8CodeUnitCount where unsafe characters[start + index] != text.utf8Start[index] {
      return false
    }
    return true
  }
}
