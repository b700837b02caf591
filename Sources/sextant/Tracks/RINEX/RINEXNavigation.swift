// SPDX-License-Identifier: Apache-2.0

import GPSD
import RTCM3
import Receiver
import ReceiverStream
import UBX
import WireBytes

/// Collects the ephemerides of a recording: UBX-RXM-SFRBX and AID-EPH, and RTCM 3 1019, 1020, 1042 and 1044 to 1046.
/// ``RINEXNavigationFile`` writes them.
package struct RINEXNavigation {
  private(set) var ephemerides: [BroadcastEphemeris] = []
  /// Messages without a date: the weeks of GPS are repeated, and GLONASS has only the time of the day.
  package private(set) var undated = 0

  private struct Key: Hashable {
    var satellite: RINEXSatellite
    var identity: [Int64]
  }

  private var known: Set<Key> = []
  private var subframes = SubframeCollector()
  private var reference: GPSTicks?
  private let isDateStated: Bool

  /// - Parameter date: a day of the recording; nil for the day of the fixes.
  package init(date: Day?) {
    isDateStated = date != nil
    if let date { reference = GPSTicks(UTCTime(day: date, nanosecondsOfDay: UTCTime.nanosecondsPerDay / 2)) }
  }

  package var isEmpty: Bool { ephemerides.isEmpty }
  package var count: Int { ephemerides.count }

  /// Handles a fix of the same recording, for the date.
  package mutating func receive(_ fix: Fix) {
    // Sentences do not state whether leap seconds are known; the date is right where there is a position.
    if !isDateStated, let time = fix.time, fix.timeIsResolved || fix.source < .ubx && fix.hasPosition {
      reference = GPSTicks(time)
    }
  }

  package mutating func receive(_ frame: borrowing Frame) {
    if let rtcm = frame.rtcm3 {
      if let found = BroadcastEphemeris(rtcm, near: reference) {
        add(found)
      } else if reference == nil, let number = rtcm.messageNumber, [1019, 1020, 1044].contains(number) {
        undated += 1
      }
    } else if let ubx = frame.ubx {
      if let message = ubx.message(RxmSFRBX.self) {
        if reference == nil, [0, 5, 6].contains(message.gnssId) { undated += 1 }
        if let found = subframes.receive(message, near: reference) { add(found) }
      } else if let message = ubx.message(AidEPH.self) {
        if reference == nil { undated += 1 }
        if let found = SubframeCollector.aidEPH(message, near: reference) { add(found) }
      } else if !isDateStated, let message = ubx.message(RxmRAWX.self) {
        reference = GPSTicks(week: message.week, secondOfWeek: message.rcvTow) ?? reference
      }
    }
  }

  private mutating func add(_ ephemeris: BroadcastEphemeris) {
    guard known.insert(Key(satellite: ephemeris.satellite, identity: ephemeris.identity)).inserted else { return }
    ephemerides.append(ephemeris)
  }
}

/// Writes ephemerides as a RINEX 3.05 navigation file (RINEX 3.05, appendix A5 to A14).
package struct RINEXNavigationFile {
  private let list: [BroadcastEphemeris]
  private let header: RINEXHeader

  package init(_ content: RINEXNavigation, _ header: RINEXHeader) {
    self.header = header
    list = content.ephemerides.enumerated().sorted {
      ($0.element.satellite, $0.element.time, $0.offset) < ($1.element.satellite, $1.element.time, $1.offset)
    }.map(\.element)
  }

  package func write(_ text: inout JSONLine) {
    text.put(padded: "     3.05           N: GNSS NAV DATA    M: MIXED", 60, "RINEX VERSION / TYPE\n")
    let program = RINEXText.field(header.program, 40) + (header.created.map(RINEXText.stamp) ?? "")
    text.put(padded: program, 60, "PGM / RUN BY / DATE\n")
    text.put(padded: "", 60, "END OF HEADER\n")
    for ephemeris in list {
      text.put(text: ephemeris.satellite.text + " " + RINEXText.clockDate(ephemeris.time))
      for (index, value) in ephemeris.values.enumerated() {
        // Three values follow the time; each further line has four, indented.
        if index >= 3, (index - 3) % 4 == 0 { text.put(text: "\n    ") }
        text.put(text: value.map(RINEXText.scientific) ?? String(repeating: " ", count: 19))
      }
      text.put(text: "\n")
    }
  }
}

