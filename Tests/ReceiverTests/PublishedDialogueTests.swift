// SPDX-License-Identifier: Apache-2.0
import RTCM3
import TestSupport
import Testing
import UBX

@testable import Receiver

@Suite("A dialogue that is published")
struct PublishedDialogueTests {
  private static func parts(_ bytes: [UInt8]) -> [DialogueFilter.Part] {
    var filter = DialogueFilter()
    return unsafe filter.receive(bytes.span.bytes) + filter.finish()
  }

  private static func isKept(_ bytes: [UInt8]) -> Bool {
    let parts = parts(bytes)
    guard parts.count == 1, case .kept(_, let kept) = parts[0] else { return false }
    return kept == bytes
  }

  /// Whether a part of a request is published.
  private static func isWritten(_ bytes: [UInt8]) -> Bool {
    DialogueFilter.parts(ofWrite: bytes).contains { if case .kept = $0 { true } else { false } }
  }

  @Test(
    "Positions are left out, whatever the message",
    arguments: [
      "GNGGA,120000.00,4809.852,N,01136.336,E,1,08,1.0,512.0,M,47.0,M,,", "GPRMC,1,A,4809.852,N,01136.336,E,,,,,,A",
      "GNGLL,4809.852,N,01136.336,E,1,A,A", "GNGNS,1,4809.852,N,01136.336,E,AA,8,1,512,47,,",
      "GPGSV,1,1,01,01,40,083,46",
      "PUBX,00,1,4809.852,N,01136.336,E,512,G3,1,1,0,0,0,,1,1,1,8,0,0", "PQTMPVT,1,2,3,4,5,6,7,48.16,11.60,512,47,,,,",
      "PQTMCFGSVIN,OK,2,0,0,4177787.1,855055.3,4727614.0", "PQTMCFGRCVRMODE,OK,2", "PAIR590,2026,11,28,12,0,0",
      "PMTK741,48.16,11.60,512,2026,11,28,12,0,0", "PMTKLOX,1,0,0100010B", "PAIR600,48.16,11.60,512,1,1,0,1",
      "PSTMINITGPS,4809.852,N,01136.336,E,0512,28,11,2026,12,00,00", "PSTMPV,1,4809.852,N,01136.336,E",
      "PDTINFO,UC6580I,G1B1,R1,1,PN,SN",
      "GNTXT,01,01,02,48.1642 11.6056", "GPTXT,01,01,02,HW=ATGM336H,0009101407754",
      "command,MODE BASE 48.16 11.60 512,response: OK",
      "PQTMUNIQID,OK,8,0123456789ABCDEF",
    ])
  func positionSentence(body: String) {
    #expect(!Self.isKept(Wire.nmea(body)))
    #expect(!Self.isWritten(Wire.nmea(body)))
  }

  @Test(
    "Messages of UBX with positions, altitudes and serial numbers are left out",
    arguments: [
      (0x01, 0x07), (0x01, 0x02), (0x01, 0x14), (0x01, 0x13), (0x01, 0x01), (0x01, 0x35), (0x02, 0x15), (0x21, 0x11),
      (0x27, 0x03),
      (0x0B, 0x01), (0x13, 0x40), (0x06, 0x1B), (0x06, 0x24), (0x06, 0x3D), (0x06, 0x71), (0x06, 0x69), (0x01, 0x39),
      (0x01, 0x3B),
      (0x02, 0x13), (0x10, 0x02), (0x29, 0x07),
    ] as [(UInt8, UInt8)])
  func positionMessage(messageClass: UInt8, id: UInt8) {
    #expect(!Self.isKept(Wire.ubx(messageClass, id, [UInt8](repeating: 7, count: 40))))
  }

  @Test("Configuration items of positions are left out, also among others and as wildcards")
  func items() {
    let rate: [UInt8] = [0x01, 0x00, 0x21, 0x30]
    let latitude: [UInt8] = [0x09, 0x00, 0x03, 0x40]
    #expect(Self.isKept(Wire.ubx(0x06, 0x8B, [0, 0, 0, 0] + rate)))
    #expect(Self.isKept(Wire.ubx(0x06, 0x8B, [1, 0, 0, 0] + rate + [0xE8, 3])))
    #expect(!Self.isKept(Wire.ubx(0x06, 0x8B, [1, 0, 0, 0] + rate + [0xE8, 3] + latitude + [1, 2, 3, 4])))
    #expect(!Self.isKept(Wire.ubx(0x06, 0x8A, [0, 1, 0, 0] + latitude + [1, 2, 3, 4])))
    #expect(!Self.isKept(Wire.ubx(0x06, 0x8B, [0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0x0F])))
    // A value of another length than its key says could hide an item.
    #expect(!Self.isKept(Wire.ubx(0x06, 0x8B, [1, 0, 0, 0] + rate + [0xE8, 3, 1])))
  }

