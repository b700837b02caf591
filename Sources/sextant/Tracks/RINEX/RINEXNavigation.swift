// SPDX-License-Identifier: Apache-2.0
import GPSD
import RTCM3
import Receiver
import ReceiverStream
import UBX

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

  /// - Parameter date: a day of the recording; nil for that of the fixes.
  package init(date: Day?) {
    isDateStated = date != nil
    if let date { reference = GPSTicks(UTCTime(day: date, nanosecondsOfDay: UTCTime.nanosecondsPerDay / 2)) }
  }

  package var isEmpty: Bool { ephemerides.isEmpty }
  package var count: Int { ephemerides.count }

  /// Handles a fix of the same recording, for the date.
  package mutating func receive(_ fix: Fix) {
    if !isDateStated, let time = fix.time, fix.timeIsResolved { reference = GPSTicks(time) }
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
