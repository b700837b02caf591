// SPDX-License-Identifier: Apache-2.0
import ReceiverStream
import TestSupport
import Testing

/// Streams whose bursts differ: a sentence is sent only at times, or is lost on the line.
@Suite("Bursts that differ from the receiver's order")
struct BurstChangeTests {
  /// The names of a burst's sentences.
  struct Order: CustomTestStringConvertible, Sendable {
    let names: [String]
    init(_ names: String) { self.names = names.split(separator: " ").map(String.init) }
    var testDescription: String { names.joined(separator: ",") }
  }

  private static let epochs = 20

  /// The sentences of a name. Position, speed and HDOP are constant unless HDOP `varies`; the other values are different in each epoch.
  private static func sentences(_ name: String, _ index: Int, varies: Bool) -> [String] {
    let time = "1011\(10 + index)"
    let hdop = varies ? "0.\(9 - index % 3)" : "1.0"
    return switch name {
    case "RMC": [rmc(time)]
    case "GGA": [gga(time, hdop: hdop)]
    case "GLL": [gll(time)]
    // The time of its output, which is later.
    case "ZDA": [zda("\(time).15")]
    case "VTG": ["GPVTG,77.5,T,,M,5.0,N,9.3,K,A"]
    case "PGRME": ["PGRME,\(10 + index).0,M,20.0,M,22.4,M"]
    case "HDT": ["HEHDT,\(10 + index).0,T"]
    case "GSA": ["GPGSA,A,3,05,09,14,30,,,,,,,,,1.\(10 + index),\(hdop),1.5"]
    case "GSV": ["GPGSV,2,1,08," + satellites(1...4, index), "GPGSV,2,2,08," + satellites(5...8, index)]
    case "GLGSV": ["GLGSV,1,1,04," + satellites(65...68, index)]
    default: []
    }
    func satellites(_ numbers: ClosedRange<Int>, _ index: Int) -> String {
      numbers.map { "\($0),40,083,\(10 + index)" }.joined(separator: ",")
    }
  }

  /// The values of an epoch after all of its reports.
  private struct Values: Equatable {
    var pdop: Double?
    var error: Double?
    var heading: Double?
    /// The signals, and the number of the satellites.
    var signals: Set<UInt8> = []
    var count = 0
  }

  /// The values of each epoch of a stream, from its bursts.
  ///
  /// - Parameter hasPauses: whether the line is silent between the bursts.
  private func values(_ bursts: [[[UInt8]]], hasPauses: Bool) -> [Values?] {
    var playback = Playback(reference: UTCTime(2025, 12, 9, 10, 11, 0), isLive: true)
    for burst in bursts {
      playback.receive(burst.flatMap { $0 })
      if hasPauses { playback.idle() }
    }
    playback.finish()
    var found = [Values?](repeating: nil, count: bursts.count)
    for report in playback.reports {
      guard let time = report.fix.time else { continue }
      let index = Int((time.nanosecondsOfDay - UTCTime(2025, 12, 9, 10, 11, 10).nanosecondsOfDay) / 1_000_000_000)
      var values = found[index] ?? Values()
      (values.pdop, values.heading) = (report.fix.pdop, report.fix.headingDegrees)
      values.error = report.fix.accuracySource == .receiver ? report.fix.horizontalAccuracyMetres : nil
      if report.skyChanged {
        values.signals = Set(report.satellites.map { $0.signalDecibelHertz })
        values.count = report.satellites.count
      }
      found[index] = values
    }
    return found
  }

  private func frames(_ names: [String], _ index: Int, varies: Bool = false) -> [[UInt8]] {
    names.flatMap { Self.sentences($0, index, varies: varies) }.map { Wire.nmea($0) }
  }

  /// The values that the sentences of an epoch have.
  private func expected(_ names: [String], _ index: Int) -> Values {
    let (inView, others) = (names.contains("GSV") ? 8 : 0, names.contains("GLGSV") ? 4 : 0)
    let number = Double(10 + index)
    return Values(
      pdop: names.contains("GSA") ? Double("1.\(10 + index)") : nil, error: names.contains("PGRME") ? number : nil,
      heading: names.contains("HDT") ? number : nil,
      signals: inView + others > 0 ? [UInt8(10 + index)] : [], count: inView + others)
  }

  static let orders = [
    "GSV GSA VTG RMC GGA", "VTG RMC GGA GSA GSV", "ZDA GGA GLL", "GSA GSV GGA RMC", "GSV RMC GGA",
    "VTG GGA GSV GSA RMC",
    "GSV VTG GGA RMC GSA", "RMC GGA GSA GSV VTG", "GGA RMC", "PGRME GSA RMC GGA",
  ].map(Order.init)

