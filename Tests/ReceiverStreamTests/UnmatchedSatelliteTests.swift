// SPDX-License-Identifier: Apache-2.0
import ReceiverStream
import TestSupport
import Testing

/// GSA with the talker GN and without a system id, as up to NMEA 4.0.
@Suite("Used satellites without a system")
struct UnmatchedSatelliteTests {
  /// A system with its talker, and ids that are larger than its numbers.
  struct Other: CustomTestStringConvertible, Sendable {
    var system: Satellite.System
    var talker: String
    var base: Int
    var most: Int
    var testDescription: String { "\(talker) from \(base + 1)" }
  }

  static let others = [
    Other(system: .glonass, talker: "GL", base: 64, most: 24),
    Other(system: .galileo, talker: "GA", base: 300, most: 32),
    Other(system: .beiDou, talker: "GB", base: 400, most: 32),
    Other(system: .qzss, talker: "GQ", base: 192, most: 10),
  ]

  private static func text(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }

  private func gsa(_ ids: [Int]) -> String {
    "GNGSA,A,3," + ids.map(Self.text).joined(separator: ",") + String(repeating: ",", count: 12 - ids.count)
      + ",1.9,0.9,1.7"
  }

  private func gsv(_ talker: String, _ ids: [Int]) -> [String] {
    let pages = (ids.count + 3) / 4
    return (0..<pages).map { page in
      "\(talker)GSV,\(pages),\(page + 1),\(Self.text(ids.count)),"
        + ids.dropFirst(4 * page).prefix(4).map { "\(Self.text($0)),40,083,46" }.joined(separator: ",")
    }
  }

  @Test(
    "Numbers that a system's ids in this stream exclude are another system's, also with a lost page",
    arguments: others)
  func shifted(other: Other) {
    var random = SeededRandomNumberGenerator(seed: 1)
    for _ in 0..<200 {
      let gps = Array((1...32).shuffled(using: &random).prefix(8))
      // Most numbers are in view of both systems.
      let numbers = gps.filter { $0 <= other.most && Int.random(in: 0..<5, using: &random) > 0 }
      let ids = Set(numbers + [other.most]).sorted().map { $0 + other.base }
      let (used, usedIDs) = (Array(gps.prefix(6)), Array(ids.prefix(3)))
      let lost = Int.random(in: 0..<4, using: &random)
      var playback = Playback()
      for second in 10..<14 {
        playback.receive(rmc("1011\(second)"), gga("1011\(second)"), gsa(used), gsa(usedIDs))
        for (page, sentence) in gsv("GP", gps).enumerated() where second < 12 || page != lost {
          playback.receive(sentence)
        }
        for sentence in gsv(other.talker, ids) { playback.receive(sentence) }
        playback.idle()
        let satellites = playback.last?.satellites ?? []
        let marked = { (system: Satellite.System) in
          Set(satellites.filter { $0.isUsed && $0.system == system }.map { Int($0.number) })
        }
        #expect(marked(other.system) == Set(usedIDs.map { $0 - other.base }), "\(gps) \(ids)")
        #expect(marked(.gps).isSubset(of: used))
        if second < 12 { #expect(marked(.gps) == Set(used), "\(gps) \(ids)") }
      }
    }
  }

  @Test("The ids of a receiver whose version of NMEA changes are matched again")
  func changed() {
    var playback = Playback()
    for (second, base) in [(10, 64), (11, 0)] {
      playback.receive(rmc("1011\(second)"), gga("1011\(second)"), gsa([3, 7, 9].map { $0 + base }))
      for sentence in gsv("GL", [3, 7, 9].map { $0 + base }) { playback.receive(sentence) }
      playback.idle()
      #expect(playback.last?.satellites.map(\.isUsed) == [true, true, true])
    }
  }
}
