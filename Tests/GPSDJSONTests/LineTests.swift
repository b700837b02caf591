// SPDX-License-Identifier: Apache-2.0
import GPSD
import ReceiverStream
import TestSupport
import Testing

/// The text that `write` produces.
private func line(_ write: (inout JSONLine) -> Void) -> String {
  var line = JSONLine()
  write(&line)
  return line.text
}

@Suite("gpsd's objects")
struct ObjectTests {
  private func tpv(_ fix: Fix, device: String? = nil) -> String { line { $0.tpv(fix, device: device) } }

  private var position: Fix {
    var fix = Fix()
    fix.kind = .threeD
    fix.latitudeDegrees = 47.285239533
    fix.longitudeDegrees = -8.565253667
    return fix
  }

  @Test("A fix without content")
  func empty() {
    #expect(tpv(Fix()) == #"{"class":"TPV","mode":0}"# + "\n")
    var fix = Fix()
    fix.reportsKind = true
    #expect(tpv(fix) == #"{"class":"TPV","mode":1}"# + "\n")
  }

  @Test("A position with all other values, in gpsd's names and units")
  func whole() {
    var fix = position
    fix.quality = .differential
    fix.time = UTCTime(2025, 12, 9, 10, 11, 12)
    fix.leapSeconds = 18
    fix.timeAccuracySeconds = 25e-9
    fix.heightAboveEllipsoidMetres = 547.6
    fix.heightAboveSeaLevelMetres = 499.6
    fix.geoidSeparationMetres = 48
    fix.horizontalAccuracyMetres = 3
    fix.verticalAccuracyMetres = 4
    fix.accuracySource = .receiver
    fix.edop = 0.6
    fix.ndop = 0.8
    fix.speedMetresPerSecond = 2.5722
    fix.courseDegrees = 77.5
    fix.climbMetresPerSecond = -0.25
    fix.speedAccuracyMetresPerSecond = 0.5
    fix.climbAccuracyMetresPerSecond = 0.25
    fix.magneticVariationDegrees = -3.5
    let expected =
      #"{"class":"TPV","device":"/dev/gnss0","mode":3,"status":2,"time":"2025-12-09T10:11:12.000Z","leapseconds":18,"#
      + #""ept":0.000000025,"lat":47.285239533,"lon":-8.565253667,"altHAE":547.6000,"altMSL":499.6000,"#
      + #""geoidSep":48.000,"ecefx":4286466.7155,"ecefy":-645608.4529,"ecefz":4663736.2400,"eph":3.000,"epv":4.000,"#
      + #""sep":5.000,"epx":1.800,"epy":2.400,"ecefpAcc":5.0000,"speed":2.572,"track":77.5000,"climb":-0.250,"#
      + #""ecefvx":-0.198,"ecefvy":2.569,"ecefvz":0.194,"ecefvAcc":0.500,"eps":0.500,"epc":0.250,"magvar":-3.50}"#
    #expect(tpv(fix, device: "/dev/gnss0") == expected + "\n")
  }

  @Test("Without a position there are no members for position and motion")
  func noPosition() {
    var fix = position
    fix.kind = .timeOnly
    fix.speedMetresPerSecond = 1
    fix.time = UTCTime(2025, 12, 9)
    #expect(tpv(fix) == #"{"class":"TPV","mode":1,"time":"2025-12-09T00:00:00.000Z"}"# + "\n")
  }

