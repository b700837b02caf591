// SPDX-License-Identifier: Apache-2.0
import NMEA
import RTCM3
import ReceiverStream
import UBX
import WireBytes

/// Values of single messages for GST, ATT and TPV that a fix does not contain.
package struct FrameDetails: Equatable, Sendable {
  /// Roll and pitch of the vehicle with the heading of the same message, degrees (UBX-NAV-ATT).
  struct Attitude: Equatable, Sendable {
    var headingDegrees: Double
    var rollDegrees: Double?
    var pitchDegrees: Double?
  }

  private(set) var noise: GST?
  private(set) var attitude: Attitude?
  /// The indicator of continuous-wave jamming, 0 to 255, of the worst input (MON-RF, MON-HW).
  private(set) var jammingIndicator: UInt8?

  package init() {}

  /// Handles a frame of the receiver.
  package mutating func receive(_ frame: borrowing Frame) {
    if let sentence = frame.nmea, sentence.formatter == GST.formatter {
      var rejected = 0
      noise = sentence.decode(GST.self, rejected: &rejected)
    } else if let ubx = frame.ubx, ubx.identity == NavATT.identity, let message = NavATT(payload: ubx.payload) {
      attitude = Attitude(
        headingDegrees: Double(message.heading) / 1e5,
        // An accuracy of 0 marks an absent angle (interface descriptions, NAV-ATT).
        rollDegrees: message.accRoll > 0 ? Double(message.roll) / 1e5 : nil,
        pitchDegrees: message.accPitch > 0 ? Double(message.pitch) / 1e5 : nil)
    } else if let ubx = frame.ubx {
      receive(ubx)
    }
  }

  private mutating func receive(_ frame: borrowing UBXFrame) {
    if let message = frame.message(MonRF.self) {
      for index in 0..<message.rFBlockCount { note(message.rFBlock(index).jamInd) }
    } else if let message = frame.message(MonHW.self) {
      note(message.jamInd)
    } else if let message = frame.message(MonHW_M6.self) {
      note(message.jamInd)
    }
  }

  private mutating func note(_ indicator: UInt8) { jammingIndicator = max(jammingIndicator ?? 0, indicator) }

  /// The epoch is reported: the indicator belongs to it alone, as in gpsd.
  package mutating func endEpoch() { jammingIndicator = nil }

  /// The GST sentence of the epoch of a fix.
  func noise(of fix: Fix) -> GST? {
    guard let noise, let time = noise.time, let fixTime = fix.time else { return nil }
    return time.nanosecondsOfDay == fixTime.nanosecondsOfDay ? noise : nil
  }

  /// The attitude from the message that has the heading of a fix.
  func attitude(of fix: Fix) -> Attitude? {
    guard let attitude, fix.headingSource == .ubx, fix.headingDegrees == attitude.headingDegrees else { return nil }
    return attitude
  }
}

extension GPSDState {
  /// Returns a sentence as a line, regardless of its line end on the wire; any other frame as a line of hexadecimal
  /// digits.
  package static func text(of frame: borrowing Frame) -> [UInt8] {
    // A sentence may end with only LF.
    if frame.kind == .nmea { return [UInt8](copying: frame.bytes).prefix { $0 != 13 && $0 != 10 } + [13, 10] }
    var line = JSONLine.forClients
    for index in 0..<frame.bytes.byteCount { line.hexadecimal(frame.bytes.u1(index)) }
    line.endLine()
    return line.served
  }

  /// Returns an RTCM 3 message as RTCM3; nil for another frame. The fields of station messages have gpsd's names, other messages
  /// have their payload as `data` (as `gpsdecode -j` of gpsd 3.22 writes both; gpsd_json(5), section "RTCM3 DUMP FORMAT", refers
  /// to the source code).
  package static func correctionReport(_ frame: borrowing Frame, device: String) -> [UInt8]? {
    guard let message = frame.rtcm3 else { return nil }
    var line = JSONLine.forClients
    line.correction(message, device: device)
    return line.served
  }
}

extension JSONLine {
  fileprivate mutating func correction(_ frame: RTCM3Frame, device: String) {
    beginObject()
    field("class", "RTCM3")
    field("device", text: device)
    field("type", frame.messageNumber)
    field("length", frame.payload.byteCount)
    if let position = StationPosition(frame) {
      station(position)
    } else if let equipment = StationEquipment(frame) {
      station(equipment, isWhole: frame.messageNumber == 1033)
    } else if let biases = GLONASSBiases(frame) {
      station(biases)
    } else {
      payload(frame.payload)
    }
    endObject()
    endLine()
  }

  private mutating func station(_ position: StationPosition) {
    field("station_id", position.stationID)
    beginArray("system")
    if position.servesGPS { element("GPS") }
    if position.servesGLONASS { element("GLONASS") }
    if position.servesGalileo { element("GALILEO") }
    endArray()
    field("refstation", position.isVirtual)
    field("sro", position.hasSingleOscillator)
    // The unit on the wire is 0.1 mm.
    field("x", Double(position.x) / 1e4, digits: 4)
    field("y", Double(position.y) / 1e4, digits: 4)
    field("z", Double(position.z) / 1e4, digits: 4)
    field("h", position.antennaHeight.map { Double($0) / 1e4 }, digits: 4)
  }

  private mutating func station(_ equipment: StationEquipment, isWhole: Bool) {
    field("station_id", equipment.stationID)
    text("desc", equipment.antenna)
    field("setup_id", equipment.antennaSetup)
    guard isWhole else { return }
    text("serial", equipment.antennaSerial)
    text("receiver", equipment.receiver)
    text("firmware", equipment.firmware)
  }

  private mutating func station(_ biases: GLONASSBiases) {
    field("station_id", biases.stationID)
    field("ind", biases.isAligned ? "1" : "0")
    // In units of 0.02 m.
    let names: [StaticString] = ["l1_ca", "l1_p", "l2_ca", "l2_p"]
    for (index, name) in names.enumerated() where biases.has(index) { field(name, biases.biases[index]) }
  }

  private mutating func payload(_ bytes: RawSpan) {
    beginArray("data")
    for index in 0..<bytes.byteCount {
      nextElement()
      put("\"0x")
      hexadecimal(bytes.u1(index))
      put(raw: UInt8(ascii: "\""))
    }
    endArray()
  }

  private mutating func element(_ text: StaticString) {
    nextElement()
    put(raw: UInt8(ascii: "\""))
    put(text)
    put(raw: UInt8(ascii: "\""))
  }

  private mutating func text(_ key: StaticString, _ characters: RawSpan) {
    field(key, text: String(decoding: [UInt8](copying: characters), as: UTF8.self))
  }
}

extension TimeOfDay {
  fileprivate var nanosecondsOfDay: Int64 {
    (Int64(hour) * 3600 + Int64(minute) * 60 + Int64(second)) * 1_000_000_000 + Int64(nanosecond)
  }
}
