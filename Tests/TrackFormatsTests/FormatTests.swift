// SPDX-License-Identifier: Apache-2.0
import GPSD
import Messages
import ReceiverStream
import TestSupport
import Testing
import sextant

/// The file of bytes of a receiver.
func file(
  _ format: TrackWriter.Format, of bytes: [UInt8], columns: [CSVColumn] = CSVColumn.usual,
  range: TimeRange = TimeRange(), isLive: Bool = false
) -> String {
  var writer = TrackWriter(format, columns: columns, range: range, isLive: isLive)
  var stream = FrameStream()
  var assembler = EpochAssembler()
  var text = JSONLine()
  writer.begin(&text)
  stream.receive(bytes.raw) { frame in assembler.receive(frame) { report, sky in writer.add(report, sky, &text) } }
  assembler.finish { report, sky in writer.add(report, sky, &text) }
  writer.finish(&text)
  return text.text
}

/// The file of fixes.
func file(_ format: TrackWriter.Format, of fixes: [Fix], columns: [CSVColumn] = CSVColumn.usual) -> String {
  var writer = TrackWriter(format, columns: columns)
  var text = JSONLine()
  writer.begin(&text)
  for fix in fixes { writer.add(EpochAssembler.Report(fix: fix), Sky(), &text) }
  writer.finish(&text)
  return text.text
}

func fix(_ latitude: Double, _ longitude: Double, second: Int64? = nil, height: Double? = nil) -> Fix {
  var fix = Fix()
  fix.kind = .threeD
  fix.latitudeDegrees = latitude
  fix.longitudeDegrees = longitude
  fix.heightAboveEllipsoidMetres = height
  fix.time = second.map { UTCTime(nanosecondsSince1970: (1_700_000_000 + $0) * 1_000_000_000) }
  return fix
}

private let walk =
  Wire.nmea("GNRMC,120000.00,A,4809.86189,N,01136.34021,E,2.650,22.64,241126,,,A")
  + Wire.nmea("GNGGA,120000.00,4809.86189,N,01136.34021,E,1,05,0.65,510.6,M,45.6,M,,")
  + Wire.nmea("GNRMC,120001.00,A,4809.86200,N,01136.34040,E,2.650,22.64,241126,,,A")
  + Wire.nmea("GNGGA,120001.00,4809.86200,N,01136.34040,E,1,05,0.65,510.7,M,45.6,M,,")
private let noFix =
  Wire.nmea("GNRMC,120000.00,V,,,,,,,241126,,,N") + Wire.nmea("GNGGA,120000.00,,,,,0,00,99.99,,M,,M,,")

@Suite("Fixes in the formats of other programs")
struct FormatTests {
  @Test("GPX 1.1 has the elements of a point in the order of wptType")
  func gpx() {
    let expected = """
      <?xml version="1.0" encoding="UTF-8"?>
      <gpx version="1.1" creator="sextant" xmlns="http://www.topografix.com/GPX/1/1" \
      xmlns:gpxtpx="http://www.garmin.com/xmlschemas/TrackPointExtension/v2" xmlns:sextant="urn:sextant:gpx:1">
      <trk>
      <trkseg>
      <trkpt lat="48.1643648333" lon="11.6056701667"><ele>510.6</ele><time>2026-11-24T12:00:00.000Z</time>
      """.replacing("48.1643648333", with: "48.164364833").replacing("11.6056701667", with: "11.605670167")
    let text = file(.gpx, of: walk)
    #expect(text.hasPrefix(expected), "\(text)")
    let rest = """
      <geoidheight>45.6</geoidheight><fix>3d</fix><sat>5</sat><hdop>0.65</hdop><extensions>\
      <gpxtpx:TrackPointExtension><gpxtpx:speed>1.363</gpxtpx:speed><gpxtpx:course>22.64</gpxtpx:course>\
      </gpxtpx:TrackPointExtension>\
      <sextant:horizontalAccuracyMetres>3.25</sextant:horizontalAccuracyMetres>\
      <sextant:verticalAccuracyMetres>4.875</sextant:verticalAccuracyMetres>\
      <sextant:heightAboveEllipsoidMetres>556.2</sextant:heightAboveEllipsoidMetres></extensions></trkpt>

      """
    #expect(text.contains(rest), "\(text)")
    #expect(text.hasSuffix("</trkpt>\n</trkseg>\n</trk>\n</gpx>\n"))
  }

