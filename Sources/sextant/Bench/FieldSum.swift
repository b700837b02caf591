import NMEA
import ReceiverStream
import UBX
import WireBytes

/// Reads every field of a frame and adds them up, so that none can be left out.
struct FieldSum {
  private(set) var value: Int64 = 0
  private var rejected = 0

  mutating func add(_ frame: borrowing Frame) {
    switch frame.kind {
    case .ubx: if let frame = frame.ubx { add(frame) }
    case .nmea: if let sentence = frame.nmea { add(sentence) }
    case .rtcm3: break
    }
  }

  private mutating func add(_ sentence: NMEA.Sentence) {
    switch sentence.formatter {
    case GGA.formatter: add(sentence.decode(GGA.self, rejected: &rejected))
    case RMC.formatter: add(sentence.decode(RMC.self, rejected: &rejected))
    case GSV.formatter: add(sentence.decode(GSV.self, rejected: &rejected))
    case GSA.formatter: add(sentence.decode(GSA.self, rejected: &rejected))
    case VTG.formatter: add(sentence.decode(VTG.self, rejected: &rejected))
    case GLL.formatter: add(sentence.decode(GLL.self, rejected: &rejected))
    case GNS.formatter: add(sentence.decode(GNS.self, rejected: &rejected))
    case GST.formatter: add(sentence.decode(GST.self, rejected: &rejected))
    case ZDA.formatter: add(sentence.decode(ZDA.self, rejected: &rejected))
    default: break
    }
  }

  private mutating func add(_ content: some SentenceContent) {
    var content = content
    var adder = FieldAdder(sum: value)
    content.fields(&adder)
    value = adder.sum
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
    for index in 0 ..< m.satelliteCount {
      let s = m.satellite(index)
      value &+= Int64(s.gnssId) &+ Int64(s.svId) &+ Int64(s.cno) &+ Int64(s.elev) &+ Int64(s.azim)
      value &+= Int64(s.prRes) &+ Int64(s.flags)
    }
  }
}

/// Adds up the fields of a sentence.
private struct FieldAdder: FieldVisitor {
  var sum: Int64

  @inline(always) private mutating func add(_ value: Int64) { sum &+= value }

  mutating func time(_ name: StaticString, _ value: inout TimeOfDay?) { if let value { add(value.nanoseconds) } }
  mutating func date(_ name: StaticString, _ value: inout ShortDate?) {
    if let value { add(Int64(value.day) &+ Int64(value.month) &+ Int64(value.year)) }
  }
  mutating func latitude(_ name: StaticString, _ hemisphere: StaticString, _ value: inout Coordinate?) {
    if let value { add(value.minutes.mantissa &+ Int64(value.hemisphere)) }
  }
  mutating func longitude(_ name: StaticString, _ hemisphere: StaticString, _ value: inout Coordinate?) {
    if let value { add(value.minutes.mantissa &+ Int64(value.hemisphere)) }
  }
  mutating func decimal(_ name: StaticString, _ value: inout FixedPoint?) {
    if let value { add(value.mantissa &+ Int64(value.fractionDigits)) }
  }
  mutating func integer(_ name: StaticString, _ value: inout Int32?, _ range: ClosedRange<Int32>) {
    if let value { add(Int64(value)) }
  }
  mutating func hexadecimal(_ name: StaticString, _ value: inout Int32?) { if let value { add(Int64(value)) } }
  mutating func character(_ name: StaticString, _ value: inout UInt8?) { if let value { add(Int64(value)) } }
  mutating func constant(_ name: StaticString, _ character: StaticString, isPresent: Bool) {}
  mutating func text(_ name: StaticString, _ value: inout ShortText?) {
    if let value { add(Int64(value.count) &+ Int64(value.characters[0])) }
  }
  mutating func blocks(of size: Int, have: Int, most: Int) -> Int { have }
  mutating func hasMore(isPresent: Bool) -> Bool { isPresent }
}
