import CByteMask

/// The check by the processor's multiplication of polynomials, which takes all words of the bytes at once; nil where the
/// processor has none, or for so few or so many bytes that it is not made for them.
///
/// The bytes are lent to C, which keeps no pointer to them: that is what is unsafe here. They are all inside the span, which
/// is checked, and C reads no others.
@inline(__always)
func carrylessCRC24Q(of bytes: RawSpan, from offset: Int, count: Int) -> UInt32? {
  guard count >= 16, count <= Int(C_CRC24Q_MOST), c_crc24q_is_fast() != 0 else { return nil }
  precondition(offset >= 0 && bytes.byteCount &- offset >= count)
  return unsafe bytes.withUnsafeBytes { buffer in
    guard let start = buffer.baseAddress else { return nil }
    return unsafe c_crc24q(start.advanced(by: offset).assumingMemoryBound(to: UInt8.self), UInt(count))
  }
}
