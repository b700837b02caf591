// SPDX-License-Identifier: Apache-2.0
import UBX
import WireBytes

/// Returns the bytes of a UBX frame.
package func frameBytes(_ identity: MessageIdentity, _ payload: [UInt8]) -> [UInt8] {
  var frame: [UInt8] = [
    UBXFrame.sync1, UBXFrame.sync2, identity.messageClass, identity.messageID,
    UInt8(truncatingIfNeeded: payload.count), UInt8(truncatingIfNeeded: payload.count >> 8),
  ]
  frame += payload
  var a: UInt8 = 0
  var b: UInt8 = 0
  for byte in frame.dropFirst(2) {
    a &+= byte
    b &+= a
  }
  return frame + [a, b]
}

extension [UInt8] {
  /// Returns a little-endian number of a payload; 0 if the payload is too short, for fields of later versions.
  package func u2(_ offset: Int) -> UInt16 {
    offset + 2 <= count ? UInt16(self[offset]) | UInt16(self[offset + 1]) << 8 : 0
  }
  package func u4(_ offset: Int) -> UInt32 { UInt32(u2(offset)) | UInt32(u2(offset + 2)) << 16 }

  package mutating func set(u2 value: UInt16, at offset: Int) {
    self[offset] = UInt8(truncatingIfNeeded: value)
    self[offset + 1] = UInt8(truncatingIfNeeded: value >> 8)
  }
  package mutating func append(u4 value: UInt32) {
    self += (0..<4).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
  }
  package mutating func set(u4 value: UInt32, at offset: Int) {
    set(u2: UInt16(truncatingIfNeeded: value), at: offset)
    set(u2: UInt16(truncatingIfNeeded: value >> 16), at: offset + 2)
  }
}
