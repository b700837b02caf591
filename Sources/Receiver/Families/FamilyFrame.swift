// SPDX-License-Identifier: Apache-2.0
import RTCM3
import WireBytes

/// A frame of a receiver of another maker.
enum FamilyFrame: Equatable {
  /// A line of text without its end; a sentence also without `$` and checksum.
  case text([UInt8])
  /// Class and id, or the id alone, and the payload.
  case binary(FrameLayout, UInt16, [UInt8])
}

/// The layouts of binary frames.
public enum FrameLayout: Sendable, Equatable {
  /// BA CE, length U2 LE, class, id, payload, sum of the words U4 LE.
  case casic
  /// F1 D9, class, id, length U2 LE, payload, the checksum of UBX.
  case allystar
  /// A0 A1, length U2 BE, id, payload, XOR, 0D 0A.
  case skyTraq
  /// AA 44 B5, header of 24 bytes with the id at 4 and the length at 6, payload, CRC-32.
  case unicore
  /// 24 40 (`$@`), CRC-16 U2 LE of the rest, id U2 LE, length U2 LE of all, payload (SBF of Septentrio).
  case sbf

  private static let longestPayload = 2048

  var family: ReceiverFamily {
    switch self {
    case .casic: .casic
    case .allystar: .allystar
    case .skyTraq: .skyTraq
    case .unicore: .unicore
    case .sbf: .septentrio
    }
  }

  /// Returns a frame.
  func frame(_ identity: UInt16, _ payload: [UInt8]) -> [UInt8] {
    let length = UInt16(clamping: payload.count)
    let (low, high) = (UInt8(length & 0xFF), UInt8(length >> 8))
    let (first, second) = (UInt8(identity >> 8), UInt8(identity & 0xFF))
    switch self {
    case .casic:
      let body = [low, high, first, second] + payload
      let sum = Self.casicSum(body[...])
      return [0xBA, 0xCE] + body + (0..<4).map { UInt8(truncatingIfNeeded: sum >> ($0 * 8)) }
    case .allystar:
      let body = [first, second, low, high] + payload
      return [0xF1, 0xD9] + body + Self.fletcher(body[...])
    case .skyTraq:
      let body = [second] + payload
      let count = UInt16(clamping: body.count)
      let sum = body.reduce(UInt8(0)) { $0 ^ $1 }
      return [0xA0, 0xA1, UInt8(count >> 8), UInt8(count & 0xFF)] + body + [sum, 13, 10]
    case .unicore: return []
    case .sbf:
      let all = length + 8
      let body = [second, first, UInt8(all & 0xFF), UInt8(all >> 8)] + payload
      let crc = Self.crc16(body[...])
      return [0x24, 0x40, UInt8(crc & 0xFF), UInt8(crc >> 8)] + body
    }
  }

  enum Scan: Equatable { case none, incomplete, frame(FamilyFrame, length: Int) }

  /// Returns what begins at the start of `bytes`.
  static func scan(_ bytes: ArraySlice<UInt8>) -> Scan {
    guard let first = bytes.first else { return .incomplete }
    let layout: FrameLayout
    let start: [UInt8]
    switch first {
    case 0xBA: (layout, start) = (.casic, [0xBA, 0xCE])
    case 0xF1: (layout, start) = (.allystar, [0xF1, 0xD9])
    case 0xA0: (layout, start) = (.skyTraq, [0xA0, 0xA1])
    case 0xAA: (layout, start) = (.unicore, [0xAA, 0x44, 0xB5])
    case 0x24: (layout, start) = (.sbf, [0x24, 0x40])
    default: return .none
    }
    let begin = Array(bytes.prefix(start.count))
    guard begin == Array(start.prefix(begin.count)) else { return .none }
    guard begin.count == start.count else { return .incomplete }
    return layout.scan(body: bytes)
  }

