// SPDX-License-Identifier: Apache-2.0
import RTCM3
import WireBytes

// The messages of RTCM 3 with types in module RTCM3.
extension JSONLine {
  /// Writes name (the message number), position and fields of a frame. Returns whether its bytes should follow because
  /// its fields are not declared.
  mutating func message(_ frame: RTCM3Frame, offset: UInt64) -> Bool {
    name("name")
    put(raw: UInt8(ascii: "\""))
    if let number = frame.messageNumber { integer(Int64(number)) }
    put(raw: UInt8(ascii: "\""))
    position(offset, frame.bytes.byteCount)
    if let header = MSMHeader(frame) {
      fields(header)
    } else if let position = StationPosition(frame) {
      fields(position)
    } else if let equipment = StationEquipment(frame) {
      fields(equipment, isWhole: frame.messageNumber == 1033)
    } else if let biases = GLONASSBiases(frame) {
      fields(biases)
    } else {
      return true
    }
    return false
  }

  /// Writes the header only: the observations are input of a positioning engine.
  private mutating func fields(_ header: MSMHeader) {
    beginObject("fields")
    field("stationID", header.stationID)
    if header.system == .glonass {
      field("dayOfWeek", Int64(header.epoch >> 27))
      field("timeOfDay", Int64(header.epoch & 0x7FF_FFFF))
    } else {
      field("timeOfWeek", Int64(header.epoch))
    }
    field("hasMore", header.hasMore)
    field("stationIssue", header.stationIssue)
    field("clockSteering", header.clockSteering)
    field("externalClock", header.externalClock)
    field("isSmoothed", header.isSmoothed)
    field("smoothingInterval", header.smoothingInterval)
    numbers("satellites", header.satellites, width: 64)
    numbers("signals", UInt64(header.signals), width: 32)
    field("cells", header.cellCount)
    endObject()
  }

  /// Writes the numbers of the set bits. The highest of `width` bits has number 1.
  private mutating func numbers(_ key: StaticString, _ mask: UInt64, width: Int) {
    beginArray(key)
    for number in 1...width where mask >> UInt64(width - number) & 1 != 0 { element(Int64(number)) }
    endArray()
  }

  private mutating func fields(_ position: StationPosition) {
    beginObject("fields")
    field("stationID", position.stationID)
    field("realisationYear", position.realisationYear)
    field("servesGPS", position.servesGPS)
    field("servesGLONASS", position.servesGLONASS)
    field("servesGalileo", position.servesGalileo)
    field("isVirtual", position.isVirtual)
    metres("x", position.x)
    metres("y", position.y)
    metres("z", position.z)
    field("hasSingleOscillator", position.hasSingleOscillator)
    field("quarterCycle", position.quarterCycle)
    if let height = position.antennaHeight { metres("antennaHeight", Int64(height)) }
    endObject()
  }

  /// Writes a length that is sent in units of 0.1 mm.
  private mutating func metres(_ key: StaticString, _ value: Int64) {
    name(key)
    trimmed(value.magnitude, isNegative: value < 0, digits: 4)
  }

  private mutating func fields(_ equipment: StationEquipment, isWhole: Bool) {
    beginObject("fields")
    field("stationID", equipment.stationID)
    text("antenna", equipment.antenna)
    field("antennaSetup", equipment.antennaSetup)
    if isWhole {
      text("antennaSerial", equipment.antennaSerial)
      text("receiver", equipment.receiver)
      text("firmware", equipment.firmware)
      text("receiverSerial", equipment.receiverSerial)
    }
    endObject()
  }

  private mutating func text(_ key: StaticString, _ characters: RawSpan) {
    name(key)
    string(characters)
  }

  private mutating func fields(_ biases: GLONASSBiases) {
    beginObject("fields")
    field("stationID", biases.stationID)
    field("isAligned", biases.isAligned)
    for index in 0..<4 where biases.has(index) {
      name(["L1CA", "L1P", "L2CA", "L2P"][index])
      // The unit on the wire is 0.02 m.
      trimmed(UInt64(biases.biases[index].magnitude) * 2, isNegative: biases.biases[index] < 0, digits: 2)
    }
    endObject()
  }
}
