// SPDX-License-Identifier: Apache-2.0
import GPSD
import Messages
import NMEA
import ReceiverStream
import TestSupport
import Testing

/// Reads an epoch of sentences with its satellites.
private func assemble(_ text: String, _ body: (borrowing EpochAssembler.Report, borrowing Sky) -> Void) {
  var stream = FrameStream()
  var assembler = EpochAssembler()
  let bytes = Array(text.utf8)
  stream.receive(bytes.raw) { frame in assembler.receive(frame, body) }
  assembler.finish(body)
}

/// A sentence with its checksum.
private func sentence(_ content: String) -> String {
  let sum = content.utf8.reduce(0, ^)
  let digits = String(sum, radix: 16, uppercase: true)
  return "$\(content)*\(digits.count < 2 ? "0" : "")\(digits)\r\n"
}

private let sky =
  sentence("GNRMC,120000.00,A,4809.86189,N,01136.34021,E,2.650,22.64,241126,,,A,V")
  + sentence("GNGGA,120000.00,4809.86189,N,01136.34021,E,1,05,0.65,510.6,M,45.6,M,,")
  + sentence("GNGSA,A,3,12,03,33,,,,,,,,,,1.17,0.65,0.97,1") + sentence("GNGSA,A,3,75,,,,,,,,,,,,1.17,0.65,0.97,2")
  + sentence("GNGSA,A,3,18,,,,,,,,,,,,1.17,0.65,0.97,3")
  + sentence("GPGSV,1,1,04,12,77,057,44,03,59,270,43,33,30,180,40,21,,,1")
  + sentence("GLGSV,1,1,01,75,58,284,44,1") + sentence("GAGSV,1,1,01,18,58,222,42,7")

/// The reports of one epoch of a UBX receiver with that sky.
private func reports(
  wanted: GPSDState.Wanted = .init(), _ change: (inout Fix) -> Void = { _ in }
) -> (state: GPSDState, epochs: [EpochReports]) {
  var state = GPSDState(release: "1.0")
  _ = state.update([GPSDDevice(path: "/dev/ttyACM0", isActive: true)], at: UTCTime(nanosecondsSince1970: 0))
  var epochs: [EpochReports] = []
  assemble(sky) { report, sky in
    var fix = report.fix
    change(&fix)
    let changed = EpochAssembler.Report(fix: fix, isUpdate: report.isUpdate, skyChanged: report.skyChanged)
    let epoch = state.receive(
      changed, sky, of: 0, wanted: wanted, received: UTCTime(nanosecondsSince1970: 1_795_521_600_250_000_000))
    if let epoch { epochs.append(epoch) }
  }
  return (state, epochs)
}

private func objects(_ text: [UInt8]) throws -> [JSON] {
  try String(decoding: text, as: UTF8.self).split(separator: "\r\n").map { try JSON(parsing: Array($0.utf8)) }
}

private let watching: WatchPolicy = {
  var watch = WatchPolicy()
  watch.isEnabled = true
  return watch
}()

@Suite("Reports of an epoch")
struct EpochTests {
  @Test("An epoch is a TPV and a SKY of its device, with the names of old clients too")
  func json() throws {
    let (state, epochs) = reports()
    let found = try objects(epochs.flatMap(\.json))
    let tpv = try #require(found.first { $0["class"] == "TPV" })
    #expect(tpv["device"] == "/dev/ttyACM0")
    #expect(tpv["alt"] == tpv["altMSL"])
    #expect(tpv["time"] == "2026-11-24T12:00:00.000Z")
    let sky = try #require(found.last { $0["class"] == "SKY" })
    #expect(sky["nSat"] == 6)
    #expect(state.devices[0].driver == .nmea)
    let unwatched = try objects(state.poll(WatchPolicy(), at: UTCTime(nanosecondsSince1970: 0)))[0]
    #expect(unwatched["active"] == 0 && unwatched["tpv"] != .array([tpv]))
    // The reported objects are also the polled ones.
    let poll = try objects(state.poll(watching, at: UTCTime(nanosecondsSince1970: 0)))[0]
    #expect(poll["tpv"] == .array([tpv]))
    #expect(poll["sky"] == .array([sky]))
    #expect(poll["active"] == 1)
  }