  @Test(
    "Identities, acknowledgements and settings are kept",
    arguments: [
      "PMTK705,AXN_2.31,5632,PA6H,1.0", "PMTK001,220,3", "PAIR001,050,0", "PAIR021,AG3335A_V2.5.0",
      "PQTMVERNO,LG290P03,2025,1",
      "PCAS06,0", "GPTXT,01,01,02,SW=URANUS5,V5.3.0.0", "PSTMVER,BINIMG_STA8041_4.6.8.5.9_ARM",
      "GNTXT,01,01,02,u-blox ag - www.u-blox.com",
      "PUBX,41,1,0007,0003,9600,0", "command,MASK GPS,response: OK",
    ])
  func kept(body: String) { #expect(Self.isKept(Wire.nmea(body))) }

  @Test("Frames of families are kept by their list")
  func families() {
    #expect(Self.isKept(FrameLayout.casic.frame(0x0501, [0x06, 0x04, 0, 0])))
    // CFG-TMODE.
    #expect(!Self.isKept(FrameLayout.casic.frame(0x0606, [UInt8](repeating: 1, count: 28))))
    #expect(Self.isKept(FrameLayout.allystar.frame(0x0A04, [UInt8](repeating: 0x41, count: 32))))
    #expect(!Self.isKept(FrameLayout.skyTraq.frame(0xA8, [UInt8](repeating: 1, count: 58))))
  }

  @Test(
    "Requests without a form of their own are kept by their words",
    arguments: [
      "VERSIONB", "UNLOG GNGGA", "GNGGA 1", "MASK GPS", "getReceiverCapabilities",
    ])
  func lines(text: String) {
    #expect(Self.isWritten(Array((text + "\r\n").utf8)))
    #expect(Self.isWritten(Array(("\r\n" + text + "\r\n").utf8)))
  }

  @Test(
    "Others are left out",
    arguments: ["MODE BASE 48.1642 11.6056 512", "GNGGA,120000,4809.852,N", "setStaticPosGeodetic, 48"])
  func otherLines(text: String) {
    #expect(!Self.isWritten(Array((text + "\r\n").utf8)))
  }

  @Test("A frame that is cut, damaged or interrupted is left out by its length, and the next one is kept")
  func damage() {
    let kept = Wire.nmea("PMTK001,220,3")
    var damaged = kept
    damaged[6] ^= 1
    #expect(
      Self.parts(damaged + kept) == [
        .leftOut(name: DialogueFilter.noFrame, count: damaged.count), .kept(name: "PMTK001", kept),
      ])
    let cut = Array("$GNGGA,120000.00,4809.852,N,011".utf8)
    #expect(
      Self.parts(cut + kept) == [
        .leftOut(name: DialogueFilter.noFrame, count: cut.count), .kept(name: "PMTK001", kept),
      ])
    let poll = Wire.ubx(0x0A, 0x04, [])
    #expect(Self.parts([0xB5, 0x62, 0x01] + poll).last == .kept(name: "MON-VER", poll))
  }

  @Test("The bytes may come in any parts")
  func parts() {
    let bytes =
      Wire.nmea("GNGGA,120000.00,4809.852,N") + Wire.nmea("PMTK001,220,3") + Wire.ubx(0x05, 0x01, [6, 1]) + [0, 1]
    var filter = DialogueFilter()
    var parts: [DialogueFilter.Part] = []
    for byte in bytes {
      let one = [byte]
      parts += unsafe filter.receive(one.span.bytes)
    }
    parts += filter.finish()
    var whole: [DialogueFilter.Part] = []
    for part in parts {
      // Bytes outside of frames come one at a time.
      if case .leftOut(DialogueFilter.noFrame, let count)? = whole.last,
        case .leftOut(DialogueFilter.noFrame, let more) = part
      {
        whole[whole.count - 1] = .leftOut(name: DialogueFilter.noFrame, count: count + more)
      } else {
        whole.append(part)
      }
    }
    #expect(whole == Self.parts(bytes))
    #expect(whole.map(\.name) == ["GNGGA", "PMTK001", "0x05-0x01", DialogueFilter.noFrame])
  }
}
