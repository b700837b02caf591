// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import ReceiverStream
import TestSupport
import Testing

@testable import ReceiverRuntime

@Suite("The stream of a base station")
struct BaseStreamTests {
  /// Bits of a message, the highest first.
  private static func message(_ fields: [(value: Int64, width: Int)]) -> [UInt8] {
    var bits = fields.flatMap { field in
      (0..<field.width).reversed().map { UInt8(truncatingIfNeeded: field.value >> $0 & 1) }
    }
    bits += [UInt8](repeating: 0, count: (8 - bits.count % 8) % 8)
    return Wire.rtcm3(stride(from: 0, to: bits.count, by: 8).map { at in bits[at..<at + 8].reduce(0) { $0 << 1 | $1 } })
  }

  @Test(
    "Frames are passed, other bytes are not; the survey and the station are read from them", arguments: [1, 5, 1000])
  func stream(piece: Int) throws {
    let place = GeodeticPosition(latitudeDegrees: -48.1642, longitudeDegrees: 11.6056, heightMetres: 557.6)
    let centre = place.earthCentredMetres * 10_000
    let position = Self.message([
      (1005, 12), (7, 12), (0, 6), (0b1110, 4), (Int64(centre.x), 38), (1, 1), (0, 1), (Int64(centre.y), 38), (0, 2),
      (Int64(centre.z), 38),
    ])
    let (gps, glonass) = (Self.message([(1077, 12), (7, 12)]), Self.message([(1084, 12), (7, 12)]))
    var survey = [UInt8](repeating: 0, count: 40)
    survey.replaceSubrange(8..<12, with: [61, 0, 0, 0])
    survey.replaceSubrange(28..<32, with: [0x39, 0x30, 0, 0])
    survey.replaceSubrange(32..<36, with: [60, 0, 0, 0])
    survey[36] = 1
    let bytes = ascii("$GPTXT,01,01,02,x*00\r\n") + gps + Wire.ubx(0x01, 0x3B, survey) + position + glonass + [0xD3, 0]
    var base = BaseStream()
    var frames: [UInt8] = []
    for start in stride(from: 0, to: bytes.count, by: piece) {
      frames += base.receive(Array(bytes[start..<min(start + piece, bytes.count)]).raw, at: .zero)
    }
    #expect(frames == gps + position + glonass)
    let (found, station, there) = (base.survey, base.station, base.position)
    #expect(found == BaseStream.Survey(seconds: 61, deviationMetres: 1.2345, observations: 60, isValid: true))
    #expect(try #require(there).distance(to: place) < 0.001)
    #expect(station.messages == [1005, 1077, 1084])
    #expect(
      station.line(mount: "M", needsPassword: true, version: "1")
        == "STR;M;M;RTCM 3.3;1005(1),1077(1),1084(1);2;GPS+GLO;none;;-48.16;11.61;0;0;sextant 1;none;B;N;9600;")
    base.reset()
    let after = base.survey
    #expect(after == nil)
  }

  @Test("GGA of a base shows that the position is given", arguments: [0, 1, 7, 8])
  func given(quality: Int) {
    var base = BaseStream()
    let body = "GNGGA,055234.00,4004.73879510,N,11614.19821957,E,\(quality),28,0.7,61.8089,M,-8.4923,M,,"
    let sum = body.utf8.reduce(UInt8(0)) { $0 ^ $1 }
    let digits = String(sum, radix: 16, uppercase: true)
    _ = base.receive(ascii("$\(body)*\(digits.utf8.count < 2 ? "0" : "")\(digits)\r\n").raw, at: .zero)
    let isGiven = base.hasGivenPosition
    #expect(isGiven == (quality == 7))
    base.reset()
    let after = base.hasGivenPosition
    #expect(!after)
  }

  @Test("Quectel's sentence of a survey, and malformed ones")
  func sentence() {
    func survey(_ body: String) -> BaseStream.Survey? {
      var base = BaseStream()
      let sum = body.utf8.reduce(UInt8(0)) { $0 ^ $1 }
      let digits = String(sum, radix: 16, uppercase: true)
      _ = base.receive(ascii("$\(body)*\(digits.utf8.count < 2 ? "0" : "")\(digits)\r\n").raw, at: .zero)
      return base.survey
    }
    #expect(
      survey("PQTMSVINSTATUS,1,1000,1,,01,20,100,-2484434.3645,4875976.9741,3266161.3412,1.2415")
        == BaseStream.Survey(seconds: 20, deviationMetres: 1.2415, observations: 20, isValid: false))
    #expect(survey("PQTMSVINSTATUS,1,1000,2,,01,100,100,1,2,3,0.9")?.isValid == true)
    for body in ["PQTMSVINSTATUS,1,1000,2", "PQTMSVINSTATUS,1,1000,x,,01,20,100,1,2,3,0.9", "PQTMSVINSTATUS"] {
      #expect(survey(body) == nil)
    }
  }
}
