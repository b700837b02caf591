// SPDX-License-Identifier: Apache-2.0
import GPSD
import Messages
import ReceiverStream
import TestSupport
import Testing

/// The frames in these bytes.
private func frames(_ bytes: [UInt8], _ body: (borrowing Frame) -> Void) {
  var stream = FrameStream()
  stream.receive(bytes.raw, body)
}

/// Bytes from pairs of digits without spaces.
private func pairs(_ digits: String) -> [UInt8] {
  let digits = digits.compactMap { $0.hexDigitValue.map { UInt8($0) } }
  return stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
}

private func corrections(_ digits: String) throws -> [JSON] {
  var reports: [[UInt8]] = []
  frames(pairs(digits)) { frame in
    if let report = GPSDState.correctionReport(frame, device: "/dev/ttyACM0") { reports.append(report) }
  }
  return try reports.map { try JSON(parsing: $0.dropLast(2)) }
}

// The objects equal the output of Debian's `gpsdecode -j` (gpsd 3.22) for the same frames.
@Suite("Reports of single frames")
struct FrameReportTests {
  @Test("A sentence is a line that ends with CR and LF, another frame a line of digits")
  func text() {
    func texts(_ bytes: [UInt8]) -> [String] {
      var texts: [String] = []
      frames(bytes) { texts.append(String(decoding: GPSDState.text(of: $0), as: UTF8.self)) }
      return texts
    }
    #expect(texts([UInt8]("$GNTXT,01,01,02,A*12\n".utf8)) == ["$GNTXT,01,01,02,A*12\r\n"])
    #expect(texts([0xb5, 0x62, 0x0a, 0x04, 0x00, 0x00, 0x0e, 0x34]) == ["b5620a0400000e34\r\n"])
  }

  @Test("The position of a station has its systems and its coordinates in metres")
  func station() throws {
    let found = try #require(try corrections("d300153ee7d30302980edeef34b4bd62ac0941986f333b8218152f").first)
    #expect(found["class"] == "RTCM3")
    #expect(found["device"] == "/dev/ttyACM0")
    #expect(found["type"] == 1006)
    #expect(found["length"] == 21)
    #expect(found["station_id"] == 2003)
    #expect(found["system"] == .array(["GPS", "GLONASS"]))
    #expect(found["refstation"] == .bool(false))
    #expect(found["x"] == 1114104.5999)
    #expect(found["y"] == -4850729.7108)
    #expect(found["z"] == 3975521.4643)
    #expect(found["h"] == 1.5234)
  }

