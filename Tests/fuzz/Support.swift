// SPDX-License-Identifier: Apache-2.0

// The code that the fuzz targets share.
import CoreLocation
import GPSD
import NMEA
import RTCM3
import ReceiverStream
import UBX

extension [UInt8] {
  /// The elements as bytes.
  var raw: RawSpan {
    @_lifetime(borrow self) get { unsafe span.bytes }
  }
}

/// A copy of a span's bytes.
func copy(_ bytes: RawSpan) -> [UInt8] { unsafe bytes.withUnsafeBytes { unsafe [UInt8]($0) } }

/// The bytes that `write` puts at the start of `room` zeros.
func written(room: Int, _ write: (inout MutableRawSpan) -> Int) -> [UInt8] {
  var bytes = [UInt8](repeating: 0, count: room)
  var elements = bytes.mutableSpan
  var output = unsafe elements.mutableBytes
  let count = write(&output)
  return Array(bytes[..<count])
}

/// A UBX frame around a payload.
func ubx(_ messageClass: UInt8, _ id: UInt8, _ payload: [UInt8]) -> [UInt8] {
  written(room: payload.count + UBXFrame.overhead) {
    UBX.encodeFrame(MessageIdentity(messageClass, id), payload: payload.raw, into: &$0)
  }
}

/// An RTCM 3 frame around a payload.
func framed(_ payload: [UInt8]) -> [UInt8] {
  written(room: payload.count + RTCM3Frame.overhead) { RTCM3.encodeFrame(payload: payload.raw, into: &$0) }
}

/// A SPARTN frame around a payload.
func framed(_ header: SPARTNHeader, _ payload: [UInt8], _ authentication: [UInt8]) -> [UInt8] {
  written(room: SPARTNFrame.longest) {
    RTCM3.encodeFrame(header, payload: payload.raw, authentication: authentication.raw, into: &$0)
  }
}

/// A sentence with its checksum and line end. Characters that are invalid in a sentence become commas, so that every
/// input reaches the field readers.
func sentence(_ content: some Sequence<UInt8>) -> [UInt8] {
  var bytes = [UInt8(ascii: "$")]
  var sum: UInt8 = 0
  for byte in content {
    let isLegal = byte >= 0x20 && byte < 0x7F && byte != UInt8(ascii: "$") && byte != UInt8(ascii: "*")
    let kept = isLegal ? byte : UInt8(ascii: ",")
    sum ^= kept
    bytes.append(kept)
  }
  let digits = Array("0123456789ABCDEF".utf8)
  return bytes + [UInt8(ascii: "*"), digits[Int(sum >> 4)], digits[Int(sum & 15)], 13, 10]
}

/// Prints each frame of a stream as message JSON, and checks that it is JSON, one object per line. Returns the frames'
/// lengths.
@discardableResult
func printMessages(_ bytes: [UInt8]) -> [Int] {
  var lengths: [Int] = []
  var line = JSONLine()
  var cursor = FrameCursor(bytes.raw, protocols: .ofReceiversAndSPARTN)
  while let frame = cursor.next() {
    line.removeAll()
    line.message(frame)
    requireLines(line.bytes)
    lengths.append(frame.bytes.byteCount)
  }
  return lengths
}

/// Prints a frame that is well-formed for any payload: it must be found completely, as the only frame.
func printMessage(_ frame: [UInt8]) {
  let lengths = printMessages(frame)
  guard lengths == [frame.count] else { fatalError("a frame of \(frame.count) bytes became \(lengths)") }
}

/// Traps unless the bytes are JSON objects, each with a line end after it.
func requireLines(_ lines: RawSpan) {
  let bytes = copy(lines)
  var reader = JSONReader(bytes)
  while !reader.isAtEnd {
    guard reader.object(), reader.take(10) else {
      fatalError("no line of JSON: \(String(decoding: bytes, as: UTF8.self))")
    }
  }
}

/// Checks whether bytes are JSON as RFC 8259 defines it; it stores no values.
struct JSONReader {
  private let bytes: [UInt8]
  private var at = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  var isAtEnd: Bool { at == bytes.count }
  private var next: UInt8 { at < bytes.count ? bytes[at] : 0 }

  mutating func take(_ byte: UInt8) -> Bool {
    guard next == byte, !isAtEnd else { return false }
    at += 1
    return true
  }

  private mutating func take(_ character: Unicode.Scalar) -> Bool { take(UInt8(ascii: character)) }

  mutating func object() -> Bool {
    guard take("{") else { return false }
    if take("}") { return true }
    repeat {
      guard string(), take(":"), value() else { return false }
    } while take(",")
    return take("}")
  }

  private mutating func array() -> Bool {
    guard take("[") else { return false }
    if take("]") { return true }
    repeat {
      guard value() else { return false }
    } while take(",")
    return take("]")
  }

  private mutating func value() -> Bool {
    switch next {
    case UInt8(ascii: "{"): object()
    case UInt8(ascii: "["): array()
    case UInt8(ascii: "\""): string()
    case UInt8(ascii: "t"): word("true")
    case UInt8(ascii: "f"): word("false")
    case UInt8(ascii: "n"): word("null")
    default: number()
    }
  }

  private mutating func word(_ word: StaticString) -> Bool {
    for index in 0..<word.utf8CodeUnitCount where unsafe !take(word.utf8Start[index]) { return false }
    return true
  }

  /// Our lines escape characters above 0x7F, so that a line that is truncated anywhere is still UTF-8.
  private mutating func string() -> Bool {
    guard take("\"") else { return false }
    while next >= 0x20, next < 0x7F, next != UInt8(ascii: "\"") {
      guard take("\\") else {
        at += 1
        continue
      }
      if take("u") {
        for _ in 0..<4 where !digit(hexadecimal: true) { return false }
      } else if "\"\\/bfnrt".utf8.contains(next) {
        at += 1
      } else {
        return false
      }
    }
    return take("\"")
  }

  private mutating func number() -> Bool {
    _ = take("-")
    if !take("0") {
      guard digits() else { return false }
    }
    if take(".") {
      guard digits() else { return false }
    }
    if take("e") || take("E") {
      _ = take("+") || take("-")
      guard digits() else { return false }
    }
    return true
  }

  private mutating func digits() -> Bool {
    guard digit(hexadecimal: false) else { return false }
    while digit(hexadecimal: false) {}
    return true
  }

  private mutating func digit(hexadecimal: Bool) -> Bool {
    let value = next
    let isDigit = value >= 0x30 && value <= 0x39
    let isLetter = value | 0x20 >= 0x61 && value | 0x20 <= 0x66
    guard isDigit || (hexadecimal && isLetter) else { return false }
    at += 1
    return true
  }
}

/// Traps unless the coordinate of a place is valid, and its radius is a length.
func requireLegal(_ place: Place) {
  guard place.coordinate.isValid, place.radiusMetres.map({ $0 >= 0 && $0.isFinite }) ?? true else {
    fatalError("\(place) is nowhere")
  }
}
