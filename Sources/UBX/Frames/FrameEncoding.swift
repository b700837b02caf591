// SPDX-License-Identifier: Apache-2.0
import WireBytes

/// Writes the sync characters, class, id, length and a zeroed payload at the start of `output`. Returns the length of
/// the whole frame in bytes. Traps when `output` is shorter.
@inlinable
public func beginFrame(_ identity: MessageIdentity, length: Int, in output: inout MutableRawSpan) -> Int {
  precondition(length >= 0 && length <= 0xFFFF)
  let total = length &+ UBXFrame.overhead
  for index in 6..<total { output.setLittleEndian(0 as UInt8, at: index) }
  output.setLittleEndian(0x62B5 as UInt16, at: 0)
  output.setLittleEndian(identity.messageClass, at: 2)
  output.setLittleEndian(identity.messageID, at: 3)
  output.setLittleEndian(UInt16(length), at: 4)
  return total
}

/// Writes the checksum of a frame of `total` bytes at the start of `output`.
@inlinable
public func finishFrame(_ total: Int, in output: inout MutableRawSpan) {
  let sum = checksum(of: output.bytes, from: 2, count: total &- 4)
  output.setLittleEndian(sum, at: total &- 2)
}

/// Writes a frame around an existing payload: for messages without a layout, and for polls with an empty payload.
/// Returns the length of the frame in bytes. Traps when `output` has no room for the payload and 8 bytes more.
@inlinable
@_lifetime(output: copy output)
public func encodeFrame(_ identity: MessageIdentity, payload: RawSpan, into output: inout MutableRawSpan) -> Int {
  let total = beginFrame(identity, length: payload.byteCount, in: &output)
  output.copy(payload, to: 6)
  finishFrame(total, in: &output)
  return total
}
