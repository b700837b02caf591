// SPDX-License-Identifier: Apache-2.0
import NMEA
import ReceiverStream
import UBX

/// Adds up every field of a frame, so that the optimizer cannot remove a read.
struct FieldSum {
  private(set) var value: Int64 = 0
  private var rejected = 0

  // Inlined, so that a frame is read in place and is not written to memory for the call.
  @inline(__always)
  mutating func add(_ frame: borrowing Frame) {
    switch frame.kind {
    case .ubx: if let frame = frame.ubx { add(frame) }
    case .nmea: if let sentence = frame.nmea { add(sentence) }
    case .rtcm3, .spartn: break
    }
  }

  private mutating func add(_ sentence: NMEA.Sentence) {
    switch sentence.formatter {
    case GGA.formatter: add(GGA.self, sentence)
    case RMC.formatter: add(RMC.self, sentence)
    case GSV.formatter: add(GSV.self, sentence)
    case GSA.formatter: add(GSA.self, sentence)
    case VTG.formatter: add(VTG.self, sentence)
    case GLL.formatter: add(GLL.self, sentence)
    case GNS.formatter: add(GNS.self, sentence)
    case GST.formatter: add(GST.self, sentence)
    case ZDA.formatter: add(ZDA.self, sentence)
    default: break
    }
  }

  private mutating func add<Content: SentenceContent>(_: Content.Type, _ sentence: NMEA.Sentence) {
    // Each field is stored as a value. The optimizer cannot remove any, because the address is passed on.
    keep(sentence.decode(Content.self, rejected: &rejected))
  }

  private mutating func add(_ frame: UBXFrame) {
    if let message = frame.message(NavPVT.self) { add(message) }
    if let message = frame.message(NavSAT.self) { add(message) }
  }

  private mutating func add(_ m: borrowing NavPVT) {
    value &+= Int64(m.iTOW) &+ Int64(m.year) &+ Int64(m.month) &+ Int64(m.day) &+ Int64(m.hour) &+ Int64(m.min)
    value &+= Int64(m.sec) &+ Int64(m.valid) &+ Int64(m.tAcc) &+ Int64(m.nano) &+ Int64(m.fixType) &+ Int64(m.flags)
    value &+= Int64(m.flags2) &+ Int64(m.numSV) &+ Int64(m.lon) &+ Int64(m.lat) &+ Int64(m.height) &+ Int64(m.hMSL)
    value &+= Int64(m.hAcc) &+ Int64(m.vAcc) &+ Int64(m.velN) &+ Int64(m.velE) &+ Int64(m.velD) &+ Int64(m.gSpeed)
    value &+= Int64(m.headMot) &+ Int64(m.sAcc) &+ Int64(m.headAcc) &+ Int64(m.pDOP) &+ Int64(m.flags3)
    value &+= Int64(m.headVeh ?? 0) &+ Int64(m.magDec ?? 0) &+ Int64(m.magAcc ?? 0)
  }

  private mutating func add(_ m: borrowing NavSAT) {
    value &+= Int64(m.iTOW) &+ Int64(m.version) &+ Int64(m.numSvs)
    for index in 0..<m.satelliteCount {
      let s = m.satellite(index)
      value &+= Int64(s.gnssId) &+ Int64(s.svId) &+ Int64(s.cno) &+ Int64(s.elev) &+ Int64(s.azim)
      value &+= Int64(s.prRes) &+ Int64(s.flags)
    }
  }
}
