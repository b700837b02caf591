// SPDX-License-Identifier: Apache-2.0
import Foundation
import ReceiverStream
import TestSupport
import Testing

@testable import sextant

private func fix(_ latitude: Double, _ longitude: Double, second: Double, height: Double? = nil) -> Fix {
  var fix = Fix()
  fix.kind = .threeD
  fix.latitudeDegrees = latitude
  fix.longitudeDegrees = longitude
  fix.heightAboveEllipsoidMetres = height
  fix.time = UTCTime(nanosecondsSince1970: 1_700_000_000_000_000_000 + Int64(second * 1e9))
  return fix
}

private func result(_ bytes: [UInt8], name: String = "a.ubx", truth: Truth? = nil) -> RecordingStatistics.Result {
  var stream = FrameStream()
  var statistics = RecordingStatistics(truth: truth)
  stream.receive(bytes.raw) { statistics.receive($0) }
  stream.finish { statistics.receive($0) }
  return statistics.finish(name: name, bytes: UInt64(bytes.count), stream.counters)
}

@Suite("Statistics of a recording")
struct ReportTests {
  /// The same with earth-centred coordinates: chords between places and their mean, which share no formula with the
  /// plane.
  @Test("CEP50 and CEP95 equal an independent calculation")
  func cep() throws {
    var random = SeededRandomNumberGenerator(seed: 5)
    var deviation = PositionDeviation()
    var points: [SIMD3<Double>] = []
    for _ in 0..<5001 {
      let (lat, lon) = (
        47.3 + Double.random(in: -1...1, using: &random) * 3e-5, 8.5 + Double.random(in: -1...1, using: &random) * 5e-5
      )
      deviation.add(latitudeDegrees: lat, longitudeDegrees: lon, heightMetres: 400)
      let (phi, lambda) = (lat * .pi / 180, lon * .pi / 180)
      let e2 = 2 / 298.257223563 - 1 / (298.257223563 * 298.257223563)
      let n = 6_378_137 / (1 - e2 * sin(phi) * sin(phi)).squareRoot()
      points.append(SIMD3(n * cos(phi) * cos(lambda), n * cos(phi) * sin(lambda), n * (1 - e2) * sin(phi)))
    }
    let mean = points.reduce(SIMD3(), +) / Double(points.count)
    let distances = points.map { (($0 - mean) * ($0 - mean)).sum().squareRoot() }.sorted()
    let found = try #require(deviation.result)
    #expect(abs(found.cep50 - distances[2500]) < 0.001, "\(found.cep50) \(distances[2500])")
    #expect(abs(found.cep95 - distances[4750]) < 0.001, "\(found.cep95) \(distances[4750])")
    #expect(found.height95 == 0)
  }

  @Test("Against a given place the mean has an error, across the antimeridian too")
  func truth() throws {
    var deviation = PositionDeviation(truth: Truth(latitudeDegrees: 0, longitudeDegrees: 180, heightMetres: 10))
    deviation.add(latitudeDegrees: 0, longitudeDegrees: -179.9999, heightMetres: 13)
    let found = try #require(deviation.result)
    #expect(abs(found.mean.x - 11.131949) < 1e-5 && found.mean.y == 0 && found.mean.z == 3, "\(found)")
    #expect(abs(found.cep95 - 11.131949) < 1e-5)
    #expect(found.height95 == 3)
  }

  @Test("A sample keeps CEP within one per cent beyond its capacity, and its size")
  func reservoir() throws {
    var random = SeededRandomNumberGenerator(seed: 6)
    var deviation = PositionDeviation()
    for _ in 0..<400_000 {
      // Distances from the centre are uniform from 0 to 1e-4 degrees of latitude.
      let radius = Double.random(in: 0...1e-4, using: &random)
      deviation.add(
        latitudeDegrees: Bool.random(using: &random) ? radius : -radius, longitudeDegrees: 0, heightMetres: nil)
    }
    let found = try #require(deviation.result)
    let edge = 11.0574
    #expect(abs(found.cep50 - edge / 2) < edge / 100 && abs(found.cep95 - 0.95 * edge) < edge / 100, "\(found.cep50)")
    #expect(found.sample.count <= 1600)
  }

