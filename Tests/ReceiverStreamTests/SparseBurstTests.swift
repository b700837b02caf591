// SPDX-License-Identifier: Apache-2.0
import ReceiverStream
import TestSupport
import Testing

/// Streams without pauses that begin with a whole burst, in each order of the sentences. Later bursts lack sentences, regularly or at random.
@Suite("Bursts that lack sentences")
struct SparseBurstTests {
  private static let epochs = 16

  private static func sentences(_ name: String, _ index: Int, hdop: String) -> [String] {
    let time = "1011\(10 + index)"
    func satellites(_ numbers: ClosedRange<Int>) -> String {
      numbers.map { "\($0),40,083,\(10 + index)" }.joined(separator: ",")
    }
    return switch name {
    case "RMC": [rmc(time)]
    case "GGA": [gga(time, hdop: hdop)]
    case "GLL": [gll(time)]
    case "ZDA": [zda(time)]
    case "VTG": [vtg]
    case "GSA": ["GPGSA,A,3,01,02,03,04,,,,,,,,,1.\(10 + index),\(hdop),1.5"]
    case "GSV": ["GPGSV,2,1,05," + satellites(1...4), "GPGSV,2,2,05," + satellites(5...5)]
    default: []
    }
  }

  /// The differences from the epochs' own values: a PDOP or the signals of satellites that are another epoch's, or absent.
  private func differences(_ bursts: [[String]], hdopVaries: Bool) -> [String] {
    var playback = Playback(reference: UTCTime(2025, 12, 9, 10, 11, 0), isLive: true)
    for (index, names) in bursts.enumerated() {
      for name in names {
        for sentence in Self.sentences(name, index, hdop: hdopVaries ? "0.\(50 + index)" : "0.9") {
          playback.receive(sentence)
        }
      }
    }
    playback.finish()
    var pdops = [Double?](repeating: nil, count: bursts.count)
    var signals = [Set<UInt8>](repeating: [], count: bursts.count)
    let first = UTCTime(2025, 12, 9, 10, 11, 10).nanosecondsOfDay
    for report in playback.reports {
      guard let time = report.fix.time else { continue }
      let index = Int((time.nanosecondsOfDay - first) / 1_000_000_000)
      pdops[index] = report.fix.pdop
      if report.skyChanged { signals[index] = Set(report.satellites.map { $0.signalDecibelHertz }) }
    }
    return bursts.indices.flatMap { index -> [String] in
      let pdop = bursts[index].contains("GSA") ? Double("1.\(10 + index)") : nil
      let own: Set<UInt8> = bursts[index].contains("GSV") ? [UInt8(10 + index)] : []
      return (pdops[index] == pdop ? [] : ["\(index): PDOP \(pdops[index] ?? 0)"])
        + (signals[index] == own ? [] : ["\(index): signals \(signals[index])"])
    }
  }

  private func orders(of names: [String]) -> [[String]] {
    if names.count < 2 { return [names] }
    return names.indices.flatMap { index in
      var rest = names
      let name = rest.remove(at: index)
      return orders(of: rest).map { [name] + $0 }
    }
  }

  @Test(
    "Each dilution and each satellite is of its own epoch, also if the first sentence is sent only at times",
    arguments: ["VTG", "GLL", "ZDA"], [true, false])
  func orders(other: String, hdopVaries: Bool) {
    var random = SeededRandomNumberGenerator(seed: 1)
    for order in orders(of: ["RMC", "GGA", "GSA", "GSV", other]) {
      // One sentence with the time is in each burst.
      let always = Bool.random(using: &random) ? "RMC" : "GGA"
      let others = order.filter { $0 != always }
      var subsets = (0..<2).map { _ in others.filter { _ in Bool.random(using: &random) } }
      subsets += [others.filter { $0 == order[0] }]
      for subset in subsets {
        let period = Int.random(in: 1...5, using: &random)
        let bursts = (0..<Self.epochs).map { index in
          order.filter { name in
            if index == 0 || !subset.contains(name) { return true }
            return period == 1 ? Int.random(in: 0..<3, using: &random) > 0 : index % period == 0
          }
        }
        let found = differences(bursts, hdopVaries: hdopVaries)
        #expect(found.isEmpty, "\(order), at times \(subset): \(bursts): \(found)")
      }
    }
  }

