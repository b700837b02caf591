// SPDX-License-Identifier: Apache-2.0
import Testing

@Suite("A frame as a line of JSON")
struct MessageJSONTests {
  @Test("has protocol, name, position and fields")
  func envelope() {
    let stream = Array("noise".utf8) + ubx(0x05, 0x01, [0x06, 0x8A]) + sentence("GPHDT,123.4,T")
    #expect(
      lines(stream) == [
        #"{"protocol":"UBX","name":"ACK-ACK","offset":5,"length":10,"fields":{"clsID":6,"msgID":138}}"#,
        #"{"protocol":"NMEA","name":"GPHDT","offset":15,"length":19,"fields":{"headingT":123.4,"headingTu":"T"}}"#,
      ])
  }

  @Test("without declared fields has its bytes in hexadecimal")
  func raw() {
    #expect(
      lines(ubx(0x77, 0x01, [0xAB])) == [
        #"{"protocol":"UBX","name":"0x77-0x01","offset":0,"length":9,"raw":"b56277010100ab2405"}"#
      ])
    let text = sentence("PXYZ,1").map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    #expect(
      lines(sentence("PXYZ,1")) == [#"{"protocol":"NMEA","name":"PXYZ","offset":0,"length":12,"raw":"\#(text)"}"#])
  }

  @Test("of a poll has no fields")
  func poll() {
    #expect(
      lines(ubx(0x01, 0x07, [])) == [
        #"{"protocol":"UBX","name":"NAV-PVT","offset":0,"length":8,"fields":{}}"#
      ])
  }

  @Test("has exact scaled values, and no reserved fields")
  func scaled() {
    // NAV-DOP: gDOP 1.25, pDOP 655.35, tDOP 0.01, vDOP 1, and zeros.
    let payload: [UInt8] = [1, 0, 0, 0, 125, 0, 0xFF, 0xFF, 1, 0, 100, 0, 0, 0, 0, 0, 0, 0]
    #expect(
      fields(ubx(0x01, 0x04, payload))
        == #""iTOW":1,"gDOP":1.25,"pDOP":655.35,"tDOP":0.01,"vDOP":1,"hDOP":0,"nDOP":0,"eDOP":0"#)
  }

  @Test("has negative numbers, bit fields as one integer and repeated blocks as an array")
  func groups() {
    // NAV-SAT of one satellite: elevation −5, residual −0.3 m, flags 0x0000191F.
    let satellite: [UInt8] = [0, 7, 44, 0xFB, 0x2C, 0x01, 0xFD, 0xFF, 0x1F, 0x19, 0, 0]
    #expect(
      fields(ubx(0x01, 0x35, [0, 0, 0, 0, 1, 1, 0, 0] + satellite))
        == #""iTOW":0,"version":1,"numSvs":1,"groups":[{"gnssId":0,"svId":7,"cno":44,"elev":-5,"azim":300,"#
        + #""prRes":-0.3,"flags":6431}]"#)
    #expect(fields(ubx(0x01, 0x35, [0, 0, 0, 0, 1, 0, 0, 0])) == #""iTOW":0,"version":1,"numSvs":0,"groups":[]"#)
  }

  @Test("with a count beyond its size has its bytes only")
  func tooShort() {
    let line = lines(ubx(0x01, 0x35, [0, 0, 0, 0, 1, 9, 0, 0]))[0]
    #expect(line.contains(#""name":"NAV-SAT""#) && line.contains(#""raw":"b562"#) && !line.contains("fields"))
  }

  @Test("with bytes after the last field has its bytes too")
  func tooLong() {
    let line = lines(ubx(0x05, 0x01, [6, 1, 99]))[0]
    #expect(line.contains(#""fields":{"clsID":6,"msgID":1},"raw":"b562"#))
  }

  @Test("has text as a string without fill, with quotes escaped")
  func text() {
    #expect(fields(ubx(0x04, 0x02, Array("say \"hi\"".utf8) + [0])) == #""message":"say \"hi\"""#)
  }

  @Test("has names of configuration items, and values in their units")
  func configuration() {
    // RATE_MEAS 100 × 1 ms, NAVHPG… unknown key of two bytes.
    let pairs: [UInt8] = [0x01, 0x00, 0x21, 0x30, 100, 0, 0xFF, 0xFF, 0xFF, 0x30, 0x34, 0x12]
    let shown = fields(ubx(0x06, 0x8A, [0, 1, 0, 0] + pairs))
    #expect(shown?.contains(#"{"key":"CFG-RATE-MEAS","id":807469057,"value":0.1}"#) == true, "\(shown ?? "nothing")")
    #expect(shown?.hasSuffix(#"{"id":822083583,"value":4660}]"#) == true, "\(shown ?? "nothing")")
  }
}

@Suite("A sentence as JSON")
struct SentenceJSONTests {
  @Test("has degrees, times and dates; an empty field is null")
  func position() {
    #expect(
      fields(sentence("GNRMC,091502.50,A,4717.11437,S,00833.91522,W,0.004,,091223,,,A,V"))
        == #""time":"09:15:02.500000","status":"A","lat":-47.2852395,"NS":"S","lon":-8.5652536667,"EW":"W","#
        + #""spd":0.004,"cog":null,"date":"2023-12-09","mv":null,"mvEW":null,"posMode":"A","navStatus":"V""#)
  }

  @Test("omits fields beyond the end of the sentence")
  func short() {
    #expect(fields(sentence("GPGLL,4717.0,N,00833.0,E")) == #""lat":47.2833333333,"NS":"N","lon":8.55,"EW":"E""#)
  }

  @Test("has repeated fields as blocks, also if the sentence ends within them")
  func blocks() {
    #expect(
      fields(sentence("GPGSV,1,1,02,05,30,120,40,09,,,,1"))
        == #""numMsg":1,"msgNum":1,"numSV":2,"groups":[{"svid":5,"elv":30,"az":120,"cno":40},"#
        + #"{"svid":9,"elv":null,"az":null,"cno":null}],"signalID":"1""#)
    #expect(fields(sentence("GPGSA,A,3,5,9")) == #""opMode":"A","navMode":3,"groups":[{"svid":5},{"svid":9}]"#)
  }

  @Test("has text of any length")
  func text() {
    let long = String(repeating: "u-blox ", count: 20)
    #expect(fields(sentence("GNTXT,01,01,02,\(long)")) == #""numMsg":1,"msgNum":1,"msgType":2,"text":"\#(long)""#)
  }

  @Test("has its number in its name if the manufacturer numbers sentences")
  func numbered() {
    #expect(lines(sentence("PUBX,40,GLL,1,0,0,0,0,0"))[0].contains(#""name":"PUBX40""#))
    #expect(
      fields(sentence("PUBX,41,1,0007,0003,9600,0"))
        == #""msgId":"41","portId":1,"inProto":"0007","outProto":"0003","baudRate":9600,"autobauding":0"#)
  }
}