  @Test("GST and ATT whose values arrive after the first report of the epoch come once, in its update")
  func lateErrors() throws {
    var state = GPSDState(release: "1.0")
    _ = state.update([GPSDDevice(path: "/dev/ttyACM0", isActive: true)], at: UTCTime(nanosecondsSince1970: 0))
    for second in 0..<3 as Range<Int64> {
      var fix = Fix()
      fix.kind = .threeD
      (fix.latitudeDegrees, fix.longitudeDegrees) = (48, 11)
      fix.time = UTCTime(nanosecondsSince1970: 1_795_521_600_000_000_000 + second * 1_000_000_000)
      fix.source = .ubx
      fix.accuracySource = .receiver
      var found: [String] = []
      var sentences = ""
      for step in 0..<4 {
        if step == 1 { (fix.northAccuracyMetres, fix.eastAccuracyMetres, fix.headingDegrees) = (1.5, 2.5, 90) }
        if step == 3 { fix.headingDegrees = 91 }
        let report = EpochAssembler.Report(fix: fix, isUpdate: step > 0)
        let epoch = state.receive(report, Sky(), of: 0, wanted: .init(nmea: true), received: nil)
        found += try objects(epoch?.json ?? []).compactMap { $0["class"]?.string }.filter { $0 != "TPV" }
        sentences += String(decoding: epoch?.nmea ?? [], as: UTF8.self)
      }
      #expect(found == ["GST", "ATT", "ATT"])
      #expect(sentences.split(separator: "\r\n").count { $0.contains("GST,") } == 1)
    }
    let poll = try objects(state.poll(watching, at: UTCTime(nanosecondsSince1970: 0)))[0]
    #expect(poll["gst"] != .array([]))
  }

  @Test("GST and ATT come if the receiver sends what they consist of")
  func further() throws {
    let (_, epochs) = reports { fix in
      (fix.northAccuracyMetres, fix.eastAccuracyMetres, fix.headingDegrees) = (1.5, 2.5, 90)
    }
    let found = try objects(epochs.flatMap(\.json))
    let gst = try #require(found.first { $0["class"] == "GST" })
    #expect(gst["lat"] == 1.5)
    #expect(gst["lon"] == 2.5)
    #expect(try #require(found.first { $0["class"] == "ATT" })["heading"] == 90.0)
    #expect(try objects(reports().epochs.flatMap(\.json)).allSatisfy { $0["class"] != "GST" && $0["class"] != "ATT" })
  }

  @Test("The flags of a DEVICE are those of the data that it has sent")
  func flags() throws {
    var state = GPSDState(release: "1.0")
    let start = UTCTime(nanosecondsSince1970: 0)
    func flags() throws -> JSON? { try objects(state.text(of: state.devices[0]))[0]["flags"] }
    _ = state.update([GPSDDevice(path: "/dev/ttyACM0", isActive: true)], at: start)
    #expect(try flags() == nil)
    state.noteCorrections(of: 0)
    #expect(try flags() == 4)
    let identified = GPSDDevice(path: "/dev/ttyACM0", isActive: true, driver: .uBlox)
    #expect(try state.update([identified], at: start).map { try objects($0.json)[0]["flags"] } == [5])
    _ = state.update([GPSDDevice(path: "/dev/ttyUSB0", isActive: true, driver: .nmea)], at: start)
    #expect(try flags() == 1)
  }

  @Test("TOFF has the time of the fix and the computer's time")
  func timeOffset() throws {
    let (_, epochs) = reports(wanted: .init(timeOffset: true))
    let offset = try objects(epochs[0].timeOffset)[0]
    #expect(offset["class"] == "TOFF")
    #expect(offset["real_sec"] == 1_795_521_600)
    #expect(offset["clock_nsec"] == 250_000_000)
  }

  @Test("The sentences of a UBX fix say what the fix says")
  func sentences() throws {
    let (state, epochs) = reports(wanted: .init(nmea: true)) { $0.source = .ubx }
    #expect(state.devices[0].isBinary)
    let text = String(decoding: epochs.flatMap(\.nmea), as: UTF8.self)
    var original = Fix()
    var expected: [Satellite] = []
    assemble(sky) { report, sky in
      original = report.fix
      expected = sky.satellites.indices.map { sky.satellites[$0] }
    }
    var again = Fix()
    var found: [Satellite] = []
    assemble(text) { report, sky in
      again = report.fix
      found = sky.satellites.indices.map { sky.satellites[$0] }
    }
    #expect(again.time == original.time)
    #expect(abs(again.latitudeDegrees! - original.latitudeDegrees!) < 1e-8)
    #expect(abs(again.longitudeDegrees! - original.longitudeDegrees!) < 1e-8)
    #expect(again.heightAboveSeaLevelMetres == original.heightAboveSeaLevelMetres)
    #expect(abs(again.speedMetresPerSecond! - original.speedMetresPerSecond!) < 1e-3)
    #expect(again.courseDegrees == original.courseDegrees)
    #expect((again.pdop, again.hdop, again.vdop) == (original.pdop, original.hdop, original.vdop))
    #expect(again.kind == original.kind)
    #expect(found == expected)
    // NMEA 4.10: GSA has the system, GSV the signal, 0 for all.
    let lists = text.split(separator: "\r\n").filter { $0.dropFirst(3).hasPrefix("GSV") }
    #expect(!lists.isEmpty && lists.allSatisfy { $0.dropLast(3).hasSuffix(",0") }, "\(text)")
  }