  @Test("CSV has units in its first line, CR LF, and the chosen columns in their order (RFC 4180)")
  func csv() throws {
    let columns = try ["time", "altMSL", "lat", "lon_deg", "climb", "uSat"].map { try #require(CSVColumn.named($0)) }
    #expect(
      file(.csv, of: walk, columns: columns)
        == "time_utc,altMSL_m,lat_deg,lon_deg,climb_m/s,uSat\r\n"
        + "2026-11-24T12:00:00.000Z,510.6,48.164364833,11.605670167,,5\r\n"
        + "2026-11-24T12:00:01.000Z,510.7,48.164366667,11.605673333,,5\r\n")
    #expect(CSVColumn.named("altitude") == nil)
  }

  @Test("Every column of CSV has the value of its name")
  func columns() {
    var fix = fix(48.5, 11.25, second: 0, height: 556.25)
    fix.heightAboveSeaLevelMetres = 510.5
    fix.geoidSeparationMetres = 45.75
    fix.velocityMetresPerSecond = SIMD3(3, -4, 0.5)
    fix.speedAccuracyMetresPerSecond = 0.25
    fix.courseAccuracyDegrees = 1.5
    fix.timeAccuracySeconds = 0.000_000_025
    fix.headingDegrees = 90.25
    fix.magneticVariationDegrees = -3.5
    fix.differentialAgeSeconds = 2.5
    fix.differentialStation = 120
    let lines = file(.csv, of: [fix], columns: CSVColumn.all).split(separator: "\r\n")
    let values = Dictionary(
      uniqueKeysWithValues: zip(
        lines[0].split(separator: ","), lines[1].split(separator: ",", omittingEmptySubsequences: false))
    )
    #expect(lines.count == 2 && values.count == CSVColumn.all.count)
    let expected: [Substring: Substring] = [
      "time_utc": "2023-11-14T22:13:20.000Z", "mode": "3", "quality": "unknown", "lat_deg": "48.5", "lon_deg": "11.25",
      "altHAE_m": "556.25", "altMSL_m": "510.5", "geoidSep_m": "45.75", "velN_m/s": "3", "velE_m/s": "-4",
      "velD_m/s": "0.5",
      "eps_m/s": "0.25", "epd_deg": "1.5", "ept_s": "0.000000025", "heading_deg": "90.25", "magvar_deg": "-3.5",
      "dgpsAge_s": "2.5", "dgpsSta": "120", "vdop": "", "pdop": "", "ss_dBHz": "",
    ]
    for (name, value) in expected { #expect(values[name] == value, "\(name)") }
  }

  @Test(
    "The quality of a fix is a word",
    arguments: [
      (Fix.Quality.autonomous, "autonomous"), (.differential, "differential"), (.preciseService, "preciseService"),
      (.rtkFloat, "rtkFloat"), (.rtkFixed, "rtkFixed"), (.estimated, "estimated"), (.manual, "manual"),
      (.simulated, "simulated"),
    ])
  func quality(_ quality: Fix.Quality, word: String) throws {
    var fix = fix(48, 11)
    fix.quality = quality
    let columns = [try #require(CSVColumn.named("quality"))]
    #expect(file(.csv, of: [fix], columns: columns) == "quality\r\n\(word)\r\n")
  }

  @Test("CSV and GPX tell apart fixes without satellites and fixes beyond the limits")
  func doubtful() throws {
    let columns = [try #require(CSVColumn.named("quality"))]
    for (kind, quality, isWithinLimits, word, element) in [
      (Fix.Kind.deadReckoning, Fix.Quality.autonomous, true, "estimated", nil as String?),
      (.threeD, .estimated, true, "estimated", nil), (.threeD, .simulated, true, "simulated", nil),
      (.surveyed, .autonomous, true, "manual", nil), (.threeD, .differential, false, "outsideLimits", "none"),
      (.combined, .differential, true, "differential", "dgps"), (.twoD, .autonomous, true, "autonomous", "2d"),
    ] {
      var fix = fix(48, 11)
      (fix.kind, fix.quality, fix.isWithinLimits) = (kind, quality, isWithinLimits)
      #expect(file(.csv, of: [fix], columns: columns) == "quality\r\n\(word)\r\n")
      let gpx = file(.gpx, of: [fix])
      #expect(element.map { gpx.contains("<fix>\($0)</fix>") } ?? !gpx.contains("<fix>"), "\(kind) \(quality)")
    }
  }

  @Test("GeoJSON is a line with the heights above the ellipsoid and a list for each property (RFC 7946)")
  func geoJSON() throws {
    let root = try JSON(parsing: Array(file(.geojson, of: walk).utf8))
    let feature = try #require(root["features"]?.array?.first)
    #expect(feature["geometry"]?["type"]?.string == "LineString")
    let positions = try #require(feature["geometry"]?["coordinates"]?.array)
    #expect(
      positions.map { $0.array?.map(\.double) } == [
        [11.60567017, 48.16436483, 556.2], [11.60567333, 48.16436667, 556.3],
      ])
    #expect(
      feature["properties"]?["time"]?.array?.map(\.string) == ["2026-11-24T12:00:00.000Z", "2026-11-24T12:00:01.000Z"])
    #expect(feature["properties"]?["horizontalAccuracyMetres"]?.array?.map(\.double) == [3.25, 3.25])
  }

  @Test("KML has the path as a line and the track with the time of each point")
  func kml() {
    let text = file(.kml, of: walk)
    #expect(
      text.contains(
        "<altitudeMode>absolute</altitudeMode><coordinates>11.60567017,48.16436483,510.6 "
          + "11.60567333,48.16436667,510.7</coordinates></LineString>"), "\(text)")
    #expect(
      text.contains(
        "<when>2026-11-24T12:00:00.000Z</when><when>2026-11-24T12:00:01.000Z</when>"
          + "<gx:coord>11.60567017 48.16436483 510.6</gx:coord>"), "\(text)")
    #expect(text.contains("<gx:SimpleArrayData name=\"satellitesUsed\"><gx:value>5</gx:value><gx:value>5</gx:value>"))
  }

  @Test("KML keeps the times of a recording whose first positions have none")
  func kmlWithoutFirstTime() {
    let undated = Wire.nmea("GNGGA,115959.00,4809.86150,N,01136.34000,E,1,05,0.65,510.6,M,45.6,M,,")
    let text = file(.kml, of: undated + walk)
    #expect(text.contains("<when>2026-11-24T12:00:00.000Z</when><when>2026-11-24T12:00:01.000Z</when>"), "\(text)")
  }

  @Test("NMEA of a fix decodes to the same position, time and heights")
  func nmea() throws {
    var playback = Playback()
    playback.receive(ascii(file(.nmea, of: walk)))
    playback.idle()
    #expect(playback.epochs == 2)
    let fix = playback.lastFix
    let last = try #require(fix)
    #expect(last.heightAboveSeaLevelMetres == 510.7)
    #expect(last.time == UTCTime(iso8601: "2026-11-24T12:00:01Z"))
    #expect(abs((last.latitudeDegrees ?? 0) - 48.164366667) < 1e-8)
  }

  @Test("A recording without a fix is a valid file without points", arguments: TrackWriter.Format.allCases)
  func empty(format: TrackWriter.Format) throws {
    let text = file(format, of: noFix)
    switch format {
    case .gpx: #expect(text.hasSuffix("urn:sextant:gpx:1\">\n</gpx>\n"))
    case .kml: #expect(text.hasSuffix("</Schema>\n</Document>\n</kml>\n"))
    case .csv: #expect(text.split(separator: "\r\n").count == 1)
    case .geojson: #expect(try JSON(parsing: Array(text.utf8))["features"]?.array?.isEmpty == true)
    case .nmea: #expect(text.contains("RMC,120000.00,V,") && !text.contains("GGA,120000.00,48"))
    }
  }

  @Test("Counts, dilutions and the mean signal are computed from the satellites when the receiver sends none")
  func satellites() throws {
    let columns = try ["hdop", "vdop", "pdop", "uSat", "nSat", "ss"].map { try #require(CSVColumn.named($0)) }
    // One in the zenith and three at the horizon, 120 degrees apart; the fifth is not used, the fourth has no signal.
    let sky =
      Wire.nmea("GPGSA,A,3,01,02,03,04,,,,,,,,,,,")
      + Wire.nmea("GPGSV,2,1,05,01,90,000,40,02,00,000,42,03,00,120,44,04,00,240,")
      + Wire.nmea("GPGSV,2,2,05,05,45,050,30")
    let position =
      Wire.nmea("GPRMC,120000.00,A,4809.86189,N,01136.34021,E,2.650,22.64,241126,,,A")
      + Wire.nmea("GPGGA,120000.00,4809.86189,N,01136.34021,E,1,,,510.6,M,45.6,M,,")
    let names = "hdop,vdop,pdop,uSat,nSat,ss_dBHz\r\n"
    // The variances are 2/3 east and north, 4/3 up.
    #expect(file(.csv, of: position + sky, columns: columns) == names + "1.15,1.15,1.63,4,5,42\r\n")
    #expect(file(.csv, of: position, columns: columns) == names + ",,,,,\r\n")
    let unused = Wire.nmea("GPGSA,A,3,,,,,,,,,,,,,,,") + Wire.nmea("GPGSV,1,1,01,05,45,050,30")
    #expect(file(.csv, of: position + unused, columns: columns) == names + ",,,0,1,\r\n")
  }

  @Test("A live stream is written at the first report of an epoch, a recording with the last")
  func live() {
    var late = fix(48, 11, second: 0)
    late.hdop = 0.8
    var writer = TrackWriter(.csv, columns: [CSVColumn.named("lat")!, CSVColumn.named("hdop")!], isLive: true)
    var recorded = TrackWriter(.csv, columns: [CSVColumn.named("lat")!, CSVColumn.named("hdop")!])
    var text = JSONLine()
    var whole = JSONLine()
    let first = EpochAssembler.Report(fix: fix(48, 11, second: 0))
    let second = EpochAssembler.Report(fix: late, isUpdate: true)
    for report in [first, second] {
      writer.add(report, Sky(), &text)
      recorded.add(report, Sky(), &whole)
    }
    recorded.finish(&whole)
    #expect(text.text == "48,\r\n")
    #expect(whole.text == "48,0.8\r\n")
    #expect(writer.positions == 1 && recorded.positions == 1)
  }
}