  @Test(
    "A sentence that is sent only at times after the last one belongs to the epoch of its burst",
    arguments: orders, [true, false])
  func rareAtEnd(order: Order, hasPauses: Bool) {
    for extra in [["GLGSV"], ["GSA", "GSV"], ["PGRME"]] where Set(extra).isDisjoint(with: order.names) {
      for places in [[6, 10], [5, 6, 7, 8, 9], Array(stride(from: 0, to: 20, by: 5)), Array(3..<20)] {
        let names = (0..<Self.epochs).map { order.names + (places.contains($0) ? extra : []) }
        let found = values(names.indices.map { frames(names[$0], $0) }, hasPauses: hasPauses)
        let wrong = names.indices.dropFirst(places.contains(0) ? 2 : 0).filter {
          found[$0] != expected(names[$0], $0)
        }
        #expect(wrong.isEmpty, "\(extra) at \(places)")
      }
    }
  }

  @Test("With pauses, or an HDOP that shows it, so does one before the usual first sentence", arguments: [true, false])
  func rareAtBeginning(hasPauses: Bool) {
    for order in ["VTG RMC GGA", "VTG RMC GGA GSV", "PGRME RMC GGA"].map(Order.init) {
      let places = [6, 9, 12, 15]
      let names = (0..<Self.epochs).map { (places.contains($0) ? ["GSA"] : []) + order.names }
      let found = values(names.indices.map { frames(names[$0], $0, varies: true) }, hasPauses: hasPauses)
      // The first value without a pause corrects the order.
      let wrong = names.indices.filter {
        (hasPauses || $0 < 5 || $0 > 6) && found[$0] != expected(names[$0], $0)
      }
      #expect(wrong.isEmpty, "\(order.names)")
    }
  }

  /// Compares the epochs of a stream with a fault in epochs 8 and 9 with those of the whole stream: a fault changes no other epoch.
  private func compare(
    _ order: Order, varies: Bool, hasPauses: Bool, _ comment: String,
    _ damage: (inout [[[UInt8]]]) -> Void
  ) {
    var bursts = (0..<Self.epochs).map { frames(order.names, $0, varies: varies) }
    let whole = values(bursts, hasPauses: hasPauses)
    damage(&bursts)
    let found = values(bursts, hasPauses: hasPauses)
    let changed = bursts.indices.filter { !(7...10).contains($0) && found[$0] != whole[$0] }
    #expect(changed.isEmpty, "\(comment), \(varies ? "HDOP varies" : "HDOP is constant")")
    #expect(bursts.indices.allSatisfy { whole[$0] == expected(order.names, $0) })
  }

  @Test("A damaged sentence does not move the sentences of other epochs", arguments: orders, [true, false])
  func damaged(order: Order, hasPauses: Bool) {
    for varies in [true, false] {
      for place in frames(order.names, 0).indices {
        compare(order, varies: varies, hasPauses: hasPauses, "sentence \(place)") { $0[8][place][20] ^= 1 }
      }
    }
  }

  @Test(
    "A gap from one burst into the next does not move the sentences of other epochs", arguments: orders, [true, false])
  func gap(order: Order, hasPauses: Bool) {
    let count = frames(order.names, 0).count
    for varies in [true, false] {
      for kept in 0...count {
        for lost in 0..<count {
          compare(order, varies: varies, hasPauses: hasPauses, "\(kept) kept, \(lost) lost") { bursts in
            bursts[8] = Array(bursts[8][..<kept])
            bursts[9] = Array(bursts[9][lost...])
          }
        }
      }
    }
  }

  @Test("An order that pauses have shown remains when the stream is read without pauses")
  func pausesEnd() {
    let order = Order("GSV GSA VTG RMC GGA")
    var playback = Playback(reference: UTCTime(2025, 12, 9, 10, 11, 0), isLive: true)
    for index in 0..<Self.epochs {
      let burst = frames(order.names, index)
      // The stream begins within a burst.
      playback.receive(burst[(index == 0 ? 2 : 0)...].flatMap { $0 })
      if index < 6 { playback.idle() }
    }
    playback.finish()
    let found = playback.reports.filter { !$0.isUpdate }.map(\.fix.pdop)
    let expected = (1..<Self.epochs).map { Double("1.\(10 + $0)") }
    #expect(Array(found.dropFirst()) == expected)
  }
}
