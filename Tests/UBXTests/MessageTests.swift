// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import UBX

/// The payload of a frame that `write` encodes.
func payload(_ write: (inout MutableRawSpan) -> Int) -> [UInt8] {
  payload(of: written(room: 9000, write)) ?? []
}

/// The payload of a frame; nil if the bytes are not a frame.
func payload(of bytes: [UInt8]) -> [UInt8]? {
  guard let frame = UBXFrame(bytes.raw) else { return nil }
  return array(frame.payload)
}

private func string(_ text: borrowing Text) -> String { String(decoding: array(text.bytes), as: UTF8.self) }

@Suite("Typed views read what their writers wrote")
struct MessageTests {
  @Test("NAV-PVT: numbers, signed and not, and flags")
  func navPVT() throws {
    let payload = payload {
      NavPVT.encode(into: &$0) {
        $0.iTOW(0xFFFF_FFFE)
        $0.year(2026)
        $0.valid(0b1011)
        $0.nano(-1)
        $0.flags(0b1010_1001)
        $0.lon(-1_799_999_999)
        $0.lat(473_977_418)
        $0.hAcc(.max)
        $0.velD(.min)
        $0.pDOP(9999)
        $0.flags3(0x2013)
        $0.headVeh(-5)
        $0.magDec(-32_768)
        $0.magAcc(7)
      }
    }
    let message = NavPVT(payload: payload.raw)
    #expect(payload.count == 92)
    #expect(message?.iTOW == 0xFFFF_FFFE)
    #expect(message?.year == 2026)
    #expect(message?.valid_validDate == true)
    #expect(message?.valid_fullyResolved == false)
    #expect(message?.valid_validMag == true)
    #expect(message?.nano == -1)
    #expect(message?.flags_gnssFixOK == true)
    #expect(message?.flags_psmState == 2)
    #expect(message?.flags_headVehValid == true)
    #expect(message?.flags_carrSoln == 2)
    #expect(message?.lon == -1_799_999_999)
    #expect(message?.lat == 473_977_418)
    #expect(message?.longitudeDegrees == -179.9999999 && message?.latitudeDegrees == 47.3977418)
    #expect(message?.pDOPScaled == 99.99 && message?.headVehDegrees == .some(.some(-0.00005)))
    #expect(message?.hAcc == .max)
    #expect(message?.velD == .min)
    #expect(message?.pDOP == 9999)
    #expect(message?.flags3_invalidLlh == true)
    #expect(message?.flags3_lastCorrectionAge == 9)
    #expect(message?.flags3_authTime == true)
    #expect(message?.headVeh == -5)
    #expect(message?.magDec == -32_768)
    #expect(message?.magAcc == 7)
  }

  @Test("NAV-PVT of older firmware ends before the vehicle's heading")
  func optionalFields() {
    let short = payload { NavPVT.encode(into: &$0, length: 84) { $0.lat(5) } }
    #expect(short.count == 84)
    #expect(NavPVT(payload: short.raw)?.lat == 5)
    #expect(NavPVT(payload: short.raw)?.headVeh == nil)
    #expect(NavPVT(payload: short.raw)?.magDec == nil)
    let middle = Array(payload { NavPVT.encode(into: &$0) { $0.headVeh(9) } }[..<88])
    #expect(NavPVT(payload: middle.raw)?.headVeh == 9)
    #expect(NavPVT(payload: middle.raw)?.magDec == nil)
    #expect(NavPVT(payload: Array(short[..<83]).raw)?.lat == nil)
  }

  @Test("NAV-SAT: a group counted by a field")
  func group() {
    let bytes = payload {
      NavSAT.encode(into: &$0, length: 8 + 12 * 2) {
        $0.numSvs(2)
        $0.satellite_svId(0, 5)
        $0.satellite_elev(0, -90)
        $0.satellite_svId(1, 31)
        $0.satellite_azim(1, 359)
        $0.satellite_flags(1, 0b1000)
      }
    }
    let message = NavSAT(payload: bytes.raw)
    #expect(message?.satelliteCount == 2)
    #expect(message?.satellite(0).svId == 5)
    #expect(message?.satellite(0).elev == -90)
    #expect(message?.satellite(0).flags_svUsed == false)
    #expect(message?.satellite(1).azim == 359)
    #expect(message?.satellite(1).flags_svUsed == true)
    #expect(NavSAT(payload: Array(bytes.dropLast()).raw)?.numSvs == nil)
  }