/// The texts of RINEX files.
enum RINEXText {
  /// A number with digits behind the point, right-aligned. The value must be below 1e11.
  static func number(_ value: Double, _ width: Int, _ digits: Int) -> String {
    aligned(value.decimals(digits), width)
  }

  static func integer(_ value: Int, _ width: Int) -> String { aligned("\(value)", width) }

  static func aligned(_ text: String, _ width: Int) -> String {
    String(repeating: " ", count: max(0, width - text.utf8.count)) + text
  }

  /// Text that is cut or filled up to a width.
  static func field(_ value: String, _ width: Int) -> String {
    let value = value.prefix(width)
    return value + String(repeating: " ", count: width - value.count)
  }

  /// A number in the format D19.12: ` 1.234567890123D-04`.
  static func scientific(_ value: Double) -> String {
    guard value.isFinite, value != 0, (1e-90..<1e90).contains(abs(value)) else { return " 0.000000000000D+00" }
    var exponent = 0
    var scaled = abs(value)
    // Powers of ten up to 22 are exact.
    while scaled >= 1e10 { (scaled, exponent) = (scaled / 1e10, exponent + 10) }
    while scaled >= 10 { (scaled, exponent) = (scaled / 10, exponent + 1) }
    while scaled < 1e-10 { (scaled, exponent) = (scaled * 1e10, exponent - 10) }
    while scaled < 1 { (scaled, exponent) = (scaled * 10, exponent - 1) }
    // Once more in one step, whose rounding is the smallest.
    if abs(exponent) <= 22 { scaled = exponent < 0 ? abs(value) * power(-exponent) : abs(value) / power(exponent) }
    var digits = Int64(clamping: (scaled * 1e12).rounded())
    if digits >= 10_000_000_000_000 { (digits, exponent) = (digits / 10, exponent + 1) }
    let (whole, rest) = digits.quotientAndRemainder(dividingBy: 1_000_000_000_000)
    let power = (exponent < 0 ? "-" : "+") + abs(exponent).digits(2)
    return (value < 0 ? "-" : " ") + "\(whole).\(rest.digits(12))D\(power)"
  }

  private static func power(_ exponent: Int) -> Double { (0..<exponent).reduce(1) { value, _ in value * 10 } }

  // MARK: Times

  private static func parts(_ time: GPSTicks) -> (date: [Int], seconds: (Int, Int)) {
    let (day, ticks) = time.date
    let (year, month, dayOfMonth) = day.components
    let second = Int(ticks / GPSTicks.second)
    return (
      [year, month, dayOfMonth, second / 3600, second / 60 % 60], (second % 60, Int(ticks % GPSTicks.second))
    )
  }

  /// The time of an epoch of observations.
  static func epoch(_ time: GPSTicks) -> String {
    let (date, seconds) = parts(time)
    return "\(date[0]) " + date[1...].map { $0.digits(2) }.joined(separator: " ") + " " + seconds.0.digits(2) + "."
      + seconds.1.digits(7)
  }

  /// A time of the header.
  static func date(_ time: GPSTicks) -> String {
    let (date, seconds) = parts(time)
    return date.map { integer($0, 6) }.joined() + integer(seconds.0, 5) + "." + seconds.1.digits(7)
  }

  /// The reference time of a clock: `2025 04 04 22 00 00`.
  static func clockDate(_ time: GPSTicks) -> String {
    let (date, seconds) = parts(time)
    return "\(date[0]) " + date[1...].map { $0.digits(2) }.joined(separator: " ") + " " + seconds.0.digits(2)
  }

  /// The time of the file: `20261128 155937 UTC`.
  static func stamp(_ time: UTCTime) -> String {
    let (year, month, day) = time.day.components
    let second = Int(time.nanosecondsOfDay / 1_000_000_000)
    return "\(year)\(month.digits(2))\(day.digits(2)) "
      + "\((second / 3600).digits(2))\((second / 60 % 60).digits(2))\((second % 60).digits(2)) UTC"
  }
}

extension RINEXSatellite {
  var text: String { system.text + number.digits(2) }
}

extension RINEXSatellite.System {
  var text: String { String(Unicode.Scalar(character)) }
}

extension JSONLine {
  mutating func put(text: String) { for byte in text.utf8 { put(raw: byte) } }

  /// Writes text that is cut or filled up to a width, and an end.
  mutating func put(padded text: String, _ width: Int, _ end: String) {
    put(text: RINEXText.field(text, width) + end)
  }
}
