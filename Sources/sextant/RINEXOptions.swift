// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import LinuxIO
import MonotonicTime
import ReceiverRuntime
import ReceiverStream

/// The options of a RINEX file: what its header has, and what a recording does not tell.
struct RINEXOptions: ParsableArguments {
  @Option(help: "RINEX: the name of the marker.")
  var marker: String?

  @Option(help: "RINEX: the observer.")
  var observer: String?

  @Option(help: "RINEX: the agency of the observer.")
  var agency: String?

  @Option(help: "RINEX: the type of the receiver, instead of that in RTCM 3.")
  var receiver: String?

  @Option(help: "RINEX: the type of the antenna, instead of that in RTCM 3.")
  var antenna: String?

  @Option(help: "RINEX: the height of the antenna's reference point above the marker, metres.")
  var antennaHeight: Double?

  @Option(help: "RINEX: the number of the reference station in RTCM 3. Default: the first one.")
  var station: Int?

  @Option(
    help: """
      RINEX: a day of the recording, such as 2026-11-24, for RTCM 3 and orbits without messages that have the date.
      """)
  var date: String?

  /// Checks the values.
  func check(_ format: Decode.Format) throws {
    if format != .rinex {
      let given: [(String, Bool)] = [
        ("--marker", marker != nil), ("--observer", observer != nil), ("--agency", agency != nil),
        ("--receiver", receiver != nil), ("--antenna", antenna != nil), ("--antenna-height", antennaHeight != nil),
        ("--station", station != nil), ("--date", date != nil && format != .rinexNavigation),
      ]
      if let (name, _) = given.first(where: \.1) { throw ValidationError("\(name) is for --format rinex.") }
    }
    _ = try day()
    for text in [marker, observer, agency, receiver, antenna] {
      guard let text else { continue }
      if !text.utf8.allSatisfy({ 0x20..<0x7F ~= $0 }) {
        throw ValidationError("a RINEX header has only printable characters of ASCII, unlike \"\(text)\".")
      }
    }
    if let antennaHeight, !(antennaHeight.isFinite && abs(antennaHeight) < 1000) {
      throw ValidationError("--antenna-height must be between -1000 and 1000 metres.")
    }
    if let station, !(0...4095 ~= station) { throw ValidationError("--station must be 0 to 4095.") }
  }

  func day() throws -> Day? {
    guard let date else { return nil }
    guard let time = UTCTime(iso8601: date), time.isBelieved else {
      throw ValidationError("--date must be a day such as 2026-11-24.")
    }
    return time.day
  }

  /// The header of the file.
  var header: RINEXHeader {
    var header = RINEXHeader()
    header.marker = marker ?? ""
    header.observer = observer ?? ""
    header.agency = agency ?? ""
    header.receiver = receiver
    header.antenna = antenna
    header.antennaHeightMetres = antennaHeight ?? 0
    header.program = "sextant \(SextantVersion.text)"
    if SystemClock.isSet { header.created = UTCTime(nanosecondsSince1970: SystemClock.utcNanoseconds) }
    return header
  }
}
