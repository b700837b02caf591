// SPDX-License-Identifier: Apache-2.0
import GPSD
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
