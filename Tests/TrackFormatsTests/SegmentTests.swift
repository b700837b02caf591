// SPDX-License-Identifier: Apache-2.0
import GPSD
import ReceiverStream
import TestSupport
import Testing
import sextant

@Suite("Segments of a track")
struct SegmentTests {
  private func seconds(_ list: [Int64]) -> [Fix] { list.map { fix(48, 11, second: $0) } }

  private func count(_ part: String, in text: String) -> Int {
    text.split(separator: part, omittingEmptySubsequences: false).count - 1
  }

  @Test("A pause of more than a minute, a step back and a jump of years begin segments")
  func jumps() {
    let text = file(.gpx, of: seconds([0, 60, 121, 122, 100, 101, 700_000_000, 3]))
    #expect(count("<trkseg>", in: text) == 5)
    #expect(count("<trkpt", in: text) == 8)
    #expect(count("<trkseg>", in: text) == count("</trkseg>", in: text))
  }

  @Test("A fix that is older by less than a second is left out of a line and kept in a table")
  func late() {
    var old = fix(48, 11, second: 5)
    old.time?.nanosecondsSince1970 -= 400_000_000
    let fixes = [fix(48, 11, second: 5), old, fix(48, 11, second: 6)]
    #expect(count("<trkpt", in: file(.gpx, of: fixes)) == 2)
    #expect(file(.csv, of: fixes).split(separator: "\r\n").count == 4)
  }

  @Test("A long segment is written in parts that share a point", arguments: [1, 511, 512, 513, 1024, 2000])
  func parts(number: Int) {
    let text = file(.kml, of: seconds((0..<Int64(number)).map { $0 }))
    let parts = max(1, (number - 2) / 511 + 1)
    #expect(count("<Folder>", in: text) == parts)
    #expect(count("<when>", in: text) == number + parts - 1)
    #expect(count("<gx:coord>", in: text) == number + parts - 1)
  }

  @Test("A line over the antimeridian is cut at it, at the latitude between (RFC 7946, section 3.1.9)")
  func antimeridian() {
    let text = file(.geojson, of: [fix(10, 179, second: 0, height: 5), fix(12, -179, second: 1, height: 7)])
    #expect(text.contains(#""coordinates":[[179,10,5],[180,11,6]]"#), "\(text)")
    #expect(text.contains(#""coordinates":[[-180,11,6],[-179,12,7]]"#), "\(text)")
    #expect(text.contains(#""time":["2023-11-14T22:13:20.000Z",null]"#), "\(text)")
    let back = file(.geojson, of: [fix(0, -179.5, second: 0), fix(0, 179.5, second: 1)])
    #expect(back.contains("[[-179.5,0],[-180,0]]") && back.contains("[[180,0],[179.5,0]]"), "\(back)")
    let on = file(.geojson, of: [fix(3, 180, second: 0), fix(3, -180, second: 1)])
    #expect(on.contains("[[180,3],[180,3]]") && on.contains("[[-180,3],[-180,3]]"), "\(on)")
  }

  @Test("Coordinates at the ends of their ranges conform to the schema")
  func extremes() {
    let text = file(.gpx, of: [fix(90, 180), fix(-90, -180), fix(0, 0), fix(-0.000_000_000_1, 179.999_999_999_9)])
    #expect(text.contains(#"<trkpt lat="90" lon="-180">"#))
    #expect(text.contains(#"<trkpt lat="-90" lon="-180">"#))
    #expect(text.contains(#"<trkpt lat="0" lon="0">"#))
    #expect(text.contains(#"<trkpt lat="0" lon="-180">"#), "\(text)")
  }

  @Test("Any values make numbers of every format: no exponent, no infinity")
  func values() {
    var random = SeededRandomNumberGenerator(seed: 27)
    let strange = [Double.nan, .infinity, -.infinity, 1e300, -1e300, 1e-300, 999_999_999.999_9, 0]
    for _ in 0..<300 {
      var point = fix(
        Double(Int.random(in: 0...180, using: &random)) - 90, Double(Int.random(in: 0...360, using: &random)) - 180,
        second: Int64.random(in: 0...100_000, using: &random))
      point.heightAboveSeaLevelMetres = strange.randomElement(using: &random)!
      point.heightAboveEllipsoidMetres = strange.randomElement(using: &random)!
      point.speedMetresPerSecond = strange.randomElement(using: &random)!
      point.hdop = strange.randomElement(using: &random)!
      for format in [TrackWriter.Format.gpx, .kml, .csv, .geojson] {
        let text = file(format, of: [point])
        #expect(!text.contains("nan") && !text.contains("inf\"") && !text.contains(">inf") && !text.contains("e+"))
      }
    }
  }

  @Test("The memory of a writer does not grow with the track")
  func memory() {
    var writer = TrackWriter(.geojson)
    var text = JSONLine()
    var longest = 0
    for second in 0..<20_000 {
      writer.add(EpochAssembler.Report(fix: fix(48, 11, second: Int64(second))), Sky(), &text)
      longest = max(longest, text.bytes.byteCount)
      text.removeAll()
    }
    // A part has 512 points of about 100 characters.
    #expect(longest > 20_000 && longest < 100_000, "\(longest)")
  }
}

