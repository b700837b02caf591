// SPDX-License-Identifier: Apache-2.0
import NMEA
import ReceiverStream
import Testing

@Suite("Sentences without a fix")
struct VendorTests {
  @Test("PUBX,00 to 41 are distinguished by their number, and written as they were read")
  func ublox() {
    let position =
      "$PUBX,00,081350.00,4717.113210,N,00833.915187,E,546.589,G3,2.1,2.0,0.007,77.52,0.007,,0.92,1.19,0.77,9,0,0"
    let bytes = sentence(String(position.dropFirst()))
    #expect(read(bytes, PUBX03.self) == nil)
    let content = read(bytes, PUBX00.self)
    #expect(content?.altitude == FixedPoint(546_589, fractionDigits: 3))
    #expect(content?.status == ShortText("G3"))
    #expect(content.map { written($0, .proprietary) } == position)
    let time = read(sentence("PUBX,04,073731.00,091202,113851.00,1196,15D,1930035,-2660.664,43"), PUBX04.self)
    #expect(time?.leapSeconds == ShortText("15D"))
  }

  @Test("PUBX,03 has its satellites")
  func satellites() {
    let content = read(sentence("PUBX,03,02,23,-,,,45,010,29,U,131,74,44,064"), PUBX03.self)
    #expect(content?.satelliteCount == 2)
    #expect(content?.satellites[1].status == UInt8(ascii: "U"))
    #expect(content?.satellites[1].elevation == 74)
  }

  @Test("PUBX,40 and 41 are written with the number of digits that receivers expect")
  func configuration() {
    var rate = PUBX40()
    rate.sentence = ShortText("GLL")
    (rate.rateI2C, rate.rateUART1, rate.rateUART2, rate.rateUSB, rate.rateSPI) = (0, 1, 0, 0, 0)
    #expect(written(rate, .proprietary) == "$PUBX,40,GLL,0,1,0,0,0,0")
    var port = PUBX41()
    (port.port, port.inputProtocols, port.outputProtocols, port.baudRate, port.autobauding) = (1, 7, 3, 115_200, 0)
    #expect(written(port, .proprietary) == "$PUBX,41,1,0007,0003,115200,0")
  }

  @Test("text is written from the bytes of its range")
  func text() {
    var content = TXT()
    (content.sentences, content.number, content.identifier) = (1, 1, 2)
    content.text = TextRange(4..<9)
    #expect(written(content, .combined, texts: Array("not hello".utf8)) == "$GNTXT,01,01,02,hello")
  }

  @Test(
    "every sentence is read as it was written",
    arguments: [
      "GPGBS,235503.00,1.6,1.4,3.2,,,,,1,1", "GNGRS,104148.00,1,2.6,2.2,-1.6,-1.1,-1.7,-1.5,5.8,1.7,,,,,1,1",
      "GPDTM,W84,,0.0,N,0.0,E,0.0,W84", "HEHDT,98.6,T", "HCHDG,98.3,0.0,E,12.6,W", "HCHDM,98.3,M", "GNTHS,77.52,E",
      "TIROT,-0.3,A", "VDVBW,12.1,-0.3,A,11.9,-0.2,A", "VWVHW,,T,251.0,M,0.0,N,0.0,K", "GPVLW,,N,,N,15.8,N,1.2,N",
      "SDDPT,2.3,0.5", "SDDBT,7.7,f,2.3,M,1.3,F", "YXMTW,17.8,C", "WIMWD,182.5,T,195.1,M,10.1,N,5.2,M",
      "WIMWV,33.0,R,10.0,N,A",
    ])
  func roundTrip(_ text: String) throws {
    let bytes = sentence(text)
    let all: [(String, ([UInt8]) -> String?)] = [
      ("GBS", rewrite(GBS.self)), ("GRS", rewrite(GRS.self)), ("DTM", rewrite(DTM.self)), ("HDT", rewrite(HDT.self)),
      ("HDG", rewrite(HDG.self)), ("HDM", rewrite(HDM.self)), ("THS", rewrite(THS.self)), ("ROT", rewrite(ROT.self)),
      ("VBW", rewrite(VBW.self)), ("VHW", rewrite(VHW.self)), ("VLW", rewrite(VLW.self)), ("DPT", rewrite(DPT.self)),
      ("DBT", rewrite(DBT.self)), ("MTW", rewrite(MTW.self)), ("MWD", rewrite(MWD.self)), ("MWV", rewrite(MWV.self)),
    ]
    let formatter = String(text.dropFirst(2).prefix(3))
    let rewrite = try #require(all.first { $0.0 == formatter }?.1)
    #expect(rewrite(bytes) == "$" + text)
  }

  private func rewrite<Content: SentenceContent>(_: Content.Type) -> ([UInt8]) -> String? {
    { bytes in
      guard let sentence = Sentence(bytes.raw) else { return nil }
      let talker = sentence.talker
      return read(bytes, Content.self).map { written($0, talker) }
    }
  }

  @Test("the name of a transducer is the range in the sentence")
  func transducers() throws {
    let bytes = sentence("HCXDR,A,-0.8,D,PITCH,A,0.8,D,ROLL")
    let content = try #require(read(bytes, XDR.self))
    #expect(content.measurementCount == 2)
    let name = try #require(content.measurements[1].name)
    #expect(String(decoding: bytes[name.offsets], as: UTF8.self) == "ROLL")
  }
}

@Suite("u-blox's sentences in a fix")
struct VendorFixTests {
  private func fix(_ stream: [UInt8]) -> Fix? {
    var fix: Fix?
    var frames = FrameStream()
    var assembler = EpochAssembler()
    frames.receive(stream.raw) { frame in assembler.receive(frame) { report, _ in fix = report.fix } }
    frames.finish { frame in assembler.receive(frame) { report, _ in fix = report.fix } }
    assembler.finish { report, _ in fix = report.fix }
    return fix
  }

  @Test("PUBX,00 gives height, accuracy and climb; PUBX,04 the date and leap seconds; HDT the heading")
  func epoch() {
    let fix = fix(
      sentence(
        "PUBX,00,073731.00,4717.113210,N,00833.915187,E,546.589,D3,2.1,2.0,36.0,77.52,-0.5,,0.92,1.19,0.77,9,0,0")
        + sentence("PUBX,04,073731.00,091217,113851.00,1979,18,1930035,-2660.664,43") + sentence("GNHDT,12.5,T"))
    #expect(fix?.source == .pubx)
    #expect(fix?.kind == .threeD && fix?.quality == .differential)
    #expect(fix?.heightAboveEllipsoidMetres == 546.589)
    #expect(fix?.horizontalAccuracyMetres == 2.1 && fix?.accuracySource == .receiver)
    #expect(fix?.speedMetresPerSecond == 10 && fix?.climbMetresPerSecond == 0.5)
    #expect(fix?.leapSeconds == 18 && fix?.headingDegrees == 12.5)
    #expect(fix?.time?.nanosecondsSince1970 == 1_512_805_051_000_000_000)
  }

  @Test("PUBX,00 without a fix gives none")
  func noFix() {
    #expect(fix(sentence("PUBX,00,073731.00,,,,,0.0,NF,,,,,,,99.99,99.99,99.99,0,0,0"))?.hasPosition != true)
  }

  @Test("the default leap seconds of the firmware are ignored")
  func guess() {
    #expect(fix(sentence("PUBX,04,073731.00,091217,113851.00,1979,15D,1930035,-2660.664,43"))?.leapSeconds == nil)
  }
}
