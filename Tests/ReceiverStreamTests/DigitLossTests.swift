// SPDX-License-Identifier: Apache-2.0
import ReceiverStream
import TestSupport
import Testing

/// Sentences that lost two equal characters, which their checksum does not detect.
@Suite("Positions that lost digits on the line")
struct DigitLossTests {
  private func rmc(_ second: Int, _ latitude: String, _ longitude: String, speed: String = "0.5") -> String {
    "GPRMC,1011\(second),A,\(latitude),N,\(longitude),E,\(speed),77.5,091225,,,A"
  }

  private func gga(_ second: Int, _ latitude: String, _ longitude: String) -> String {
    "GPGGA,1011\(second),\(latitude),N,\(longitude),E,1,08,1.0,499.6,M,48.0,M,,"
  }

  /// A longitude of 11° 36.42600′ after each loss of two equal characters after which it is still readable.
  static let damaged = Set(pairs(of: "01136.42600")).sorted()

  private static func pairs(of text: String) -> [String] {
    let characters = Array(text)
    var results: [String] = []
    for first in characters.indices {
      for second in characters.indices where second > first && characters[first] == characters[second] {
        var rest = characters
        rest.remove(at: second)
        rest.remove(at: first)
        results.append(String(rest))
      }
    }
    return results
  }

  @Test("A longitude that lost two equal characters gives no wrong position", arguments: damaged)
  func lost(damaged: String) {
    var playback = Playback()
    for second in 10...12 { playback.receive(rmc(second, "4808.00000", "01136.42600")) }
    playback.receive(rmc(13, "4808.00000", damaged))
    for second in 14...16 { playback.receive(rmc(second, "4808.00000", "01136.42600")) }
    playback.finish()
    let truth = 11 + 36.426 / 60
    for fix in playback.fixes {
      if let longitude = fix.longitudeDegrees { #expect(abs(longitude - truth) < 0.002, "\(longitude)") }
    }
    #expect(playback.fixes.filter(\.hasPosition).count >= 6)
  }

  @Test("Heights, separations and ages that cannot be are rejected, as those of UBX are")
  func implausibleHeights() {
    var playback = Playback()
    for (index, fields) in ["-99999,M,48.0,M,2.0", "499.6,M,-206300,M,2.0", "4294967296,M,48.0,M,-21.3"].enumerated() {
      playback.receive("GPGGA,10111\(index),4808.00000,N,01136.42600,E,2,08,1.0,\(fields),0000")
    }
    playback.finish()
    #expect(playback.fixes.map(\.heightAboveSeaLevelMetres) == [nil, 499.6, nil])
    // Without one the geoid's is used.
    #expect(playback.fixes.allSatisfy { 40...50 ~= $0.geoidSeparationMetres ?? 0 })
    #expect(playback.fixes.map(\.differentialAgeSeconds) == [2, 2, nil])
    #expect(playback.fixes.allSatisfy { $0.hasPosition })
    #expect(playback.rejectedFields == 4)
  }

  @Test("The position of the epoch comes from its whole sentence")
  func otherSentence() {
    var playback = Playback()
    for second in 10...12 {
      playback.receive(gga(second, "4808.00000", "01136.42600"), rmc(second, "4808.00000", "01136.42600"))
    }
    playback.receive(gga(13, "4808.00000", "01136.42600"), rmc(13, "4808.00000", "036.42600"))
    playback.receive(gga(14, "4808.00000", "01136.42600"), rmc(14, "4808.00000", "01136.42600"))
    playback.receive(gga(15, "4808.00000", "036.42600"), rmc(15, "4808.00000", "01136.42600"))
    playback.finish()
    #expect(playback.epochs == 6)
    #expect(playback.fixes.allSatisfy { $0.longitudeDegrees == 696.426 / 60 })
    #expect(playback.rejectedFields == 2)
  }

  @Test("A receiver without leading zeros and one that omits zeros at the end move through all lengths")
  func unpadded() {
    var playback = Playback()
    // 9° 59.99′ to 10° 0.01′ north, 59.99′ to 1° 0.01′ east.
    let places = [
      ("959.98", "59.98"), ("959.99", "59.99"), ("1000", "100"), ("1000.01", "100.01"), ("1000.015", "100.1"),
    ]
    for (index, place) in places.enumerated() { playback.receive(rmc(10 + index, place.0, place.1, speed: "40")) }
    playback.finish()
    #expect(playback.fixes.count == 5 && playback.fixes.allSatisfy(\.hasPosition))
    #expect(playback.rejectedFields == 0)
  }

  @Test("A position far away counts at once with as many digits, and at its second sentence with fewer")
  func jumps() {
    var playback = Playback()
    playback.receive(rmc(10, "4808.00000", "01136.42600"), rmc(11, "4908.00000", "01236.42600"))
    playback.receive(rmc(12, "4808.000", "01136.426"), rmc(13, "4808.001", "01136.427"))
    playback.finish()
    #expect(playback.fixes.map(\.hasPosition) == [true, true, false, true])
  }

  /// GGA alone at 250 m/s northwards: 0.135′ in each second.
  private func fast(_ minutes: [String]) -> Playback {
    var playback = Playback()
    for (index, minutes) in minutes.enumerated() { playback.receive(gga(10 + index, "48\(minutes)", "01136.4260")) }
    playback.finish()
    return playback
  }

  @Test("Without a speed in the sentences the speed of the last two positions counts")
  func fewerDigitsAtSpeed() {
    let fewer = fast(["00.0000", "00.1350", "00.270", "00.405", "00.540"])
    #expect(fewer.fixes.map(\.hasPosition) == [true, true, true, true, true])
    let trimmed = fast(["00.00001", "00.13475", "00.2695", "00.40424", "00.539", "00.67373"])
    #expect(trimmed.fixes.count == 6 && trimmed.fixes.allSatisfy(\.hasPosition))
    #expect(trimmed.rejectedFields == 0)
  }

  @Test("Without any speed two steps that agree make positions with fewer digits credible")
  func agreeingSteps() {
    let playback = fast(["00.0000", "00.135", "00.270", "00.405"])
    #expect(playback.fixes.map(\.hasPosition) == [true, false, true, true])
  }

  @Test("A jump is not a speed: a damaged position after it is refused")
  func jumpWithoutSpeed() {
    let playback = fast(["00.0000", "30.0000", "00.270", "45.1"])
    #expect(playback.fixes.map(\.hasPosition) == [true, true, false, false])
  }

  @Test("Near a pole another meridian is metres away", arguments: ["N", "S"])
  func pole(side: String) {
    var playback = Playback()
    for (second, place) in [
      (10, "8959.9990,\(side),00000.0000,E"), (11, "8959.9998,\(side),00000.0000,E"),
      (12, "8959.999,\(side),18000.000,E"),
      (13, "8959.999,\(side),17000.000,W"),
    ] { playback.receive("GPRMC,1011\(second),A,\(place),5.0,90.0,091225,,,A") }
    playback.finish()
    #expect(playback.fixes.map(\.hasPosition) == [true, true, true, true])
    #expect(playback.rejectedFields == 0)
  }

  @Test("After a minute without a position every position counts")
  func silence() {
    var playback = Playback()
    playback.receive(rmc(10, "4808.00000", "01136.42600"))
    playback.receive("GPRMC,101211,A,0808.000,N,00136.426,E,0.5,77.5,091225,,,A")
    playback.finish()
    #expect(playback.fixes.map(\.hasPosition) == [true, true])
  }
}
