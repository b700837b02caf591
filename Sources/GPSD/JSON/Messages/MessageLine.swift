// SPDX-License-Identifier: Apache-2.0
import NMEA
import RTCM3
import ReceiverStream
import UBX
import WireBytes

extension JSONLine {
  /// Writes a frame as a JSON object, and a line end:
  /// `{"protocol":"UBX","name":"NAV-PVT","offset":0,"length":100,"fields":{…}}`.
  ///
  /// `offset` counts bytes from the start of the stream, `length` includes the whole frame. A frame without declared
  /// fields, or with bytes beyond them, has all bytes in hexadecimal as `raw`.
  package mutating func message(_ frame: borrowing Frame) {
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

  /// Writes name and position of a SPARTN frame, such as `SPARTN-0-1`. The payload is encrypted.
  private mutating func message(_ frame: SPARTNFrame, offset: UInt64) {
    name("name")
    put("\"SPARTN-")
    integer(Int64(frame.messageType))
    put(raw: UInt8(ascii: "-"))
    integer(Int64(frame.subtype))
    put(raw: UInt8(ascii: "\""))
    position(offset, frame.bytes.byteCount)
  }

  /// Writes the offset of a frame and its length.
  mutating func position(_ offset: UInt64, _ length: Int) {
    field("offset", Int64(offset))
    field("length", Int64(length))
  }

  /// Writes bytes as a string of hexadecimal digits.
  mutating func hexadecimalString(_ bytes: RawSpan) {
    put(raw: UInt8(ascii: "\""))
    for index in 0..<bytes.byteCount { hexadecimal(bytes.u1(index)) }
    put(raw: UInt8(ascii: "\""))
  }

  /// Writes bytes as a string of characters.
  mutating func string(_ bytes: RawSpan) {
    put(raw: UInt8(ascii: "\""))
    for index in 0..<bytes.byteCount { character(bytes.u1(index)) }
    put(raw: UInt8(ascii: "\""))
  }
}