  private func scan(body bytes: ArraySlice<UInt8>) -> Scan {
    let at = bytes.startIndex
    let headLength = self == .unicore ? 24 : self == .skyTraq ? 4 : self == .sbf ? 8 : 6
    guard bytes.count >= headLength else { return .incomplete }
    let lengthAt = at + (self == .allystar ? 4 : self == .unicore || self == .sbf ? 6 : 2)
    var length = Int(bytes[lengthAt]) | Int(bytes[lengthAt + 1]) << 8
    if self == .skyTraq { length = Int(bytes[lengthAt]) << 8 | Int(bytes[lengthAt + 1]) }
    if self == .sbf {
      guard length >= headLength, length.isMultiple(of: 4) else { return .none }
      length -= headLength
    }
    guard length <= Self.longestPayload, self != .skyTraq || length > 0 else { return .none }
    let tail = self == .allystar ? 2 : self == .skyTraq ? 3 : self == .sbf ? 0 : 4
    guard bytes.count >= headLength + length + tail else { return .incomplete }
    let payload = Array(bytes[at + headLength..<at + headLength + length])
    let end = at + headLength + length
    let identity: UInt16
    switch self {
    case .casic:
      let sum = Self.casicSum(bytes[at + 2..<end])
      let found = (0..<4).reduce(UInt32(0)) { $0 | UInt32(bytes[end + $1]) << (8 * UInt32($1)) }
      guard sum == found else { return .none }
      identity = UInt16(bytes[at + 4]) << 8 | UInt16(bytes[at + 5])
    case .allystar:
      guard Self.fletcher(bytes[at + 2..<end]) == [bytes[end], bytes[end + 1]] else { return .none }
      identity = UInt16(bytes[at + 2]) << 8 | UInt16(bytes[at + 3])
    case .skyTraq:
      guard payload.reduce(UInt8(0), { $0 ^ $1 }) == bytes[end], bytes[end + 1] == 13, bytes[end + 2] == 10 else {
        return .none
      }
      let frame = FamilyFrame.binary(self, UInt16(payload[0]), Array(payload.dropFirst()))
      return .frame(frame, length: headLength + length + tail)
    case .unicore:
      let found = (0..<4).reduce(UInt32(0)) { $0 | UInt32(bytes[end + $1]) << (8 * UInt32($1)) }
      guard Self.crc32(bytes[at..<end]) == found else { return .none }
      identity = UInt16(bytes[at + 4]) | UInt16(bytes[at + 5]) << 8
    case .sbf:
      guard Self.crc16(bytes[at + 4..<end]) == UInt16(bytes[at + 2]) | UInt16(bytes[at + 3]) << 8 else { return .none }
      identity = UInt16(bytes[at + 4]) | UInt16(bytes[at + 5]) << 8
    }
    return .frame(.binary(self, identity, payload), length: headLength + length + tail)
  }

  /// The sum of length, class, id and payload as words, modulo 2^32 (verified on recorded frames).
  private static func casicSum(_ body: ArraySlice<UInt8>) -> UInt32 {
    let bytes = Array(body)
    var sum = UInt32(bytes[3]) << 24 &+ UInt32(bytes[2]) << 16 &+ UInt32(bytes[0]) &+ UInt32(bytes[1]) << 8
    var at = 4
    while at < bytes.count {
      for index in 0..<4 where at + index < bytes.count {
        sum = sum &+ UInt32(bytes[at + index]) << (8 * UInt32(index))
      }
      at += 4
    }
    return sum
  }

  private static func fletcher(_ body: ArraySlice<UInt8>) -> [UInt8] {
    var (a, b) = (UInt8(0), UInt8(0))
    for byte in body {
      a = a &+ byte
      b = b &+ a
    }
    return [a, b]
  }

  private static func crc16(_ bytes: ArraySlice<UInt8>) -> UInt16 {
    UInt16(truncatingIfNeeded: unsafe MessageCheck.crc16.value(of: bytes.span.bytes, from: 0, count: bytes.count))
  }

  /// Reflected 0xEDB88320, start 0, without a final XOR.
  static func crc32(_ bytes: ArraySlice<UInt8>) -> UInt32 {
    bytes.reduce(UInt32(0)) { crc, byte in
      (0..<8).reduce(crc ^ UInt32(byte)) { crc, _ in crc & 1 != 0 ? crc >> 1 ^ 0xEDB8_8320 : crc >> 1 }
    }
  }
}
