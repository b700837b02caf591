// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import UBX

@Suite("UBX frames")
struct FrameTests {
  private func scan(_ bytes: [UInt8], from offset: Int = 0) -> UBXFrame.Scan {
    UBXFrame.scan(bytes.raw, from: offset)
  }

  @Test("The checksum equals the plain loop's at all lengths and alignments")
  func checksums() {
    var random = SeededRandomNumberGenerator(seed: 1)
    let bytes = random.bytes(320)
    for length in 0...300 {
      for offset in 0..<17 {
        let (a, b) = Wire.fletcher(bytes[offset..<offset + length])
        if checksum(of: bytes.raw, from: offset, count: length) != UInt16(b) << 8 | UInt16(a) {
          Issue.record("length \(length) from \(offset)")
        }
      }
    }
  }

  @Test("The checksum equals the plain loop's where sums wrap most", arguments: [16, 255, 256, 4096, 8196])
  func highSums(length: Int) {
    let bytes = [UInt8](repeating: 0xFF, count: length)
    let (a, b) = Wire.fletcher(bytes[...])
    #expect(checksum(of: bytes.raw, from: 0, count: length) == UInt16(b) << 8 | UInt16(a))
  }

  @Test(
    "Frames that every driver sends or sees",
    arguments: [
      ("B5 62 01 07 00 00 08 19", NavPVT.identity), ("B5 62 0A 04 00 00 0E 34", MonVER.identity),
      ("B5 62 05 01 02 00 06 01 0F 38", AckACK.identity), ("B5 62 05 00 02 00 06 01 0E 33", AckNAK.identity),
    ])
  func knownFrames(digits: String, identity: MessageIdentity) {
    let bytes = hex(digits)
    #expect(scan(bytes) == .frame(bytes.count))
    #expect(UBXFrame(bytes.raw)?.identity == identity)
    let payload = Array(bytes[6..<bytes.count - 2])
    #expect(written { encodeFrame(identity, payload: payload.raw, into: &$0) } == bytes)
  }

  @Test("A payload of any length comes back", arguments: [0, 1, 2, 15, 16, 17, 92, 300, 1000, 8192])
  func roundTrip(length: Int) {
    var random = SeededRandomNumberGenerator(seed: UInt64(length))
    let payload = random.bytes(length)
    let identity = MessageIdentity(random.byte(), random.byte())
    let bytes = written(room: 9000) { encodeFrame(identity, payload: payload.raw, into: &$0) }
    #expect(bytes == Wire.ubx(identity.messageClass, identity.messageID, payload))
    #expect(UBXFrame(bytes.raw)?.identity == identity)
    #expect(UBXTests.payload(of: bytes) == payload)
  }

  @Test("A length of more than 8192 is not a frame; 8192 is one")
  func tooLong() {
    #expect(scan([0xB5, 0x62, 1, 7, 0x01, 0x20]) == .tooLong)
    #expect(scan([0xB5, 0x62, 1, 7, 0xFF, 0xFF]) == .tooLong)
    #expect(scan([0xB5, 0x62, 1, 7, 0x00, 0x20]) == .needs(8200))
  }

  @Test("Every beginning of a frame gives the number of bytes it needs")
  func prefixes() {
    let bytes = Wire.ubx(5, 1, [6, 1])
    for count in 0..<6 { #expect(scan(Array(bytes[..<count])) == .needs(8), "\(count) bytes") }
    for count in 6..<10 { #expect(scan(Array(bytes[..<count])) == .needs(10), "\(count) bytes") }
  }

  @Test("Without both sync characters there is no frame")
  func noSync() {
    #expect(scan([0xB5, 0x63]) == .noSync)
    #expect(scan([0xB4]) == .noSync)
    #expect(scan([0x62, 0xB5, 1, 7, 0, 0, 8, 0x19]) == .noSync)
  }

  @Test("One wrong bit anywhere is not a frame of these bytes")
  func wrongBit() {
    let bytes = Wire.ubx(1, 0x35, Array(0..<40))
    for index in 0..<bytes.count * 8 {
      var wrong = bytes
      wrong[index / 8] ^= 1 << (index % 8)
      if scan(wrong) == .frame(bytes.count) { Issue.record("bit \(index)") }
    }
  }

  @Test("A frame is all of the bytes or none")
  func whole() {
    let longer = Wire.ubx(5, 1, [6, 1]) + [0]
    #expect(UBXTests.payload(of: longer) == nil)
    #expect(scan(longer) == .frame(10))
  }
}