  @Test("A series keeps its extremes and its size, whatever its length")
  func series() {
    var series = Series()
    for second in 0..<1_000_000 { series.add(second == 777_777 ? 99 : second == 3 ? -7 : 1, at: Double(second)) }
    #expect(series.buckets.count <= Series.capacity)
    #expect(series.buckets.map(\.maximum).max() == 99 && series.buckets.map(\.minimum).min() == -7)
    #expect(series.buckets.map(\.count).reduce(0, +) == 1_000_000)
    series.add(.nan, at: 5)
    #expect(series.total.count == 1_000_000)
  }

  @Test("A jump of years adds nothing to the time that a recording covers")
  func jumps() {
    var epochs = EpochStatistics()
    for second in [0, 1, 2, 700_000_000, 700_000_001, 5, 6] {
      epochs.add(fix(48, 11, second: Double(second)), isUpdate: false)
    }
    epochs.finish()
    #expect(epochs.axis.seconds == 4 && epochs.axis.jumps == 2 && epochs.epochs == 7)
  }

  @Test("A small step back adds nothing, nor does the way forward again")
  func stepsBack() {
    var epochs = EpochStatistics()
    for second in [4.8, 4.9, 5.0, 4.9, 5.1, 5.2, 5.0, 5.3, 5.9] {
      epochs.add(fix(48, 11, second: second), isUpdate: false)
    }
    epochs.finish()
    #expect(abs(epochs.axis.seconds - 1.1) < 1e-9 && epochs.axis.jumps == 0)
  }

  private func gga(_ seconds: Int, _ quality: Int = 1) -> [UInt8] {
    func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let time = two(seconds / 3600 % 24) + two(seconds / 60 % 60) + two(seconds % 60)
    let place = quality == 0 ? ",,," : "4809.86189,N,01136.34021,E"
    return Wire.nmea("GNGGA,\(time).00,\(place),\(quality),05,0.65,510.6,M,45.6,M,,")
  }

  private func rmc(_ time: String) -> [UInt8] {
    Wire.nmea("GNRMC,\(time).00,A,4809.86189,N,01136.34021,E,2.650,22.64,241126,,,A")
  }

  @Test("Without a date the times of day are the axis, over midnight too")
  func timesOfDay() {
    // From 23:30:00 to 01:30:00, an hour of it without a fix.
    let start = 84_600
    let bytes = (0...7200).flatMap { gga(start + $0, (1800..<5400).contains($0) ? 0 : 1) }
    let found = result(bytes)
    #expect(found.epochs.axis.seconds == 7200 && found.epochs.axis.jumps == 0 && found.epochs.axis.first == nil)
    #expect(found.epochs.outages == 1 && found.epochs.outageSeconds == 3601)
    let html = ReportPage.html([found])
    #expect(html.contains("2 h 0 min") && html.contains("no date") && html.contains("1, 1 h 0 min, 1 h 0 min"))
  }

