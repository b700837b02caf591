// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@testable import ReceiverStream

@Suite("Groups of GSV, the satellites of GSA, and bursts in any order")
struct SatelliteGroupTests {
  /// The reports of sentences, and of the end of the stream.
  private func reports(_ sentences: [String]) -> [Playback.Received] {
    var playback = Playback()
    for sentence in sentences { playback.receive(sentence) }
    playback.finish()
    return playback.reports
  }

  private func skies(_ reports: [Playback.Received]) -> [[UInt8]] {
    reports.filter(\.skyChanged).map { $0.satellites.map(\.number) }
  }

  /// Twelve satellites, a page for each four.
  private func page(_ number: Int, of pages: Int = 3, talker: String = "GP", firstID: Int = 1) -> String {
    let satellites = (0..<4).map { "\(firstID + 4 * (number - 1) + $0),40,083,40" }
    return "\(talker)GSV,\(pages),\(number),\(4 * pages)," + satellites.joined(separator: ",")
  }

  @Test("GSV after the end of a burst, in some epochs only, are one report of satellites", arguments: [2, 5])
  func seldom(every: Int) {
    var sentences: [String] = []
    for second in 10..<30 {
      sentences += [gga("1011\(second)"), "GNGSA,A,3,01,05,09,,,,,,,,,,1.8,1.0,1.5", rmc("1011\(second)")]
      if second % every == 0 {
        sentences +=
          (1...3).map { page($0) } + [
            page(1, of: 2, talker: "GL", firstID: 65), page(2, of: 2, talker: "GL", firstID: 69),
          ]
      }
    }
    let found = reports(sentences)
    #expect(skies(found).count == 20 / every)
    for report in found where report.skyChanged {
      #expect(report.satellites.count == 20 && report.satellites.count(where: \.isUsed) == 3)
    }
    #expect(found.filter { !$0.isUpdate }.count == 20)
  }

  @Test("A receiver that spreads a group over its epochs has one list, once it is whole")
  func spread() {
    var sentences: [String] = []
    for second in 10..<22 {
      sentences += [rmc("1011\(second)"), gga("1011\(second)"), gsa3D, page(second % 3 + 1)]
    }
    let found = skies(reports(sentences))
    // The stream begins with the second page.
    #expect(found.dropFirst().allSatisfy { $0 == Array(1...12) } && found.count == 4)
  }

  @Test("A pause within the list of a burst, before the order is known, does not begin another list", arguments: 2..<8)
  func pauseInList(place: Int) {
    var playback = Playback()
    for second in 10..<13 {
      let list = [
        page(1, of: 2), page(2, of: 2), page(1, of: 1, firstID: 1) + ",6", page(1, of: 1, talker: "GL", firstID: 65),
        page(1, of: 1, talker: "GA", firstID: 1), page(1, of: 1, talker: "GB", firstID: 1),
      ]
      for (index, sentence) in ([rmc("1011\(second)"), gga("1011\(second)")] + list).enumerated() {
        if index == place, second == 10 { playback.idle() }
        playback.receive(sentence)
      }
      playback.idle()
    }
    playback.finish()
    // At most a report of the part before the pause, and then of all.
    let found = skies(playback.reports)
    #expect(found.suffix(3).allSatisfy { $0.count == 20 } && found.count <= 4, "\(found)")
    #expect(found.allSatisfy { $0.starts(with: 1...8) })
  }

  @Test("Satellites of UBX are reported although a group of sentences before them has no end")
  func ubxAfterCutGroup() {
    var playback = Playback()
    for second in 10..<13 {
      for sentence in [rmc("1011\(second)"), gga("1011\(second)")] + gsv { playback.receive(sentence) }
    }
    playback.receive(rmc("101113"), gsv[0])
    for second in 14..<20 { playback.receive(navPVT(second), navSAT([1, 2, 3], second: second)) }
    playback.finish()
    #expect(playback.reports.suffix(6).allSatisfy { $0.skyChanged && $0.satellites.count == 3 })
  }