/// A recording whose date is known only from an update of its second epoch, and a fix between it and its update.
@Suite("Updates of an epoch")
struct UpdateTests {
  private let undated = EpochAssembler.Report(fix: fix(48, 11))
  private let columns = ["time", "lat"].compactMap { CSVColumn.named($0) }

  private func file(_ reports: [EpochAssembler.Report], range: TimeRange = TimeRange()) -> (String, UInt64) {
    var writer = TrackWriter(.csv, columns: columns, range: range)
    var text = JSONLine()
    for report in reports { writer.add(report, Sky(), &text) }
    writer.finish(&text)
    return (text.text, writer.positions)
  }

  @Test("A date that arrives in an update is the one of its epoch, also for --from and --to")
  func lateDate() {
    let dated = EpochAssembler.Report(fix: fix(48, 11, second: 2), isUpdate: true)
    let line = "2023-11-14T22:13:22.000Z,48\r\n"
    #expect(file([undated, dated]) == (line, 1))
    let range = TimeRange(from: dated.fix.time, to: dated.fix.time)
    #expect(file([undated, dated], range: range) == (line, 1))
    #expect(file([undated], range: range) == ("", 0))
    let corrected = EpochAssembler.Report(fix: fix(48, 11, second: 2 + 1024 * 7 * 86_400), isUpdate: true)
    #expect(file([EpochAssembler.Report(fix: dated.fix), corrected], range: range) == ("", 0))
    #expect(file([EpochAssembler.Report(fix: dated.fix), corrected]) == ("2043-06-30T22:13:22.000Z,48\r\n", 1))
  }

