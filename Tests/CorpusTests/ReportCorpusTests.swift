// SPDX-License-Identifier: Apache-2.0
import Foundation
import GPSD
import ReceiverStream
import TestSupport
import Testing
import sextant

/// The numbers of a report, calculated from TPV objects: positions as chords in earth-centred coordinates, times as dates.
private struct IndependentReport {
  var epochs = 0
  var positions = 0
  var firstFixSeconds: Double?
  /// From the last position before an outage to the first one after it, or to the last epoch.
  var outages: [Double] = []
  var cep50 = 0.0
  var cep95 = 0.0
  var height95: Double?

  /// An epoch is a TPV object, or several consecutive ones with the same time, of which the last is used. Objects
  /// without a time are epochs too: some receivers never send one.
  init(_ objects: [TPV]) {
    var list: [TPV] = []
    for object in objects {
      if object.time != nil, object.time == list.last?.time { list.removeLast() }
      list.append(object)
    }
    epochs = list.count
    var (axis, lastFix, isLost) = (0.0, nil as Double?, false)
    var last: Date?
    var places: [SIMD3<Double>] = []
    var heights: [Double] = []
    for object in list {
      if let time = object.date {
        let gap = last.map { time.timeIntervalSince($0) } ?? 0
        if (0...86_400).contains(gap) { axis += gap }
        // A step back within a second is an epoch out of order.
        if !(-1..<0).contains(gap) { last = time }
      }
      guard let mode = object.mode, mode >= 2, let latitude = object.lat, let longitude = object.lon else {
        isLost = true
        continue
      }
      if firstFixSeconds == nil { firstFixSeconds = axis }
      if isLost, let lastFix { outages.append(axis - lastFix) }
      (isLost, lastFix) = (false, axis)
      places.append(Self.earthCentred(latitude, longitude))
      if let height = object.altHAE { heights.append(height) }
    }
    if isLost, let lastFix { outages.append(axis - lastFix) }
    positions = places.count
    guard positions > 0 else { return }
    let mean = places.reduce(SIMD3(), +) / Double(positions)
    let distances = places.map { (($0 - mean) * ($0 - mean)).sum().squareRoot() }
    (cep50, cep95) = (Self.quantile(distances, 0.5), Self.quantile(distances, 0.95))
    guard !heights.isEmpty else { return }
    let meanHeight = heights.reduce(0, +) / Double(heights.count)
    height95 = Self.quantile(heights.map { abs($0 - meanHeight) }, 0.95)
  }

  /// The smallest value that this number of values does not exceed.
  private static func quantile(_ values: [Double], _ share: Double) -> Double {
    values.sorted()[Int((Double(values.count) * share).rounded(.up)) - 1]
  }

  /// On the ellipsoid of WGS 84, metres.
  private static func earthCentred(_ latitude: Double, _ longitude: Double) -> SIMD3<Double> {
    let (phi, lambda) = (latitude * .pi / 180, longitude * .pi / 180)
    let square = 2 / 298.257223563 - 1 / (298.257223563 * 298.257223563)
    let normal = 6_378_137 / (1 - square * sin(phi) * sin(phi)).squareRoot()
    return SIMD3(
      normal * cos(phi) * cos(lambda), normal * cos(phi) * sin(lambda), normal * (1 - square) * sin(phi))
  }
}