  @Test("RXM-RAWX: real numbers")
  func reals() {
    let bytes = payload {
      RxmRAWX.encode(into: &$0, length: 16 + 32) {
        $0.rcvTow(408_961.997)
        $0.numMeas(1)
        $0.measurement_prMes(0, 2.25e7)
        $0.measurement_doMes(0, -1234.5)
      }
    }
    let message = RxmRAWX(payload: bytes.raw)
    #expect(message?.rcvTow == 408_961.997)
    #expect(message?.measurement(0).prMes == 2.25e7)
    #expect(message?.measurement(0).doMes == -1234.5)
  }

  @Test("MON-VER: text ends at its first zero byte, or fills its field; a group to the end of the payload")
  func text() {
    var payload = [UInt8](repeating: 0, count: 100)
    payload.replaceSubrange(0..<30, with: ascii("EXT CORE 1.00 (3fda8e) is long"))
    payload.replaceSubrange(30..<38, with: ascii("00190000"))
    payload.replaceSubrange(40..<52, with: ascii("FWVER=SPG 5."))
    payload.replaceSubrange(70..<78, with: ascii("MOD=M10S"))
    guard let version = MonVER(payload: payload.raw) else {
      Issue.record("no MON-VER")
      return
    }
    #expect(string(version.swVersion) == "EXT CORE 1.00 (3fda8e) is long")
    #expect(string(version.hwVersion) == "00190000")
    #expect(version.extensionStringCount == 2)
    #expect(string(version.extensionString(0).extension) == "FWVER=SPG 5.")
    #expect(string(version.extensionString(1).extension) == "MOD=M10S")
  }

  @Test("RXM-IMES: signed bit fields keep their sign")
  func signedBits() {
    var payload = [UInt8](repeating: 0, count: 4 + 44)
    payload[0] = 1
    payload[4 + 12..<4 + 16] = [0x2A, 0xFF, 0xFF, 0x7F]
    payload[4 + 16..<4 + 20] = [0x01, 0x00, 0x80, 0x01]
    let message = RxmIMES(payload: payload.raw)
    #expect(message?.transmitterCount == 1)
    #expect(message?.transmitter(0).position1_1_pos1Floor == 0x2A)
    #expect(message?.transmitter(0).position1_1_pos1Lat == -1)
    #expect(message?.transmitter(0).position1_2_pos1Lon == -0x7F_FFFF)
    #expect(message?.transmitter(0).position1_2_pos1Valid == true)
  }

  @Test("ESF-MEAS: a group counted by bits, and a field behind it that may be missing")
  func bitCount() {
    let counted = payload {
      EsfMEAS.encode(into: &$0, length: 8 + 4 * 3) {
        $0.flags(3 << 11)
        $0.measurement_data(2, 0x0A00_0001)
      }
    }
    #expect(EsfMEAS(payload: counted.raw)?.measurementCount == 3)
    #expect(EsfMEAS(payload: counted.raw)?.measurement(2).data == 0x0A00_0001)
    #expect(EsfMEAS(payload: counted.raw)?.calibTtag == nil)
    let tagged = counted + [1, 2, 0, 0]
    #expect(EsfMEAS(payload: tagged.raw)?.calibTtag == 0x201)
  }

  @Test("A frame is looked at as the message that it is")
  func identity() {
    let bytes = written { AckACK.encode(into: &$0) { $0.clsID(6) } }
    #expect(UBXFrame(bytes.raw)?.message(AckACK.self)?.clsID == 6)
    #expect(UBXFrame(bytes.raw)?.message(AckNAK.self)?.clsID == nil)
  }

  @Test("Fields that are not set are zero, whatever was in the buffer")
  func zeroed() {
    var buffer = [UInt8](repeating: 0xAA, count: 200)
    var elements = buffer.mutableSpan
    // Safe: bytes have no invalid bit patterns.
    var span = unsafe elements.mutableBytes
    let count = NavPVT.encode(into: &span) { $0.iTOW(1) }
    #expect(Array(buffer[..<count]) == Wire.ubx(1, 7, [1] + [UInt8](repeating: 0, count: 91)))
  }
}
