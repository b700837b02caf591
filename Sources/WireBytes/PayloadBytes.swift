// SPDX-License-Identifier: Apache-2.0

// Numbers in payloads, least significant byte first, as in UBX and in most protocols of other makers, and their checksums.
#if !hasFeature(Embedded)
  extension [UInt8] {
    /// Returns a little-endian number of a payload; 0 if the payload is too short, for fields of later versions.
    package func u2(_ offset: Int) -> UInt16 {
      offset + 2 <= count ? UInt16(self[offset]) | UInt16(self[offset + 1]) << 8 : 0
    }
    package func u4(_ offset: Int) -> UInt32 { UInt32(u2(offset)) | UInt32(u2(offset + 2)) << 16 }
    package func i4(_ offset: Int) -> Int32 { Int32(bitPattern: u4(offset)) }
    package func u8(_ offset: Int) -> UInt64 { UInt64(u4(offset)) | UInt64(u4(offset + 4)) << 32 }

    package mutating func set(u2 value: UInt16, at offset: Int) {
      self[offset] = UInt8(truncatingIfNeeded: value)
      self[offset + 1] = UInt8(truncatingIfNeeded: value >> 8)
    }
    package mutating func set(u4 value: UInt32, at offset: Int) {
      set(u2: UInt16(truncatingIfNeeded: value), at: offset)
      set(u2: UInt16(truncatingIfNeeded: value >> 16), at: offset + 2)
    }
    package mutating func append(u2 value: UInt16) { self += littleEndianBytes(value) }
    package mutating func append(u4 value: UInt32) { self += littleEndianBytes(value) }
  }

  /// The bytes of a number, the lowest first.
  package func littleEndianBytes(_ number: some FixedWidthInteger) -> [UInt8] {
    (0..<number.bitWidth / 8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
  }

  extension Span<UInt8> {
    /// The exclusive or of the bytes: the checksum of a sentence's characters between `$` and `*`.
    package var exclusiveOr: UInt8 {
      var sum: UInt8 = 0
      for at in indices { sum ^= self[at] }
      return sum
    }
  }
#endif

/// The checksum of Fletcher's algorithm with bytes, as of UBX and Allystar: the first sum in the low byte, the second in the high byte.
/// Traps when the bytes are not all in the span.
@inlinable @inline(never)
public func fletcherChecksum(of bytes: RawSpan, from offset: Int, count: Int) -> UInt16 {
  var a: UInt8 = 0
  var b: UInt8 = 0
  for at in offset..<offset &+ count {
    a &+= bytes.u1(at)
    b &+= a
  }
  return UInt16(b) << 8 | UInt16(a)
}

/// The CRC-32 of Unicore's and NovAtel's logs: reflected, polynomial 0xEDB88320, start 0, no final exclusive or. Traps when the bytes are
/// not all in the span.
@inlinable @inline(never)
public func logCRC32(of bytes: RawSpan, from start: Int, to end: Int) -> UInt32 {
  var crc: UInt32 = 0
  for at in start..<end {
    crc ^= UInt32(bytes.u1(at))
    for _ in 0..<8 { crc = crc &>> 1 ^ (crc & 1 == 0 ? 0 : 0xEDB8_8320) }
  }
  return crc
}
