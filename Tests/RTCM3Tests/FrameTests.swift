// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@testable import RTCM3

@Suite("RTCM 3 frames")
struct FrameTests {
  /// Message 1005, a reference station's place: the example of the standard (RTCM 10403, 4.2).
  private let example = hex("D3 00 13 3E D7 D3 02 02 98 0E DE EF 34 B4 BD 62 AC 09 41 98 6F 33 36 0B 98")

  private func scan(_ bytes: [UInt8], from offset: Int = 0) -> RTCM3Frame.Scan {
    RTCM3Frame.scan(bytes.raw, from: offset)
  }

  private func frame(_ payload: [UInt8]) -> [UInt8] {
    written(room: 1100) { encodeFrame(payload: payload.raw, into: &$0) }
  }

  private func payload(_ bytes: [UInt8]) -> [UInt8]? {
    guard let frame = RTCM3Frame(bytes.raw) else { return nil }
    return array(frame.payload)
  }

  @Test("The standard's example is a frame of message 1005")
  func knownFrame() throws {
    #expect(scan(example) == .frame(25))
    #expect(RTCM3Frame(example.raw)?.messageNumber == 1005)
    #expect(frame(Array(example[3..<22])) == example)
  }

  @Test("The CRC of no bytes is 0, and the CRC of 123456789 is 0xCDE703")
  func knownChecks() {
    #expect(crc24q(of: ascii("").raw, from: 0, count: 0) == 0)
    #expect(crc24q(of: ascii("123456789").raw, from: 0, count: 9) == 0xCDE703)
  }

  @Test("The CRC equals the bitwise loop's, for any part of the bytes", arguments: 1...8 as ClosedRange<UInt64>)
  func check(seed: UInt64) {
    var random = SeededRandomNumberGenerator(seed: seed)
    let bytes = random.bytes(random.int(1...400))
    let start = random.int(0...bytes.count - 1)
    let end = random.int(start...bytes.count)
    #expect(crc24q(of: bytes.raw, from: start, count: end - start) == Wire.crc24(bytes[start..<end]))
  }

  @Test("Both ways to compute the CRC equal the bitwise loop, for every length")
  func everyLength() {
    var random = SeededRandomNumberGenerator(seed: 11)
    for count in 0...1100 {
      let start = random.int(0...33)
      let bytes = random.bytes(start + count + random.int(0...20))
      let expected = Wire.crc24(bytes[start..<start + count])
      #expect(crc24q(of: bytes.raw, from: start, count: count) == expected, "\(count) bytes")
      #expect(crc24qByTables(of: bytes.raw, from: start, count: count) == expected, "\(count) bytes by tables")
    }
  }

  @Test("A payload of any length comes back, 0…1023 bytes")
  func roundTrip() {
    var random = SeededRandomNumberGenerator(seed: 7)
    for length in 0...1023 {
      let payload = random.bytes(length)
      let bytes = frame(payload)
      #expect(scan(bytes) == .frame(length + 6))
      #expect(self.payload(bytes) == payload, "length \(length)")
      #expect(length % 64 != 0 || bytes == Wire.rtcm3(payload), "length \(length)")
    }
  }

  @Test("Every beginning of a frame gives the number of bytes it needs")
  func prefixes() {
    for count in 0..<3 { #expect(scan(Array(example[..<count])) == .needs(6)) }
    for count in 3..<25 { #expect(scan(Array(example[..<count])) == .needs(25)) }
  }

  @Test("A frame with reserved bits set is refused", arguments: 2...7)
  func reservedBits(bit: Int) {
    var bytes = example
    bytes[1] |= 1 << bit
    #expect(scan(bytes) == .noSync)
    #expect(scan(Array(bytes[..<2])) == .noSync)
  }

  @Test("One wrong bit anywhere is not a frame of these bytes")
  func wrongBit() {
    for index in 0..<example.count * 8 {
      var bytes = example
      bytes[index / 8] ^= 1 << (index % 8)
      #expect(scan(bytes) != .frame(25), "bit \(index)")
    }
  }

  @Test("It is found at any place")
  func offsets() {
    for offset in 0...20 {
      let padded = [UInt8](repeating: 0xD3, count: offset) + example
      #expect(scan(padded, from: offset) == .frame(25))
    }
  }

  @Test("A message number has twelve bits; shorter payloads have none")
  func messageNumber() {
    #expect(RTCM3Frame(frame([0xFF, 0xF5]).raw)?.messageNumber == 4095)
    #expect(RTCM3Frame(frame([0x3E]).raw)?.messageNumber == nil)
    #expect(RTCM3Frame(frame([]).raw)?.messageNumber == nil)
  }

  @Test("A frame is all of the bytes or none")
  func whole() {
    let longer = example + [0]
    let shorter = Array(example.dropLast())
    #expect(payload(longer) == nil)
    #expect(payload(shorter) == nil)
  }
}