@Suite("Selection of a part of a recording")
struct SelectionTests {
  @Test("Times are ISO 8601 in UTC")
  func times() {
    let expected: [(String, Int64?)] = [
      ("1970-01-02", 86_400_000_000_000), ("1970-01-01T00:01", 60_000_000_000), ("1970-01-01T00:00:01Z", 1_000_000_000),
      ("1970-01-01T00:00:00.25Z", 250_000_000), ("1970-13-01", nil), ("1970-02-30", nil), ("1970-01-01T24:00", nil),
      ("", nil),
      ("1970-01-01 00:00", nil), ("1970-01-01T00:00:00.Z", nil), ("70-01-01", nil), ("1970-01-01T00:00:00+01:00", nil),
    ]
    for (text, time) in expected { #expect(UTCTime(iso8601: text)?.nanosecondsSince1970 == time, "\(text)") }
  }

  private func selected(_ bytes: [UInt8], messages: String? = nil, from: String? = nil, to: String? = nil) throws
    -> [String]
  {
    let names = try messages.map { try MessageSelection($0) }
    var selection = FrameSelection(
      messages: names,
      range: TimeRange(from: from.flatMap { UTCTime(iso8601: $0) }, to: to.flatMap { UTCTime(iso8601: $0) }))
    var stream = FrameStream()
    var found: [String] = []
    stream.receive(bytes.raw) { frame in
      selection.receive(frame) {
        found.append("\($0.offset) \(String(decoding: array($0.bytes).dropFirst().prefix(16), as: UTF8.self))")
      }
    }
    selection.finish {
      found.append("\($0.offset) \(String(decoding: array($0.bytes).dropFirst().prefix(16), as: UTF8.self))")
    }
    return found
  }

  private func epoch(_ second: Int) -> [UInt8] {
    Wire.nmea("GNRMC,12000\(second).00,A,4809.86189,N,01136.34021,E,2.650,22.64,241126,,,A")
      + Wire.nmea("GNGGA,12000\(second).00,4809.86189,N,01136.34021,E,1,05,0.65,510.6,M,45.6,M,,")
  }

  @Test("Messages are selected by UBX name, address, formatter or number, regardless of case")
  func names() throws {
    let bytes =
      epoch(1) + Wire.ubx(0x0A, 0x09, [UInt8](repeating: 0, count: 60)) + Wire.rtcm3([0x43, 0x50, 0])
      + Wire.nmea("PUBX,00,1") + Wire.nmea("PUBX,04,1")
    #expect(try selected(bytes, messages: "gga").count == 1)
    #expect(try selected(bytes, messages: "GNRMC,GPGGA").count == 1)
    #expect(try selected(bytes, messages: "MON-HW").count == 1)
    #expect(try selected(bytes, messages: "0x0a-0x09,1077").count == 2)
    #expect(try selected(bytes, messages: "PUBX04").count == 1)
    #expect(try selected(bytes, messages: "PUBX").count == 2)
    #expect(throws: MessageSelection.UnknownName.self) { try MessageSelection("NAV-PTV") }
    #expect(throws: MessageSelection.UnknownName.self) { try MessageSelection("GGA,") }
  }

  @Test("All messages of an epoch have its time")
  func range() throws {
    let bytes = (0..<6).flatMap { epoch($0) }
    let found = try selected(bytes, from: "2026-11-24T12:00:02Z", to: "2026-11-24T12:00:03Z")
    #expect(found.map { String($0.suffix(9)) } == ["20002.00,", "20002.00,", "20003.00,", "20003.00,"], "\(found)")
    #expect(try selected(bytes, messages: "RMC", from: "2026-11-24T12:00:05Z").count == 1)
    #expect(try selected(bytes, to: "2026-11-24T11:59:59Z").isEmpty)
    // Frames between two epochs belong to the earlier one.
    let between = epoch(1) + Wire.rtcm3([0x43, 0x50, 0]) + epoch(2) + epoch(3)
    #expect(try selected(between, to: "2026-11-24T12:00:01Z").count == 3)
    #expect(try selected(bytes).count == 12)
  }

  @Test("An epoch whose date comes after its report is selected by that date")
  func datedLater() throws {
    let bytes = (0..<7).flatMap { second in
      Wire.nmea("GPGGA,12000\(second).00,4809.86189,N,01136.34021,E,1,05,0.65,510.6,M,45.6,M,,")
        + (second >= 4 ? Wire.nmea("GPZDA,12000\(second).00,24,11,2026,00,00") : [])
    }
    let found = try selected(bytes, from: "2026-11-24", to: "2026-11-24T12:00:05Z").map { $0.split(separator: " ")[1] }
    #expect(found.map { $0.prefix(11) } == ["GPGGA,12000", "GPZDA,12000", "GPGGA,12000", "GPZDA,12000"], "\(found)")
    #expect(found.map { $0.dropFirst(11).prefix(1) } == ["4", "4", "5", "5"], "\(found)")
  }
}