  @Test("A date that follows times of day dates the beginning, and is not a jump")
  func lateDate() {
    let found = result(gga(43_195) + gga(43_198) + rmc("120001") + rmc("120002")).epochs.axis
    #expect(
      found.seconds == 7 && found.jumps == 0 && found.first.map { ReportPage.time($0) } == "2026-11-24 11:59:55 UTC")
    let recorded = result(rmc("120001") + rmc("120002")).epochs.axis
    #expect(recorded.seconds == 1 && recorded.jumps == 0 && recorded.first != nil)
  }

  @Test("Epochs without any time have no duration, and not one of 0 s")
  func noTime() {
    let place = "4809.86189,N,01136.34021,E"
    let found = result((0..<5).flatMap { _ in Wire.nmea("GNGGA,,\(place),1,05,0.65,510.6,M,45.6,M,,") })
    #expect(found.epochs.positions > 0 && !found.epochs.axis.hasTime)
    #expect(KeyFigure.all(found).contains(KeyFigure(name: "Duration", value: "–", note: "no time")))
  }

  @Test("A clock that begins at midnight after a restart does not move the axis", arguments: ["10", "22"])
  func restart(hour: String) {
    let start = Int(hour)! * 3600 + 900
    let void = (0..<3).flatMap { gga($0, 0) }
    let bytes = rmc("\(hour)1500") + rmc("\(hour)1501") + void + (20..<25).flatMap { gga(start + $0) }
    let found = result(bytes).epochs
    #expect(found.axis.seconds == 24 && found.axis.jumps == 0, "\(found.axis)")
    #expect(found.outages == 1 && found.outageSeconds == 19)
  }

  @Test("An outage lasts from the last position to the next")
  func outages() {
    var epochs = EpochStatistics()
    for second in 0..<30 {
      var fix = fix(48, 11, second: Double(second))
      if second < 4 || (10..<15).contains(second) { fix.kind = .none }
      epochs.add(fix, isUpdate: false)
    }
    epochs.finish()
    #expect(epochs.firstFixSeconds == 4 && epochs.outages == 1 && epochs.outageSeconds == 6 && epochs.positions == 21)
  }

  @Test("The page loads nothing, escapes names, and has a column for each recording")
  func page() {
    let sentence = Wire.nmea("GNGGA,120000.00,4809.86189,N,01136.34021,E,1,05,0.65,510.6,M,45.6,M,,")
    let html = ReportPage.html([result(sentence, name: "<a>&.ubx"), result(sentence + [1, 2, 3], name: "b.ubx")])
    #expect(html.contains("<th>&lt;a&gt;&amp;.ubx</th><th>b.ubx</th>"))
    #expect(!html.contains("http") && !html.contains("<script") && !html.contains("src=") && !html.contains("url("))
    #expect(html.contains("Bytes outside of frames</td><td class=\"n\">0</td><td class=\"n\">3</td>"))
  }

  @Test("Jamming, antenna and gain of each input come from MON-RF and MON-HW")
  func inputs() throws {
    // jammingState, antStatus, noisePerMS, agcCnt and jamInd of two blocks.
    let blocks: [[UInt8]] = [
      [0, 3, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 90, 0, 0x10, 0x20, 77, 0, 0, 0, 0, 0, 0, 0],
      [1, 1, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 10, 0, 0x00, 0x10, 5, 0, 0, 0, 0, 0, 0, 0],
    ]
    let rf = Wire.ubx(0x0A, 0x38, [0, 2, 0, 0] + blocks.joined())
    let found = result(rf + rf).remarks
    let first = try #require(found.stages[0])
    #expect(first.jamming == [0, 0, 0, 2] && first.antenna == [0, 0, 2, 0, 0, 0])
    #expect(first.noise.mean == 90 && first.gain.maximum == 0x2010 && first.indicator.minimum == 77)
    #expect(found.stages[1]?.antenna == [0, 0, 0, 0, 2, 0])
    let html = ReportPage.html([result(rf)])
    #expect(html.contains("critical 1") && html.contains("ok 1") && html.contains("open 1"))

    var hardware = [UInt8](repeating: 0, count: 60)
    hardware.replaceSubrange(16..<21, with: [30, 0, 0, 8, 3])
    hardware[22] = 2 << 2
    hardware[45] = 12
    let old = try #require(result(Wire.ubx(0x0A, 0x09, hardware)).remarks.stages[0])
    #expect(old.jamming == [0, 0, 1, 0] && old.antenna == [0, 0, 0, 1, 0, 0])
    #expect(old.noise.mean == 30 && old.gain.mean == 2048 && old.indicator.mean == 12)
  }

  @Test("Each start of the receiver has its time to first fix, by NAV-STATUS, and there are at most 32")
  func starts() {
    func status(ttff: UInt32, sinceStart: UInt32) -> [UInt8] {
      func four(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
      return Wire.ubx(1, 3, [0, 0, 0, 0, 3, 0, 0, 0] + four(ttff) + four(sinceStart))
    }
    let two = [
      status(ttff: 0, sinceStart: 5000), status(ttff: 26_400, sinceStart: 30_000), status(ttff: 0, sinceStart: 1000),
    ]
    let file = result(Array(two.joined()))
    #expect(file.remarks.starts.map(\.firstFixSeconds) == [26.4, nil])
    #expect(ReportPage.html([file]).contains("26.4 s, none"))
    let many = (0..<40).reversed().flatMap { status(ttff: 1000, sinceStart: 2000 + $0) }
    let further = result(many).remarks
    #expect(further.starts.count == 32 && further.furtherStarts == 8)
  }

  @Test("Noise and a recording without a fix make a page with words")
  func noise() {
    var random = SeededRandomNumberGenerator(seed: 7)
    let noise = ReportPage.html([result(random.bytes(100_000)), result([0xB5])])
    #expect(noise.contains("No position.") && noise.contains("No message.") && noise.utf8.count < 40_000)
    #expect(!noise.contains("nan") && !noise.contains("inf"))
  }

  @Test("The page of a long recording is short")
  func size() {
    var bytes: [UInt8] = []
    for second in 0..<40_000 {
      let (hour, minute) = (second / 3600, second / 60 % 60)
      func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
      bytes += Wire.nmea(
        "GNGGA,\(two(hour))\(two(minute))\(two(second % 60)).00,4809.8\(second % 9000 + 1000),N,01136.34021,E,1,05,0.65,\(second % 700).6,M,45.6,M,,"
      )
    }
    let html = ReportPage.html([result(bytes)])
    #expect(html.utf8.count < 300_000, "\(html.utf8.count)")
  }

  @Test("The title names the receiver or the file, and no folder")
  func title() {
    var version = [UInt8](repeating: 0, count: 40 + 60)
    version.replaceSubrange(40..<54, with: Array("FWVER=HPG 1.32".utf8))
    version.replaceSubrange(70..<81, with: Array("MOD=ZED-F9P".utf8))
    let known = ReportPage.html([result(Wire.ubx(0x0A, 0x04, version), name: "/data/bench/roof.rec")])
    #expect(known.contains("<h1>ZED-F9P, HPG 1.32</h1>"))
    #expect(known.contains("<title>ZED-F9P, HPG 1.32 – roof.rec</title>"))
    let texts = Wire.nmea("GNTXT,01,01,02,FWVER=SPG 4.04") + Wire.nmea("GNTXT,01,01,02,MOD=NEO-M9N")
    #expect(ReportPage.html([result(texts)]).contains("<h1>NEO-M9N, SPG 4.04</h1>"))
    let unknown = ReportPage.html([result([0xB5], name: "/data/bench/roof.rec")])
    #expect(unknown.contains("<h1>roof.rec</h1>") && unknown.contains("<title>roof.rec</title>"))
  }

  @Test("Files with the same name have the folders that distinguish them")
  func shortNames() {
    #expect(ReportPage.shortNames(["/a/x/r.rec", "/b/x/r.rec", "/b/s.rec"]) == ["a/x/r.rec", "b/x/r.rec", "s.rec"])
    #expect(ReportPage.shortNames(["r.rec", "a/r.rec"]) == ["r.rec", "a/r.rec"])
    #expect(ReportPage.shortNames(["a/r.rec", "a/r.rec", "/", ""]) == ["r.rec", "r.rec", "/", ""])
  }

  @Test("Shares are words and per cent, which are 0 and 100 only if they are exact")
  func shares() {
    var epochs = EpochStatistics()
    for second in 0..<1000 {
      var fix = fix(48, 11, second: Double(second))
      if second < 18 { fix.kind = .none }
      epochs.add(fix, isUpdate: false)
    }
    epochs.finish()
    #expect(KeyFigure.shares(epochs) == "3D fix 98.2 %, no fix 1.8 %")
    #expect(KeyFigure.percent(99_999, of: 100_000) == "> 99.9 %" && KeyFigure.percent(1, of: 100_000) == "< 0.1 %")
    #expect(KeyFigure.percent(3, of: 3, digits: 2) == "100 %" && KeyFigure.percent(0, of: 3) == "0 %")
    #expect(KeyFigure.percent(0, of: 0) == "–")
  }

  @Test(
    "Dead reckoning, simulated, surveyed and out-of-limits epochs are named, and those outside of the limits are not available",
    arguments: [
      (Fix.Kind.deadReckoning, Fix.Quality.autonomous, true, "dead reckoning"),
      (.threeD, .estimated, true, "dead reckoning"), (.threeD, .simulated, true, "simulated"),
      (.surveyed, .autonomous, true, "surveyed place"), (.threeD, .manual, true, "surveyed place"),
      (.threeD, .rtkFixed, false, "outside limits"), (.combined, .autonomous, true, "3D fix"),
      (.twoD, .autonomous, true, "2D fix"),
    ])
  func doubtful(kind: Fix.Kind, quality: Fix.Quality, isWithinLimits: Bool, name: String) throws {
    var file = result([])
    for second in 0..<30 {
      var fix = fix(48, 11, second: Double(second))
      fix.quality = .autonomous
      if (10..<20).contains(second) { (fix.kind, fix.quality, fix.isWithinLimits) = (kind, quality, isWithinLimits) }
      file.epochs.add(fix, isUpdate: false)
    }
    file.epochs.end()
    let availability = try #require(KeyFigure.all(file).first { $0.name == "Availability" })
    #expect(
      availability.note == (name == "3D fix" ? "3D fix 100 %" : "3D fix 66.7 %, \(name) 33.3 %"))
    #expect(availability.value == (isWithinLimits ? "100 %" : "66.67 %"))
    #expect(file.epochs.positions == 30 && ReportPage.html([file]).contains(">\(name)</span>"))
  }

  @Test("A date that arrives in an update is the one of its epoch")
  func dateOfUpdate() {
    var epochs = EpochStatistics()
    var undated = fix(48, 11, second: 0)
    undated.time = nil
    epochs.add(undated, isUpdate: false)
    epochs.add(fix(48, 11, second: 0), isUpdate: true)
    epochs.end()
    #expect(epochs.epochs == 1 && epochs.axis.first == fix(48, 11, second: 0).time)
  }

  @Test("Stored fixes are the epochs of a recording that has no other ones, and are left out beside live ones")
  func storedFixes() throws {
    func batch(_ second: UInt8) -> [UInt8] {
      var payload = [UInt8](repeating: 0, count: 100)
      // Date and time, valid, 3D within limits, 48.1 N 11.5 E, 2 m.
      payload.replaceSubrange(8..<16, with: [0xEA, 0x07, 11, 24, 12, 0, second, 3])
      payload.replaceSubrange(24..<26, with: [3, 1])
      for (place, value) in [(28, 115_000_000), (32, 481_000_000), (40, 2000)] as [(Int, UInt32)] {
        payload.replaceSubrange(place..<place + 4, with: (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) })
      }
      return Wire.ubx(0x21, 0x11, payload)
    }
    let stored = (0..<10).flatMap { batch($0) }
    let found = result(stored)
    #expect(found.epochs.positions == 10 && found.epochs.axis.seconds == 9)
    #expect(ReportPage.html([found]).contains("10, 10, stored in the receiver"))
    let live = result(rmc("130000") + stored + rmc("130001"))
    #expect(live.epochs.positions == 2 && live.epochs.axis.jumps == 0)
  }

  @Test("Satellites have two digits and the letter of RINEX")
  func names() {
    #expect(
      SatelliteStatistics.name(system: 0, number: 2) == "G02"
        && SatelliteStatistics.name(system: 7, number: 11) == "I11")
    #expect(
      SatelliteStatistics.name(system: 1, number: 133) == "S133"
        && SatelliteStatistics.name(system: 9, number: 0) == "?00")
  }

  @Test("In a crowded sky no name covers another one or a dot")
  func sky() {
    var random = SeededRandomNumberGenerator(seed: 8)
    for _ in 0..<50 {
      let places = (0..<60).map { number in
        (
          key: UInt16(number % 8) << 8 | UInt16(number),
          place: Optional(
            (x: Double.random(in: 20...300, using: &random), y: Double.random(in: 20...300, using: &random))),
          row: SatelliteStatistics.Row()
        )
      }
      let dots = Drawing.skyDots(places)
      let labels = dots.compactMap(\.label)
      #expect(dots.count == 60 && labels.count > 20)
      for (index, label) in labels.enumerated() {
        #expect(!labels[(index + 1)...].contains { $0.overlaps(label) })
        #expect(label.left >= 0 && label.top >= 0 && label.right <= 320 && label.bottom <= 320)
        let covered = dots.filter {
          label.left < $0.x + $0.radius && $0.x - $0.radius < label.right && label.top < $0.y + $0.radius
            && $0.y - $0.radius < label.bottom
        }
        #expect(covered.isEmpty)
      }
    }
  }

  @Test("The ticks of an axis enclose the values, and are round and few")
  func ticks() {
    for (low, high) in [
      (0.0, 0.0), (12, 12), (0.83, 1.24), (-7, 99), (16.3, 20.8), (1e5, 1e7), (-0.004, 0.003), (437, 438),
    ] {
      for digits in 0...2 {
        let ticks = Drawing.ticks(from: low, to: high, digits: digits)
        #expect((2...6).contains(ticks.count), "\(low) \(high) \(ticks)")
        #expect(ticks[0].value <= low + 1e-9 && ticks[ticks.count - 1].value >= high - 1e-9, "\(low) \(high) \(ticks)")
        #expect(Set(ticks.map(\.label)).count == ticks.count, "\(ticks)")
      }
    }
  }
}