  @Test(
    "Mode and status of each kind of fix",
    arguments: [
      (.none, 1, ""), (.timeOnly, 1, ""), (.twoD, 2, ""), (.threeD, 3, ""), (.deadReckoning, 3, #","status":5"#),
      (.combined, 3, #","status":6"#), (.surveyed, 3, #","status":7"#),
    ] as [(Fix.Kind, Int, String)])
  func modes(kind: Fix.Kind, mode: Int, status: String) {
    var fix = position
    fix.kind = kind
    fix.reportsKind = true
    #expect(tpv(fix).hasPrefix(#"{"class":"TPV","mode":\#(mode)\#(status)"#))
    #expect(tpv(fix).contains("status") == !status.isEmpty)
  }

  @Test(
    "Numbers that are not finite or out of range are absent", arguments: [.nan, .infinity, 1e9, -1e300] as [Double])
  func absurd(value: Double) {
    var fix = position
    fix.heightAboveSeaLevelMetres = value
    #expect(!tpv(fix).contains("altMSL"))
  }

  @Test("The satellites")
  func sky() {
    let text = skyLine(
      "GPGSV,1,1,02,05,40,083,46,38,,,", "GAGSV,1,1,01,03,-05,,", "GPRMC,101112,A,4717.1,N,00833.9,E,0,0,091225,,,A",
      "GPGSA,A,3,05,,,,,,,,,,,,1.8,1.0,1.5")
    let expected =
      #"{"class":"SKY","time":"2025-12-09T10:11:12.000Z","hdop":1.00,"pdop":1.80,"vdop":1.50,"nSat":3,"uSat":1,"#
      + #""satellites":[{"PRN":5,"gnssid":0,"svid":5,"az":83,"el":40,"ss":46,"used":true},"#
      + #"{"PRN":38,"gnssid":1,"svid":125,"used":false},{"PRN":303,"gnssid":2,"svid":3,"el":-5,"used":false}]}"#
    #expect(text == expected + "\n")
  }

  @Test("Dilutions that the receiver does not send are computed from the satellites")
  func computed() throws {
    var fix = position
    let sky = [(90, 0), (0, 0), (0, 120), (0, 240)].map { elevation, azimuth in
      Satellite(
        system: .gps, number: 1, elevationDegrees: Int8(elevation), azimuthDegrees: Int16(azimuth), isUsed: true)
    }
    let dilutions = Dilutions(of: sky.span)
    let geometry = try #require(dilutions)
    fix.hdop = 1
    let text = line { $0.sky(Sky(), fix, geometry: geometry) }
    let values = #""gdop":1.73,"hdop":1.00,"pdop":1.63,"tdop":0.58,"vdop":1.15,"xdop":0.82,"ydop":0.82,"#
    #expect(text.hasPrefix(#"{"class":"SKY","# + values))
    fix.horizontalAccuracyMetres = 5
    fix.accuracySource = .receiver
    #expect(line { $0.tpv(fix, geometry: geometry) }.contains(#""epx":3.536,"epy":3.536"#))
    #expect(!tpv(fix).contains("epx"))
  }

  @Test("A time without an accuracy has the accuracy of a sentence's last digit, if there is a position")
  func timeAccuracy() {
    var fix = position
    fix.time = UTCTime(2025, 12, 9)
    #expect(tpv(fix).contains(#""ept":0.005,"#))
    fix.kind = .timeOnly
    #expect(!tpv(fix).contains("ept"))
    // Before date and time are valid, NAV-PVT has an accuracy alone.
    fix.timeAccuracySeconds = 1e-6
    #expect(tpv(fix).contains(#""ept":0.000001"#))
    fix.time = nil
    #expect(!tpv(fix).contains("ept"))
  }

  @Test("An integer has its digits, whatever its size")
  func integers() {
    for value in -1100...1100 as ClosedRange<Int64> { #expect(line { $0.integer(value) } == String(value)) }
    var random = SeededRandomNumberGenerator(seed: 1)
    for _ in 0..<1000 {
      let value = Int64(bitPattern: random.next()) >> Int64(random.int(0...63))
      #expect(line { $0.integer(value) } == String(value))
    }
    for value in [.min, .max] as [Int64] { #expect(line { $0.integer(value) } == String(value)) }
  }

  @Test("No satellites are an empty array")
  func emptySky() {
    #expect(line { $0.sky(Sky(), Fix()) } == #"{"class":"SKY","nSat":0,"uSat":0,"satellites":[]}"# + "\n")
  }

  @Test("Dilutions are written without satellites; an assumed accuracy is not written")
  func dilutions() {
    var fix = Fix()
    fix.hdop = 0.9
    fix.satellitesUsed = 5
    #expect(line { $0.dilutions(fix) } == #"{"class":"SKY","hdop":0.90,"uSat":5}"# + "\n")
    fix.kind = .twoD
    (fix.latitudeDegrees, fix.longitudeDegrees) = (1, 2)
    fix.horizontalAccuracyMetres = 10
    for source in [Fix.AccuracySource.receiver, .estimated, .assumed] {
      fix.accuracySource = source
      #expect(tpv(fix).contains("eph") == (source != .assumed))
    }
  }

  /// The SKY line of sentences.
  private func skyLine(_ sentences: String...) -> String {
    var stream = FrameStream()
    var assembler = EpochAssembler()
    let bytes = sentences.flatMap { Wire.nmea($0) }
    stream.receive(bytes.raw) { frame in assembler.receive(frame) { _, _ in } }
    return line { line in assembler.finish { report, sky in line.sky(sky, report.fix) } }
  }
}

@Suite("Times in gpsd's format")
struct TimestampTests {
  private func timestamp(_ time: UTCTime, plus nanoseconds: Int64) -> String {
    line { $0.timestamp(UTCTime(nanosecondsSince1970: time.nanosecondsSince1970 + nanoseconds)) }
  }

  @Test("A time is rounded to milliseconds as a whole: the last of a year becomes the first of the next")
  func rounding() {
    #expect(timestamp(UTCTime(2025, 12, 31, 23, 59, 59), plus: 999_499_999) == "2025-12-31T23:59:59.999Z")
    #expect(timestamp(UTCTime(2025, 12, 31, 23, 59, 59), plus: 999_500_000) == "2026-01-01T00:00:00.000Z")
    #expect(timestamp(UTCTime(2024, 2, 28, 23, 59, 59), plus: 999_900_000) == "2024-02-29T00:00:00.000Z")
    #expect(timestamp(UTCTime(2025, 12, 9, 10, 11, 12), plus: 4_000_000) == "2025-12-09T10:11:12.004Z")
  }

  @Test("A time before 1970")
  func early() {
    #expect(timestamp(UTCTime(1969, 7, 20, 20, 17, 40), plus: 0) == "1969-07-20T20:17:40.000Z")
  }
}

@Suite("Characters of JSON")
struct JSONTests {
  @Test("A decimal is the nearest one with its digits", arguments: 0...9)
  func decimals(digits: Int) throws {
    var random = SeededRandomNumberGenerator(seed: UInt64(digits))
    var unit = 1.0
    for _ in 0..<digits { unit /= 10 }
    for _ in 0..<500 {
      let size = [1e-9, 1e-3, 1, 180, 1e5, 1e9][random.int(0...5)]
      let value = Double.random(in: -size...size, using: &random)
      let text = line { $0.decimal(value, digits: digits) }
      let again = try #require(Double(text))
      #expect(abs(again - value) <= unit / 2 + abs(value) * 0x1p-51, "\(value) → \(text)")
      #expect(text.split(separator: ".").dropFirst().first?.utf8.count ?? 0 == digits, "\(text)")
      #expect(!text.hasPrefix("-") || again != 0, "\(text)")
      #expect(!text.hasPrefix(".") && !text.hasPrefix("-.") && !text.hasPrefix("00"), "\(text)")
    }
  }

  @Test(
    "Known decimals",
    arguments: [
      (0, 2, "0.00"), (-0.0, 1, "0.0"), (-0.04, 1, "0.0"), (0.05, 1, "0.1"), (-1.5, 0, "-2"), (99.999, 2, "100.00"),
    ] as [(Double, Int, String)])
  func knownDecimals(value: Double, digits: Int, text: String) {
    #expect(line { $0.decimal(value, digits: digits) } == text)
  }

  @Test(
    "A shifted integer is exact",
    arguments: [
      (0, 7, "0.0000000"), (-1, 7, "-0.0000001"), (473_977_418, 7, "47.3977418"), (5, 0, "5"),
      (.min, 3, "-9223372036854775.808"),
    ] as [(Int64, Int, String)])
  func shifted(value: Int64, digits: Int, text: String) {
    #expect(line { $0.shifted(value, digits: digits) } == text)
  }

  @Test("Integers, to the ends of their range", arguments: [0, 7, -7, .max, .min] as [Int64])
  func integers(value: Int64) {
    #expect(line { $0.integer(value) } == String(value))
  }

  @Test("Quotes, backslashes, control characters and non-ASCII bytes are escaped")
  func escaping() {
    let bytes: [UInt8] = [0x22, 0x5C, 0x0A, 0x00, 0x1F, 0x7F, 0xE9, 0x41, 0x2F]
    #expect(line { $0.string(bytes) } == #""\"\\\u000a\u0000\u001f\u007f\u00e9A/""#)
  }

  @Test("Commas separate fields, elements and objects, and nothing else")
  func structure() {
    let text = line {
      $0.beginObject()
      $0.field("a", true)
      $0.field("none", nil as Int?)
      $0.beginArray("b")
      $0.element(1)
      $0.element(-2)
      $0.endArray()
      $0.beginObject("c")
      $0.field("d", text: "x")
      $0.endObject()
      $0.field("e", 1.25, digits: 1)
      $0.endObject()
      $0.endLine()
      $0.beginObject()
      $0.endObject()
    }
    #expect(text == #"{"a":true,"b":[1,-2],"c":{"d":"x"},"e":1.3}"# + "\n{}")
  }

  @Test("A discarded line has no effect on the next")
  func removed() {
    let text = line {
      $0.beginObject()
      $0.field("a", 1 as Int64)
      $0.removeAll()
      $0.beginObject()
      $0.endObject()
    }
    #expect(text == "{}")
  }
}
