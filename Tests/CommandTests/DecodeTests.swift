// SPDX-License-Identifier: Apache-2.0
import Foundation
import GPSD
import MonotonicTime
import Receiver
import ReceiverStream
import TestSupport
import Testing
import UBX

@testable import sextant

@Suite("Fixes from the receiver's memory in a recording")
struct DecodeTests {
  private static func batched(_ second: UInt8, fixType: UInt8 = 3) -> [UInt8] {
    written(room: 200) {
      LogBATCH.encode(into: &$0) {
        $0.year(2020)
        $0.month(1)
        $0.day(30)
        $0.hour(22)
        $0.min(36)
        $0.sec(second)
        $0.valid(3)
        $0.fixType(fixType)
        $0.flags(9)
        $0.lat(465_420_166)
        $0.lon(66_530_922)
        $0.height(780_941)
        $0.hAcc(27_919)
      }
    }
  }

  private static let logged = written(room: 200) {
    LogRETRIEVEPOS.encode(into: &$0) {
      $0.fixType(2)
      $0.year(2020)
      $0.month(2)
      $0.day(4)
      $0.hour(13)
      $0.minute(3)
      $0.second(23)
      $0.lat(465_420_040)
      $0.lon(66_531_410)
    }
  }

  @Test("Each is a TPV line with its own time")
  func lines() {
    var line = JSONLine()
    var stream = FrameStream()
    let bytes = Self.batched(12) + Wire.nmea("GPVTG,,T,,M,,N,,K,N") + Self.batched(13) + Self.logged
    stream.receive(bytes.raw) { line.batched($0) }
    stream.finish { line.batched($0) }
    let lines = line.text.split(separator: "\n")
    #expect(lines.count == 3)
    let starts = [
      #"{"class":"TPV","mode":3,"time":"2020-01-30T22:36:12.000Z","ept":0.005,"lat":46.542016600,"lon":6.653092200,"#,
      #"{"class":"TPV","mode":3,"time":"2020-01-30T22:36:13.000Z","ept":0.005,"lat":46.542016600,"lon":6.653092200,"#,
      #"{"class":"TPV","mode":2,"time":"2020-02-04T13:03:23.000Z","ept":0.005,"lat":46.542004000,"lon":6.653141000,"#,
    ]
    for (line, start) in zip(lines, starts) { #expect(line.hasPrefix(start), "\(line)") }
  }

  @Test("They are in the order of the stream in a track, too", arguments: ["csv", "geojson", "gpx"])
  func order(format: String) throws {
    let folder = try CommandProgram.folder()
    defer { CommandProgram.remove(folder) }
    let bytes = (0..<3).flatMap { (index: Int) -> [UInt8] in
      let time = UInt32(36_900 + index) * 1000
      let fix = written(room: 200) {
        NavPVT.encode(into: &$0) {
          $0.iTOW(time)
          $0.year(2025)
          $0.month(12)
          $0.day(7)
          $0.hour(10)
          $0.min(15)
          $0.sec(UInt8(index))
          $0.valid(3)
          $0.fixType(3)
          $0.flags(1)
          $0.lat(465_420_166)
          $0.lon(66_530_922)
        }
      }
      let end = written(room: 20) { NavEOE.encode(into: &$0) { $0.iTOW(time) } }
      return fix + end + Self.batched(UInt8(20 + index))
    }
    try Data(bytes).write(to: URL(fileURLWithPath: "\(folder)/stored.ubx"))
    let text = try CommandProgram.run(["decode", "--format", format, "\(folder)/stored.ubx"], in: folder).output
    let times = text.split(separator: "T").compactMap { part in part.contains(":") ? String(part.prefix(8)) : nil }
    let expected = ["10:15:00", "22:36:20", "10:15:01", "22:36:21", "10:15:02", "22:36:22"]
    #expect(times.filter { expected.contains($0) } == expected)
  }

  @Test(
    "A selection that nothing in the recording matches is reported, for each format",
    arguments: ["tpv", "messages", "gpx"],
    [["--messages", "XYZ"], ["--messages", "UBX"], ["--from", "2030-01-01"]])
  func emptySelection(format: String, selection: [String]) throws {
    let folder = try CommandProgram.folder()
    defer { CommandProgram.remove(folder) }
    let path = "\(folder)/short.nmea"
    let bytes = Wire.nmea("GPRMC,101112,A,4717.11437,N,00833.91522,E,5.0,77.5,091225,,,A")
    try Data(bytes).write(to: URL(fileURLWithPath: path))
    let result = try CommandProgram.run(["decode", "--format", format, path] + selection, in: folder)
    #expect(result.code == 0)
    #expect(result.errors.contains("is selected"), "\(result.errors)")
    let whole = try CommandProgram.run(["decode", "--format", format, path], in: folder)
    #expect(whole.errors.isEmpty && !whole.output.isEmpty)
  }

  @Test("A summary counts them separately from the epochs")
  func summary() {
    var summary = Summary()
    var stream = FrameStream()
    let bytes = Self.batched(12, fixType: 0) + Self.batched(13) + Self.logged
    stream.receive(bytes.raw) { summary.receive($0) }
    stream.finish { summary.receive($0) }
    let text = summary.text(stream.counters, bytes: UInt64(bytes.count))
    #expect(text.contains("\nepochs     0, with a position 0\nkept       3, with a position 2\n"), "\(text)")
    #expect(text.contains("\ntime       2020-01-30T22:36:12.000Z to 2020-02-04T13:03:23.000Z\n"), "\(text)")
  }
}

@Suite("Arrival times in recordings")
struct ArrivalTests {
  /// A recording that begins within a burst: its sentences without a time come first, and no value shows that.
  private func recording(hasPauses: Bool) -> [UInt8] {
    var writer = RecordingWriter()
    var file: [UInt8] = []
    func store(_ kind: Receiver.Record.Kind, _ bytes: [UInt8], milliseconds: UInt64) {
      let instant = Instant(nanoseconds: 1_000_000_000 + milliseconds * 1_000_000)
      _ = writer.add(kind, bytes.raw, Arrival(instant, utcNanoseconds: 1_773_483_300_000_000_000))
      file += (0..<writer.pending.byteCount).map { writer.pending.u1($0) }
      writer.removePending()
    }
    store(.header, Array("sextant recording 1\n".utf8), milliseconds: 0)
    for index in 0..<10 {
      let sentences = [
        "GPGSV,1,1,02,05,40,083,46,09,17,308,41", "GPGSA,A,3,05,09,,,,,,,,,,,2.\(10 + index),1.0,1.5",
        "GPRMC,10151\(index).00,A,4130.1234,S,17430.5432,E,10.0,90.0,140326,,,A",
        "GPGGA,10151\(index).00,4130.1234,S,17430.5432,E,1,05,1.0,52.1,M,18.5,M,,",
      ].map { Wire.nmea($0) }
      let burst = sentences[(index == 0 ? 2 : 0)...].flatMap { $0 }
      store(.data, burst, milliseconds: hasPauses ? UInt64(1000 * index) : 0)
    }
    store(.end, [], milliseconds: 11_000)
    return file
  }

  /// The times of day and position dilutions of the SKY objects.
  private func dilutions(_ hasPauses: Bool) throws -> [String] {
    let folder = try CommandProgram.folder()
    defer { CommandProgram.remove(folder) }
    try Data(recording(hasPauses: hasPauses)).write(to: URL(fileURLWithPath: "\(folder)/line.sxr"))
    let text = try CommandProgram.run(["decode", "\(folder)/line.sxr"], in: folder).output
    return text.split(separator: "\n").filter { $0.contains(#""class":"SKY""#) }.compactMap { line in
      guard let time = line.split(separator: "T10:15:").dropFirst().first?.prefix(2),
        let pdop = line.split(separator: #""pdop":"#).dropFirst().first?.prefix(4)
      else { return nil }
      return "\(time) \(pdop)"
    }
  }

  @Test("The pauses of a recording show the bursts, as the pauses of a line do")
  func pauses() throws {
    #expect(try dilutions(true) == (11..<20).map { "\($0) 2.\($0)" })
    // Without pauses the sentences belong to the epoch before.
    #expect(try dilutions(false).first == "10 2.11")
  }
}
