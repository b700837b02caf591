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
