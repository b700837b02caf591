import NMEA
import RTCM3
import ReceiverStream
import UBX
import WireBytes

extension JSONLine {
  /// A frame as a JSON object, and a line end:
  /// `{"protocol":"UBX","name":"NAV-PVT","offset":0,"length":100,"fields":{…}}`.
  ///
  /// `offset` counts bytes from the start of the stream, `length` is the whole frame's. A frame whose fields are not
  /// declared, or of which the declaration leaves bytes over, has its bytes in hexadecimal as `raw`.
  public mutating func message(_ frame: borrowing Frame) {
    beginObject()
    var needsRaw = false
    if let ubx = frame.ubx {
      field("protocol", "UBX")
      needsRaw = message(ubx, offset: frame.offset)
    } else if let sentence = frame.nmea {
      field("protocol", "NMEA")
      needsRaw = message(sentence, offset: frame.offset)
    } else if let rtcm3 = frame.rtcm3 {
      field("protocol", "RTCM3")
      needsRaw = message(rtcm3, offset: frame.offset)
    }
    if needsRaw {
      name("raw")
      hexadecimalString(frame.bytes)
    }
    endObject()
    endLine()
  }

  /// Where the frame stands, and how long it is.
  mutating func place(_ offset: UInt64, _ length: Int) {
    field("offset", Int64(offset))
    field("length", Int64(length))
  }

  /// Bytes as a string of hexadecimal digits.
  mutating func hexadecimalString(_ bytes: RawSpan) {
    put(raw: UInt8(ascii: "\""))
    for index in 0..<bytes.byteCount { hexadecimal(bytes.u1(index)) }
    put(raw: UInt8(ascii: "\""))
  }

  /// Bytes as a string of characters.
  mutating func string(_ bytes: RawSpan) {
    put(raw: UInt8(ascii: "\""))
    for index in 0..<bytes.byteCount { character(bytes.u1(index)) }
    put(raw: UInt8(ascii: "\""))
  }
}