  @Test("Where sentences are lost, the parts of two lists are not joined")
  func lost() {
    var sentences: [String] = []
    for second in 10..<20 {
      let pages = second == 14 ? [page(1, of: 2)] : second == 15 ? [page(2, of: 2)] : [page(1, of: 2), page(2, of: 2)]
      sentences += [rmc("1011\(second)"), gga("1011\(second)")] + pages
    }
    let found = skies(reports(sentences))
    #expect(found.allSatisfy { $0 == Array(1...8) } && found.count == 8)
  }

  @Test("Satellites of a group without its end are not reported, unless no group of the receiver has one")
  func cut() {
    func stream(_ isCut: (Int) -> Bool) -> [String] {
      (10..<20).flatMap { second in
        [rmc("1011\(second)"), gga("1011\(second)"), page(1), page(2)] + (isCut(second) ? [] : [page(3)])
      }
    }
    let once = skies(reports(stream { $0 == 14 }))
    #expect(once.count == 9 && once.allSatisfy { $0.count == 12 })
    let always = skies(reports(stream { _ in true }))
    #expect(always.count >= 8 && always.allSatisfy { $0.count == 8 })
  }

  @Test("Satellites are used by the GSA of ten epochs before, if their own has none; not without a fix")
  func earlierUse() {
    func used(after epochs: Int, status: String = "A") -> Int? {
      var sentences = [rmc("101110"), gga("101110"), gsa3D]
      for second in 11..<(11 + epochs) { sentences += [rmc("1011\(second)"), gga("1011\(second)")] }
      let last = "1011\(11 + epochs)"
      sentences += [rmc(last, status: status), gga(last, quality: status == "A" ? 1 : 0)] + gsv
      return reports(sentences).last { $0.skyChanged }?.satellites.count(where: \.isUsed)
    }
    #expect(used(after: 0) == 2)
    #expect(used(after: 8) == 2)
    #expect(used(after: 12) == 0)
    #expect(used(after: 0, status: "V") == 0)
  }

  @Test("Two pages in each of two epochs are one list")
  func spreadInPairs() {
    var sentences: [String] = []
    for second in 10..<20 {
      let first = second % 2 * 2 + 1
      sentences += [rmc("1011\(second)"), gga("1011\(second)"), gsa3D, page(first, of: 4), page(first + 1, of: 4)]
    }
    let found = skies(reports(sentences))
    #expect(found.count >= 4 && found.allSatisfy { $0 == Array(1...16) })
  }

  @Test("A plotter that has had positions does not replace the motion of the receiver either")
  func plotter() {
    var sentences: [String] = []
    for second in 10..<16 {
      let time = "1011\(second)"
      let other = "ECVTG,200.0,T,,M,99.0,N,183.3,K,A"
      sentences += [rmc(time), vtg, gga(time, talker: "EC"), other, gga(time)]
    }
    #expect(reports(sentences).dropFirst(2).allSatisfy { $0.fix.courseDegrees == 77.5 })
  }

  @Test("A loss of fix ends the use of earlier GSA")
  func lossOfFix() {
    let before = [rmc("101110"), gga("101110"), gsa3D, rmc("101111", status: "V"), gga("101111", quality: 0)]
    let found = reports(before + [rmc("101112"), gga("101112")] + gsv)
    #expect(found.last { $0.skyChanged }?.satellites.count(where: \.isUsed) == 0)
  }

  @Test("Ids of a GN sentence without a system count in the epochs after it, once their satellites are in view")
  func earlierUnmatched() {
    let used = ["GNGSA,A,3,05,09,14,30,,,,,,,,,1.8,1.0,1.5", "GNGSA,A,3,71,72,,,,,,,,,,,1.8,1.0,1.5"]
    let found = reports([rmc("101110"), gga("101110")] + used + [rmc("101111"), gga("101111")] + gsv)
    #expect(found.last { $0.skyChanged }?.satellites.count(where: \.isUsed) == 4)
  }

