// SPDX-License-Identifier: Apache-2.0
import ReceiverStream
import TestSupport
import Testing

/// Recordings without pauses that begin anywhere in a burst.
@Suite("Recordings that begin within a burst")
struct CutTests {
  /// The orders of receivers: names of sentences.
  struct Order: CustomTestStringConvertible, Sendable {
    let names: [String]
    init(_ names: String) { self.names = names.split(separator: " ").map(String.init) }
    var testDescription: String { names.joined(separator: ",") }
  }

  private static let epochs = 10

  /// The sentences of a burst. HDOP and the speed in RMC are constant if they `areConstant`; all other values differ from epoch to epoch.
  private func burst(_ order: Order, _ index: Int, areConstant: Bool) -> [[UInt8]] {
    let time = "1011\(10 + index)"
    let speed = areConstant ? 0 : 10 * (index + 1)
    let hdop = areConstant ? "0.9" : "0.\(9 - index % 3)"
    return order.names.flatMap { name -> [String] in
      switch name {
      case "RMC": [rmc(time, speed: areConstant ? "" : "\(speed).0")]
      case "GGA": [gga(time, hdop: hdop)]
      case "GLL": [gll(time)]
      case "ZDA": [zda(time)]
      case "GST": ["GPGST,\(time),1.0,1.0,1.0,0.0,1.0,1.0,2.\(index)"]
      case "VTG": ["GPVTG,77.5,T,,M,\(areConstant ? 10 * (index + 1) : speed).0,N,,K,A"]
      case "GSA": ["GPGSA,A,3,05,09,14,30,,,,,,,,,1.8,\(hdop),1.\(index)"]
      case "GSV": (1...3).map { "GPGSV,3,\($0),03,0\($0),40,083,46" }
      case "PGRME": ["PGRME,7.6,M,4\(index).7,M,42.4,M"]
      case "PGRMV": ["PGRMV,-2.5,-1.1,0.\(index)"]
      default: []
      }
    }.map { Wire.nmea($0) }
  }

  /// The fixes with their time, as they are after all updates, without the number of satellites in view: no value shows the burst of GSV.
  private func fixes(_ bytes: [UInt8]) -> [UTCTime: Fix] {
    var playback = Playback(reference: UTCTime(2025, 12, 9, 10, 11, 0), isLive: true)
    playback.receive(bytes)
    playback.finish()
    var fixes: [UTCTime: Fix] = [:]
    for var fix in playback.fixes {
      fix.satellitesInView = nil
      if let time = fix.time { fixes[time] = fix }
    }
    return fixes
  }

  /// Compares the epochs of each cut recording, from the `first` whole one on, with those of the whole recording.
  private func compare(
    _ order: Order, areConstant: Bool, from first: Int, cuts: (_ burst: [[UInt8]]) -> [Int]
  ) {
    let bursts = (0..<Self.epochs).map { burst(order, $0, areConstant: areConstant) }
    let bytes = bursts.flatMap { $0.flatMap { $0 } }
    let whole = fixes(bytes)
    #expect(whole.count == Self.epochs)
    for cut in cuts(bursts[0]) {
      let found = fixes(Array(bytes[cut...]))
      for index in first..<Self.epochs {
        let time = UTCTime(2025, 12, 9, 10, 11, 10 + index)
        #expect(found[time] == whole[time], "cut at \(cut), epoch \(index)")
        if found[time] != whole[time] { break }
      }
    }
  }

  /// The places within the sentences of a burst.
  private func within(_ burst: [[UInt8]]) -> [Int] {
    var start = 0
    return burst.flatMap { sentence -> [Int] in
      defer { start += sentence.count }
      return [1, sentence.count / 2, sentence.count - 1].map { start + $0 }
    }
  }

  /// The starts of the sentences of a burst.
  private func starts(_ burst: [[UInt8]]) -> [Int] {
    var start = 0
    return burst.map { sentence in
      defer { start += sentence.count }
      return start
    }
  }

  static let timedFirst = [
    "GGA VTG", "ZDA GGA VTG", "GGA VTG GSA GSV", "GGA GSA GSV RMC VTG", "RMC GGA GSA", "GGA RMC GSA GSV",
    "RMC VTG GGA GSA GSV GLL",
    "GGA GST VTG ZDA", "RMC GGA GSA GSV PGRME PGRMV", "RMC GGA GSV GSA VTG",
  ].map(Order.init)

  @Test(
    "A recording that begins within a sentence has the values of the whole one", arguments: timedFirst, [true, false])
  func withinSentence(order: Order, areConstant: Bool) {
    compare(order, areConstant: areConstant, from: 2, cuts: within)
  }

  @Test(
    "A later page of GSV is not the start of a burst",
    arguments: ["RMC GGA GSV GSA VTG", "GGA RMC GSV"].map(Order.init))
  func laterPage(order: Order) {
    compare(order, areConstant: true, from: 2) { burst in
      let page = burst.indices.first { burst[$0].starts(with: Array("$GPGSV,3,2".utf8)) }!
      return [burst[..<page].reduce(0) { $0 + $1.count }]
    }
  }

  @Test(
    "HDOP and speed, which two sentences of a burst share, correct a wrong order",
    arguments: [
      "GGA RMC GSA GSV", "GGA GSA GSV RMC VTG", "RMC GGA GSV GSA VTG", "GSV GSA VTG RMC GGA", "GSA GSV GGA RMC",
      "VTG RMC GGA GSA",
      "GSV GGA VTG RMC GSA", "GGA GSA RMC VTG GSV",
    ].map(Order.init), [true, false])
  func values(order: Order, isWithin: Bool) {
    compare(order, areConstant: false, from: 3, cuts: isWithin ? within : starts)
  }

  @Test("The pauses of a line precede values: a receiver whose GSA has the HDOP of the next epoch")
  func pauses() {
    var playback = Playback()
    for index in 0..<Self.epochs {
      playback.receive(rmc("1011\(10 + index)"), gga("1011\(10 + index)", hdop: "0.\(9 - index % 3)"))
      playback.receive("GPGSA,A,3,05,09,,,,,,,,,,,1.8,0.\(9 - (index + 1) % 3),1.\(index)")
      playback.idle()
    }
    playback.finish()
    #expect(playback.fixes.map(\.vdop) == (0..<Self.epochs).map { 1 + Double($0) / 10 })
  }

  @Test("A single value that disagrees does not change an order that many values confirmed")
  func chance() {
    var playback = Playback()
    let hdops = ["0.9", "0.8", "0.9", "0.8", "0.9", "0.8", "0.9", "0.8", "0.9", "0.8"]
    for index in hdops.indices {
      // The sixth GSA has the HDOP of the next epoch.
      let shown = hdops[index == 5 ? index + 1 : index]
      playback.receive(rmc("1011\(10 + index)"), gga("1011\(10 + index)", hdop: hdops[index]))
      playback.receive("GPGSA,A,3,05,09,,,,,,,,,,,1.8,\(shown),1.\(index)")
    }
    playback.finish()
    let found = playback.reports.filter { !$0.isUpdate }.map(\.fix.vdop)
    #expect(found == (0..<10).map { 1 + Double($0) / 10 })
  }
}