  @Test(
    "An epoch is in the range from its printed time to its printed time", arguments: [-120, 0, 120, 499_999] as [Int64])
  func printedTime(nanoseconds: Int64) {
    var report = EpochAssembler.Report(fix: fix(48, 11, second: 2))
    let printed = report.fix.time
    report.fix.time = printed.map { UTCTime(nanosecondsSince1970: $0.nanosecondsSince1970 + nanoseconds) }
    let line = "2023-11-14T22:13:22.000Z,48\r\n"
    #expect(file([report], range: TimeRange(from: printed, to: printed)) == (line, 1))
    // An end with more digits than are printed.
    #expect(file([report], range: TimeRange(from: report.fix.time, to: report.fix.time)) == (line, 1))
    let next = printed.map { UTCTime(nanosecondsSince1970: $0.nanosecondsSince1970 + 1_000_000) }
    #expect(file([report], range: TimeRange(from: next)) == ("", 0))
  }

  @Test("An update of an epoch with a newer fix behind it changes nothing")
  func between() {
    let epoch = EpochAssembler.Report(fix: fix(48, 11, second: 2))
    var newer = EpochAssembler.Report(fix: fix(49, 11, second: 2))
    newer.fix.time = newer.fix.time.map { UTCTime(nanosecondsSince1970: $0.nanosecondsSince1970 + 33_000_000) }
    let update = EpochAssembler.Report(fix: fix(50, 11, second: 2), isUpdate: true)
    #expect(
      file([epoch, newer, update]) == ("2023-11-14T22:13:22.000Z,48\r\n2023-11-14T22:13:22.033Z,49\r\n", 2))
  }
}

extension JSON {
  fileprivate var array: [JSON]? {
    guard case .array(let elements) = self else { return nil }
    return elements
  }

  fileprivate var double: Double? {
    switch self {
    case .integer(let value): Double(value)
    case .double(let value): value
    default: nil
    }
  }
}