  @Test("The number of used satellites is the largest of GGA, GNS and GSA")
  func usedCount() {
    func count(_ sentences: [String]) -> Int? { reports([rmc("101112")] + sentences).last?.fix.satellitesUsed }
    let place = "4717.11437,N,00833.91522,E"
    let gns = "GNGNS,101112,\(place),AAN,20,0.7,499.6,48.0,,"
    let twelve = "GNGGA,101112,\(place),1,12,0.7,499.6,M,48.0,M,,"
    let glonass = "GLGGA,101112,\(place),1,02,0.7,499.6,M,48.0,M,,"
    #expect(count([gns, twelve]) == 20 && count([twelve, gns]) == 20)
    #expect(count([twelve, glonass]) == 12)
    let many = (0..<4).map { "GNGSA,A,3,01,02,03,04,05,,,,,,,,1.8,1.0,1.5,\($0 + 1)" }
    #expect(count([twelve] + many) == 20)
    // The same satellites again.
    #expect(count([gga("101112")] + [gsa3D, gsa3D, gsa3D, gsa3D, gsa3D]) == 8)
  }

  @Test("The motion of a source other than RMC does not replace the one of RMC", arguments: ["II", "VW", "SN"])
  func otherMotion(talker: String) {
    let other = "\(talker)VTG,200.0,T,,M,99.0,N,183.3,K,A"
    for order in [[0, 1, 2], [1, 0, 2], [0, 2, 1]] {
      var sentences: [String] = []
      for second in 10..<16 {
        let burst = [rmc("1011\(second)"), other, gga("1011\(second)")]
        sentences += order.map { burst[$0] }
      }
      let found = reports(sentences)
      #expect(found.filter { !$0.isUpdate }.count == 6)
      for report in found.dropFirst() { #expect(report.fix.courseDegrees == 77.5) }
    }
  }

  @Test("An accuracy of zero or below is unknown", arguments: ["0.000", "-1.0", ""])
  func noAccuracy(text: String) {
    let found = reports([rmc("101112"), gga("101112"), "GPGST,101112,0.0,0.0,0.0,0.0,\(text),\(text),\(text)"])
    #expect(found.last?.fix.accuracySource == .estimated && found.last?.fix.eastAccuracyMetres == nil)
  }

  @Test(
    "A stream that begins with a burst has each epoch's values, whatever the order", arguments: 0..<200 as Range<UInt64>
  )
  func anyOrder(seed: UInt64) {
    var random = SeededRandomNumberGenerator(seed: seed)
    var kinds = Array(0..<5)
    for index in kinds.indices { kinds.swapAt(index, random.int(index...(kinds.count - 1))) }
    var sentences: [String] = []
    for second in 10..<20 {
      let time = "1011\(second)"
      for kind in kinds {
        switch kind {
        case 0: sentences.append(gga(time))
        case 1: sentences.append("GPGLL,4717.11437,N,00833.91522,E,\(time),A,A")
        case 2: sentences.append("GPVTG,\(second).0,T,,M,5.0,N,9.3,K,A")
        case 3: sentences.append("GPGSA,A,3,\(second),09,,,,,,,,,,,1.8,1.0,1.5")
        default: sentences += [page(1, of: 2, firstID: second), page(2, of: 2, firstID: second)]
        }
      }
    }
    var lists: [[UInt8]] = []
    let found = reports(sentences)
    for report in found {
      if report.skyChanged { lists.append(report.satellites.filter(\.isUsed).map(\.number)) }
    }
    let all = found.filter { !$0.isUpdate }.count
    #expect(all == 10)
    #expect(lists.allSatisfy { $0.contains { (10..<20).contains(Int($0)) } }, "\(kinds)")
    var last: [Int: Double?] = [:]
    var epoch = -1
    for report in found {
      if !report.isUpdate { epoch += 1 }
      last[epoch] = report.fix.courseDegrees
    }
    #expect((0..<10).map { last[$0] ?? nil } == (10..<20).map { Double($0) }, "\(kinds)")
  }
}