  /// Bursts of which a sentence is sent in every `period`th second, or each one.
  private func bursts(_ order: String, every periods: [String: Int]) -> [[String]] {
    let names = order.split(separator: " ").map(String.init)
    return (0..<Self.epochs).map { index in names.filter { index % (periods[$0] ?? 1) == 0 } }
  }

  @Test(
    "HDOP is not needed to place GSA and GSV behind a first sentence that is sent only at times",
    arguments: [
      ("GSV GSA VTG RMC GGA", ["GSV": 2]), ("GSV GSA VTG RMC GGA", ["GSV": 5]), ("GSA RMC GGA", ["GSA": 2]),
      ("GLL GSA RMC GGA", ["GLL": 2]), ("GSA RMC VTG GGA GSV", ["GSA": 3]), ("ZDA GSA RMC GGA GSV", ["ZDA": 5]),
      ("ZDA GSV GGA RMC", ["ZDA": 5]), ("VTG GSA GSV RMC GGA", ["VTG": 2]), ("GSV RMC GGA GSA", ["GSV": 3, "GSA": 3]),
    ] as [(String, [String: Int])], [true, false])
  func named(stream: (order: String, periods: [String: Int]), hdopVaries: Bool) {
    let found = differences(bursts(stream.order, every: stream.periods), hdopVaries: hdopVaries)
    #expect(found.isEmpty, "\(found)")
  }

  @Test("HDOP moves its sentence and those behind it, and the next burst without it discards nothing")
  func valueMoves() {
    // The first burst lacks GSA. The values of the first GSA are early.
    for order in ["GSA VTG RMC GGA GSV", "GSA RMC GGA GSV"] {
      var bursts = bursts(order, every: ["GSA": 3])
      bursts[0].removeFirst()
      let found = differences(bursts, hdopVaries: true)
      #expect(found.allSatisfy { ["2:", "3:"].contains($0.prefix(2)) }, "\(order): \(found)")
    }
  }

  @Test(
    "A sentence that is lost in the first bursts moves no other one", arguments: ["GGA", "GSA", "GSV", "RMC", "VTG"])
  func lost(name: String) {
    for order in orders(of: ["RMC", "GGA", "GSA", "GSV", "VTG"]) where order[0] != name {
      for lostIn in [[0], [1], [0, 2]] {
        let bursts = (0..<Self.epochs).map { index in order.filter { !lostIn.contains(index) || $0 != name } }
        // A sentence that is seen first without its neighbours has the usual place until a value shows another.
        let found = differences(bursts, hdopVaries: true).filter { Int($0.prefix { $0 != ":" })! > 5 }
        #expect(found.isEmpty, "\(order), \(name) lost in \(lostIn): \(found)")
      }
    }
  }

  @Test("A sentence that a burst has in two places stays in its epoch")
  func twoPlaces() {
    for order in ["RMC GSV GGA GSV", "GGA GSA GSV RMC GSV", "RMC GSV VTG GGA GSA GSV"] {
      let found = differences(bursts(order, every: [:]), hdopVaries: true)
      #expect(found.allSatisfy { $0.hasPrefix("0:") || $0.hasPrefix("1:") }, "\(order): \(found)")
    }
  }

  @Test("A burst that is written twice moves no sentence")
  func writtenTwice() {
    var bursts = bursts("RMC GGA VTG GSA GSV ZDA", every: [:])
    bursts[5] += bursts[5]
    let found = differences(bursts, hdopVaries: false)
    #expect(found.isEmpty, "\(found)")
  }

  @Test("A receiver whose order changes, and a sentence before the stream's first burst, lose no later epoch")
  func otherOrder() {
    let (first, second) = (["GSV", "RMC", "VTG", "GSA", "GGA"], ["GSV", "GGA", "RMC", "VTG", "GSA"])
    let changed = differences((0..<Self.epochs).map { $0 < 6 ? first : second }, hdopVaries: false)
    #expect(changed.allSatisfy { $0.hasPrefix("6:") }, "\(changed)")
    // GSV of a text before the stream, and a burst with GSV in its middle.
    let stray = (0..<Self.epochs).map { ($0 == 0 ? ["GSV"] : []) + ["GGA", "GSV", "GSA", "RMC"] }
    let found = differences(stray, hdopVaries: false)
    #expect(found.allSatisfy { $0.hasPrefix("0:") || $0.hasPrefix("1:") }, "\(found)")
  }
}