extension TPV {
  /// The TPV objects of gpsd's output or ours, in their order; all other lines are ignored.
  fileprivate static func sequence(_ lines: [UInt8]) -> [TPV] {
    let start = Array(#"{"class":"TPV""#.utf8)
    let decoder = JSONDecoder()
    return lines.split(separator: UInt8(ascii: "\n")).compactMap { line in
      line.firstRange(of: start).flatMap { try? decoder.decode(TPV.self, from: Data(line[$0.lowerBound...])) }
    }
  }

  fileprivate var date: Date? {
    time.flatMap { try? Date.ISO8601FormatStyle(includingFractionalSeconds: true).parse($0) }
  }
}

/// The lines of `sextant decode`.
private func decoded(_ bytes: [UInt8]) -> [UInt8] {
  var stream = FrameStream()
  var assembler = EpochAssembler()
  var line = JSONLine()
  func receive(_ frame: borrowing Frame) {
    assembler.receive(frame) { report, _ in if report.fixChanged { line.tpv(report.fix) } }
  }
  stream.receive(bytes.raw, receive)
  stream.finish(receive)
  assembler.finish { report, _ in if report.fixChanged { line.tpv(report.fix) } }
  return Array(line.text.utf8)
}

private func report(_ log: String) throws -> RecordingStatistics.Result {
  let bytes = try Corpus.bytes(log)
  var stream = FrameStream()
  var statistics = RecordingStatistics()
  stream.receive(bytes.raw) { statistics.receive($0) }
  stream.finish { statistics.receive($0) }
  return statistics.finish(name: log, bytes: UInt64(bytes.count), stream.counters)
}

@Suite("Reports of recorded receivers", .tags(.corpus), .enabled(if: Corpus.isWanted, "needs the recorded logs"))
struct ReportCorpusTests {
  /// Outages between fixes, no fix at the start, none at the end, positions without a time, heights missing, ten minutes of UBX.
  private static let logs = [
    "gpsd/ublox-glo.log", "gpsd/rx210.log", "gpsd/unicore-um621.log", "gpsd/quectel-eg25-g.log", "gpsd/ch-4711.log",
    "gpsd/skytraq-dgps.log", "gpsd/sounder.log", "ubx/ublox-zed-f9p_hpg1.11.log",
  ]

  @Test("The numbers of a report equal an independent calculation from the decoded JSON", arguments: logs)
  func fromJSON(log: String) throws {
    let found = try report(log).epochs
    let expected = IndependentReport(TPV.sequence(decoded(try Corpus.bytes(log))))
    #expect(expected.positions > 5)
    #expect(found.epochs == expected.epochs && found.positions == expected.positions)
    let first = try #require(found.firstFixSeconds)
    #expect(abs(first - (expected.firstFixSeconds ?? .infinity)) < 0.01)
    #expect(found.outages == expected.outages.count)
    #expect(abs(found.outageSeconds - expected.outages.reduce(0, +)) < 0.01)
    #expect(abs(found.longestOutageSeconds - (expected.outages.max() ?? 0)) < 0.01)
    let deviation = try #require(found.deviation.result)
    #expect(abs(deviation.cep50 - expected.cep50) < 0.002, "\(deviation.cep50) \(expected.cep50)")
    #expect(abs(deviation.cep95 - expected.cep95) < 0.002, "\(deviation.cep95) \(expected.cep95)")
    #expect((deviation.height95 == nil) == (expected.height95 == nil))
    if let height = deviation.height95, let other = expected.height95 { #expect(abs(height - other) < 0.002) }
  }

  @Test(
    "CEP and height equal a calculation from gpsd's positions, where gpsd prints one for each epoch",
    arguments: ["gpsd/ublox-glo.log", "gpsd/rx210.log", "gpsd/sounder.log"])
  func fromGPSD(log: String) throws {
    let found = try report(log).epochs
    let expected = IndependentReport(TPV.sequence(try Corpus.bytes(log + ".chk")))
    #expect(found.positions == expected.positions)
    let deviation = try #require(found.deviation.result)
    #expect(abs(deviation.cep50 - expected.cep50) < 0.002, "\(deviation.cep50) \(expected.cep50)")
    #expect(abs(deviation.cep95 - expected.cep95) < 0.002, "\(deviation.cep95) \(expected.cep95)")
    if let height = deviation.height95, let other = expected.height95 { #expect(abs(height - other) < 0.002) }
  }

  @Test("A fix that is lost until the end of the recording is an outage, and none before the first fix is")
  func outagesAtTheEnds() throws {
    let start = try report("gpsd/rx210.log").epochs
    #expect(start.outages == 0 && start.firstFixSeconds == 22)
    let end = try report("gpsd/ch-4711.log").epochs
    #expect(end.outages == 1 && end.outageSeconds == 7)
  }

  @Test("A page of two recordings has the numbers of both")
  func two() throws {
    let results = [try report("gpsd/ublox-glo.log"), try report("gpsd/skytraq-dgps.log")]
    let page = ReportPage.html(results)
    for result in results {
      let deviation = try #require(result.epochs.deviation.result)
      #expect(page.contains(result.name) && page.contains("\(fixed(deviation.cep95, 3)) m"))
    }
    #expect(page.contains("7.511 m") && page.contains("0.408 m"))
  }
}