  @Test("The equipment of a station has its names")
  func equipment() throws {
    let found = try #require(
      try corrections("d3001f4097d30854524d35393830300703534e31045345505403342e310433303031d3951f").first)
    #expect(found["desc"] == "TRM59800")
    #expect(found["setup_id"] == 7)
    #expect((found["serial"], found["receiver"], found["firmware"]) == ("SN1", "SEPT", "4.1"))
  }

  @Test("The biases of GLONASS are those that are sent, with their sign")
  func biases() throws {
    let found = try #require(try corrections("d300084ce7d38afffb0046123345").first)
    #expect(found["ind"] == "1")
    #expect(found["l1_ca"] == -5)
    #expect(found["l2_ca"] == 70)
    #expect(found["l1_p"] == nil)
  }

  @Test("The payload of another message is an array of bytes")
  func payload() throws {
    let found = try #require(try corrections("d30007fe800000000005d7846f").first)
    #expect(found["type"] == 4072)
    #expect(found["data"] == .array(["0xfe", "0x80", "0x00", "0x00", "0x00", "0x00", "0x05"]))
    #expect(found["station_id"] == nil)
  }

  @Test("A sentence is not a correction")
  func sentence() throws {
    var count = 0
    frames(Array("$GPTXT,01,01,02,x*12\r\n".utf8)) { frame in
      if GPSDState.correctionReport(frame, device: "") != nil { count += 1 }
    }
    #expect(count == 0)
  }

  /// The reports of an epoch of one position with frames before its end, and the classes of objects to read.
  private func epoch(_ bytes: [UInt8], change: (inout Fix) -> Void = { _ in }) throws -> [JSON] {
    var state = GPSDState(release: "1.0")
    _ = state.update([GPSDDevice(path: "/dev/ttyACM0", isActive: true)], at: UTCTime(nanosecondsSince1970: 0))
    var details = FrameDetails()
    var reports: [UInt8] = []
    frames(bytes) { details.receive($0) }
    var fix = Fix()
    fix.kind = .threeD
    (fix.latitudeDegrees, fix.longitudeDegrees) = (48, 11)
    (fix.northAccuracyMetres, fix.eastAccuracyMetres) = (1.5, 2.5)
    // 2026-11-24 12:00:00.
    fix.time = UTCTime(nanosecondsSince1970: 1_795_521_600_000_000_000)
    change(&fix)
    let report = EpochAssembler.Report(fix: fix, isUpdate: false, skyChanged: false)
    reports += state.receive(report, Sky(), of: 0, wanted: .init(), details: details, received: fix.time!)?.json ?? []
    return try String(decoding: reports, as: UTF8.self).split(separator: "\r\n").map {
      try JSON(parsing: Array($0.utf8))
    }
  }

  @Test("GST has the error ellipse of the sentence of the same epoch, and not of another")
  func ellipse() throws {
    let sentence = Wire.nmea("GNGST,120000.00,3.2,2.6,1.2,48.5,1.5,2.5,3.5")
    let gst = try #require(try epoch(sentence).first { $0["class"] == "GST" })
    #expect((gst["rms"], gst["major"], gst["minor"], gst["orient"]) == (3.2, 2.6, 1.2, 48.5))
    #expect((gst["lat"], gst["lon"]) == (1.5, 2.5))
    let earlier = Wire.nmea("GNGST,115959.00,3.2,2.6,1.2,48.5,1.5,2.5,3.5")
    #expect(try #require(try epoch(earlier).first { $0["class"] == "GST" })["rms"] == nil)
  }

  @Test(
    "GST is of the epoch whose time differs by rounding, also across midnight",
    arguments: [312, -312, 4_999_999, -4_999_999, 20_000_000, -20_000_000] as [Int64])
  func roundedTimes(nanoseconds: Int64) throws {
    for (text, time) in [("120000.00", 1_795_521_600 as Int64), ("000000.00", 1_795_564_800)] {
      let sentence = Wire.nmea("GNGST,\(text),3.2,2.6,1.2,48.5,1.5,2.5,3.5")
      let reports = try epoch(sentence) { $0.time = UTCTime(nanosecondsSince1970: time * 1_000_000_000 + nanoseconds) }
      let gst = try #require(reports.first { $0["class"] == "GST" })
      #expect(gst["rms"] == (abs(nanoseconds) < 10_000_000 ? 3.2 : nil), "\(text)")
    }
  }

  @Test("TPV has the jamming of the worst input of the epoch, as gpsd's jam, and none of an earlier one")
  func jamming() throws {
    func block(_ number: UInt8, jamming: UInt8) -> [UInt8] {
      [number] + [UInt8](repeating: 0, count: 15) + [jamming] + [UInt8](repeating: 0, count: 7)
    }
    let message = Wire.ubx(0x0A, 0x38, [0, 2, 0, 0] + block(0, jamming: 23) + block(1, jamming: 40))
    #expect(try #require(try epoch(message).first { $0["class"] == "TPV" })["jam"] == 40)
    #expect(try #require(try epoch([]).first { $0["class"] == "TPV" })["jam"] == nil)
    var details = FrameDetails()
    frames(message) { details.receive($0) }
    details.endEpoch()
    #expect(details == FrameDetails())
  }

  @Test("ATT has the pitch and the roll of the message with the heading, without absent angles")
  func attitude() throws {
    // Roll 1.5° with an accuracy, pitch without one, heading 90°.
    let payload = pairs("00000000 00000000 f0490200 a0860100 40548900 64000000 00000000 64000000")
    let found = try epoch(Wire.ubx(0x01, 0x05, payload)) { ($0.headingDegrees, $0.headingSource) = (90, .ubx) }
    let att = try #require(found.first { $0["class"] == "ATT" })
    #expect((att["heading"], att["roll"]) == (90.0, 1.5))
    #expect(att["pitch"] == nil)
    let other = try epoch(Wire.ubx(0x01, 0x05, payload)) { ($0.headingDegrees, $0.headingSource) = (91, .ubx) }
    #expect(try #require(other.first { $0["class"] == "ATT" })["roll"] == nil)
  }
}