  @Test(
    "The time of sentences is rounded as a whole, with milliseconds where hundredths do not suffice",
    arguments: [
      (-342 as Int64, "120000.00", "24,11,2026"), (125_000_000, "120000.125", "24,11,2026"),
      (120_000_000, "120000.12", "24,11,2026"), (59_999_600_000, "120100.00", "24,11,2026"),
      (59_999_400_000, "120059.999", "24,11,2026"), (43_199_999_999_658, "000000.00", "25,11,2026"),
      (43_199_990_000_000, "235959.99", "24,11,2026"),
    ])
  func roundedTime(nanoseconds: Int64, time: String, date: String) {
    let (_, epochs) = reports(wanted: .init(nmea: true)) { fix in
      fix.source = .ubx
      (fix.northAccuracyMetres, fix.eastAccuracyMetres, fix.accuracySource) = (1.5, 2.5, .receiver)
      fix.time = UTCTime(nanosecondsSince1970: 1_795_521_600_000_000_000 + nanoseconds)
    }
    let text = String(decoding: epochs.flatMap(\.nmea), as: UTF8.self)
    let (day, month, year) = (date.prefix(2), date.dropFirst(3).prefix(2), date.suffix(2))
    #expect(text.contains("RMC,\(time),A,") && text.contains(",\(day)\(month)\(year),"), "\(text)")
    for field in ["GGA,\(time),", "GST,\(time),", "ZDA,\(time),\(date),"] { #expect(text.contains(field), "\(text)") }
  }

  /// The fields of the first sentence of a formatter.
  private func fields(_ formatter: String, _ change: (inout Fix) -> Void) throws -> [String] {
    let (_, epochs) = reports(wanted: .init(nmea: true)) { fix in
      fix.source = .ubx
      change(&fix)
    }
    let lines = String(decoding: epochs.flatMap(\.nmea), as: UTF8.self).split(separator: "\r\n")
    let line = try #require(lines.first { $0.dropFirst(3).hasPrefix(formatter) })
    return line.prefix { $0 != "*" }.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
  }

  @Test(
    "No sentence of a fix beyond the receiver's limits counts it as valid",
    arguments: [Fix.Kind.threeD, .deadReckoning])
  func outsideLimits(kind: Fix.Kind) throws {
    func fields(_ formatter: String) throws -> [String] {
      try self.fields(formatter) { ($0.kind, $0.isWithinLimits) = (kind, false) }
    }
    let rmc = try fields("RMC")
    #expect(rmc[2] == "V" && rmc[12] == "N")
    #expect(try fields("VTG")[9] == "N")
    #expect(try fields("GGA")[6] == "0")
    #expect(try fields("GSA")[2] == "1")
  }

  /// The fields of RMC and GGA of a fix with these values.
  private func place(
    _ latitude: Double, _ longitude: Double, height: Double, separation: Double
  ) -> (rmc: [String], gga: [String], longest: Int) {
    var fix = Fix()
    fix.time = UTCTime(nanosecondsSince1970: 1_780_000_000_500_000_000)
    (fix.kind, fix.quality, fix.latitudeDegrees, fix.longitudeDegrees) = (.threeD, .rtkFixed, latitude, longitude)
    (fix.heightAboveSeaLevelMetres, fix.geoidSeparationMetres) = (height, separation)
    (fix.hdop, fix.satellitesUsed, fix.speedMetresPerSecond, fix.courseDegrees) = (12.34, 12, 340, 359.99)
    let text = String(decoding: FixSentences.text(of: fix, Sky(), nil, .epoch), as: UTF8.self)
    let lines = text.split(separator: "\r\n").map {
      $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    }
    return (
      lines.first { $0[0].hasSuffix("RMC") } ?? [], lines.first { $0[0].hasSuffix("GGA") } ?? [],
      text.split(separator: "\r\n").map { $0.utf8.count + 2 }.max() ?? 0
    )
  }

  @Test("Sentences have the digits of the fix, and at least five of a minute and one of a metre")
  func digits() {
    // Minutes of a sentence, degrees of NAV-PVT, and degrees of NAV-HPPOSLLH.
    let sentence = place(48 + 8.25 / 60, -(11 + 34.56789 / 60), height: 520.5, separation: 47)
    #expect(sentence.rmc[3] == "4808.25000" && sentence.rmc[5] == "01134.56789")
    #expect(sentence.gga[2] == "4808.25000" && sentence.gga[4] == "01134.56789")
    #expect(sentence.gga[9] == "520.5" && sentence.gga[11] == "47.0")
    let pvt = place(48.1234567, 11.7654321, height: 520.512, separation: 47.25)
    #expect(pvt.gga[2] == "4807.407402" && pvt.gga[4] == "01145.925926")
    #expect(pvt.gga[9] == "520.512" && pvt.gga[11] == "47.25")
    let precise = place(48.123456789, 11.765432101, height: 520.5, separation: 47)
    #expect(precise.gga[2] == "4807.4074073" && precise.gga[4] == "01145.9259261")
  }

  @Test("A fix with the digits of a sentence is written within the 82 characters of NMEA 0183", arguments: 0..<200)
  func length(seed: Int) {
    var random = SeededRandomNumberGenerator(seed: UInt64(seed))
    func angle(_ limit: Int) -> Double {
      (Double(Int.random(in: 0..<limit * 6_000_000, using: &random)) / 6_000_000)
        * (Bool.random(using: &random) ? 1 : -1)
    }
    let (latitude, longitude) = (angle(90), angle(180))
    let found = place(
      latitude, longitude, height: Double(Int.random(in: -9999...99_999, using: &random)) / 10,
      separation: Double(Int.random(in: -1000...1000, using: &random)) / 10)
    #expect(found.longest <= 82, "\(found)")
    func degrees(_ field: String, _ whole: Int) -> Double {
      (Double(field.prefix(whole)) ?? .nan) + (Double(field.dropFirst(whole)) ?? .nan) / 60
    }
    #expect(abs(degrees(found.gga[2], 2) - abs(latitude)) < 1e-10)
    #expect(abs(degrees(found.gga[4], 3) - abs(longitude)) < 1e-10)
  }

  @Test("GST has the horizontal accuracy if the receiver does not send its parts")
  func evenErrors() {
    var fix = Fix()
    (fix.kind, fix.latitudeDegrees, fix.longitudeDegrees) = (.threeD, 48, 11)
    (fix.horizontalAccuracyMetres, fix.verticalAccuracyMetres, fix.accuracySource) = (5, 7, .receiver)
    func text(_ fix: Fix) -> String { String(decoding: FixSentences.text(of: fix, Sky(), nil, .epoch), as: UTF8.self) }
    #expect(text(fix).contains("GNGST,,,,,,3.536,3.536,7.000*"))
    (fix.ndop, fix.edop) = (0.8, 0.6)
    #expect(text(fix).contains("GNGST,,,,,,4.000,3.000,7.000*"))
    fix.accuracySource = .estimated
    #expect(!text(fix).contains("GST"))
  }

  @Test("A receiver that sends NMEA gets no sentences from its fix")
  func ownSentences() {
    #expect(reports(wanted: .init(nmea: true)).epochs.allSatisfy { $0.nmea.isEmpty })
  }

  @Test("Any fix gives whole sentences with right checksums", arguments: 0..<50)
  func anyFix(seed: Int) {
    var random = SeededRandomNumberGenerator(seed: UInt64(seed))
    let (_, epochs) = reports(wanted: .init(nmea: true)) { fix in
      fix.source = .ubx
      fix.latitudeDegrees = .random(in: -90...90, using: &random)
      fix.longitudeDegrees = .random(in: -180...180, using: &random)
      fix.kind = [.none, .timeOnly, .twoD, .threeD, .deadReckoning, .combined, .surveyed].randomElement(using: &random)!
      fix.heightAboveSeaLevelMetres = .random(in: -1e12...1e12, using: &random)
      fix.speedMetresPerSecond = .random(in: 0...1e12, using: &random)
      fix.courseDegrees = Bool.random(using: &random) ? nil : .nan
      fix.satellitesUsed = .random(in: 0...1000, using: &random)
      fix.differentialStation = .random(in: 0...65_535, using: &random)
      fix.time = UTCTime(
        nanosecondsSince1970: .random(in: 315_532_800_000_000_000...7_258_118_400_000_000_000, using: &random))
    }
    var stream = FrameStream()
    var count = 0
    let text = epochs.flatMap(\.nmea)
    stream.receive(text.raw) { frame in if frame.kind == .nmea { count += 1 } }
    #expect(count > 0)
    #expect(count == text.count { $0 == UInt8(ascii: "\n") })
    #expect(stream.counters.skippedBytes == 0)
  }
}
