import NMEA
import RTCM3
import ReceiverStream
import SPARTN
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
    } else if let spartn = frame.spartn {
      field("protocol", "SPARTN")
      message(spartn, offset: frame.offset)
      needsRaw = true
    }
    if needsRaw {
      name("raw")
      hexadecimalString(frame.bytes)
    }
    endObject()
    endLine()
  }

  /// Name and place of a SPARTN frame, such as `SPARTN-0-1`: its payload is encrypted, nothing more can be said.
  private mutating func message(_ frame: SPARTNFrame, offset: UInt64) {
    name("name")
    put("\"SPARTN-")
    integer(Int64(frame.messageType))
    put(raw: UInt8(ascii: "-"))
    integer(Int64(frame.subtype))
    put(raw: UInt8(ascii: "\""))
    place(offset, frame.bytes.byteCount)
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
