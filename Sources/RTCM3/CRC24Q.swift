// SPDX-License-Identifier: Apache-2.0
import CByteMask

/// The 24-bit cyclic redundancy check of RTCM 3: polynomial 0x1864CFB, start value 0, most significant bit first. Traps when
/// the bytes are not all in the span.
@inline(never)
public func crc24q(of bytes: RawSpan, from offset: Int, count: Int) -> UInt32 {
  unsafe lend(bytes, from: offset, count: count) { unsafe c_crc24q($0, UInt(count)) }
}

/// The same check with tables, as on processors without carry-less multiplication.
func crc24qByTables(of bytes: RawSpan, from offset: Int, count: Int) -> UInt32 {
  unsafe lend(bytes, from: offset, count: count) { unsafe c_crc24q_by_tables($0, UInt(count)) }
}

/// Passes bytes to C (`crc24q.h`). `unsafe`: C reads `count` bytes from a pointer, which it does not keep.
@inline(__always)
private func lend(
  _ bytes: RawSpan, from offset: Int, count: Int, _ body: (UnsafePointer<UInt8>) -> UInt32
) -> UInt32 {
  precondition(offset >= 0 && count >= 0 && bytes.byteCount &- offset >= count)
  return unsafe bytes.withUnsafeBytes { buffer in
    guard let start = buffer.baseAddress else { return 0 }
    return unsafe body(start.advanced(by: offset).assumingMemoryBound(to: UInt8.self))
  }
}
