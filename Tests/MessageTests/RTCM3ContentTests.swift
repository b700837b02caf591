// SPDX-License-Identifier: Apache-2.0
import RTCM3
import Testing
import WireBytes

@Suite("RTCM 3 contents")
struct RTCM3ContentTests {
  @Test("the bit reader takes any number of bits, and returns zero beyond the end")
  func bits() {
    let bytes: [UInt8] = [0b1010_1100, 0xFF, 0x01]
    var reader = BitReader(bytes.raw)
    let read = (reader.unsigned(3), reader.signed(4), reader.unsigned(10))
    #expect(read == (0b101, 6, 0b01_1111_1110))
    let isWhole = !reader.isExhausted
    let beyond = reader.unsigned(8)
    let isExhausted = reader.isExhausted
    #expect(isWhole && beyond == 0 && isExhausted)
  }

  @Test("1005 and 1006 have the position of the antenna in metres")
  func position() {
    let frame = rtcm3(
      (1006, 12), (7, 12), (0, 6), (1, 1), (1, 1), (0, 1), (0, 1), (44_723_759_100, 38), (1, 1), (0, 1),
      (-6_014_352_701, 38), (0, 2), (12, 38), (15_000, 16))
    #expect(
      fields(frame) == #""stationID":7,"realisationYear":0,"servesGPS":true,"servesGLONASS":true,"#
        + #""servesGalileo":false,"isVirtual":false,"x":4472375.91,"y":-601435.2701,"z":0.0012,"#
        + #""hasSingleOscillator":true,"quarterCycle":0,"antennaHeight":1.5"#)
  }

  @Test("an MSM has satellites and signals")
  func multipleSignals() {
    let frame = rtcm3(
      (1077, 12), (5, 12), (258_059_000, 30), (1, 1), (0, 3), (0, 7), (1, 2), (0, 2), (0, 1), (0, 3),
      (1 << 59 | 1 << 32, 64), (1 << 30, 32), (0b11, 2))
    #expect(
      fields(frame) == #""stationID":5,"timeOfWeek":258059000,"hasMore":true,"stationIssue":0,"clockSteering":1,"#
        + #""externalClock":0,"isSmoothed":false,"smoothingInterval":0,"satellites":[5,32],"signals":[2],"cells":2"#)
  }

  @Test("1033 has its five texts")
  func equipment() {
    func text(_ text: String) -> [(value: Int64, bits: Int)] {
      [(Int64(text.utf8.count), 8)] + text.utf8.map { (Int64($0), 8) }
    }
    var parts: [(value: Int64, bits: Int)] = [(1033, 12), (1, 12)] + text("ANT") + [(0, 8)]
    for word in ["S1", "RX", "1.0", ""] { parts += text(word) }
    let bytes = rtcm3(parts)
    #expect(
      fields(bytes) == #""stationID":1,"antenna":"ANT","antennaSetup":0,"antennaSerial":"S1","receiver":"RX","#
        + #""firmware":"1.0","receiverSerial":"""#)
  }

  @Test("1230 has the biases of its mask")
  func biases() {
    let frame = rtcm3((1230, 12), (3, 12), (1, 1), (0, 3), (0b1010, 4), (-50, 16), (7, 16))
    #expect(fields(frame) == #""stationID":3,"isAligned":true,"L1CA":-1,"L2CA":0.14"#)
  }

  @Test("a message that is cut short is not typed")
  func cut() {
    #expect(fields(rtcm3((1005, 12), (7, 12))) == nil)
    #expect(fields(rtcm3((1033, 12), (7, 12), (200, 8))) == nil)
  }
}
