// SPDX-License-Identifier: Apache-2.0
import WireBytes

/// Numbers in payloads in UBX's byte order, least significant byte first. Offsets are within the array.
extension [UInt8] {
  func u2(_ at: Int) -> UInt16 { UInt16(self[at]) | UInt16(self[at + 1]) << 8 }
  func u4(_ at: Int) -> UInt32 { UInt32(u2(at)) | UInt32(u2(at + 2)) << 16 }
  func i4(_ at: Int) -> Int32 { Int32(bitPattern: u4(at)) }
  func u8(_ at: Int) -> UInt64 { UInt64(u4(at)) | UInt64(u4(at + 4)) << 32 }

  mutating func set(_ value: UInt16, at: Int) {
    self[at] = UInt8(truncatingIfNeeded: value)
    self[at + 1] = UInt8(truncatingIfNeeded: value >> 8)
  }
  mutating func set(_ value: UInt32, at: Int) {
    set(UInt16(truncatingIfNeeded: value), at: at)
    set(UInt16(truncatingIfNeeded: value >> 16), at: at + 2)
  }
  mutating func append(_ value: UInt16) {
    append(UInt8(truncatingIfNeeded: value))
    append(UInt8(truncatingIfNeeded: value >> 8))
  }
  mutating func append(_ value: UInt32) {
    append(UInt16(truncatingIfNeeded: value))
    append(UInt16(truncatingIfNeeded: value >> 16))
  }
}

extension FixedWidthInteger {
  /// The nearest whole number to a value, limited to the range of the field; 0 for a value that is not a number.
  init(nearest value: Double) { self.init(clamping: value.rounded()) }
}
